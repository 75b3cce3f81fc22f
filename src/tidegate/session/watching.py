"""Who hears what a session's engine emits: subscriptions, tables of current rows, side outputs.

Decided here: what is kept for those who ask later is bounded. A table keeps the newest million rows of a stream that
only appends; of diverted rows the newest 100 000 wait to be asked for. Totals count all of them.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from tidegate.connectors.memory import stream_schema
from tidegate.engines.epochs import Listener
from tidegate.engines.sides import Payload
from tidegate.engines.stage import Made
from tidegate.engines.views import CurrentRows, as_seen
from tidegate.model.policies import SideKind, StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.script import Program
from tidegate.session.answers import Subscription
from tidegate.session.stamped import Stamped

_LOG = logging.getLogger("tidegate")
_MOST_ROWS = 1_000_000
_MOST_PAYLOADS = 100_000


class Watching:
    """Everything by lower-case name of the stream."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._views: dict[str, CurrentRows] = {}
        self._sides: dict[str, deque[Payload]] = {
            kind.value: deque(maxlen=_MOST_PAYLOADS) for kind in SideKind
        }

    def listener(self, program: Callable[[], Program]) -> Listener:
        """What the engine tells; `program` is the one that runs when it does."""

        stamped = Stamped(_LOG.warning)

        def made(stage: str, done: Made) -> None:
            stamped.made(stage, done)
            query = program().query(stage)
            if query is not None:
                self._emitted(stage.lower(), done, keep=not query.anonymous)

        return Listener(made=made, diverted=self._diverted)

    def _emitted(self, name: str, done: Made, *, keep: bool) -> None:
        if not done.emitted.rows.num_rows:
            return
        with self._lock:
            if keep:
                if name not in self._views:
                    schema = done.emitted.rows.schema
                    self._views[name] = CurrentRows(schema, most=_MOST_ROWS)
                self._views[name].add(done.emitted)
            listening = [*self._subscriptions.get(name, ())]
        if listening:
            batch = as_seen(done.emitted)
            for subscription in listening:
                subscription.put(batch)

    def _diverted(self, payloads: Sequence[Payload]) -> None:
        with self._lock:
            for payload in payloads:
                self._sides[payload["kind"]].append(payload)

    def subscribe(
        self,
        name: str,
        schema: pa.Schema,
        *,
        alone: Callable[[], bool],
        close: Callable[[], None] | None,
        ended: bool,
    ) -> Subscription:
        own: list[Subscription] = []

        def leave() -> None:
            with self._lock:
                self._subscriptions[name.lower()].remove(own[0])
            if close is not None:
                close()

        made = Subscription(schema, alone=lambda: alone() and _last_thread(), close=leave)
        own.append(made)
        with self._lock:
            self._subscriptions.setdefault(name.lower(), []).append(made)
        if ended:
            made.finish()
        return made

    def table(self, name: str, schema: Schema) -> pa.Table:
        with self._lock:
            view = self._views.get(name.lower())
            if view is None:
                return stream_schema(schema, StreamKind.APPEND).empty_table()
            return view.table()

    def take_side(self, kind: str) -> list[dict[str, Any]]:
        with self._lock:
            taken = [*self._sides[kind]]
            self._sides[kind].clear()
        return taken

    def finish(self, failure: BaseException | None = None) -> None:
        """The input has ended, or the session is closed."""
        with self._lock:
            every = [one for some in self._subscriptions.values() for one in some]
        for subscription in every:
            subscription.finish(failure)


def _last_thread() -> bool:
    """Whether no other thread is there that could insert anything; those of our own cannot."""
    here = threading.current_thread()
    return all(one is here or one.name.startswith("tidegate") for one in threading.enumerate())
