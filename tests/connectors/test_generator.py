"""Made-up rows: the same for the same seed however they are cut, at the pace that was asked for."""

import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.reading import SECOND, drain, source_def, stored
from tidegate.connectors import open_source
from tidegate.connectors.protocols import SourceReader
from tidegate.errors import TidegateError

EVERYTHING = (
    "id BIGINT, symbol VARCHAR, price DOUBLE, share REAL, amount DECIMAL(10, 2), tiny TINYINT, small SMALLINT, n INT, "
    "ok BOOLEAN, day DATE, raw BINARY, ts TIMESTAMP, tags ARRAY<VARCHAR>, counts MAP<VARCHAR, BIGINT>, "
    "place STRUCT<city VARCHAR, at ARRAY<STRUCT<x DOUBLE>>>"
)


def generator(
    columns: str = EVERYTHING, *, bounded: bool | None = None, **options: object
) -> SourceReader:
    return open_source(source_def(columns, connector="generator", **options), bounded=bounded)


def times_us(reader: SourceReader, **how: Any) -> list[int]:
    column = drain(reader, **how).table.column("ts").cast("int64")
    return [int(value.as_py()) for value in column]


@given(st.integers(1, 40), st.lists(st.integers(1, 9), max_size=8))
def test_any_cut_gives_the_same_rows(rows: int, cuts: list[int]) -> None:
    options: dict[str, Any] = {"rows": rows, "seed": 3, "disorder": "3s", "late_every": 5}
    whole = drain(generator(**options)).table
    parts = drain(generator(**options), cuts=cuts, max_rows=4)
    assert parts.table.combine_chunks().equals(whole.combine_chunks())
    assert whole.num_rows == rows


def test_a_range_gives_the_same_rows_after_a_restart() -> None:
    first = generator(rate="10/s", seed=1)
    start = first.latest(None, max_rows=100, now_us=5 * SECOND)
    assert start is not None
    until = first.latest(stored(start), max_rows=100, now_us=6 * SECOND)
    assert until is not None
    again = generator(rate="10/s", seed=1)
    assert again.read(stored(start), stored(until)).rows.equals(first.read(start, until).rows)


def test_values_of_each_type() -> None:
    table = drain(generator(rows=5_000)).table
    table.validate(full=True)
    column = {name: table.column(name).to_pylist() for name in table.column_names}
    assert column["id"] == list(range(5_000))
    assert set(column["symbol"]) == {chr(ord("A") + place) for place in range(26)}
    assert 70 < min(column["price"]) < 100 < max(column["price"]) < 140
    assert 70 < float(min(column["amount"])) < 100 < float(max(column["amount"])) < 140
    assert 0 <= min(column["share"]) < 0.1 < 0.9 < max(column["share"]) < 1
    assert (min(column["tiny"]), max(column["tiny"])) == (1, 100)
    assert (min(column["n"]), max(column["n"])) == (1, 1_000)
    assert 2_300 < sum(column["ok"]) < 2_700
    assert set(column["day"]) == {datetime.date(2026, 1, 1)}
    assert {len(raw) for raw in column["raw"]} == {8}
    assert {len(tags) for tags in column["tags"]} == {0, 1, 2, 3}
    assert all(len(dict(counts)) == len(counts) for counts in column["counts"])
    assert all(set(place) == {"city", "at"} for place in column["place"])
    assert all(value is not None for values in column.values() for value in values)


def test_narrow_types_hold_their_values() -> None:
    table = drain(
        generator(
            "d DECIMAL(2, 2), e DECIMAL(38, 30), tiny_id TINYINT, small_id SMALLINT", rows=5_000
        )
    ).table
    table.validate(full=True)
    assert max(abs(value) for value in table.column("d").to_pylist()) < 1
    assert table.column("tiny_id").to_pylist()[:3] == [0, 1, 2]


def test_seeds_and_columns_differ() -> None:
    one, other = (drain(generator("a INT, b INT", rows=50, seed=seed)).table for seed in (1, 2))
    columns = [one.column("a"), one.column("b"), other.column("a"), other.column("b")]
    assert len({str(column.to_pylist()) for column in columns}) == 4


def test_keys() -> None:
    table = drain(generator("k VARCHAR, k_id VARCHAR", rows=3_000, keys=30)).table
    assert len(set(table.column("k").to_pylist())) == 30
    assert {"A", "Z", "AA", "AD"} <= set(table.column("k").to_pylist())
    assert table.column("k_id").to_pylist()[24:28] == ["Y", "Z", "AA", "AB"]


def test_event_times_follow_the_rate() -> None:
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    first_us = int(start.timestamp()) * SECOND
    assert times_us(generator("ts TIMESTAMP", rows=3)) == [
        first_us,
        first_us + 1_000,
        first_us + 2_000,
    ]
    assert times_us(generator("ts TIMESTAMP", rows=4, start="1970-01-01"), max_rows=3) == [
        0,
        1_000,
        2_000,
        3_000,
    ]


def test_without_rows_the_clock_says_what_is_due() -> None:
    reader = generator("ts TIMESTAMP", rate="3/s")
    now_us = 1_000 * SECOND
    first = reader.latest(None, max_rows=100, now_us=now_us)
    assert first == {"row": 1, "started_us": now_us}
    assert reader.latest(first, max_rows=100, now_us=now_us) is None
    assert reader.latest(first, max_rows=100, now_us=now_us - SECOND) is None
    second = reader.latest(first, max_rows=100, now_us=now_us + SECOND)
    assert second == {"row": 4, "started_us": now_us}
    assert reader.latest(first, max_rows=2, now_us=now_us + SECOND) == {
        "row": 3,
        "started_us": now_us,
    }
    rows = reader.read(first, second).rows.column("ts").cast(pa.int64()).to_pylist()
    assert rows == [now_us + 333_333, now_us + 666_666, now_us + SECOND]
    assert not reader.ended(second)


def test_rows_with_a_rate_are_paced_and_end() -> None:
    reader = generator("ts TIMESTAMP", rate="60/min", rows=2)
    first = reader.latest(None, max_rows=100, now_us=0)
    assert first == {"row": 1, "started_us": 0}
    assert not reader.ended(first)
    last = reader.latest(first, max_rows=100, now_us=100 * SECOND)
    assert last == {"row": 2, "started_us": 0}
    assert reader.ended(last)
    assert reader.latest(last, max_rows=100, now_us=100 * SECOND) is None


def test_disorder_and_late_rows() -> None:
    in_order = times_us(
        generator("ts TIMESTAMP", rows=1_000, rate="1000/s"), now_us=0, max_rows=1_000
    )
    assert len(in_order) == 1  # paced
    due = times_us(generator("ts TIMESTAMP", rows=1_000))
    disordered = times_us(generator("ts TIMESTAMP", rows=1_000, disorder="2s"))
    delays = [at - late for at, late in zip(due, disordered, strict=True)]
    assert 0 <= min(delays) < 200_000 < 1_800_000 < max(delays) <= 2 * SECOND
    late = times_us(
        generator("ts TIMESTAMP", rows=1_000, disorder="2s", late_every=10, late_by="5s")
    )
    further = [at - late for at, late in zip(disordered, late, strict=True)]
    assert set(further) == {0, 7 * SECOND}
    assert 50 < further.count(7 * SECOND) < 150


def test_a_generator_without_end_is_refused_where_one_is_asked_for() -> None:
    with pytest.raises(TidegateError, match="TG-6006: it never ends") as caught:
        generator(bounded=True)
    assert caught.value.hint == "give the generator an end: rows = 1000000"
    assert generator(bounded=True, rows=1) is not None


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        (
            "start",
            "soon",
            "TG-4002: start = 'soon': expected an instant such as 2026-01-31T12:00:00Z",
        ),
        ("rate", "0/s", "TG-4002: rate = '0/s': expected 1 to 1000000 rows per s, min or h"),
        ("rate", "1000001/s", "TG-4002: rate = '1000001/s': expected 1 to 1000000"),
    ],
)
def test_options_that_mean_nothing(option: str, value: str, problem: str) -> None:
    chosen: dict[str, Any] = {option: value}
    with pytest.raises(TidegateError, match=problem):
        generator(**chosen)


def test_an_offset_of_another_connector() -> None:
    with pytest.raises(TidegateError, match=r"TG-6008: .* none of connector generator"):
        generator().latest({"step": 1}, max_rows=1, now_us=0)
