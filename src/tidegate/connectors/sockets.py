"""Lines from a TCP server.

Decided here: lines are kept on disk as they come (`spool.py`), so an epoch can be read again. What the server has sent
and we had not yet received when a run was killed is gone: the server cannot be asked again. When it closes the
connection, it is called again, and again, for `connection.timeout`; a bounded run ends there.
"""

import logging
import socket
import time
from threading import Event, Thread

from tidegate import errors
from tidegate.connectors.http.source import spool_place
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.connectors.registry import Connector
from tidegate.connectors.settings import Settings
from tidegate.connectors.spool import Spool, SpooledLines, is_raw
from tidegate.plan.catalog import SourceDef

_LOG = logging.getLogger("tidegate.socket")
_PAUSE_S = 0.2
_MOST_BYTES = 1 << 20


class SocketSource:
    """Calls a server, and takes what it sends."""

    def __init__(
        self,
        spool: Spool,
        lines: SpooledLines,
        address: tuple[str, int],
        *,
        timeout_us: int,
        bounded: bool,
    ) -> None:
        self._spool, self._lines, self._address = spool, lines, address
        self._timeout_us, self._bounded = timeout_us, bounded
        self._closing, self._hung_up = Event(), Event()
        self._failure: errors.TidegateError | None = None
        self._socket = self._call()
        self._thread = Thread(target=self._receive, daemon=True, name="tidegate-socket")
        self._thread.start()

    @property
    def _place(self) -> str:
        return f"{self._address[0]}:{self._address[1]}"

    def _call(self) -> socket.socket:
        until = time.monotonic() + self._timeout_us / 1e6
        while True:
            try:
                made = socket.create_connection(self._address, timeout=5)
                made.settimeout(_PAUSE_S)
                return made
            except OSError as problem:
                if time.monotonic() > until or self._closing.is_set():
                    raise errors.unreachable(
                        connector="socket", place=self._place, problem=problem
                    ) from None
                time.sleep(_PAUSE_S)

    def _receive(self) -> None:
        rest = b""
        while not self._closing.is_set():
            try:
                got = self._socket.recv(_MOST_BYTES)
            except TimeoutError:
                continue
            except OSError:
                got = b""
            if got:
                *lines, rest = (rest + got).split(b"\n")
                self._keep(lines)
                continue
            self._keep([rest])
            rest = b""
            if self._bounded or not self._call_again():
                break
        self._hung_up.set()

    def _keep(self, lines: list[bytes]) -> None:
        kept = [line.removesuffix(b"\r") for line in lines]
        kept = [line for line in kept if line and not line.isspace()]
        if kept:
            self._spool.add(kept)

    def _call_again(self) -> bool:
        if self._closing.is_set():
            return False
        _LOG.warning("socket %s has hung up; calling again", self._place)
        try:
            self._socket.close()
            self._socket = self._call()
        except errors.TidegateError as failure:
            self._failure = failure
            return False
        return True

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        found = self._lines.latest(after, max_rows=max_rows)
        if found is None and self._failure is not None:
            raise self._failure
        return found

    def read(self, after: Offset | None, until: Offset) -> Delivery:
        return self._lines.read(until)

    def ended(self, at: Offset | None) -> bool:
        if not self._bounded or not self._hung_up.is_set():
            return False
        return self._lines.latest(at, max_rows=1) is None

    def close(self) -> None:
        self._closing.set()
        self._thread.join(timeout=5)
        self._socket.close()
        self._spool.close()


def _open(definition: SourceDef, bounded: bool | None) -> SocketSource:
    settings = Settings("socket", definition.options)
    raw = settings.text("format") == "raw"
    if raw and not is_raw(definition.physical):
        raise settings.refusal("format", "a raw line is one column, VARCHAR")
    spool = Spool(spool_place(settings, definition))
    try:
        return SocketSource(
            spool,
            SpooledLines(spool, definition.physical, raw=raw),
            (str(settings.get("hostname")), settings.number("port") or 0),
            timeout_us=settings.number("connection.timeout") or 0,
            bounded=bool(bounded),
        )
    except errors.TidegateError:
        spool.close()
        raise


CONNECTOR = Connector(source=_open)
