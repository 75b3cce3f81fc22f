"""What the Spark engine refuses before it reads anything."""

import pytest
from pyspark.sql import SparkSession

from tests.planning import planned
from tidegate import errors
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Surroundings
from tidegate.engines.spark.build import spark_build
from tidegate.errors import TidegateError
from tidegate.plan.settings import Settings
from tidegate.state import Identity, MemoryLog

pytestmark = pytest.mark.spark


def test_state_on_executors_needs_a_place_that_they_can_reach(spark: SparkSession) -> None:
    sql = "CREATE STREAM counted AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol"
    made = planned(sql, settings=Settings(spark={"state": "executors"}))
    around = Surroundings(clock=ManualClock(), log=MemoryLog(Identity(plans={})))
    with pytest.raises(TidegateError) as refused:
        spark_build()(made, around)
    assert refused.value.code == errors.state_needs_checkpoint(name="").code
    assert "counted" in refused.value.message
