"""The page's server: standard library, a thread per client, loopback unless another address is asked for.

Decided here: on loopback whoever has an account on the machine may look, but only by a loopback name in the URL, so
that no web page elsewhere can (DNS rebinding). On any other address a token is needed, which is made anew for each run
and printed with the URL. Nothing can be changed through the page; it has no request that does anything.
"""

import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

from tidegate import errors
from tidegate.dashboard.board import Board

_STATIC = Path(__file__).with_name("static")
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/draw.js": ("draw.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
_WAIT_S = 5.0


def address(text: str) -> tuple[str, int]:
    """`PORT`, or `HOST:PORT`; 0 is any port that is free.

    >>> address("8080"), address("0.0.0.0:80"), address("[::1]:80")
    (('127.0.0.1', 8080), ('0.0.0.0', 80), ('::1', 80))
    """
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise errors.bad_address(text=text)
    return host.strip("[]") or "127.0.0.1", int(port)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


class Page:
    """One server. Closing it ends all connections."""

    def __init__(self, board: Board, host: str, port: int) -> None:
        self._over = Event()
        self.token = "" if is_loopback(host) else secrets.token_urlsafe(16)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        kind = type("_Server", (_Server,), {"address_family": family})
        handler = partial(_Handler, board=board, token=self.token, over=self._over)
        try:
            self._server = kind((host, port), handler)
        except OSError as problem:
            raise errors.no_page(
                address=f"{host}:{port}", problem=problem.strerror or problem
            ) from None
        self._host = host
        self._thread = Thread(target=self._server.serve_forever, name="tidegate-page", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        token = f"?token={self.token}" if self.token else ""
        return f"http://{host}:{self._server.server_address[1]}/{token}"

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object, board: Board, token: str, over: Event) -> None:
        self._board, self._token, self._over = board, token, over
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(asked.query).items()}
        refusal = self._refusal(query)
        if refusal is not None:
            self._send(refusal, "text/plain; charset=utf-8", refusal.phrase.encode())
        elif asked.path in _FILES:
            self._send_file(asked.path, query)
        elif asked.path == "/api/texts":
            self._send_json(self._board.texts())
        elif asked.path == "/api/history":
            self._send_json(self._board.history(query.get("stream", "")))
        elif asked.path == "/api/live":
            self._send_live(query.get("stream", ""))
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"Not Found")

    def _refusal(self, query: dict[str, str]) -> HTTPStatus | None:
        if not self._token:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
            return None if name in _LOCAL_NAMES else HTTPStatus.MISDIRECTED_REQUEST
        given = query.get("token") or self._cookie()
        if hmac.compare_digest(given.encode(), self._token.encode()):
            return None
        return HTTPStatus.FORBIDDEN

    def _cookie(self) -> str:
        for part in self.headers.get("Cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == "tidegate":
                return value
        return ""

    def _send_file(self, path: str, query: dict[str, str]) -> None:
        name, kind = _FILES[path]
        cookie = query.get("token", "")
        self._send(HTTPStatus.OK, kind, (_STATIC / name).read_bytes(), cookie=cookie)

    def _send_json(self, found: object) -> None:
        self._send(HTTPStatus.OK, "application/json", json.dumps(found).encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes, *, cookie: str = "") -> None:
        self.send_response(status)
        self._send_heads(kind)
        self.send_header("Content-Length", str(len(body)))
        if cookie:
            self.send_header("Set-Cookie", f"tidegate={cookie}; HttpOnly; SameSite=Strict; Path=/")
        self.end_headers()
        self.wfile.write(body)

    def _send_heads(self, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")

    def _send_live(self, stream: str) -> None:
        """Pictures as they come: server-sent events."""
        self.send_response(HTTPStatus.OK)
        self._send_heads("text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self._board.watch(stream, more=1)
        try:
            for text in self._events():
                self.wfile.write(text.encode())
                self.wfile.flush()
        except OSError:
            pass  # the browser has gone
        finally:
            self._board.watch(stream, more=-1)

    def _events(self) -> Iterator[str]:
        number = 0
        while not self._over.is_set():
            newest, picture = self._board.newer(number, _WAIT_S)
            if newest > number:
                number = newest
                yield f"data: {json.dumps(picture, default=str)}\n\n"
            else:
                yield ": still here\n\n"

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""
