r"""What the shell does with what is typed.

Decided here: definitions and rows by hand belong to one session, which lives as long as the shell. A SELECT that reads
connectors runs by itself, from the beginning of what its sources have, until they end or Ctrl-C: it disturbs nothing,
writes no sink, and can be asked again. A SELECT over rows by hand stays and prints what later statements make it emit.
`\run` runs what is defined, with its sinks.
"""

import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import click

from tidegate.cli import output, summary
from tidegate.cli.messages import show_error
from tidegate.cli.shells.statements import Piece, Typed
from tidegate.cli.signals import stopping
from tidegate.cli.status import Status, clearing
from tidegate.connectors.protocols import SinkWriter
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import BY_HAND_CONNECTORS, sources_of
from tidegate.engines.sides import Payload
from tidegate.errors import TidegateError
from tidegate.model.policies import SideKind, StreamKind
from tidegate.model.schema import Schema
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.plan.script import NamedQuery, Program
from tidegate.session.accounts import Account, account_of
from tidegate.session.analysis import alone, insert_constants
from tidegate.session.answers import Result, Subscription
from tidegate.session.choice import Running, run_build
from tidegate.session.opening import Way, start
from tidegate.session.reasons import Question, instant, reasons
from tidegate.session.script import execute
from tidegate.session.session import Session
from tidegate.session.stamped import Stamped
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.sql.statements import Select

_KEPT = 1_000


class Leave(Exception):
    """The person is done."""


@dataclass(slots=True)
class Standing:
    """A SELECT over rows by hand, and where its rows go."""

    rows: Subscription
    printer: SinkWriter
    epoch: int = 0

    def show(self) -> None:
        found = self.rows.arrow()
        if found.num_rows:
            self.printer.write(self.epoch, found)
            self.epoch += 1


@dataclass(slots=True)
class Interpreter:
    """One shell. `form` is how rows are printed."""

    session: Session
    engine: str
    form: str
    interactive: bool
    timing: bool = False
    standing: list[Standing] = field(default_factory=list)
    sides: dict[str, list[Payload]] = field(default_factory=dict)

    def read(self, text: str, *, name: str = "<shell>") -> None:
        """All that is complete in the text; what is not ends it."""
        typed = Typed.of(text)
        for piece in (*typed.done, typed.rest):
            if piece.text:
                self._do(piece, name=name)

    def _do(self, piece: Piece, *, name: str) -> None:
        began = time.perf_counter()
        if piece.text.startswith("\\"):
            self._command(piece.text)
        else:
            self._statement(SourceText(piece.in_place, name))
        for one in self.standing:
            one.show()
        if self.timing:
            click.echo(f"{(time.perf_counter() - began) * 1_000:,.1f} ms", err=not self.interactive)

    # Statements

    def _statement(self, source: SourceText) -> None:
        script = parse_script(source)
        if script.statements and isinstance(script.statements[-1], Select):
            self._select(source)
            return
        answer = self.session.sql(source.text, name=source.name)
        assert isinstance(answer, Result)
        if not answer.is_status:
            self._print(answer)
        elif self.interactive:
            click.echo(answer.fetchall()[0][0])

    def _print(self, answer: Result) -> None:
        if answer.text is not None:
            click.echo(answer.text)
        else:
            output.print_table(self.form, answer.arrow())

    def _select(self, source: SourceText) -> None:
        heard = execute(source, self.session.program, measure=_unmeasured)
        assert heard.selected is not None
        query = heard.program.query(heard.selected)
        assert query is not None
        program = alone(query, heard.program)
        if any(one.connector not in BY_HAND_CONNECTORS for one in sources_of(program)):
            self._live(program)
            return
        rows = self.session.sql(source.text, name=source.name)
        assert isinstance(rows, Subscription)
        printer = output.printer(self.form, query.logical.schema, query.logical.kind)
        self.standing.append(Standing(rows, printer))
        if self.interactive:
            click.echo(
                "rows come here when INSERT, \\watermark or \\end make this query emit; "
                "\\table NAME shows what a stream has, \\stop ends this",
                err=True,
            )

    def _live(self, program: Program) -> None:
        """Until its sources end, or Ctrl-C."""

        def printer(_name: str, schema: Schema, kind: StreamKind) -> SinkWriter:
            return output.printer(self.form, schema, kind)

        running = Running()
        way = Way(
            build=run_build(self.engine, running, program.settings),
            clock=self.session.clock,
            printer=printer,
        )
        status = Status(sys.stderr, quiet=not sys.stderr.isatty(), now_us=way.clock.now_us)
        stdout = sys.stdout
        sys.stdout = clearing(status) if stdout.isatty() and sys.stderr.isatty() else stdout

        def say(_text: str) -> None:
            status.clear()

        try:
            told = Stamped(lambda text: click.echo(text, err=True)).made
            engine, _ = start(program, way, Listener(made=told, diverted=self._diverted))
            try:
                with stopping(say) as asked_to_stop:
                    insert_constants(engine, program, program.inserts)
                    engine.drive(asked_to_stop, lambda: status.show(lambda: account_of(engine)))
                    stopped = asked_to_stop()
                    if not stopped:
                        engine.end()
                account = account_of(engine)
            finally:
                status.clear()
                engine.close()
        finally:
            sys.stdout = stdout
        if self.interactive:
            how = "stopped" if stopped else "ended"
            for line in summary.lines(account, seconds=status.seconds, how=how):
                click.echo(line, err=True)

    def _diverted(self, payloads: Sequence[Payload]) -> None:
        for payload in payloads:
            kept = self.sides.setdefault(payload["kind"], [])
            kept.append(payload)
            del kept[:-_KEPT]

    # Commands

    def _command(self, text: str) -> None:
        try:
            name, *arguments = shlex.split(text.replace("\\", "", 1).rstrip("; \n"))
        except ValueError as problem:
            raise click.UsageError(f"{text}: {problem}") from None
        found = COMMANDS.get(f"\\{name}")
        if found is None:
            from tidegate.errors import nearest

            hint = nearest(f"\\{name}", COMMANDS, otherwise="\\help lists them")
            raise click.UsageError(f"there is no command \\{name}; {hint}")
        action, least, most, form, _about = found
        if not least <= len(arguments) <= most:
            raise click.UsageError(f"write it so: {form}")
        action(self, *arguments)

    def help(self) -> None:
        width = max(len(form) for _, _, _, form, _ in COMMANDS.values())
        for _, _, _, form, about in COMMANDS.values():
            click.echo(f"{form:<{width}}  {about}")

    def watermark(self, source: str | None = None, at: str | None = None) -> None:
        if source is not None and at is not None:
            self.session.watermark(source, at)
            return
        account = self.session.account()
        stages = account.stages if account else ()
        wanted = [one for one in stages if not one.stateless and source in (None, one.stream)]
        for one in wanted:
            state = (NEVER_US, FOREVER_US)
            ahead = "" if one.watermark_us in state else f"; {one.open_windows:,} open windows"
            click.echo(f"{one.name}: {instant(one.watermark_us)}{ahead}")
        if not wanted:
            click.echo("nothing has run yet")

    def clock(self, at: str | None = None) -> None:
        if at is not None:
            self.session.tick(at)
        click.echo(instant(self.session.clock.now_us()))

    def side(self, kind: str | None = None) -> None:
        kinds = [str(one) for one in SideKind] if kind is None else [kind]
        found = [
            payload
            for one in kinds
            for payload in [*self.session.side(one), *self.sides.pop(one, [])]
        ]
        if not found:
            click.echo("nothing was diverted")
        for payload in found:
            at = payload["event_time"] or "no time"
            detail = f": {payload['error_detail']}" if payload["error_detail"] else ""
            click.echo(
                f"{payload['kind']}/{payload['reason']} {at} {payload['original_event']}{detail}"
            )

    def table(self, stream: str) -> None:
        self._print(self.session.table(stream))

    def why(self, stream: str, at: str | None = None) -> None:
        if at is None:
            click.echo(self.session.explain(stream, level="why"), nl=False)
            return
        from tidegate.model.time import parse_instant

        standing = self.session.standing(stream)
        for line in reasons(standing, Question(at_us=parse_instant(at))):
            click.echo(line)

    def run(self) -> None:
        """All that is defined, with its sinks, until the sources end or Ctrl-C."""

        def say(_text: str) -> None:
            click.echo("stopping", err=True)

        with stopping(say) as asked_to_stop:
            self.session.run()
            while not self.session.wait(0.1) and not asked_to_stop():
                for one in self.standing:
                    one.show()
            self.session.stop()
        account = self.session.account()
        if account is not None:
            for line in summary.lines(account, seconds=0.0, how="ran"):
                click.echo(line, err=True)

    def end(self) -> None:
        self.session.end()

    def stop(self) -> None:
        while self.standing:
            one = self.standing.pop()
            one.show()
            one.rows.close()
            one.printer.close()

    def set_timing(self) -> None:
        self.timing = not self.timing
        click.echo(f"timing is {'on' if self.timing else 'off'}")

    def set_form(self, form: str) -> None:
        if form not in FORMS:
            raise click.UsageError(f"\\o takes one of {', '.join(FORMS)}")
        self.form = form

    def include(self, file: str) -> None:
        from tidegate.cli.scripts import read_source

        self.read(read_source(file, None).text, name=file)

    def quit(self) -> None:
        raise Leave


def _unmeasured(_query: NamedQuery, _program: Program) -> Account:
    raise AssertionError("a SELECT measures nothing")


FORMS = ("table", "csv", "json", "jsonl", "markdown")
Command = tuple[Callable[..., None], int, int, str, str]
COMMANDS: Mapping[str, Command] = {
    "\\help": (Interpreter.help, 0, 0, "\\help", "this list"),
    "\\watermark": (Interpreter.watermark, 0, 2, "\\watermark [SOURCE TIME]", "where watermarks are; or set one"),
    "\\clock": (Interpreter.clock, 0, 1, "\\clock [TIME]", "the clock; or set it, with --clock"),
    "\\side": (Interpreter.side, 0, 1, "\\side [KIND]", "rows that were diverted: late, evicted, error, duplicate"),
    "\\table": (Interpreter.table, 1, 1, "\\table STREAM", "the rows that a stream of this session has now"),
    "\\why": (Interpreter.why, 1, 2, "\\why STREAM [TIME]", "what it waits for"),
    "\\run": (Interpreter.run, 0, 0, "\\run", "run all that is defined, with its sinks; Ctrl-C stops"),
    "\\end": (Interpreter.end, 0, 0, "\\end", "rows by hand have ended: everything open is emitted"),
    "\\stop": (Interpreter.stop, 0, 0, "\\stop", "end the SELECTs that stay"),
    "\\timing": (Interpreter.set_timing, 0, 0, "\\timing", "how long things take, on or off"),
    "\\o": (Interpreter.set_form, 1, 1, "\\o FORM", f"print rows as {', '.join(FORMS)}"),
    "\\i": (Interpreter.include, 1, 1, "\\i FILE", "what is in the file, as if it were typed"),
    "\\q": (Interpreter.quit, 0, 0, "\\q", "leave; so does Ctrl-D"),
}  # fmt: skip


def show_problem(problem: TidegateError | click.ClickException) -> None:
    """On stderr, as commands do."""
    if isinstance(problem, TidegateError):
        show_error(problem)
    else:
        click.echo(f"Error: {problem.format_message()}", err=True)
