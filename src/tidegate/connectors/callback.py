"""Rows handed to a Python function: how a program in the same process listens.

Decided here: the function sees an epoch at least once, after a crash perhaps again, and never an empty one. What it
raises is the caller's; a query does not go on as if its rows had been taken.
"""

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.registry import Connector
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef

Callback: TypeAlias = Callable[[int, pa.Table], object]


class CallbackSink:
    """Calls `function(epoch, rows)`.

    >>> seen = []
    >>> sink = CallbackSink(lambda epoch, rows: seen.append((epoch, rows.num_rows)))
    >>> sink.write(3, pa.table({"n": [1, 2]}))
    >>> sink.write(4, pa.table({"n": pa.array([], pa.int64())}))
    >>> seen
    [(3, 2)]
    """

    def __init__(self, function: Callback) -> None:
        self._function = function

    def write(self, epoch: int, rows: pa.Table) -> None:
        if rows.num_rows:
            self._function(epoch, rows)

    def close(self) -> None:
        """Nothing is held."""


def _open(definition: SinkDef, schema: Schema, kind: StreamKind) -> CallbackSink:
    raise errors.callback_without_function(name=definition.name)


CONNECTOR = Connector(sink=_open)
