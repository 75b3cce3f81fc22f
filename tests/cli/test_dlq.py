"""`tidegate dlq`: letters that a run has left are shown, counted, and put back where a source reads them."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidegate
from tests.services.kafka import Broker

SQL = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND)
WITH (connector = 'file', path = 'in', format = 'json', settle = '0s');
CREATE SINK letters WITH (connector = 'file', path = 'letters', format = 'json');
CREATE STREAM sums AS SELECT k, SUM(v) AS s, window_start FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)
LATE DATA TO letters;
CREATE SINK out FROM sums WITH (connector = 'file', path = 'out', format = 'json');
SET "error.sink" = 'letters';
"""
ROWS = [
    '{"k":"a","v":1,"ts":1000}',
    '{"k":"a","v":2,"ts":12000}',
    '{"k":"ä","v":3,"ts":2000}',
    "poison",
]


@pytest.fixture(autouse=True)
def letters(tidegate: Tidegate) -> None:
    Path("in").mkdir()
    Path("in/1.json").write_text("\n".join(ROWS) + "\n")
    Path("q.sql").write_text(SQL)
    assert tidegate("run", "q.sql", "--bounded", "--batch-rows", "1").code == 0


def test_they_are_counted(tidegate: Tidegate) -> None:
    assert tidegate("dlq", "stats", "letters").out.split("\n") == [
        "           1  ev  error/malformed_record",
        "           1  sums  late/allowed_lateness_exceeded",
        "           2  in all",
        "",
    ]
    told = tidegate("dlq", "stats", "letters", "--json", "--kind", "late").out
    assert json.loads(told) == {
        "stream": "sums", "kind": "late", "reason": "allowed_lateness_exceeded", "count": 1,
    }  # fmt: skip


def test_they_are_shown(tidegate: Tidegate) -> None:
    told = tidegate("dlq", "show", "letters", "--stream", "sums").out
    assert "late/allowed_lateness_exceeded" in told
    assert 'original_event: {"k": "ä", "v": 3, "ts": "1970-01-01T00:00:02Z"}' in told
    (line,) = tidegate("dlq", "show", "letters", "--json", "--limit", "1").out.splitlines()
    assert json.loads(line)["kind"] == "late"


def test_they_are_put_back(tidegate: Tidegate) -> None:
    dry = tidegate("dlq", "replay", "letters", "--to", "again", "--dry-run").out
    assert dry == "2 rows would be added to again; 0 letters have no original\n"
    assert not Path("again").exists()
    tidegate("dlq", "replay", "letters", "--kind", "late", "--to", "again")
    Path("q.sql").write_text(
        SQL.replace("'in'", "'again'").replace("path = 'out'", "path = 'out2'")
    )
    assert tidegate("run", "q.sql", "--bounded").code == 0
    (made,) = [json.loads(path.read_text()) for path in Path("out2").glob("*.json")]
    assert (made["k"], made["s"]) == ("ä", 3)


def test_what_is_cut_or_missing_is_counted(tidegate: Tidegate) -> None:
    common = {"kind": "error", "reason": "malformed_record", "stream": "ev"}
    lines = [
        {**common, "original_event": {"raw": "x" * 1_000}},
        {**common, "original_event": None},
        {**common, "original_event": {"raw": "short"}},
        {"no": "letter"},
    ]
    Path("more").mkdir()
    Path("more/1.json").write_text("".join(f"{json.dumps(it)}\n" for it in lines) + "no json\n")
    told = tidegate("dlq", "replay", "more", "--to", "again").out
    assert told.startswith("1 rows added to again/replayed-")
    assert told.endswith("2 letters have no original\n")
    (file,) = Path("again").glob("*.json")
    assert file.read_text() == "short\n"


def test_places_that_are_none(tidegate: Tidegate) -> None:
    for place in ("nowhere", "kafka://127.0.0.1:1"):
        ran = tidegate("dlq", "stats", place)
        assert ran.code == 4
        assert "TG-6002" in ran.err


@pytest.mark.kafka
def test_topics(tidegate: Tidegate, broker: Broker) -> None:
    source, target = broker.topic(partitions=2), broker.topic()
    payloads = [
        line
        for path in sorted(Path("letters").glob("*.json"))
        for line in path.read_text().splitlines()
    ]
    broker.produce(source, [*payloads, "none"])
    places = [f"kafka://{broker.servers}/{topic}" for topic in (source, target)]
    assert "2  in all" in tidegate("dlq", "stats", places[0]).out
    assert tidegate("dlq", "replay", places[0], "--to", places[1]).code == 0
    late = '{"k": "ä", "v": 3, "ts": "1970-01-01T00:00:02Z"}'
    assert {*broker.values(target)} == {b"poison", late.encode()}
