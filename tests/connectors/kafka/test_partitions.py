"""Partitions that are read one after the other: without each holding the watermark back, most rows would be late."""

import json
from pathlib import Path

import pytest

from tests.planning import program
from tests.services.kafka import Broker
from tidegate.engines.epochs import Listener
from tidegate.model.policies import AGGREGATED
from tidegate.session.choice import Running, run_build
from tidegate.session.opening import Way, start

pytestmark = pytest.mark.kafka
WINDOWS = {
    "tumbling": "SELECT k, COUNT(*) AS n FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '1' SECOND)",
    "sessions": "SELECT k, COUNT(*) AS n FROM ev GROUP BY k, SESSION(ts, INTERVAL '1' SECOND)",
    "sliding": "SELECT COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND "
    "PRECEDING AND CURRENT ROW) AS n FROM ev",
    "rows": "SELECT k, ts FROM ev GROUP BY k, ts, TUMBLE(ts, INTERVAL '1' SECOND)",
}


@pytest.fixture(scope="module")
def topic(broker: Broker) -> str:
    made = broker.topic(partitions=3)
    for partition in range(3):
        rows = [{"k": f"k{partition}", "ts": at * 100} for at in range(600)]
        broker.produce(made, [json.dumps(row) for row in rows], partition=partition)
    return made


@pytest.mark.parametrize("kind", WINDOWS)
def test_no_row_is_late(broker: Broker, topic: str, tmp_path: Path, kind: str) -> None:
    source = (
        "CREATE SOURCE ev (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND) WITH "
        f"(connector = 'kafka', topic = '{topic}', 'bootstrap.servers' = '{broker.servers}');"
    )
    made = program(f"{source} CREATE STREAM it AS {WINDOWS[kind]};", prelude="")
    running = Running(bounded=True, batch_rows=200)
    from tidegate.plan.settings import Settings

    way = Way(build=run_build("local", running, Settings()), checkpoint=tmp_path / "state")
    for attempt in range(2):  # the second one goes on, from the middle
        engine, _opened = start(made, way, Listener(wanted=frozenset()))
        engine.drive(lambda: engine.epoch >= 3 and attempt == 0, lambda: None)  # noqa: B023
        stopped = not engine.exhausted
        if not stopped:
            engine.end()
        totals = engine.totals
        engine.close()
        if not stopped:
            break
    assert totals.read == {"ev": 1_800}
    (codes,) = totals.rows_by_code.values()
    assert {code: rows for code, rows in codes.items() if rows} == {AGGREGATED: 1_800}
