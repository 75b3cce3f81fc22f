"""Pictures of a run: what they say, how often they are drawn, and that a page can be sent them."""

import json
from collections.abc import Iterator

import pytest

import tidegate
from tidegate.dashboard.board import Board
from tidegate.session.session import Session

SQL = """
CREATE SOURCE a (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE SOURCE b (k VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM one AS SELECT k, COUNT(*) AS n, window_end FROM a GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
CREATE STREAM two AS SELECT COUNT(*) AS n FROM (SELECT ts FROM a UNION ALL SELECT ts FROM b)
GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
CREATE SINK out FROM one WITH (connector = 'memory');
"""


class Watched:
    """A session, and a board whose clock stands still until it is set."""

    def __init__(self, session: Session) -> None:
        self.session, self.at = session, 0.0
        self.board = Board(name="q.sql", engine="local", sql=SQL, clock=lambda: self.at)
        session.sql(SQL)

    def insert(self, source: str, *times: str) -> None:
        self.session.insert(source, [{"k": "x", "ts": f"2026-01-05T09:{at}Z"} for at in times])

    def look(self, after_s: float = 1.0, state: str = "running") -> dict[str, object]:
        self.at += after_s
        self.board.look(self.session._running(), state=state)
        return self.board.newer(0, 0)[1]


@pytest.fixture
def watched() -> Iterator[Watched]:
    with tidegate.connect(engine="local") as session:
        yield Watched(session)


def test_a_picture(watched: Watched) -> None:
    watched.look()
    watched.insert("a", "00:10", "00:50", "02:00")
    watched.board.watch("one", more=1)
    picture = json.loads(json.dumps(watched.look(2.0)))
    assert [source["name"] for source in picture["sources"]] == ["a", "b"]
    assert picture["sources"][0] == {"name": "a", "rows": 3, "rate": 2, "malformed": 0}
    one, two = picture["streams"]
    assert (one["name"], one["rows"], one["emitted"], one["open_windows"]) == ("one", 3, 1, 1)
    assert (one["holding"], two["holding"], two["watermark_us"]) == ([], ["b"], None)
    assert ["source:b", "stream:two"] in picture["edges"]
    assert ["stream:one", "sink:out"] in picture["edges"]
    (window,) = picture["details"]["one"]["windows"]
    assert (window["rows"], window["groups"], window["end_us"] - window["start_us"]) == (
        1,
        1,
        60_000_000,
    )
    assert any(
        "a row of a with the event time" in line for line in picture["details"]["one"]["why"]
    )
    assert "two" not in picture["details"]


def test_it_is_drawn_once_a_second_and_when_the_state_changes(watched: Watched) -> None:
    first = watched.look()
    watched.insert("a", "00:10")
    assert watched.look(0.4) is first
    assert watched.look(0.4) is first
    second = watched.look(0.4)
    assert (second["epoch"], second["state"]) == (0, "running")
    assert watched.look(0.0, state="ended")["state"] == "ended"


def test_history_is_what_pictures_were(watched: Watched) -> None:
    watched.look()
    for minute in range(3):
        watched.insert("a", f"0{minute}:10")
        watched.look()
    points = watched.board.history("ONE")
    assert [point[1] for point in points] == [0, 1, 1, 1]
    assert [point[0] for point in points] == [1.0, 2.0, 3.0, 4.0]
    assert points[-1][3] == points[-1][4] - 5_000_000  # type: ignore[operator]
    assert watched.board.history("nobody") == []


def test_rows_that_were_diverted(watched: Watched) -> None:
    watched.board.diverted(
        [{"kind": "late", "reason": "allowed_lateness_exceeded", "n": n} for n in range(50)]
    )
    sides = watched.look()["sides"]
    assert isinstance(sides, dict)
    assert [one["n"] for one in sides["late"]["samples"]] == [*range(49, 29, -1)]
    watched.insert("a", "30:00")
    watched.insert("a", "00:10")
    counted = watched.look()["sides"]
    assert isinstance(counted, dict)
    assert counted["late"]["reasons"] == {"allowed_lateness_exceeded": 1}


def test_nobody_waits_for_a_picture_that_is_there(watched: Watched) -> None:
    assert watched.board.newer(0, 0) == (0, {})
    watched.look()
    number, picture = watched.board.newer(0, 60)
    assert number == 1
    assert watched.board.newer(number, 0)[1] is picture


def test_texts(watched: Watched) -> None:
    watched.look()
    texts = watched.board.texts()
    assert texts["sql"] == SQL
    assert "Window" in texts["plans"]["one"]
