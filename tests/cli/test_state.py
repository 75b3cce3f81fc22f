"""`tidegate state`: what is in a checkpoint, whether it is whole, what differs."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.cli.conftest import Tidegate
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.planner import plan_query
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.state import Identity, open_log

SQL = """\
CREATE SOURCE s (k VARCHAR, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM minutes AS SELECT k, SUM(x) AS total FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
"""
CLOCK_US = 1_700_000_000_000_000


def identity(sql: str = SQL) -> Identity:
    program = plan_script(parse_script(SourceText(sql)), Settings())
    assert program.errors == []
    return Identity(
        plans={
            query.name: fingerprint(plan_query(query, program)).lines for query in program.queries
        }
    )


def facts(epoch: int) -> dict[str, Any]:
    return {
        "clock_us": CLOCK_US + epoch,
        "offsets": {"s": [epoch]},
        "streams": {"minutes": {"watermark_us": NEVER_US if epoch < 1 else CLOCK_US}},
    }


def checkpoint(place: str, *, epochs: int = 3, sql: str = SQL, intend: bool = True) -> Path:
    """Three epochs, a snapshot after the second, the fourth intended."""
    log = open_log(place, identity=identity(sql))
    log.recover()
    groups = pa.table({"k": ["a", "b"], "sum": [1.5, 2.5]})
    for epoch in range(epochs):
        parts = {"groups": groups, "late": pa.table({"n": [epoch]})}
        log.commit(epoch, facts(epoch), [log.write(epoch, shard, parts) for shard in (0, 1)])
        if epoch == 1:
            log.snapshot(1, {"streams": 1}, shards=[{"groups": groups}, {"groups": groups}])
    if intend:
        log.intend(epochs, {"clock_us": CLOCK_US})
    log.close()
    return Path(place)


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


# show


def test_what_is_in_it(tidegate: Tidegate) -> None:
    checkpoint("ck")
    ran = tidegate("state", "show", "ck")
    assert (ran.code, ran.err) == (0, "")
    summary, streams, parts = ran.out.split("\n\n")
    sizes = {path.name: path.stat().st_size for path in Path("ck/shard=00").iterdir()}
    snapshot, delta = sizes["snapshot=000000000001.arrow"], sizes["epoch=000000000002.arrow"]
    assert summary.splitlines() == [
        "checkpoint                    ck",
        "epoch                         2",
        "intended                      epoch 3",
        f"snapshot                      after epoch 1, {2 * snapshot:,} bytes",
        f"deltas                        1 epoch, {2 * delta:,} bytes",
        "clock_us                      2023-11-14T22:13:20.000002Z",
        "streams.minutes.watermark_us  2023-11-14T22:13:20Z",
    ]
    assert columns(streams)[0] == ["stream", "plan_id"]
    assert columns(streams)[1][0] == "minutes"
    table = columns(parts)
    assert [line[:4] for line in table] == [
        ["part", "shard", "held", "in"],
        ["groups", "0", "snapshot", "2"],
        ["groups", "1", "snapshot", "2"],
        ["groups", "0", "deltas", "2"],
        ["groups", "1", "deltas", "2"],
        ["late", "0", "deltas", "1"],
        ["late", "1", "deltas", "1"],
    ]
    assert int(table[1][4]) == snapshot
    assert int(table[3][4]) + int(table[5][4]) == delta


def test_the_plan_id_is_that_of_explain(tidegate: Tidegate) -> None:
    checkpoint("ck")
    Path("query.sql").write_text(SQL)
    explained = tidegate("explain", "query.sql").out.splitlines()[0]
    shown = tidegate("state", "show", "ck").out.split("\n\n")[1].split()
    assert f"plan_id={shown[-1]}" in explained


def test_rows_of_several_epochs_are_added_up(tidegate: Tidegate) -> None:
    checkpoint("ck", epochs=1 + 4)
    parts = columns(tidegate("state", "show", "ck").out.split("\n\n")[2])
    assert [line[:4] for line in parts if line[2] == "deltas"] == [
        ["groups", "0", "deltas", "6"],
        ["groups", "1", "deltas", "6"],
        ["late", "0", "deltas", "3"],
        ["late", "1", "deltas", "3"],
    ]


def test_before_the_first_epoch(tidegate: Tidegate) -> None:
    checkpoint("ck", epochs=0, intend=False)
    assert tidegate("state", "show", "ck").out.splitlines()[:3] == [
        "checkpoint  ck",
        "epoch       none is committed yet",
        "",
    ]
    shown = json.loads(tidegate("state", "show", "ck", "--json").out)
    assert (shown["epoch"], shown["facts"], shown["snapshot"], shown["deltas"]) == (
        None,
        None,
        None,
        [],
    )
    checkpoint("ck", epochs=0)
    assert "intended    epoch 0\n" in tidegate("state", "show", "ck").out


def test_everything_for_programs(tidegate: Tidegate) -> None:
    checkpoint("ck")
    shown = json.loads(tidegate("state", "show", "ck", "--json").out)
    assert (shown["checkpoint"], shown["format"], shown["epoch"]) == ("ck", 1, 2)
    assert shown["facts"] == facts(2)
    assert shown["intended"] == {"clock_us": CLOCK_US}
    assert shown["snapshot"]["epoch"] == 1
    assert shown["snapshot"]["facts"] == {"streams": 1}
    assert [delta["epoch"] for delta in shown["deltas"]] == [2]
    [minutes] = shown["streams"].values()
    assert tuple(minutes["plan"]) == identity().plans["minutes"]
    entry = shown["deltas"][0]["entries"][1]
    assert entry["file"] == "shard=01/epoch=000000000002.arrow"
    assert entry["bytes"] == Path("ck", entry["file"]).stat().st_size
    assert [(part["name"], part["rows"]) for part in entry["parts"]] == [("groups", 2), ("late", 1)]


@pytest.mark.parametrize(
    ("at_us", "shown"),
    [
        (NEVER_US, "none yet"),
        (FOREVER_US, "end of input"),
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (FOREVER_US - 1, f"{FOREVER_US - 1} µs"),
    ],
)
def test_instants(tidegate: Tidegate, at_us: int, shown: str) -> None:
    log = open_log("ck", identity=identity())
    log.recover()
    log.commit(0, {"inputs": [{"watermark_us": at_us}], "lag_us": 5, "clock_us": True}, [])
    log.close()
    lines = tidegate("state", "show", "ck").out.split("\n\n")[0].splitlines()
    assert lines[3:] == [f"inputs.0.watermark_us  {shown}"]


@pytest.mark.parametrize("arguments", [["show"], ["show", "--json"], ["verify"]], ids=" ".join)
def test_a_directory_without_a_checkpoint(tidegate: Tidegate, arguments: list[str]) -> None:
    ran = tidegate("state", *arguments, "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("TG-5002: there is no checkpoint in nowhere\nhint: ")
    assert not Path("nowhere").exists()


# verify


def test_a_whole_one(tidegate: Tidegate) -> None:
    checkpoint("ck")
    ran = tidegate("state", "verify", "ck")
    assert (ran.code, ran.out, ran.err) == (0, "ck: whole\n", "")
    uri = tidegate("state", "verify", Path("ck").resolve().as_uri())
    assert uri.code == 0


def test_one_line_per_problem(tidegate: Tidegate) -> None:
    place = checkpoint("ck")
    delta = place / "shard=01/epoch=000000000002.arrow"
    delta.write_bytes(delta.read_bytes()[:-1])
    (place / "shard=00/snapshot=000000000001.arrow").unlink()
    (place / "notes.txt").write_text("")
    ran = tidegate("state", "verify", "ck")
    assert (ran.code, ran.err) == (1, "")
    size = delta.stat().st_size
    assert ran.out.splitlines() == [
        "TG-5008: ck/notes.txt does not belong here: a checkpoint has no file of that name",
        "TG-5005: ck/shard=00/snapshot=000000000001.arrow is missing: its manifest names it",
        f"TG-5006: ck/shard=01/epoch=000000000002.arrow is torn: it has {size} of {size + 1} bytes",
    ]


def test_looking_leaves_everything_as_it_is(tidegate: Tidegate) -> None:
    place = checkpoint("ck")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    for arguments in (["show"], ["verify"]):
        assert tidegate("state", *arguments, "ck").code == 0
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


# diff


def test_the_same_plan(tidegate: Tidegate) -> None:
    checkpoint("ck")
    Path("query.sql").write_text(SQL.replace("total", "another_name"))
    for other in (["query.sql"], ["ck"]):
        ran = tidegate("state", "diff", "ck", *other)
        assert (ran.code, ran.out, ran.err) == (0, "no difference\n", "")
    assert tidegate("state", "diff", "ck", "-", stdin=SQL.encode()).code == 0


def test_another_plan(tidegate: Tidegate) -> None:
    checkpoint("ck")
    Path("query.sql").write_text(
        SQL.replace("SUM", "MAX") + "CREATE STREAM raw AS SELECT k FROM s;"
    )
    ran = tidegate("state", "diff", "ck", "query.sql")
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert lines[0] == "stream minutes:"
    assert lines[-1] == "+ stream raw"
    assert any(line.startswith("- ") and "SUM(" in line for line in lines)
    assert any(line.startswith("+ ") and "MAX(" in line for line in lines)


def test_two_checkpoints(tidegate: Tidegate) -> None:
    checkpoint("one")
    checkpoint("two", epochs=1)
    ran = tidegate("state", "diff", "one", "two")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "epoch: 2 -> 0",
        f"clock_us: {CLOCK_US + 2} -> {CLOCK_US}",
        "offsets.s.0: 2 -> 0",
        f"streams.minutes.watermark_us: {CLOCK_US} -> {NEVER_US}",
    ]
    checkpoint("three", epochs=0)
    assert tidegate("state", "diff", "one", "three").out.splitlines() == ["epoch: 2 -> -1"]


def test_a_query_that_is_wrong(tidegate: Tidegate) -> None:
    checkpoint("ck")
    Path("query.sql").write_text(SQL + "SELECT nope FROM s;")
    ran = tidegate("state", "diff", "ck", "query.sql")
    assert (ran.code, ran.out) == (3, "")
    assert "TG-2002" in ran.err


def test_what_there_is_not(tidegate: Tidegate) -> None:
    checkpoint("ck")
    ran = tidegate("state", "diff", "ck", "nothing.sql")
    assert (ran.code, ran.err.splitlines()[0]) == (
        2,
        "TG-4006: nothing.sql cannot be read: No such file or directory",
    )
    assert tidegate("state", "diff", "ck", "nowhere").err.startswith("TG-5002")
    assert tidegate("state", "diff", "nowhere", "ck").err.startswith("TG-5002")
    assert tidegate("state").code == 2
    assert tidegate("state", "shwo", "ck").code == 2
