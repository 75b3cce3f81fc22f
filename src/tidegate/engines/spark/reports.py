"""What Spark's Python workers report of the parts that they have read.

Decided here: reports are by the number of the part. A task may run twice, and what it reports then replaces what it
has reported before; so counts are exact, however often Spark tries.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Report:
    """`refusal`: code, sentence and hint of what the part was refused for."""

    rows: int = 0
    malformed: int = 0
    refusal: tuple[str, str, str] | None = None


Reports: TypeAlias = dict[int, Report]


def reports(spark: "SparkSession") -> "Accumulator[Reports]":
    """A place for reports, empty."""
    from pyspark import AccumulatorParam

    class Latest(AccumulatorParam[Reports]):
        def zero(self, value: Reports) -> Reports:
            return {}

        def addInPlace(self, value1: Reports, value2: Reports) -> Reports:  # noqa: N802 (Spark's name)
            return {**value1, **value2}

    return spark.sparkContext.accumulator({}, Latest())
