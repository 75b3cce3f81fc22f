"""Messages as rows: every format, what is no row, and what comes beside."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.connectors.reading import source_def
from tests.planning import refusal
from tidegate.connectors.kafka.records import Layout
from tidegate.connectors.protocols import Delivery


@dataclass(frozen=True)
class Fake:
    """A message as the library gives it."""

    its_value: bytes | None
    its_key: bytes | None = None
    its_offset: int = 0
    its_headers: list[tuple[str, bytes]] = field(default_factory=list)
    stamped: tuple[int, int] = (1, 1_767_225_600_000)

    def value(self) -> bytes | None:
        return self.its_value

    def key(self) -> bytes | None:
        return self.its_key

    def offset(self) -> int:
        return self.its_offset

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 3

    def headers(self) -> list[tuple[str, bytes]] | None:
        return self.its_headers or None

    def timestamp(self) -> tuple[int, int]:
        return self.stamped


def delivered(columns: str, *messages: Fake, **options: str) -> Delivery:
    definition = source_def(columns, connector="kafka", topic="t", **options)
    layout = Layout(
        schema=definition.physical,
        metadata=definition.metadata,
        format=str(definition.options.get("format", "json")),
        delimiter=str(definition.options.get("delimiter", ",")),
    )
    return layout.build().delivery(messages)


def rows(delivery: Delivery) -> list[dict[str, Any]]:
    table = delivery.rows
    return [
        dict(row)
        for row in table.select([n for n in table.column_names if n[0] != "$"]).to_pylist()
    ]


def test_json_whatever_line_breaks_there_are() -> None:
    found = delivered(
        "a BIGINT, b VARCHAR",
        Fake(b'{"a": 1, "b": "x"}'),
        Fake(b'{\n "a": 2\n}'),
        Fake(b'{"a": 3, "b": "y\\nz"}\r\n'),
    )
    assert rows(found) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "y\nz"}]
    assert not found.malformed


def test_each_message_that_is_no_row_costs_no_other() -> None:
    poison = [b"{", b'{"a": "x"}', b'{"a": 1}{"a": 2}', b"", b"  \n", None, b"\xff", b"[1]"]
    messages = []
    for place in range(200):
        messages.append(Fake(f'{{"a": {place}}}'.encode(), its_offset=place))
        messages.append(Fake(poison[place % 8], its_key=b"k"))
    found = delivered("a BIGINT, o BIGINT METADATA FROM 'offset'", *messages)
    assert rows(found) == [{"a": place, "o": place} for place in range(200)]
    assert len(found.malformed) == 200
    assert [it.text for it in found.malformed[:8]] == [
        "{", '{"a": "x"}', '{"a": 1}{"a": 2}', "k", "k", "k", "\\xff", "[1]",
    ]  # fmt: skip
    assert "tombstone" in found.malformed[5].detail
    assert "empty" in found.malformed[3].detail


def test_csv_goes_by_the_order_of_columns() -> None:
    found = delivered(
        "k VARCHAR METADATA FROM 'key', a BIGINT, b VARCHAR",
        Fake(b"1,x", b"p"),
        Fake(b"no", b"q"),
        Fake(b'2,"y,z"', b"r"),
        Fake(b'3,"open', b"s"),
        Fake(b"4,\xc3\xa4", b"t"),
        format="csv",
    )
    assert rows(found) == [
        {"k": "p", "a": 1, "b": "x"},
        {"k": "r", "a": 2, "b": "y,z"},
        {"k": "t", "a": 4, "b": "ä"},
    ]
    assert [it.text for it in found.malformed] == ["no", '3,"open']


def test_csv_with_another_delimiter() -> None:
    found = delivered("a BIGINT, b BIGINT", Fake(b"1;2"), format="csv", delimiter=";")
    assert rows(found) == [{"a": 1, "b": 2}]


def test_raw_values() -> None:
    as_text = delivered("v VARCHAR", Fake(b"a"), Fake(b""), Fake(None), Fake(b"\xff"), format="raw")
    assert rows(as_text) == [{"v": "a"}, {"v": ""}, {"v": None}]
    assert [it.detail for it in as_text.malformed] == ["byte 0 of the value is not UTF-8"]
    as_bytes = delivered("v BINARY", Fake(b"\xff"), Fake(None), format="raw")
    assert rows(as_bytes) == [{"v": b"\xff"}, {"v": None}]


def test_what_comes_beside() -> None:
    found = delivered(
        "t VARCHAR METADATA FROM 'topic', p INT METADATA FROM 'partition', offset BIGINT METADATA VIRTUAL,"
        "at TIMESTAMP METADATA FROM 'timestamp', how VARCHAR METADATA FROM 'timestamp-type',"
        "k BINARY METADATA FROM 'key', h MAP<VARCHAR, BINARY> METADATA FROM 'headers'",
        Fake(b"", b"\xff", 7, [("a", b"1"), ("a", b"2"), ("b", b"")]),
        Fake(None, None, 8, stamped=(0, -1)),
    )
    assert not found.malformed
    first, second = rows(found)
    assert first.pop("at").isoformat() == "2026-01-01T00:00:00+00:00"
    assert first == {
        "t": "t", "p": 3, "offset": 7, "how": "CreateTime", "k": b"\xff", "h": [("a", b"2"), ("b", b"")],
    }  # fmt: skip
    assert second == {
        "t": "t", "p": 3, "offset": 8, "at": None, "how": None, "k": None, "h": [],
    }  # fmt: skip
    assert found.rows.column("$partition").to_pylist() == [3, 3]
    assert found.rows.column("$source_time").null_count == 1


def test_keys_and_headers_that_are_to_be_text() -> None:
    found = delivered(
        "a BIGINT, k VARCHAR METADATA FROM 'key', h MAP<VARCHAR, VARCHAR> METADATA FROM 'headers'",
        Fake(b'{"a": 1}', b"x", its_headers=[("n", b"v")]),
        Fake(b'{"a": 2}', b"\xff"),
        Fake(b'{"a": 3}', b"y", its_headers=[("n", b"\xff")]),
    )
    assert rows(found) == [{"a": 1, "k": "x", "h": [("n", "v")]}]
    assert [it.detail for it in found.malformed] == [
        "byte 0 of the key is not UTF-8",
        "byte 0 of header n is not UTF-8",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "CREATE SOURCE s («a INT METADATA FROM 'ofset'») WITH (connector = 'kafka', topic = 't')",
            "METADATA FROM 'ofset': connector kafka has no such metadata",
        ),
        (
            "CREATE SOURCE s («offset VARCHAR METADATA») WITH (connector = 'kafka', topic = 't')",
            "METADATA FROM 'offset': it is BIGINT, offset is VARCHAR",
        ),
        (
            "CREATE SOURCE s («a BIGINT METADATA FROM 'offset'»)",
            "METADATA FROM 'offset': connector memory has no such metadata",
        ),
        (
            "CREATE TABLE s («a BIGINT METADATA FROM 'offset'»)",
            "METADATA FROM 'offset': records of a table have none",
        ),
    ],
)
def test_metadata_that_is_not_there(text: str, said: str) -> None:
    error = refusal(text)
    assert (error.code, error.message) == ("TG-4016", said)
