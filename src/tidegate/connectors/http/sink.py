"""A sink that posts: the rows of an epoch as lines of JSON.

Decided here: a request that is not answered, or answered with 429 or 5xx, is sent again, after longer and longer
pauses, for `connection.timeout`; any other answer but 2xx says that it will never be taken, and ends the run. Nobody
can make another one's server forget, so rows are delivered at least once: each request has an `Idempotency-Key`, the
same when it is sent again, also after a crash, for servers that look at it.
"""

import io
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from urllib.parse import urlsplit

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.texts import write_json
from tidegate.connectors.protocols import Resumed
from tidegate.connectors.secrets import resolved
from tidegate.connectors.settings import Settings
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef

_ROWS = 10_000
_FIRST_S, _LONGEST_S, _ANSWER_S = 0.1, 5.0, 30.0
_HEADER = "header."


class HttpSink:
    """Posts epochs to one address."""

    def __init__(self, name: str, url: str, headers: Mapping[str, str], *, timeout_us: int) -> None:
        self._name, self._url, self._headers = name, url, headers
        self._timeout_us, self._run = timeout_us, "run"
        parts = urlsplit(url)
        self._place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def resume(self, resumed: Resumed) -> None:
        self._run = resumed.run or self._run

    def write(self, epoch: int, rows: pa.Table) -> None:
        for part, start in enumerate(range(0, rows.num_rows, _ROWS)):
            file = io.BytesIO()
            write_json(rows.slice(start, _ROWS), file)
            self._post(file.getvalue(), f"{self._run}-{self._name}-{epoch}-{part}")

    def _post(self, body: bytes, key: str) -> None:
        until = time.monotonic() + self._timeout_us / 1e6
        pause_s = _FIRST_S
        while True:
            problem = self._try(body, key)
            if problem is None:
                return
            if time.monotonic() + pause_s > until:
                raise errors.unreachable(connector="http", place=self._place, problem=problem)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_S)

    def _try(self, body: bytes, key: str) -> str | None:
        """None if it was taken, otherwise why it may be tried again."""
        headers = {"Content-Type": "application/x-ndjson", **self._headers, "Idempotency-Key": key}
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_S):
                return None
        except urllib.error.HTTPError as answer:
            with answer:
                text = f"{answer.code} {answer.reason}"
                if answer.code == 429 or answer.code >= 500:
                    return text
                raise errors.edge_refused(
                    connector="http", place=self._place, problem=text
                ) from None
        except (OSError, HTTPException) as problem:
            return str(getattr(problem, "reason", problem))

    def close(self) -> None:
        """No connection stays open."""


def open_http_sink(definition: SinkDef, schema: Schema, kind: StreamKind) -> HttpSink:
    settings = Settings("http", definition.options)
    url = resolved("url", str(settings.get("url")))
    if urlsplit(url).scheme not in ("http", "https"):
        raise settings.refusal("url", "expected where to post: https://example.org/rows")
    headers = {
        name.removeprefix(_HEADER): resolved(name, str(value))
        for name, value in definition.options.items()
        if name.startswith(_HEADER)
    }
    timeout_us = settings.number("connection.timeout") or 0
    return HttpSink(definition.name, url, headers, timeout_us=timeout_us)
