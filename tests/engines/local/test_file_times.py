"""A row without a time in a file of old rows is diverted; it does not move the watermark to when the file was made."""

import json
from collections import Counter
from pathlib import Path

from tests.planning import planned
from tidegate.engines.clock import WallClock
from tidegate.engines.engine import Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import polled
from tidegate.engines.local.build import local_build
from tidegate.state import Identity, MemoryLog

SQL = """
CREATE SOURCE ev (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'file', path = '{path}', format = 'json', bounded = true{more});
CREATE STREAM out AS SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)
"""
ROWS = [{"k": "a", "ts": f"2020-01-01T00:00:{second:02}Z"} for second in range(30)]
ROWS.insert(5, {"k": "b", "ts": None})  # type: ignore[dict-item]


def diverted(path: Path, more: str = "") -> Counter[tuple[str, str]]:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    heard: Counter[tuple[str, str]] = Counter()
    around = Surroundings(
        clock=WallClock(),
        log=MemoryLog(Identity(plans={})),
        listener=Listener(
            diverted=lambda them: heard.update((it["kind"], it["reason"]) for it in them)
        ),
    )
    inputs = polled(bounded=None, batch_rows=3)
    engine = local_build(inputs)(planned(SQL.format(path=path, more=more), prelude=""), around)
    engine.drive(lambda: False, lambda: None)
    engine.end()
    engine.close()
    return heard


def test_it_is_diverted_alone(tmp_path: Path) -> None:
    assert diverted(tmp_path / "a.json") == {("error", "missing_event_time"): 1}


def test_it_bears_the_time_of_its_file_if_that_is_asked_for(tmp_path: Path) -> None:
    heard = diverted(tmp_path / "a.json", ", on_missing_event_time = 'fallback'")
    assert heard.keys() == {("late", "allowed_lateness_exceeded")}
