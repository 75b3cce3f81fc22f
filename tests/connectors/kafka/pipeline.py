"""A pipeline from topics to topics in a process of its own, to be killed.

`python -m tests.connectors.kafka.pipeline PLACE SERVERS SOURCE SINK SIDE ENGINE`: state is in PLACE/checkpoint. Epochs
are small, so that there are many. It says `running` once sources, sinks and state are open. With CRASH = `3 before` it
vanishes next to its third commit.
"""

import os
import sys
from pathlib import Path
from typing import Any

from tests.planning import program
from tidegate.engines.epochs import Listener
from tidegate.plan.settings import Settings
from tidegate.session.choice import Running, run_build
from tidegate.session.opening import Way, start
from tidegate.state.log import PartialLog

BATCH_ROWS = 200
SQL = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH (connector = 'kafka', topic = '{source}', 'bootstrap.servers' = '{servers}', format = 'json');
CREATE SINK late_rows WITH (connector = 'kafka', topic = '{side}', 'bootstrap.servers' = '{servers}');
CREATE STREAM sums AS
  SELECT k, SUM(v) AS s, COUNT(*) AS n, window_start FROM ev WHERE v <> 7
  GROUP BY k, TUMBLE(ts, INTERVAL '2' SECOND);
CREATE SINK out FROM sums
  WITH (connector = 'kafka', topic = '{sink}', 'bootstrap.servers' = '{servers}', 'key.fields' = 'k');
SET "error.sink" = 'late_rows';
"""


CRASHED = 9


def crash_at(number: int, where: str) -> None:
    """Before the so-manyth commit, or behind it."""
    commit = PartialLog.commit
    left = number

    def crashing(log: PartialLog, *arguments: Any) -> None:
        nonlocal left
        left -= 1
        if left > 0 or where == "behind":
            commit(log, *arguments)
        if left == 0:
            os._exit(CRASHED)

    PartialLog.commit = crashing  # type: ignore[method-assign,assignment]


def run(
    place: Path,
    servers: str,
    topics: list[str],
    engine_name: str = "local",
    *,
    upto: int | None = None,
) -> None:
    """From the last epoch that is real to the end, or up to an epoch."""
    source, sink, side = topics
    made = program(SQL.format(servers=servers, source=source, sink=sink, side=side), prelude="")
    assert made.errors == [], made.errors
    master = None if engine_name == "local" else "local[2]"
    running = Running(bounded=True, batch_rows=BATCH_ROWS, master=master)
    build = run_build(engine_name, running, Settings())
    way = Way(build=build, checkpoint=place / "checkpoint")
    engine, _ = start(made, way, Listener(wanted=frozenset()))
    sys.stdout.write("running\n")
    sys.stdout.flush()
    engine.drive(lambda: upto is not None and engine.epoch >= upto, lambda: None)
    if upto is None:
        engine.end()
        (place / "done").touch()
    engine.close()


if __name__ == "__main__":
    if "CRASH" in os.environ:
        count, at = os.environ["CRASH"].split()
        crash_at(int(count), at)
    run(Path(sys.argv[1]), sys.argv[2], sys.argv[3:6], sys.argv[6])
