"""A table as a sink.

In: the rows of an epoch. Out: one transaction, in which the number of the epoch is noted in `tidegate_epochs`.

Decided here: as the note is part of the transaction, an epoch that comes again after a crash is passed over, whatever
kind of rows it has. With a key (`key.fields`, otherwise the table's primary key) rows replace each other by it, and one
that is gone is deleted; of several changes to a key within an epoch the last one is made. Where a stream replaces rows,
a key is needed. A table that is not there is made, with the columns of the stream and the key as its primary key. When
the connection is lost, the epoch is tried again for `connection.timeout`.
"""

import json
import logging
import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.texts import encoder
from tidegate.connectors.postgres.client import Database, library, quoted, table_name, type_name
from tidegate.connectors.protocols import Resumed
from tidegate.connectors.settings import Settings
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef

_LOG = logging.getLogger("tidegate.postgres")
_NOTES = "tidegate_epochs"
_OP = "_op"
_PAUSE_S = 0.2


class PostgresSink:
    """Writes epochs to one table."""

    def __init__(
        self, name: str, table: str, database: Database, schema: Schema, *, key: Sequence[str]
    ) -> None:
        self._name, self._table, self._database, self._schema = name, table, database, schema
        self._run: str | None = None
        self._has = -1
        self._connection: Any = database.connect()
        self._make(key)
        self._key = tuple(key) or self._primary_key()

    def _make(self, key: Sequence[str]) -> None:
        columns = [f"{quoted(it.name)} {type_name(it.type)}" for it in self._schema]
        if key:
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
        try:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} ({', '.join(columns)})"
            )
        except library().Error as problem:
            raise self._database.refused(problem) from None

    def _primary_key(self) -> tuple[str, ...]:
        """That of the table, if the stream has all of its columns."""
        rows = self._connection.execute(
            "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
            "AND a.attnum = ANY(i.indkey) WHERE i.indisprimary AND i.indrelid = %s::regclass",
            [self._table],
        ).fetchall()
        names = tuple(name for (name,) in rows)
        return names if set(names) <= set(self._schema.names) else ()

    def need_key(self, kind: StreamKind) -> None:
        if kind is not StreamKind.APPEND and not self._key:
            raise errors.key_needed(name=self._name, kind=kind, example=self._schema.names[0])

    def resume(self, resumed: Resumed) -> None:
        if resumed.run is None:
            return
        self._run = resumed.run
        notes = "run text, sink text, epoch bigint NOT NULL, PRIMARY KEY (run, sink)"
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {_NOTES} ({notes})")
        found = self._noted()
        if found > resumed.epoch + 1:
            raise errors.sink_is_ahead(name=self._name, found=found, known=resumed.epoch)
        self._has = found if resumed.repeats else min(found, resumed.epoch)

    def _noted(self) -> int:
        """The last epoch that the table has, -1 before the first."""
        found = self._connection.execute(
            f"SELECT epoch FROM {_NOTES} WHERE run = %s AND sink = %s", [self._run, self._name]
        ).fetchone()
        return -1 if found is None else int(found[0])

    # An epoch

    def write(self, epoch: int, rows: pa.Table) -> None:
        if not rows.num_rows or (self._run is not None and epoch <= self._has):
            return
        psycopg = library()
        until = time.monotonic() + self._database.timeout_us / 1e6
        while True:
            try:
                self._write(epoch, rows)
                self._has = epoch
                return
            except psycopg.OperationalError as problem:
                self._reconnect(problem, until)
                if self._run is not None and self._noted() >= epoch:
                    return  # it was the answer that was lost
            except psycopg.Error as problem:
                raise self._database.refused(problem) from None

    def _write(self, epoch: int, rows: pa.Table) -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            gone, come = self._changes(rows)
            if gone:
                cursor.executemany(self._delete, gone)
            if come:
                cursor.executemany(self._insert, come)
            if self._run is not None:
                cursor.execute(
                    f"INSERT INTO {_NOTES} VALUES (%s, %s, %s) "
                    "ON CONFLICT (run, sink) DO UPDATE SET epoch = EXCLUDED.epoch",
                    [self._run, self._name, epoch],
                )

    def _reconnect(self, problem: Exception, until: float) -> None:
        _LOG.warning("postgres at %s: %s; trying again", self._database.place, problem)
        while True:
            try:
                self._connection.close()
                self._connection = self._database.connect()
                return
            except errors.TidegateError:
                if time.monotonic() > until:
                    raise self._database.unreachable(problem) from None
                time.sleep(_PAUSE_S)

    def _changes(self, rows: pa.Table) -> tuple[list[list[Any]], list[list[Any]]]:
        """Keys that go, and rows that come; the last change of each key."""
        operations = rows.column(_OP).to_pylist() if _OP in rows.column_names else None
        values = list(zip(*(_values(rows.column(it.name)) for it in self._schema), strict=True))
        if not self._key:
            return [], [list(row) for row in values]
        places = [self._schema.names.index(name) for name in self._key]
        last: dict[tuple[Any, ...], tuple[str, tuple[Any, ...]]] = {}
        for number, row in enumerate(values):
            operation = "+U" if operations is None else operations[number]
            if operation != "-U":
                last[tuple(row[place] for place in places)] = operation, row
        gone = [list(key) for key, (operation, _) in last.items() if operation == "-D"]
        return gone, [list(row) for operation, row in last.values() if operation != "-D"]

    @property
    def _delete(self) -> str:
        where = " AND ".join(f"{quoted(name)} IS NOT DISTINCT FROM %s" for name in self._key)
        return f"DELETE FROM {self._table} WHERE {where}"

    @property
    def _insert(self) -> str:
        names = [quoted(name) for name in self._schema.names]
        marks = ", ".join(f"%s::{type_name(column.type)}" for column in self._schema)
        text = f"INSERT INTO {self._table} ({', '.join(names)}) VALUES ({marks})"
        if not self._key:
            return text
        key = [quoted(name) for name in self._key]
        others = [f"{name} = EXCLUDED.{name}" for name in names if name not in key]
        change = f"UPDATE SET {', '.join(others)}" if others else "NOTHING"
        return f"{text} ON CONFLICT ({', '.join(key)}) DO {change}"

    def close(self) -> None:
        self._connection.close()


def _values(column: pa.ChunkedArray) -> list[Any]:
    """As psycopg takes them; what PostgreSQL has no type for is JSON."""
    kind = column.type
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        encode = encoder(kind)
        return [
            None if value is None else json.dumps(json.loads(encode(value)))
            for value in column.to_pylist()
        ]
    return list(column.to_pylist())


def open_postgres_sink(definition: SinkDef, schema: Schema, kind: StreamKind) -> PostgresSink:
    """The sink; refused if the database does not answer, or rows replace each other and have no key."""
    settings = Settings("postgres", definition.options)
    names = (settings.text("key.fields") or "").replace(";", ",").split(",")
    key = []
    for name in filter(None, (name.strip() for name in names)):
        column = schema.find(name)
        if column is None:
            hint = errors.nearest(
                name, schema.names, otherwise=f"there are {', '.join(schema.names)}"
            )
            raise settings.refusal("key.fields", f"there is no column {name}; {hint}")
        key.append(column.name)
    database = Database(settings)
    sink = PostgresSink(definition.name, table_name(settings), database, schema, key=key)
    try:
        sink.need_key(kind)
    except errors.TidegateError:
        sink.close()
        raise
    return sink
