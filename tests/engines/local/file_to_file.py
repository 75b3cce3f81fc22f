"""A pipeline from files to files in a process of its own, to be killed.

`python -m tests.engines.local.file_to_file PLACE`: PLACE holds `in/`; the run makes `out/`, `checkpoint/` and, when it
has come to the end, `totals.json`. Batches are small, so that there are many epochs. It says `running` once sources,
sinks and state are open.
"""

import json
import sys
from pathlib import Path

from tests.planning import program
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import polled
from tidegate.engines.local.engine import LocalEngine
from tidegate.plan.script import Program
from tidegate.session.opening import Way, start

BATCH_ROWS = 200
SQL = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH (connector = 'file', path = '{place}/in/', format = 'json', bounded = true);
CREATE TABLE names (k VARCHAR, name VARCHAR) WITH (connector = 'file', path = '{place}/names.csv');
CREATE STREAM counted AS
  SELECT n.name, COUNT(*) AS n, SUM(v) AS s, AVG(x) AS m, ARRAY_AGG(v) AS vs, window_start, window_end
  FROM ev JOIN names n ON ev.k = n.k GROUP BY n.name, HOP(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND)
  ALLOWED LATENESS INTERVAL '1' SECOND;
CREATE STREAM visits AS
  SELECT k, COUNT(DISTINCT v) AS d, LAST_VALUE(v) AS l, window_start, window_end FROM ev WHERE v <> 3
  GROUP BY k, SESSION(ts, INTERVAL '200' MILLISECOND);
CREATE STREAM busiest AS
  SELECT name, n, window_start AS began FROM counted GROUP BY name, n, window_start, window_end
  ORDER BY n DESC, name LIMIT 2;
CREATE SINK a FROM counted WITH (connector = 'file', path = '{place}/out/counted', format = 'json');
CREATE SINK b FROM visits WITH (connector = 'file', path = '{place}/out/visits', format = 'csv');
CREATE SINK c FROM busiest WITH (connector = 'file', path = '{place}/out/busiest', format = 'parquet');
"""


def run(place: Path) -> None:
    """From the last epoch that is real to the end."""

    def build(made: Program, around: Surroundings) -> LocalEngine:
        inputs = polled(bounded=True, batch_rows=BATCH_ROWS)
        return LocalEngine(made, around, inputs, workers=Workers(2, worth=50))

    made = program(SQL.format(place=place), prelude="")
    assert made.errors == [], made.errors
    way = Way(build=build, checkpoint=place / "checkpoint")
    engine, _ = start(made, way, Listener(wanted=frozenset()))
    sys.stdout.write("running\n")
    sys.stdout.flush()
    finish(engine, place)


def finish(engine: Engine, place: Path) -> None:
    """To the end, which leaves its counts behind."""
    engine.drive(lambda: False, lambda: None)
    engine.end()
    engine.checkpoint()
    totals = json.dumps(engine.totals.facts(), sort_keys=True)
    engine.close()
    (place / "totals.json").write_text(totals, encoding="utf-8")


if __name__ == "__main__":
    run(Path(sys.argv[1]))
