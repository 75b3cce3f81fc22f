"""The pipeline of `tests/engines/local/file_to_file.py` on a cluster, in a process of its own, to be killed.

`python -m tests.engines.spark.on_cluster PLACE MASTER`. State is on executors, in three shards.
"""

import os
import sys
from pathlib import Path

from tests.engines.local.file_to_file import SQL, finish
from tests.planning import program
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import polled
from tidegate.engines.spark.build import spark_build
from tidegate.plan.settings import Settings
from tidegate.session.opening import Way, start

BATCH_ROWS = 200
ROOT = Path(__file__).parents[3]
CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    "spark.deploy.maxExecutorRetries": "-1",
}


def run(place: Path, master: str, *, state: str) -> None:
    """From the last epoch that is real to the end."""
    settings = Settings(spark={"state": state, "shards": 3})
    made = program(SQL.format(place=place), prelude="", settings=settings)
    assert made.errors == [], made.errors
    inputs = polled(bounded=True, batch_rows=BATCH_ROWS)
    build = spark_build(master, inputs=inputs, conf=CONF)
    way = Way(build=build, checkpoint=place / "checkpoint")
    engine, _ = start(made, way, Listener(wanted=frozenset()))
    sys.stdout.write("running\n")
    sys.stdout.flush()
    finish(engine, place)


if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    run(Path(sys.argv[1]), sys.argv[2], state="executors")
