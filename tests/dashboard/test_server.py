"""The page's server: who may look, what is sent, and that it goes away."""

import http.client
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidegate
from tests.dashboard.test_board import SQL
from tidegate.dashboard.board import Board
from tidegate.dashboard.server import Page, address, is_loopback
from tidegate.errors import TidegateError

STATIC = Path(tidegate.__file__).parent / "dashboard" / "static"


@pytest.fixture
def board() -> Iterator[Board]:
    with tidegate.connect(engine="local") as session:
        session.sql(SQL)
        made = Board(name="q.sql", engine="local", sql=SQL)
        made.look(session._running())
        yield made


@pytest.fixture
def page(board: Board) -> Iterator[Page]:
    made = Page(board, "127.0.0.1", 0)
    yield made
    made.close()


def get(page: Page, path: str, **heads: str) -> http.client.HTTPResponse:
    port = int(re.search(r":(\d+)/", page.url)[1])  # type: ignore[index]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=heads)
    return connection.getresponse()


@pytest.mark.parametrize("path", ["/", "/page.js", "/draw.js", "/page.css"])
def test_the_page_is_whole_and_asks_nobody_else(page: Page, path: str) -> None:
    found = get(page, path)
    text = found.read().decode()
    assert found.status == 200
    assert "default-src 'none'" in found.getheader("Content-Security-Policy", "")
    assert [url for url in re.findall(r"https?://[^\s'\"]+", text) if "w3.org" not in url] == []


def test_every_file_that_the_page_names_is_served(page: Page) -> None:
    text = (STATIC / "index.html").read_text()
    named = re.findall(r'(?:src|href)="(/[^"]+)"', text)
    assert len(named) == 3
    assert [get(page, path).status for path in named] == [200, 200, 200]


def test_every_place_that_the_script_fills_is_there() -> None:
    script = (STATIC / "page.js").read_text()
    wanted = set(re.findall(r'(?:\$|put)\("([\w-]+)"', script))
    there = set(re.findall(r'id="([\w-]+)"', (STATIC / "index.html").read_text()))
    assert len(wanted) > 20
    assert wanted <= there


def test_data(page: Page) -> None:
    assert json.loads(get(page, "/api/texts").read())["sql"] == SQL
    assert len(json.loads(get(page, "/api/history?stream=one").read())) == 1
    live = get(page, "/api/live?stream=one")
    assert live.getheader("Content-Type") == "text/event-stream"
    line = live.readline().decode()
    assert json.loads(line.removeprefix("data: "))["name"] == "q.sql"
    live.close()


@pytest.mark.parametrize(
    ("path", "status"), [("/nope", 404), ("/../board.py", 404), ("/static/page.js", 404)]
)
def test_nothing_else_is_served(page: Page, path: str, status: int) -> None:
    assert get(page, path).status == status


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:9", 200), ("evil.example", 421), ("localhost.evil", 421)],
)  # fmt: skip
def test_on_loopback_only_loopback_names_may_ask(page: Page, host: str, status: int) -> None:
    assert get(page, "/api/texts", Host=host).status == status


def test_elsewhere_a_token_is_needed(board: Board) -> None:
    page = Page(board, "0.0.0.0", 0)
    try:
        assert len(page.token) > 20
        assert page.url.endswith(f"?token={page.token}")
        assert get(page, "/").status == 403
        assert get(page, "/api/texts?token=wrong").status == 403
        first = get(page, f"/?token={page.token}")
        cookie = first.getheader("Set-Cookie", "")
        assert (first.status, "HttpOnly" in cookie, "SameSite=Strict" in cookie) == (
            200,
            True,
            True,
        )
        assert get(page, "/api/texts", Cookie=cookie.split(";")[0]).status == 200
        assert get(page, "/api/texts", Cookie="tidegate=wrong; a=b").status == 403
    finally:
        page.close()


def test_closing_ends_those_who_look(board: Board) -> None:
    page = Page(board, "127.0.0.1", 0)
    live = get(page, "/api/live")
    live.readline()
    reader = threading.Thread(target=live.read)
    reader.start()
    page.close()
    reader.join(timeout=30)
    assert not reader.is_alive()


@pytest.mark.parametrize("text", ["", "abc", "host:", "1:2:99999", "70000", "localhost:x"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(TidegateError, match="is no address") as caught:
        address(text)
    assert caught.value.code == "TG-4301"


def test_a_port_that_is_taken(page: Page) -> None:
    port = int(re.search(r":(\d+)/", page.url)[1])  # type: ignore[index]
    with pytest.raises(TidegateError, match="cannot be served") as caught:
        Page(Board(name="", engine="", sql=""), "127.0.0.1", port)
    assert caught.value.code == "TG-6301"


def test_which_hosts_are_this_one() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.0.0.9", "::1", "0.0.0.0", "example.org")] == [
        True, True, True, False, False,
    ]  # fmt: skip
