"""The page in a real Chromium: nothing shifts, nothing fails, no control needs the mouse.

Needs `pip install playwright` and a Chromium on the path; skipped without them.
"""

import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import tidegate
from tests.dashboard.test_board import SQL
from tidegate.dashboard.board import Board
from tidegate.dashboard.server import Page

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the path"),
]
SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 1500);
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as made:
        opened = made.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A run that goes on: a row a tick, pictures ten times as often as usual."""
    over = threading.Event()
    ticks = iter(range(1, 1_000_000))
    board = Board(name="q.sql", engine="local", sql=SQL, clock=lambda: float(next(ticks)))
    page = Page(board, "127.0.0.1", 0)
    with tidegate.connect(engine="local") as session:
        session.sql(SQL)

        def run() -> None:
            for second in range(1_000_000):
                session.insert("a", [{"k": "x", "ts": second * 7_000}])
                board.look(session._running())
                if over.wait(0.1):
                    return

        runner = threading.Thread(target=run)
        runner.start()
        yield page.url
        over.set()
        runner.join()
        page.close()


@pytest.fixture(params=[(1240, 900, "light"), (1240, 900, "dark"), (400, 800, "light")])
def seen(request: pytest.FixtureRequest, browser: Any, url: str) -> Iterator[Any]:
    width, height, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.goto(url)
    page.wait_for_selector("#streams tbody tr")
    yield page
    context.close()
    assert problems == []


def test_it_shows_the_run_and_nothing_shifts(seen: Any) -> None:
    assert seen.text_content("#state") == "running"
    before = seen.text_content("#epoch")
    assert seen.evaluate(SHIFTS) < 0.01
    seen.wait_for_function(
        "before => document.querySelector('#epoch').textContent !== before", arg=before
    )
    assert seen.locator("#graph .node").count() == 5
    assert "a row of a with the event time" in seen.text_content("#why")
    assert seen.locator("#windows .bar").count() >= 1
    assert seen.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_every_control_works_from_the_keyboard(seen: Any) -> None:
    reached = []
    for _ in range(24):
        seen.keyboard.press("Tab")
        reached.append(
            seen.evaluate(
                "() => document.activeElement.id || document.activeElement.textContent.trim()"
            )
        )
    assert {"pause", "theme", "stream", "why", "two"} <= set(reached)
    seen.focus("#streams tbody tr:nth-child(2) button")
    seen.keyboard.press("Enter")
    seen.wait_for_function("() => document.querySelector('#stream').value === 'two'")
    seen.wait_for_function(
        "() => document.querySelector('#why').textContent.includes('b: none yet')"
    )
    seen.focus("#pause")
    seen.keyboard.press("Space")
    assert seen.get_attribute("#pause", "aria-pressed") == "true"


def test_a_theme_is_chosen_and_kept(seen: Any) -> None:
    def ground() -> str:
        return str(seen.evaluate("() => getComputedStyle(document.body).backgroundColor"))

    seen.select_option("#theme", "dark")
    dark = ground()
    seen.select_option("#theme", "light")
    assert ground() != dark
    seen.select_option("#theme", "dark")
    seen.reload()
    assert ground() == dark
