"""Tables of a real PostgreSQL: rows in by every kind of stream, each epoch once, and rows out again."""

import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.connectors.reading import sink_def, source_def, table_def
from tests.services.kafka import free_ports
from tests.services.postgres import Server
from tidegate.connectors import open_sink, read_table
from tidegate.connectors.postgres.sink import PostgresSink
from tidegate.connectors.protocols import Resumed
from tidegate.errors import TidegateError
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema

pytestmark = pytest.mark.postgres
OPENED: list[PostgresSink] = []
COLUMNS = "k VARCHAR, n BIGINT"
EVERY = (
    "b BOOLEAN, i INT, d DECIMAL(10, 2), x DOUBLE, s VARCHAR, r BINARY, day DATE, ts TIMESTAMP, "
    "a ARRAY<BIGINT>, m MAP<VARCHAR, BIGINT>"
)


def schema(columns: str = COLUMNS) -> Schema:
    return source_def(columns, connector="memory").physical


def a_table() -> str:
    return f"t{uuid.uuid4().hex[:8]}"


def opened(
    server: Server, table: str, kind: StreamKind = StreamKind.APPEND, **given: Any
) -> PostgresSink:
    definition = sink_def("postgres", url=server.url, table=table, **given)
    definition.options["connection.timeout"] = 20_000_000
    sink = open_sink(definition, schema(), kind)
    assert isinstance(sink, PostgresSink)
    OPENED.append(sink)
    return sink


@pytest.fixture(autouse=True)
def close_all() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def rows(*pairs: tuple[str | None, int]) -> pa.Table:
    keys, numbers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return pa.table({"k": pa.array(keys, pa.string()), "n": pa.array(numbers, pa.int64())})


def changes(*triples: tuple[str, str, int]) -> pa.Table:
    table = rows(*((key, number) for _, key, number in triples))
    return table.add_column(0, "_op", pa.array([operation for operation, _, _ in triples]))


def found(server: Server, table: str) -> list[tuple[Any, ...]]:
    return server.rows(f'SELECT k, n FROM "{table}" ORDER BY k, n')


def test_rows_are_added(postgres: Server) -> None:
    table = a_table()
    sink = opened(postgres, table)
    sink.write(0, rows(("a", 1), (None, 2)))
    sink.write(1, rows(("a", 1)))
    assert found(postgres, table) == [("a", 1), ("a", 1), (None, 2)]


@pytest.mark.parametrize("kind", [StreamKind.UPSERT, StreamKind.CHANGELOG])
def test_rows_replace_each_other_by_their_key(postgres: Server, kind: StreamKind) -> None:
    table = a_table()
    sink = opened(postgres, table, kind, **{"key.fields": "K"})
    sink.write(0, changes(("+U", "a", 1), ("+U", "b", 2), ("+U", "c", 3)))
    sink.write(
        1, changes(("-U", "a", 1), ("+U", "a", 5), ("-D", "b", 2), ("-D", "c", 3), ("+U", "c", 4))
    )
    assert found(postgres, table) == [("a", 5), ("c", 4)]


def test_the_key_is_that_of_the_table(postgres: Server) -> None:
    table = a_table()
    postgres.rows(f"CREATE TABLE \"{table}\" (k text PRIMARY KEY, n bigint, more text DEFAULT 'x')")
    opened(postgres, table, StreamKind.UPSERT).write(0, changes(("+U", "a", 1)))
    opened(postgres, table, StreamKind.UPSERT).write(1, changes(("+U", "a", 2)))
    assert found(postgres, table) == [("a", 2)]


def test_without_a_key(postgres: Server) -> None:
    with pytest.raises(TidegateError, match="TG-6015: sink out takes upsert rows and has no key"):
        opened(postgres, a_table(), StreamKind.UPSERT)
    with pytest.raises(TidegateError, match=r"there is no column kk; did you mean k\?"):
        opened(postgres, a_table(), StreamKind.APPEND, **{"key.fields": "kk"})


def again(
    server: Server, table: str, epoch: int, *, repeats: bool, run: str | None
) -> PostgresSink:
    sink = opened(server, table)
    sink.resume(Resumed(run=run, epoch=epoch, repeats=repeats))
    return sink


def test_an_epoch_that_comes_again_is_there_once(postgres: Server) -> None:
    table = a_table()
    first = again(postgres, table, -1, repeats=False, run=table)
    first.write(0, rows(("a", 0)))
    first.write(1, rows(("a", 1)))
    second = again(postgres, table, 0, repeats=True, run=table)
    second.write(1, rows(("a", 1)))
    second.write(2, rows(("a", 2)))
    assert found(postgres, table) == [("a", 0), ("a", 1), ("a", 2)]
    third = again(postgres, table, 1, repeats=False, run=table)
    third.write(2, rows(("b", 7)))
    assert ("b", 7) in found(postgres, table)
    with pytest.raises(TidegateError, match="TG-6014: sink out has epoch 2"):
        again(postgres, table, 0, repeats=True, run=table)


def test_a_failed_epoch_leaves_nothing(postgres: Server) -> None:
    table = a_table()
    postgres.rows(f'CREATE TABLE "{table}" (k text NOT NULL, n bigint)')
    sink = again(postgres, table, -1, repeats=False, run=table)
    with pytest.raises(TidegateError, match=r"TG-6013: postgres .* refuses: null value") as caught:
        sink.write(0, rows(("a", 1), (None, 2)))
    assert caught.value.exit_code == 4
    assert found(postgres, table) == []


def test_the_server_restarts(postgres: Server) -> None:
    table = a_table()
    sink = again(postgres, table, -1, repeats=False, run=table)
    sink.write(0, rows(("a", 0)))
    postgres.stop()
    postgres.start()
    sink.write(1, rows(("a", 1)))
    assert found(postgres, table) == [("a", 0), ("a", 1)]


def test_nobody_answers() -> None:
    (port,) = free_ports(1)
    url = f"postgresql://me:hidden@127.0.0.1:{port}/db"
    with pytest.raises(TidegateError, match=f"TG-6010: postgres at 127.0.0.1:{port}/db") as caught:
        open_sink(sink_def("postgres", url=url, table="t"), schema(), StreamKind.APPEND)
    assert "hidden" not in str(caught.value)


def test_rows_of_every_type_come_back(postgres: Server) -> None:
    import datetime
    import decimal

    table = a_table()
    definition = sink_def("postgres", url=postgres.url, table=table)
    made = open_sink(definition, schema(EVERY), StreamKind.APPEND)
    noon = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    row = {
        "b": True, "i": 1, "d": decimal.Decimal("1.50"), "x": 0.5, "s": "ä'\"", "r": b"\x00\xff",
        "day": datetime.date(2026, 1, 2), "ts": noon, "a": [1, None], "m": [("p", 1)],
    }  # fmt: skip
    nothing = dict.fromkeys(row)
    from tidegate.connectors.memory import stream_schema

    arrow = stream_schema(schema(EVERY), StreamKind.APPEND)
    made.write(0, pa.Table.from_pylist([row, nothing], schema=arrow))
    made.close()
    columns = EVERY.replace(", m MAP<VARCHAR, BIGINT>", ", m VARCHAR")
    read = read_table(table_def(columns, connector="postgres", url=postgres.url, table=table))
    first, second = read.to_pylist()
    assert first == {**row, "m": '{"p": 1}'}
    assert second == nothing


def test_a_table_that_is_not_there(postgres: Server) -> None:
    definition = table_def("n BIGINT", connector="postgres", url=postgres.url, table="nowhere")
    with pytest.raises(TidegateError, match=r'TG-6013: .*relation "nowhere" does not exist'):
        read_table(definition)


def test_an_address_that_is_none() -> None:
    with pytest.raises(TidegateError, match="TG-4002: url = …: expected postgresql://"):
        open_sink(sink_def("postgres", url="what is this", table="t"), schema(), StreamKind.APPEND)
