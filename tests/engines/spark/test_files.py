"""Files on both engines: the same rows, the same complaints, the same counts, whoever reads them.

Spark reads some Parquet by itself and everything else with our code; which of the two must not be seen.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from tidegate.connectors.files.progress import progress_of
from tidegate.connectors.files.source import FileSource, open_file_source
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import Inputs
from tidegate.engines.local.build import local_build
from tidegate.engines.spark.build import spark_build
from tidegate.engines.spark.files import FileFrames
from tidegate.engines.stage import Made
from tidegate.engines.values import rows_of
from tidegate.errors import TidegateError
from tidegate.plan.catalog import SourceDef
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.state import Identity, Log, MemoryLog, open_log

pytestmark = pytest.mark.spark

BUILDS = {"local": local_build, "spark": lambda inputs: spark_build(inputs=inputs)}
QUERIES = """
CREATE STREAM per_key AS SELECT k, COUNT(*) AS n, SUM(v) AS s, MIN(d) AS lo, MAX(at) AS last
FROM ev GROUP BY k EMIT ON UPDATE;
CREATE STREAM all_rows AS SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(at, INTERVAL '1' HOUR)
"""


def program(place: Path, queries: str = QUERIES, options: str = "") -> Program:
    sql = f"""
        CREATE SOURCE ev (k VARCHAR, v BIGINT, d DOUBLE, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND)
        WITH (connector = 'file', path = '{place}', bounded = 'true' {options}); {queries}"""
    made = plan_script(parse_script(SourceText(sql)), Settings())
    assert made.errors == []
    return made


@dataclass
class Run:
    """What a run gave. Rows as a multiset, by stream."""

    rows: dict[str, Counter[str]]
    diverted: Counter[str]
    read: Mapping[str, int]
    malformed: Mapping[str, int]


def run(
    engine: str, place: Path, *, log: Log | None = None, most: int = 1_000_000, **more: Any
) -> Run:
    made, diverted = program(place, **more), Counter[str]()
    rows: dict[str, Counter[str]] = {}

    def watch(stage: str, done: Made) -> None:
        emitted = rows.setdefault(stage, Counter())
        emitted.update(map(repr, rows_of(done.emitted.visible.rows)))

    def hear(payloads: Any) -> None:
        for payload in payloads:
            payload.pop("epoch")
            diverted[json.dumps(payload, sort_keys=True)] += 1

    around = Surroundings(
        clock=ManualClock(),
        log=log or MemoryLog(Identity(plans={})),
        listener=Listener(made=watch, diverted=hear),
    )
    running = BUILDS[engine](inputs(made, most))(made, around)
    drain(running)
    totals = running.totals
    running.close()
    return Run(rows, diverted, dict(totals.read), dict(totals.malformed))


def inputs(made: Program, most: int) -> Inputs:
    source = made.catalog.find("ev")
    assert isinstance(source, SourceDef)
    return Inputs(readers={"ev": open_file_source(source, None)}, batch_rows=most)


def drain(running: Engine) -> None:
    while not running.exhausted:
        running.poll()
    running.end()


ROWS: list[dict[str, Any]] = [
    {"k": "ab"[n % 2], "v": n, "d": n / 4, "at": datetime(2026, 1, 1, n % 24, n % 60, tzinfo=UTC)}
    for n in range(200)
]
SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("v", pa.int64()),
        ("d", pa.float64()),
        ("at", pa.timestamp("us", tz="UTC")),
    ]
)
TABLE = pa.Table.from_pylist(ROWS, SCHEMA)


def with_type(name: str, kind: pa.DataType) -> pa.Table:
    place = SCHEMA.get_field_index(name)
    return TABLE.cast(SCHEMA.set(place, pa.field(name, kind)))


PARQUET = {
    "as declared": TABLE,
    "instants without a zone": with_type("at", pa.timestamp("us")),
    "instants in another zone": with_type("at", pa.timestamp("us", tz="Asia/Tokyo")),
    "instants in milliseconds": with_type("at", pa.timestamp("ms", tz="UTC")),
    "instants in nanoseconds": with_type("at", pa.timestamp("ns", tz="UTC")),
    "instants as numbers": TABLE.set_column(3, "at", with_type("at", pa.timestamp("ms"))[3].cast(pa.int64())),
    "narrow numbers": with_type("v", pa.int16()),
    "wide text": with_type("k", pa.large_string()),
    "a column is missing": TABLE.drop_columns(["d"]),
    "a column more": TABLE.append_column("more", pa.array(range(200))),
    "other order, other case": TABLE.select(["at", "v", "d", "k"]).rename_columns(["AT", "v", "D", "K"]),
    "values that do not fit": TABLE.set_column(1, "v", pa.array([*map(str, range(199)), "x"])),
}  # fmt: skip


@pytest.mark.parametrize("name", list(PARQUET))
def test_parquet(name: str, tmp_path: Path, spark: SparkSession) -> None:
    parquet.write_table(PARQUET[name], tmp_path / "a.parquet")
    parquet.write_table(PARQUET[name].slice(0, 30), tmp_path / "b [1].parquet")
    assert run("spark", tmp_path) == run("local", tmp_path)


def test_files_that_differ(tmp_path: Path, spark: SparkSession) -> None:
    for place, table in enumerate(PARQUET.values()):
        parquet.write_table(table, tmp_path / f"{place}.parquet")
    assert run("spark", tmp_path) == run("local", tmp_path)


@pytest.mark.parametrize("name", ["as declared", "instants without a zone"])
def test_what_is_as_declared_is_sparks_own(name: str, tmp_path: Path, spark: SparkSession) -> None:
    parquet.write_table(PARQUET[name], tmp_path / "a.parquet")
    source = program(tmp_path).catalog.find("ev")
    assert isinstance(source, SourceDef)
    reader = open_file_source(source, None)
    assert isinstance(reader, FileSource)
    frames = FileFrames(spark, reader, shared=False)
    until = reader.latest(None, max_rows=10, now_us=0)
    assert until is not None
    (frame,) = frames.range(None, until).frames
    assert frame.count == 200, "whole files, however few rows were asked for"
    plan = frame.data._jdf.queryExecution().executedPlan().toString()
    assert "FileScan parquet" in plan
    assert "Python" not in plan


def written_lines(write: Callable[[Path, str], None], place: Path, broken: str) -> None:
    lines = [json.dumps({**row, "at": row["at"].isoformat()}) for row in ROWS]
    write(place, "\n".join([*lines[:50], broken, *lines[50:]]))


def plain(place: Path, text: str) -> None:
    place.with_suffix(".jsonl").write_text(text)


def compressed(place: Path, text: str) -> None:
    place.with_suffix(".jsonl.gz").write_bytes(gzip.compress(text.encode()))


@pytest.mark.parametrize("write", [plain, compressed])
def test_lines(write: Callable[[Path, str], None], tmp_path: Path, spark: SparkSession) -> None:
    for name in ("one", "two"):
        written_lines(write, tmp_path / name, broken='{"k": "a", "v": \nnothing\n{"v": "x"}')
    ours = run("spark", tmp_path)
    assert ours == run("local", tmp_path)
    assert ours.malformed == {"ev": 6}
    assert ours.diverted.total() == 6


def test_csv_with_and_without_header(tmp_path: Path, spark: SparkSession) -> None:
    body = "".join(f"{row['k']},{row['v']},{row['d']},{row['at']}\n" for row in ROWS)
    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "a.csv").write_text(f"k,v,d,at\n{body}a,b,c,d\n")
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "a.csv").write_text(body)
    assert run("spark", tmp_path / "with") == run("local", tmp_path / "with")
    bare: dict[str, Any] = {"options": ", header = 'false'"}
    assert run("spark", tmp_path / "without", **bare) == run("local", tmp_path / "without", **bare)


def test_a_long_file_is_read_in_many_parts(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.connectors.files.blocks._MOST_BYTES", 1_000)
    written_lines(plain, tmp_path / "one", broken="nothing")
    source = program(tmp_path).catalog.find("ev")
    assert isinstance(source, SourceDef)
    reader = open_file_source(source, None)
    reader.plan_for_others()
    until = reader.latest(None, max_rows=1_000_000, now_us=0)
    parts = progress_of(until).parts
    assert len(parts) > 10
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert run("spark", tmp_path) == run("local", tmp_path)


def test_a_file_that_is_none(tmp_path: Path, spark: SparkSession) -> None:
    parquet.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"nothing of the kind")
    for engine in BUILDS:
        with pytest.raises(TidegateError) as refused:
            run(engine, tmp_path)
        assert refused.value.code == "TG-6004"
    skipping: dict[str, Any] = {"options": ", on_bad_file = 'skip'"}
    assert run("spark", tmp_path, **skipping) == run("local", tmp_path, **skipping)


def test_lines_that_vanish_before_they_are_read(tmp_path: Path, spark: SparkSession) -> None:
    written_lines(plain, tmp_path / "one", broken="nothing")
    made = program(tmp_path)
    around = Surroundings(clock=ManualClock(), log=MemoryLog(Identity(plans={})))
    given = inputs(made, 1_000)
    running = spark_build(inputs=given)(made, around)
    reader = given.readers["ev"]
    until = reader.latest(None, max_rows=1_000, now_us=0)
    assert until is not None
    reader.latest = lambda *_, **__: until  # type: ignore[method-assign]
    (tmp_path / "one.jsonl").write_text("")
    with pytest.raises(TidegateError) as refused:
        running.poll()
    assert refused.value.code == "TG-6005"
    running.close()


def test_the_other_engine_goes_on(tmp_path: Path, spark: SparkSession) -> None:
    data, states = tmp_path / "data", tmp_path / "states"
    data.mkdir()
    for number in range(4):
        parquet.write_table(TABLE.slice(50 * number, 50), data / f"{number}.parquet")
    written_lines(plain, data / "one", broken="nothing")
    totals = []
    for turn, engine in enumerate(["spark", "local", "spark", "local", "spark"]):
        made = program(data)
        log = open_log(states, identity=Identity(plans={}))
        around = Surroundings(clock=ManualClock(), log=log)
        running = BUILDS[engine](inputs(made, 60))(made, around)
        running.poll()
        if turn == 4:
            drain(running)
        totals.append(dict(running.totals.read)["ev"])
        running.close()
    assert totals[-1] == 400
    assert totals == sorted(totals)
    assert len(set(totals)) == len(totals)


def test_a_source_that_several_queries_read(tmp_path: Path, spark: SparkSession) -> None:
    written_lines(plain, tmp_path / "one", broken="nothing")
    both = f"{QUERIES}; CREATE STREAM again AS SELECT k, v FROM ev WHERE v > 10"
    assert run("spark", tmp_path, queries=both) == run("local", tmp_path, queries=both)


def test_a_source_that_no_query_reads(tmp_path: Path, spark: SparkSession) -> None:
    written_lines(plain, tmp_path / "one", broken="nothing")
    alone = f"CREATE SINK out FROM ev WITH (connector = 'file', path = '{tmp_path / 'out'}')"
    ours = run("spark", tmp_path, queries=alone)
    assert ours == run("local", tmp_path, queries=alone)
    assert ours.read == {"ev": 200}
