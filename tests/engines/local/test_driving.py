"""An engine that is driven by its sources: how it ends, how it waits, and that time goes on without rows."""

from pathlib import Path

from tests.engines.local.ways import lanes
from tests.planning import planned
from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import polled
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.stage import Made
from tidegate.state import Identity
from tidegate.state.forgetful import ForgetfulLog

SOURCE = "CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH ({});"


class Driven:
    """An engine over a generator or a directory, with a clock that its progress moves on."""

    def __init__(self, sql: str, *, bounded: bool | None = None) -> None:
        self.clock = ManualClock()
        self.emitted: list[int] = []
        self.calls = 0
        around = Surroundings(
            clock=self.clock,
            log=ForgetfulLog(Identity(plans={})),
            listener=Listener(made=self._made),
        )
        program = planned(sql, prelude="")
        self.engine = LocalEngine(program, around, polled(bounded=bounded), workers=lanes(1))

    def _made(self, _stage: str, made: Made) -> None:
        self.emitted.append(made.emitted.rows.num_rows)

    def drive(self, *, calls: int = 1_000, step_us: int = 0) -> None:
        def progress() -> None:
            self.calls += 1
            self.clock.set_us(self.clock.at_us + step_us)

        self.engine.drive(lambda: self.calls >= calls, progress)


def test_it_returns_when_sources_are_exhausted() -> None:
    sql = SOURCE.format("connector = 'generator', rows = 10") + "SELECT k FROM ev"
    driven = Driven(sql)
    driven.drive()
    assert (driven.engine.totals.read, driven.engine.ended) == ({"ev": 10}, False)
    driven.engine.end()
    driven.drive(calls=10**9)  # at once: nothing comes behind the end


def test_it_stops_when_it_is_told_to() -> None:
    sql = SOURCE.format("connector = 'generator', rate = '1000/s'") + "SELECT k FROM ev"
    driven = Driven(sql)
    driven.drive(calls=3, step_us=10_000)
    assert driven.calls == 3
    assert driven.engine.totals.read["ev"] == 1 + 10 + 10


def test_while_nothing_comes_there_are_no_epochs(tmp_path: Path) -> None:
    source = SOURCE.format(f"connector = 'file', path = '{tmp_path}', format = 'json'")
    driven = Driven(source + "SELECT k FROM ev", bounded=False)
    driven.drive(calls=5, step_us=10**6)
    assert (driven.calls, driven.engine.epoch) == (5, -1)


def test_every_ticks_without_rows(tmp_path: Path) -> None:
    """A row at clock 0; calls of progress at 1, 2, 3, … s; EVERY 3 s: epochs at 3 and 6 s."""
    (tmp_path / "one.json").write_text('{"k": "a", "v": 1, "ts": 0}\n')
    source = SOURCE.format(
        f"connector = 'file', path = '{tmp_path}', format = 'json', settle = '0s'"
    )
    sql = source + "SELECT COUNT(*) AS n FROM ev EMIT EVERY INTERVAL '3' SECOND"
    driven = Driven(sql, bounded=False)
    driven.drive(calls=8, step_us=10**6)
    assert driven.emitted == [0, 1, 0]


def test_an_input_falls_silent_without_rows(tmp_path: Path) -> None:
    """Two inputs, one of which never says anything: after its timeout the other one's windows close."""
    for name, text in (("a", '{"k": "a", "v": 1, "ts": 20000}\n'), ("b", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.json").write_text(text)
    sources = "".join(
        SOURCE.replace("ev", name).format(
            f"connector = 'file', path = '{tmp_path / name}', format = 'json', settle = '0s'{silence}"
        )
        for name, silence in (("a", ""), ("b", ", idle_timeout = '4s'"))
    )
    sql = sources + (
        "SELECT COUNT(*) AS n FROM (SELECT ts FROM a UNION ALL SELECT ts FROM b) "
        "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
    )
    driven = Driven(sql, bounded=False)
    driven.drive(calls=7, step_us=10**6)
    assert driven.engine.epoch == 1  # that of the row, and the one in which b has fallen silent
    assert set(driven.engine.watermarks.values()) == {20_000_000}


def test_windows_in_processing_time_close_without_rows(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"k": "a", "v": 1, "ts": 0}\n')
    sql = (
        f"CREATE SOURCE ev (k VARCHAR, p AS PROCTIME()) WITH (connector = 'file', path = '{tmp_path}', "
        "format = 'json', settle = '0s');"
        "SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(p, INTERVAL '5' SECOND)"
    )
    driven = Driven(sql, bounded=False)
    driven.drive(calls=12, step_us=10**6)
    assert sum(driven.emitted) == 1
    assert driven.engine.epoch < 8  # when the window is gone, there is nothing to look at
