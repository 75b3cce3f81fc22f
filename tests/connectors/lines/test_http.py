"""Lines that are POSTed to us, and rows that we POST, with a server and a client of the tests' own."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from tests.connectors.reading import sink_def, source_def, stored
from tests.services.kafka import free_ports
from tidegate.connectors import open_sink, open_source
from tidegate.connectors.http.source import HttpSource
from tidegate.connectors.protocols import Offset, Resumed, SinkWriter
from tidegate.errors import TidegateError
from tidegate.model.policies import StreamKind


@contextmanager
def listening(place: Path, columns: str = "n BIGINT", **given: object) -> Iterator[HttpSource]:
    definition = source_def(
        columns, connector="http", url="http://127.0.0.1:0/in", spool=place, **given
    )
    reader = open_source(definition)
    assert isinstance(reader, HttpSource)
    try:
        yield reader
    finally:
        reader.close()


def post(reader: HttpSource, body: bytes, path: str = "/in", **headers: str) -> int:
    client = http.client.HTTPConnection("127.0.0.1", reader.port, timeout=10)
    client.request("POST", path, body, headers)
    answer = client.getresponse()
    answer.read()
    client.close()
    return answer.status


def latest(reader: HttpSource, after: Offset | None, most: int = 1_000) -> Offset | None:
    found = reader.latest(after, max_rows=most, now_us=0)
    return None if found is None else stored(found)


def test_lines_come_in_ranges(tmp_path: Path) -> None:
    with listening(tmp_path) as reader:
        assert latest(reader, None) is None
        assert post(reader, b'{"n": 1}\n{"n": 2}\r\n\n{"n":') == 200
        assert post(reader, b'{"n": 3}') == 200
        first = latest(reader, None, 2)
        assert first is not None
        assert reader.read(None, first).rows.column("n").to_pylist() == [1, 2]
        second = latest(reader, first)
        assert second is not None
        delivery = reader.read(first, second)
        assert delivery.rows.column("n").to_pylist() == [3]
        assert delivery.rows.column("$source_time").null_count == 0
        assert [it.text for it in delivery.malformed] == ['{"n":']
        assert latest(reader, second) is None
        assert not reader.ended(second)


def test_what_was_answered_is_there_after_a_crash(tmp_path: Path) -> None:
    with listening(tmp_path) as reader:
        assert post(reader, b'{"n": 1}\n{"n": 2}') == 200
        first = latest(reader, None, 1)
        assert first is not None
    (segment,) = tmp_path.glob("*.lines")
    segment.write_bytes(segment.read_bytes() + b'123\t{"n": 9')  # half a line, never acknowledged
    with listening(tmp_path) as reader:
        assert reader.read(None, first).rows.column("n").to_pylist() == [1]
        assert post(reader, b'{"n": 3}') == 200
        rest = latest(reader, first)
        assert rest is not None
        assert reader.read(first, rest).rows.column("n").to_pylist() == [2, 3]


def test_too_much_waits(tmp_path: Path) -> None:
    with listening(tmp_path, max_waiting="1KB") as reader:
        body = b'{"n": 1}\n' * 60
        assert [post(reader, body), post(reader, body)] == [200, 429]


def test_segments_of_real_epochs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.connectors.spool._SEGMENT_BYTES", 100)
    after, got = None, []
    with listening(tmp_path) as reader:
        for number in range(50):
            assert post(reader, json.dumps({"n": number}).encode()) == 200
        assert len([*tmp_path.glob("*.lines")]) > 5
        while (until := latest(reader, after, 7)) is not None:
            got += reader.read(after, until).rows.column("n").to_pylist()
            after = until
        assert got == [*range(50)]
        assert len([*tmp_path.glob("*.lines")]) == 1


def test_other_requests(tmp_path: Path) -> None:
    with listening(tmp_path) as reader:
        assert post(reader, b"{}", path="/elsewhere") == 404
        client = http.client.HTTPConnection("127.0.0.1", reader.port, timeout=10)
        client.putrequest("POST", "/in")
        client.endheaders()
        assert client.getresponse().status == 411
        client.close()


def test_raw_lines(tmp_path: Path) -> None:
    with listening(tmp_path, "line VARCHAR", format="raw") as reader:
        post(reader, b"a\n\xff\nb")
        until = latest(reader, None)
        assert until is not None
        delivery = reader.read(None, until)
        assert delivery.rows.column("line").to_pylist() == ["a", "b"]
        assert [it.text for it in delivery.malformed] == ["\\xff"]


def test_sources_that_cannot_be(tmp_path: Path) -> None:
    with listening(tmp_path / "a") as reader:
        url = f"http://127.0.0.1:{reader.port}/"
        taken = source_def("n BIGINT", connector="http", url=url, spool=tmp_path / "b")
        with pytest.raises(TidegateError, match=r"TG-6010: http at .* no listening there"):
            open_source(taken)
    definition = source_def("n BIGINT", connector="http", url="http://127.0.0.1:0/")
    with pytest.raises(TidegateError, match="TG-6006: it never ends"):
        open_source(definition, bounded=True)
    for given in ({"url": "127.0.0.1:80"}, {"url": "http://127.0.0.1:0/", "format": "raw"}):
        with pytest.raises(TidegateError, match="TG-4002"):
            open_source(source_def("n BIGINT", connector="http", spool=tmp_path / "c", **given))


# Posting


@dataclass
class Webhook:
    """Answers as it is told, 200 when nothing is left to tell; remembers what it took."""

    answers: list[int] = field(default_factory=list)
    taken: list[tuple[str, list[Any]]] = field(default_factory=list)
    seen: list[dict[str, str]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    hook = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.seen.append(dict(self.headers))
            status = hook.answers.pop(0) if hook.answers else 200
            if status == 200:
                rows = [json.loads(line) for line in body.splitlines()]
                hook.taken.append((self.headers["Idempotency-Key"], rows))
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    hook.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield hook
    server.shutdown()
    thread.join()
    server.server_close()


def posting(url: str, **given: str) -> SinkWriter:
    schema = source_def("n BIGINT", connector="memory").physical
    definition = sink_def("http", url=url, **given)
    definition.options["connection.timeout"] = 2_000_000
    return open_sink(definition, schema, StreamKind.APPEND)


def test_rows_are_posted_until_they_are_taken(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    webhook.answers += [503, 429]
    sink = posting(webhook.url, **{"header.Authorization": "Bearer ${env:TOKEN}"})
    sink.write(3, pa.table({"n": [1, 2]}))
    sink.write(4, pa.table({"n": pa.array([], pa.int64())}))
    assert webhook.taken == [("run-out-3-0", [{"n": 1}, {"n": 2}])]
    assert {it["Idempotency-Key"] for it in webhook.seen} == {"run-out-3-0"}
    assert {it["Authorization"] for it in webhook.seen} == {"Bearer secret"}
    sink.close()


def test_many_rows_are_several_requests_with_keys_that_stay(webhook: Webhook) -> None:
    sink = posting(webhook.url)
    sink.resume(Resumed(run="r", epoch=1, repeats=False))  # type: ignore[attr-defined]
    sink.write(2, pa.table({"n": [*range(25_000)]}))
    assert [(key, len(rows)) for key, rows in webhook.taken] == [
        ("r-out-2-0", 10_000), ("r-out-2-1", 10_000), ("r-out-2-2", 5_000),
    ]  # fmt: skip


def test_what_will_never_be_taken(webhook: Webhook) -> None:
    webhook.answers += [400]
    with pytest.raises(TidegateError, match=r"TG-6013: http http://127.* refuses: 400 Bad Request"):
        posting(webhook.url).write(0, pa.table({"n": [1]}))
    webhook.answers += [500] * 100
    with pytest.raises(TidegateError, match=r"TG-6010: http at .*/hook cannot be reached: 500"):
        posting(webhook.url).write(0, pa.table({"n": [1]}))


def test_nobody_listens() -> None:
    (port,) = free_ports(1)
    with pytest.raises(
        TidegateError, match=f"TG-6010: http at http://127.0.0.1:{port}/ cannot"
    ) as caught:
        posting(f"http://me:hidden@127.0.0.1:{port}/").write(0, pa.table({"n": [1]}))
    assert "hidden" not in str(caught.value)
    with pytest.raises(TidegateError, match="TG-4002: url = 'nowhere'"):
        posting("nowhere")
