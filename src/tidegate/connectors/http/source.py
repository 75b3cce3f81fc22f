"""A source that listens: each line of a POSTed body is a record.

Decided here: a request is answered with 200 when its lines are on disk (`spool.py`), so that they are in some epoch
even if the run is killed; who hears nothing, or something else, sends again. While more waits than `max_waiting` says,
requests are turned away with 429 and may come back after a second; while the run ends, with 503. A line that is no row
is found out when it is read, and diverted like one of a file.
"""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from tidegate import errors
from tidegate.connectors.protocols import Delivery, Offset
from tidegate.connectors.settings import Settings
from tidegate.connectors.spool import Spool, SpooledLines, is_raw
from tidegate.plan.catalog import SourceDef

_LARGEST_BODY = 64 << 20
_STATUS = {200: "OK", 404: "Not Found", 411: "Length Required", 413: "Content Too Large"}
Accept = Callable[[bytes], int]


class HttpSource:
    """Listens from when it is made until it is closed."""

    def __init__(self, spool: Spool, lines: SpooledLines, url: str, *, max_waiting: int) -> None:
        self._spool, self._lines, self._max_waiting = spool, lines, max_waiting
        parts = urlsplit(url)
        host, port = parts.hostname or "127.0.0.1", 80 if parts.port is None else parts.port
        handler = _handler(parts.path or "/", self._accept)
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as problem:
            raise errors.unreachable(
                connector="http", place=url, problem=f"no listening there: {problem.strerror}"
            ) from None
        self._server.daemon_threads = True
        self._closing = False
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True, name="tidegate-http").start()

    def _accept(self, body: bytes) -> int:
        """The status of an answer; the body's lines are kept if it is 200."""
        if self._closing:
            return 503
        if self._spool.held_bytes + len(body) > self._max_waiting:
            return 429
        lines = [line.removesuffix(b"\r") for line in body.split(b"\n")]
        kept = [line for line in lines if line and not line.isspace()]
        if kept:
            self._spool.add(kept)
        return 200

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        return self._lines.latest(after, max_rows=max_rows)

    def read(self, after: Offset | None, until: Offset) -> Delivery:
        return self._lines.read(until)

    def ended(self, at: Offset | None) -> bool:
        return False

    def close(self) -> None:
        self._closing = True
        self._server.shutdown()
        self._server.server_close()
        self._spool.close()


def _handler(path: str, accept: Accept) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_POST(self) -> None:  # the library's name
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal():
                self._answer(411)
            elif int(length) > _LARGEST_BODY:
                self._answer(413)
            else:
                body = self.rfile.read(int(length))
                found = urlsplit(self.path).path == path
                self._answer(accept(body) if found else 404)

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            if status in (429, 503):
                self.send_header("Retry-After", "1")
            if status in (411, 413):
                self.close_connection = True
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not logged; rows are counted."""

    return Handler


def open_http_source(definition: SourceDef, bounded: bool | None) -> HttpSource:
    """The source, listening; refused where the address is taken, or the run is to end with what is there."""
    settings = Settings("http", definition.options)
    refuse_end(definition, bounded)
    url = str(settings.get("url"))
    if urlsplit(url).scheme != "http":
        raise settings.refusal("url", "expected where to listen: http://127.0.0.1:8080/events")
    raw = settings.text("format") == "raw"
    if raw and not is_raw(definition.physical):
        raise settings.refusal("format", "a raw line is one column, VARCHAR")
    spool = Spool(spool_place(settings, definition))
    lines = SpooledLines(spool, definition.physical, raw=raw)
    try:
        return HttpSource(spool, lines, url, max_waiting=settings.number("max_waiting") or 0)
    except errors.TidegateError:
        spool.close()
        raise


def refuse_end(definition: SourceDef, bounded: bool | None) -> None:
    if bounded:
        hint = "run it without --bounded, and stop it when it is enough"
        raise errors.endless_source(name=definition.name, hint=hint)


def spool_place(settings: Settings, definition: SourceDef) -> Path:
    return Path(settings.text("spool") or f".tidegate/{definition.name.lower()}")
