"""A pipeline while it runs: what is printed, what is said, and how it ends.

Decided here: a run ends by itself when all its sources do; then the input has ended, and everything that is open is
emitted. A run that is stopped leaves open what is open.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate.cli import output, summary
from tidegate.cli.messages import only_counted
from tidegate.cli.signals import INTERRUPTED, stopping
from tidegate.cli.status import Status, clearing
from tidegate.connectors.protocols import SinkWriter
from tidegate.engines.engine import Engine
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import sources_of
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import Catalog, SinkDef
from tidegate.plan.inserts import InsertedRows
from tidegate.plan.script import NamedQuery, Program
from tidegate.plan.settings import Settings
from tidegate.plan.user_aggregates import Installed
from tidegate.session.accounts import Account, account_of
from tidegate.session.analysis import insert_constants, measured, stood
from tidegate.session.answers import Result
from tidegate.session.choice import Running, run_build
from tidegate.session.opening import BY_HAND, Opened, Way, start
from tidegate.session.reasons import Question, reasons
from tidegate.session.script import execute
from tidegate.session.stamped import Stamped
from tidegate.sql.source import SourceText

if TYPE_CHECKING:
    from tidegate.cli.scrapes import Endpoint
    from tidegate.cli.watched import Watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line."""

    engine: str
    running: Running
    checkpoint: str | None
    reset: bool
    form: str
    quiet: bool
    resume: str
    ui: str | None = None
    metrics: str | None = None


class Pipeline:
    """One run of one text."""

    def __init__(self, source: SourceText, settings: Settings, asked: Asked) -> None:
        self._asked = asked
        self._settings = replace(settings, aggregates=Installed())
        self._source = source
        self._watched: Watched | None = None
        self._endpoint: Endpoint | None = None

    def run(self) -> int:
        """The exit code."""
        before = Program(catalog=Catalog(), settings=self._settings)
        way = self._way()

        def measure(query: NamedQuery, program: Program) -> Account:
            return measured(query, program, way.build_bounded or way.build)

        def why(query: NamedQuery, program: Program) -> str:
            standing, late = stood(query, program, way.build_bounded or way.build)
            return "\n".join(reasons(standing, Question(late=late)))

        heard = execute(self._source, before, measure=measure, reasons=why)
        program = heard.program
        self._answer(heard.answers, alone=not any(query.anonymous for query in program.queries))
        if not program.queries and not any(map(_takes_rows, program.catalog.all_of("sink"))):
            if all(answer.is_status for answer in heard.answers):
                self._say("nothing to run: there is no SELECT, and no stream")
            return 0
        _refuse_form(program, self._asked.form)
        return self._run(program, heard.inserts, way)

    def _answer(self, answers: Sequence[Result], *, alone: bool) -> None:
        """Of SHOW and its like; not in between rows of a query whose form is for those alone."""
        form = self._asked.form
        aside = not alone and form in output.FOR_ONE_QUERY
        for answer in answers:
            if answer.is_status:
                continue
            if answer.text is not None or aside:
                click.echo(str(answer), err=aside)
            else:
                output.print_table(form, answer.arrow())

    def _run(self, program: Program, inserts: Sequence[InsertedRows], way: Way) -> int:
        status = Status(sys.stderr, quiet=self._asked.quiet, now_us=way.clock.now_us)
        stdout = sys.stdout
        if stdout.isatty() and sys.stderr.isatty():
            sys.stdout = clearing(status)
        try:
            self._open_endpoint()
            engine, opened = start(program, way, self._listener())
            try:
                self._warn(program, inserts, opened)
                self._warn_of_leftovers(program, engine)
                return self._drive(engine, program, inserts, status)
            finally:
                status.clear()
                for shown in (self._watched, self._endpoint):
                    if shown is not None:
                        shown.close()
                engine.close()
        finally:
            sys.stdout = stdout

    def _open_endpoint(self) -> None:
        if self._asked.metrics is not None:
            from tidegate.cli.scrapes import Endpoint
            from tidegate.dashboard.server import address

            self._endpoint = Endpoint(*address(self._asked.metrics))
            self._say(f"metrics: {self._endpoint.url}")

    def _listener(self) -> Listener:
        stamped = Stamped(self._say).made
        if self._asked.ui is None:
            return Listener(made=stamped, wanted=frozenset())
        from tidegate.cli.watched import Watched

        self._watched = Watched(self._asked.ui, self._source, engine=self._asked.engine)
        self._say(f"live page: {self._watched.url}")
        return Listener(made=stamped, diverted=self._watched.board.diverted)

    def _way(self) -> Way:
        asked = self._asked

        def printer(_name: str, schema: Schema, kind: StreamKind) -> SinkWriter:
            return output.printer(asked.form, schema, kind)

        return Way(
            build=run_build(asked.engine, asked.running, self._settings),
            build_bounded=run_build(
                asked.engine, replace(asked.running, bounded=True), self._settings
            ),
            checkpoint=asked.checkpoint,
            reset=asked.reset,
            printer=printer,
        )

    # While it runs

    def _drive(
        self, engine: Engine, program: Program, inserts: Sequence[InsertedRows], status: Status
    ) -> int:
        def progress() -> None:
            status.show(lambda: account_of(engine))
            if self._watched is not None:
                self._watched.board.look(engine)
            self._look(engine, status)

        def say(text: str) -> None:
            status.clear()
            self._say(text)

        if engine.ended:
            say("everything was read and emitted by an earlier run; --reset-state runs it again")
            return 0
        earlier = engine.epoch + 1
        with stopping(say) as asked_to_stop:
            insert_constants(engine, program, inserts)
            engine.drive(asked_to_stop, progress)
            stopped = asked_to_stop()
            if not stopped:
                engine.end()
            elif self._asked.checkpoint is not None:
                engine.checkpoint()
        status.clear()
        self._look(engine, status, end=True)
        account = account_of(engine)
        how = "stopped" if stopped else "done"
        for line in summary.lines(account, seconds=status.seconds, how=how, earlier=earlier):
            self._say(line)
        if self._watched is not None:
            self._watched.show_end(engine, stopped=stopped, say=self._say)
        if not stopped:
            return 0
        self._say(self._how_to_resume(account.open_windows))
        return INTERRUPTED if self._asked.running.bounded else 0

    def _look(self, engine: Engine, status: Status, *, end: bool = False) -> None:
        """What the endpoint for metrics tells from now on."""
        if self._endpoint is not None:
            self._endpoint.look(
                lambda: account_of(engine),
                now_us=status.now_us(),
                epochs_s=engine.take_epochs_s(),
                end=end,
            )

    def _how_to_resume(self, open_windows: int) -> str:
        if self._asked.checkpoint is not None:
            return f"resume with: {self._asked.resume}"
        lost = f", and {open_windows:,} open windows were not emitted" if open_windows else ""
        return f"nothing was kept{lost}; with --checkpoint DIR a run can be resumed"

    def _say(self, text: str) -> None:
        if not self._asked.quiet:
            click.echo(text, err=True)

    def _warn(self, program: Program, inserts: Sequence[InsertedRows], opened: Opened) -> None:
        """What is allowed, and perhaps not meant."""
        self._warn_of_no_reader(program)
        filled = {inserted.source.lower() for inserted in inserts}
        for source in sources_of(program):
            if source.connector == BY_HAND and source.name.lower() not in filled:
                self._say(
                    f"warning: nothing comes from {source.name}: it has no connector, and no INSERT"
                )
        routes = opened.around.routes if opened.around else None
        for name, what in (routes.unknown if routes else {}).items():
            self._say(only_counted(name, what))

    def _warn_of_no_reader(self, program: Program) -> None:
        if any(query.anonymous for query in program.queries):
            return
        if not any(map(_takes_rows, program.catalog.all_of("sink"))):
            name = program.queries[-1].name
            self._say(
                f"warning: nobody sees what {name} emits: add SELECT * FROM {name}, "
                f"or CREATE SINK … FROM {name} WITH (…)"
            )

    def _warn_of_leftovers(self, program: Program, engine: Engine) -> None:
        """A run that begins anew replaces, epoch by epoch, what an earlier one wrote; the rest of it stays."""
        for sink in program.catalog.all_of("sink"):
            if engine.epoch < 0 and isinstance(sink, SinkDef) and _has_parts(sink):
                self._say(
                    f"warning: {sink.options['path']} holds files of an earlier run; this one begins anew, "
                    "and what it does not write over stays"
                )


def _has_parts(sink: SinkDef) -> bool:
    place = Path(str(sink.options.get("path", "")))
    return sink.connector == "file" and place.is_dir() and any(place.glob("part-*"))


def _takes_rows(definition: object) -> bool:
    return getattr(definition, "stream", None) is not None


def _refuse_form(program: Program, form: str) -> None:
    selects = sum(query.anonymous for query in program.queries)
    if selects > 1 and form in output.FOR_ONE_QUERY:
        raise click.UsageError(f"-o {form} holds one query, and there are {selects}; use jsonl")
