"""What a JVM does while it is watched for a class-data archive: files in, windows, rows out; then it ends.

`python -m tidegate.engines.spark.training PROFILE ARCHIVE`, as `warmup.py` calls it. What it does decides which classes
a later start finds in the archive: Parquet read by Spark, JSON by its Python workers, tumbling windows, epochs, Arrow.
"""

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from tidegate.engines.clock import WallClock
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings, identity_of
from tidegate.engines.inputs import polled
from tidegate.engines.spark import archives, jvm
from tidegate.engines.spark.engine import SparkEngine
from tidegate.engines.spark.session import session
from tidegate.engines.spark.session import settings as session_settings
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.state.forgetful import ForgetfulLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = "local[2]"
_DUMP_WITHIN_S = 300.0
_SQL = """
CREATE SOURCE {form} (
    ts TIMESTAMP, k VARCHAR, v DOUBLE, n BIGINT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (connector = 'file', path = '{place}', format = '{form}', bounded = true);
SELECT k, SUM(v * n) AS s, AVG(v) AS a, MIN(v) AS low, MAX(v) AS high, COUNT(*) AS c, window_end
FROM {form} WHERE v > 0 GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
"""


def main(profile: str, archive: str) -> None:
    """Trains a JVM and sees it end, which is when it writes the archive."""
    tuned = jvm.Profile(profile)
    conf = {"spark.driver.extraJavaOptions": shlex.quote(archives.make(Path(archive)))}
    started = jvm.start(tuned, session_settings(_MASTER, conf))
    with started.offered():
        spark = session(_MASTER, profile=profile, conf=conf)
    with tempfile.TemporaryDirectory(prefix="tidegate-warmup-") as folder:
        for form in ("parquet", "json"):
            place = Path(folder, form)
            place.mkdir()
            for number in range(2):
                _write(place / f"{number}.{form}", number)
            _run(spark, _SQL.format(form=form, place=place))
    spark.stop()
    jvm.stop(started.process, within_s=_DUMP_WITHIN_S)


def _run(spark: "SparkSession", text: str) -> None:
    program = plan_script(parse_script(SourceText(text)), Settings())
    assert not program.errors, program.errors
    around = Surroundings(clock=WallClock(), log=ForgetfulLog(identity_of(program)))
    inputs = polled(bounded=True, batch_rows=1)
    engine = SparkEngine(program, around, inputs, spark=spark, workers=Workers())
    engine.drive(lambda: False, lambda: None)
    engine.end()
    engine.close()


def _write(path: Path, number: int) -> None:
    seconds = range(10 * number, 10 * number + 10)
    if path.suffix == ".parquet":
        times = pa.array([second * 1_000_000 for second in seconds]).cast(
            pa.timestamp("us", tz="UTC")
        )
        columns = {"ts": times, "k": ["a"] * 10, "v": [1.5] * 10, "n": [2] * 10}
        pq.write_table(pa.table(columns), path)
        return
    rows = ({"ts": f"1970-01-01T00:00:{it:02}Z", "k": "a", "v": 1.5, "n": 2} for it in seconds)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
