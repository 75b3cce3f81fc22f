"""Tidegate on Spark.

Modules here may be imported without pyspark installed, and import it inside functions: a user who never runs on Spark
pays neither for its import nor for a JVM.
"""
