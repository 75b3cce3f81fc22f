"""Which connectors can run in this process, by name.

Decided here: a connector is one `Connector` record that its module calls `CONNECTOR`; the module is imported when a
definition names it. Others' own are found by the entry-point group `tidegate.connectors`, whose names are the
connectors' names and whose objects are such records with a `spec`; a name that is built in cannot be taken over. What a
connector may be called in SQL, and its options, is said by `model/connectors.py`, not here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeAlias

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.protocols import SinkWriter, SourceReader
from tidegate.model.connectors import ENTRY_POINTS, ConnectorSpec
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef, SourceDef, TableDef

OpenSource: TypeAlias = Callable[[SourceDef, bool | None], SourceReader]
OpenSink: TypeAlias = Callable[[SinkDef, Schema, StreamKind], SinkWriter]
ReadTable: TypeAlias = Callable[[TableDef], pa.Table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """What a connector can do in process; None is what it cannot. `spec` describes one of another package."""

    spec: ConnectorSpec | None = None
    source: OpenSource | None = None
    sink: OpenSink | None = None
    table: ReadTable | None = None


_BUILT_IN = {
    "file": "tidegate.connectors.files",
    "generator": "tidegate.connectors.generator",
    "memory": "tidegate.connectors.memory",
    "console": "tidegate.connectors.console",
    "callback": "tidegate.connectors.callback",
    "kafka": "tidegate.connectors.kafka",
    "http": "tidegate.connectors.http",
    "socket": "tidegate.connectors.sockets",
    "postgres": "tidegate.connectors.postgres",
}
_ABLE = {
    "source": "file, kafka, http, socket, generator",
    "sink": "file, kafka, postgres, http, memory, console",
    "table": "file, postgres",
}


def open_source(definition: SourceDef, *, bounded: bool | None = None) -> SourceReader:
    """A reader of the source. `bounded` True reads what is there now, False waits for more; None is as declared."""
    connector = _find(definition.connector)
    if connector is None or connector.source is None:
        raise _refusal(definition.connector, "source")
    return connector.source(definition, bounded)


def open_sink(definition: SinkDef, schema: Schema, kind: StreamKind) -> SinkWriter:
    """A writer for rows with the columns of `schema`; `_op` comes in front of them unless the stream appends."""
    connector = _find(definition.connector)
    if connector is None or connector.sink is None:
        raise _refusal(definition.connector, "sink")
    return connector.sink(definition, schema, kind)


def read_table(definition: TableDef) -> pa.Table:
    """All rows of a static table: its physical columns, in the kernel's Arrow types."""
    connector = _find(definition.connector)
    if connector is None or connector.table is None:
        raise _refusal(definition.connector, "table")
    return connector.table(definition)


def _find(name: str) -> Connector | None:
    module = _BUILT_IN.get(name)
    if module is not None:
        found: Connector = import_module(module).CONNECTOR
        return found
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        loaded: Connector = entry.load()
        return loaded
    return None


def _refusal(name: str, role: str) -> errors.TidegateError:
    return errors.connector_not_in_process(name=name, role=role, able=_ABLE[role])
