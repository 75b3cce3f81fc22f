"""What starting Spark can refuse."""

from tidegate.errors import ConfigRefused, ErrorKind

no_java = ErrorKind(
    "TG-4901",
    ConfigRefused,
    "F0000",
    "Spark needs Java {accepted}, and none was found: {tried}",
    "point JAVA_HOME at one, or let pip bring one: pip install 'tidegate[jre]'",
)
no_pyspark = ErrorKind(
    "TG-4902",
    ConfigRefused,
    "F0000",
    "PySpark is not installed",
    "pip install 'tidegate[spark]'",
)
no_spark_jars = ErrorKind(
    "TG-4903",
    ConfigRefused,
    "F0000",
    "there is no Spark in {home}: jars/spark-core_*.jar is missing",
    "unset SPARK_HOME to use the Spark that pip installed",
)
jvm_not_started = ErrorKind(
    "TG-4904",
    ConfigRefused,
    "F0000",
    "Spark's Java process did not start: {how}",
    "its own words are above, on stderr; the command was: {command}",
)
bad_memory = ErrorKind(
    "TG-4905",
    ConfigRefused,
    "F0000",
    "spark.driver.memory: {text} is no amount of memory",
    "write it like 512m or 2g",
)
