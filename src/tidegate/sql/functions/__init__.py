"""The scalar functions that both engines share: one table per family, one entry per function.

An entry says how arguments are typed and how a call is written on DataFusion and on Spark, such that both give the
same value for every input, and NULL, never an exception, where the function is not defined (`fails` names the reason
for which such a row is diverted). `tests/sql/functions` proves it on both engines.
"""
