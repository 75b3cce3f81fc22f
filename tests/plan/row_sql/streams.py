"""The sources of these tests, and batches of them that are as nasty as their types allow."""

import random
import struct
from decimal import Decimal as Number
from typing import Any

import pyarrow as pa

from tests.sql.functions.values import MAX, MIN, instant
from tidegate.model.schema import Schema
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US, SECOND
from tidegate.model.types import Array, DataType, Decimal, Scalar
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program

PRELUDE = """\
CREATE SOURCE trades (symbol VARCHAR, price DOUBLE, ratio REAL, qty BIGINT, small INT, tiny SMALLINT,
  amount DECIMAL(10, 2), coin DECIMAL(38, 18), vast DECIMAL(38, 0), ok BOOLEAN, day DATE, raw BINARY, note VARCHAR,
  tags ARRAY<VARCHAR>, at TIMESTAMP, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE SOURCE bids (who VARCHAR, cents BIGINT, happened TIMESTAMP,
  WATERMARK FOR happened AS happened - INTERVAL '1' SECOND);
CREATE SOURCE feed (k VARCHAR, millis BIGINT, v DOUBLE, received_at TIMESTAMP, clock AS PROCTIME(),
  twice AS v * 2, event_time AS TO_TIMESTAMP_MS(millis),
  WATERMARK FOR event_time AS event_time - INTERVAL '1' SECOND);
CREATE SOURCE wire (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
  WITH (connector = 'kafka', topic = 't', 'bootstrap.servers' = 'b:9092', format = 'json');
CREATE TABLE symbols (symbol VARCHAR, sector VARCHAR, lot BIGINT) WITH (connector = 'file', path = 'symbols.csv');
CREATE TABLE owners (who VARCHAR, symbol VARCHAR) WITH (connector = 'file', path = 'owners.csv');
"""
CLOCK_US = instant("2026-01-01T00:00:00.5")
SYMBOLS: list[dict[str, Any]] = [
    {"symbol": "A", "sector": "tech", "lot": 100},
    {"symbol": "é😀", "sector": None, "lot": 1},
    {"symbol": "B", "sector": "food", "lot": None},
    {"symbol": "B", "sector": "tech", "lot": 7},
    {"symbol": None, "sector": "tech", "lot": 3},
    {"symbol": "", "sector": "", "lot": 0},
]
OWNERS: list[dict[str, Any]] = [{"who": "x", "symbol": "A"}, {"who": "y", "symbol": "B"}]
TABLES = {"symbols": SYMBOLS, "owners": OWNERS}

_NEGATIVE_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]
_DOUBLES = (
    0.0, -0.0, 1.0, 1.5, -2.25, 3.0, 100.0, 1e-9, 12345.678, 1e15 + 0.5, 1e300, -1e300, 5e-324,
    float("inf"), float("-inf"), float("nan"), _NEGATIVE_NAN,
)  # fmt: skip
_TIMES = (
    0, -1, 1, 9_999_999, 10 * SECOND, 10 * SECOND - 1, 10 * SECOND + 1, 1_001_000, 1_000_999, 3 * SECOND,
    -10 * SECOND, -10 * SECOND - 1, MIN_EVENT_TIME_US, MIN_EVENT_TIME_US + 7, MIN_EVENT_TIME_US - 1,
    MAX_EVENT_TIME_US, MAX_EVENT_TIME_US - 11, MAX_EVENT_TIME_US + 1, MAX, MIN, CLOCK_US,
)  # fmt: skip
_POOLS: dict[DataType, tuple[Any, ...]] = {
    Scalar.VARCHAR: ("A", "B", "", "é😀", "e\u0301", "x" * 40, "12", "-7", "1.5", "2020-02-30", "a\x00b"),
    Scalar.BIGINT: (0, 1, -1, 2, 3, 7, -7, 100, 1000, 2**31, 2**53 + 1, MAX, MAX - 1, MIN, MIN + 1),
    Scalar.INTEGER: (0, 1, -1, 2, 3, 2**31 - 1, -(2**31)),
    Scalar.SMALLINT: (0, 1, 2, 5, -3, 2**15 - 1, -(2**15)),
    Scalar.DOUBLE: _DOUBLES,
    Scalar.REAL: (0.0, -0.0, 1.5, -2.25, 16777216.0, float("inf"), float("nan")),
    Scalar.BOOLEAN: (True, False),
    Scalar.DATE: (0, -1, 18321, -719162, 2932896),
    Scalar.BINARY: (b"", b"a", b"\x00\xff", b"\x80"),
    Scalar.TIMESTAMP: _TIMES,
    Decimal(10, 2): tuple(map(Number, ("0", "0.01", "-0.01", "99999999.99", "-99999999.99", "2.50"))),
    Decimal(38, 18): tuple(
        Number(text)
        for text in ("0", "1.5", "-0.000000000000000001", f"{'9' * 20}.{'9' * 18}", f"-{'9' * 20}.{'9' * 18}")
    ),
    Decimal(38, 0): tuple(Number(text) for text in ("0", "7", "9" * 38, "-" + "9" * 38, "1" + "0" * 37)),
    Array(Scalar.VARCHAR): ([], ["a"], ["a", None], ["b", "a"]),
}  # fmt: skip


def schema_of(program: Program, name: str) -> Schema:
    """The physical columns of a source or table."""
    definition = program.catalog.find(name)
    assert isinstance(definition, (SourceDef, TableDef))
    return definition.physical


def rows_of(schema: Schema, *, seed: int, count: int) -> list[dict[str, Any]]:
    """Random rows; every third column value is from a few, so that groups and ties come about."""
    draw = random.Random(seed)
    return [{column.name: _value(column.type, draw) for column in schema} for _ in range(count)]


def _value(kind: DataType, draw: random.Random) -> Any:
    if draw.random() < 0.12:
        return None
    if kind is Scalar.TIMESTAMP and draw.random() < 0.75:
        return draw.choice((0, 0, -30 * SECOND, 86_400 * SECOND)) + draw.randrange(40) * SECOND // 2
    pool = _POOLS[kind]
    return draw.choice(pool[:4] if draw.random() < 0.4 else pool)


def arrow_type(kind: DataType, zone: str | None = None) -> pa.DataType:
    match kind:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element, zone))
        case Scalar.TIMESTAMP:
            return pa.timestamp("us", zone)
        case _:
            return _ARROW[kind]


_ARROW: dict[DataType, pa.DataType] = {
    Scalar.VARCHAR: pa.string(),
    Scalar.BIGINT: pa.int64(),
    Scalar.INTEGER: pa.int32(),
    Scalar.SMALLINT: pa.int16(),
    Scalar.DOUBLE: pa.float64(),
    Scalar.REAL: pa.float32(),
    Scalar.BOOLEAN: pa.bool_(),
    Scalar.DATE: pa.date32(),
    Scalar.BINARY: pa.binary(),
}


def table_of(schema: Schema, rows: list[dict[str, Any]], *, zone: str | None = None) -> pa.Table:
    columns = {}
    for column in schema:
        kind = arrow_type(column.type, zone)
        columns[column.name] = pa.array([row[column.name] for row in rows], kind)
    return pa.table(columns)
