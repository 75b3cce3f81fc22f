"""A demo while it runs: files land one by one, what becomes of them is said, and in the end every record is found.

Decided here: a file lands, and is read before the next one does, so the show is the same at every pace. What is set
aside is shown while it is news; the figures at the end are the engine's own account, and are held against what landed.
"""

import json
import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate.cli.demos import FILE_SECONDS, FILES, SHOWS
from tidegate.cli.signals import stopping
from tidegate.cli.status import Status, clearing
from tidegate.engines.engine import Engine
from tidegate.engines.epochs import Listener
from tidegate.engines.sides import Payload
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.session.accounts import Account, account_of
from tidegate.session.choice import SPARK, Running, run_build
from tidegate.session.opening import Way, start
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

if TYPE_CHECKING:
    from tidegate.cli.watched import Watched

_MARK = ".tidegate-demo"
_SHOWN_OF_A_KIND = 3
_WIDEST = 96
# Reasons that shows have, in the words of somebody who sees them for the first time.
_MEANINGS = {
    "allowed_lateness_exceeded": ("late: its window had been closed and emitted", "late"),
    "malformed_record": ("broken: no JSON, or not what the columns are declared to be", "broken"),
    "future_event_time": ("from the future: it would have closed every window", "broken"),
}


class Performance:
    """One show."""

    def __init__(
        self, name: str, *, engine: str, place: Path, pace_s: float, ui: str | None = None
    ) -> None:
        self._name, self._show = name, SHOWS[name]
        self._ui = ui
        self._watched: Watched | None = None
        self._engine, self._place, self._pace_s = engine, place, pace_s
        self._seen: Counter[str] = Counter()

    def run(self) -> int:
        """The exit code."""
        _clear(self._place)
        text = self._write_pipeline()
        self._introduce()
        settings = Settings()
        program = plan_script(parse_script(text), settings)
        assert not program.errors, program.errors
        way = Way(build=run_build(self._engine, Running(bounded=False), settings))
        began = time.monotonic()
        status = Status(sys.stderr, quiet=not sys.stderr.isatty(), now_us=way.clock.now_us)
        stdout = sys.stdout
        sys.stdout = clearing(status) if stdout.isatty() and sys.stderr.isatty() else stdout
        try:
            self._open_page(text)
            engine, _ = start(program, way, Listener(diverted=self._divert))
            try:
                landed = self._perform(engine, status)
                account = account_of(engine)
                status.clear()
                if self._watched is not None:
                    self._watched.show_end(engine, stopped=False, say=click.echo)
            finally:
                status.clear()
                if self._watched is not None:
                    self._watched.close()
                engine.close()
        finally:
            sys.stdout = stdout
        for line in self._sum_up(account, landed, time.monotonic() - began):
            click.echo(line)
        return 0

    # Before

    def _write_pipeline(self) -> SourceText:
        path = self._place / f"{self._name}.sql"
        about = self._show.about
        text = self._show.sql.format(place=self._place.as_posix(), name=self._name, about=about)
        path.write_text(text, encoding="utf-8")
        return SourceText(text, str(path))

    def _introduce(self) -> None:
        where = (
            "on Spark, which needs a few seconds to start"
            if self._engine == SPARK
            else "in this process"
        )
        click.echo(
            f"{self._show.about}; {where}.\n"
            f"{FILES} files land in {self._place / 'in'}, {FILE_SECONDS} seconds of events in each.\n"
            "A row below is final: it comes when nothing more is expected for its window.\n"
        )

    def _open_page(self, text: SourceText) -> None:
        if self._ui is not None:
            from tidegate.cli.watched import Watched

            self._watched = Watched(self._ui, text, engine=self._engine)
            click.echo(f"live page: {self._watched.url}\n")

    def _look(self, engine: Engine, status: Status) -> None:
        status.show(lambda: account_of(engine))
        if self._watched is not None:
            self._watched.board.look(engine)

    # While it runs

    def _perform(self, engine: Engine, status: Status) -> int:
        """How many records landed."""
        landed = 0

        def say(_text: str) -> None:
            click.echo("no more files; what is open is emitted")

        with stopping(say) as asked_to_stop:
            for number, text in enumerate(self._show.files()):
                if asked_to_stop():
                    break
                _land(self._place / "in" / f"{number:03}.json", text)
                landed += text.count("\n")
                until = time.monotonic() + self._pace_s
                while engine.poll() is not None:
                    self._look(engine, status)
                self._look(engine, status)
                time.sleep(max(0.0, until - time.monotonic()))
            engine.end()
        return landed

    def _divert(self, payloads: Sequence[Payload]) -> None:
        if self._watched is not None:
            self._watched.board.diverted(payloads)
        for payload in payloads:
            reason = payload["reason"]
            self._seen[reason] += 1
            if self._seen[reason] <= _SHOWN_OF_A_KIND:
                click.echo(f"  ! {_shorten(_headline(payload))}", file=sys.stdout)

    # Afterwards

    def _sum_up(self, account: Account, landed: int, seconds: float) -> Iterator[str]:
        (stage,) = account.stages
        reasons = Counter({name.partition("/")[2]: rows for name, rows in stage.reasons.items()})
        reasons["malformed_record"] += sum(account.malformed.values())
        yield f"\nWhat became of {landed:,} records in {seconds:.0f} s:"
        yield f"{stage.aggregated:>8,}  aggregated, into {stage.emitted:,} rows of {stage.stream}"
        for reason, rows in reasons.items():
            meaning, folder = _MEANINGS[reason]
            yield f"{rows:>8,}  {meaning}; kept in {self._place / folder}"
        accounted = stage.aggregated + reasons.total()
        assert accounted == landed, (accounted, landed)
        yield f"{accounted:>8,}  accounted for, none lost and none counted twice"
        yield "\nTry next:"
        commands = self._commands()
        width = max(map(len, commands))
        for command, what in commands.items():
            yield f"  {command:<{width}}  {what}"

    def _commands(self) -> dict[str, str]:
        tidegate = _program()
        pipeline = shlex.quote(str(self._place / f"{self._name}.sql"))
        other, another = (name for name in SHOWS if name != self._name)
        return {
            f"{tidegate} run {pipeline} --bounded": "the same files once more; change the query first",
            f"{tidegate} explain {pipeline}": "what it means, and how it is run",
            f"{tidegate} demo {other}": f"another show; {another} is a third one",
        }


def _program() -> str:
    """How to call us: whoever has not activated an environment needs the path into it."""
    beside = Path(sys.executable).with_name("tidegate")
    if shutil.which("tidegate") or not beside.exists():
        return "tidegate"
    here = beside.is_relative_to(Path.cwd())
    return shlex.quote(str(beside.relative_to(Path.cwd()) if here else beside))


def _clear(place: Path) -> None:
    """Only what an earlier demo has made."""
    if place.exists():
        if any(place.iterdir()) and not (place / _MARK).exists():
            raise click.UsageError(f"{place} holds files that are not a demo's; see --dir")
        shutil.rmtree(place)
    (place / "in").mkdir(parents=True)
    (place / _MARK).touch()


def _land(path: Path, text: str) -> None:
    """A file appears whole, as whoever hands files over should do it."""
    unfinished = path.with_name(f".{path.name}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.rename(path)


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _headline(payload: Payload) -> str:
    original = payload["original_event"]
    told = original.get("raw") or json.dumps(original, separators=(",", ":"))
    match payload["reason"]:
        case "malformed_record":
            return f"broken: {told}"
        case "future_event_time":
            return f"from the future: {told}"
        case _:
            return f"late, {payload['window']['end'][11:19]} was over: {told}"
