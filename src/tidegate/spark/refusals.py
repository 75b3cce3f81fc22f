"""What an attached program cannot have."""

from typing import TYPE_CHECKING, Any, NoReturn

from tidegate import errors
from tidegate.plan.script import NamedQuery, Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def refuse_foreign(name: str, frame: Any, spark: "SparkSession") -> None:
    """What is no frame, or another driver's."""
    from pyspark.sql.classic.dataframe import DataFrame

    if not isinstance(frame, DataFrame):
        raise errors.not_a_frame(name=name, problem=f"{type(frame).__name__} is no DataFrame")
    if frame.sparkSession.sparkContext is not spark.sparkContext:
        raise errors.not_a_frame(name=name, problem="its rows are another Spark's")


def refuse_measuring(_query: NamedQuery, _program: Program) -> NoReturn:
    """A query of a job is measured while it runs."""
    instead = "start() it, and ask run.metrics() what became of every row"
    raise errors.cannot_run(what="EXPLAIN ANALYZE in a Spark job", instead=instead)
