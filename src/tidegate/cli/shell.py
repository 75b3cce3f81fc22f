"""`tidegate shell`: SQL, statement by statement; also from a pipe.

Decided here: on a terminal a mistake is shown and the shell goes on; from a pipe it ends it, with the exit code of the
mistake. At the end of a pipe the input has ended: what is open is emitted.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate.cli.overrides import define_option, settings_with
from tidegate.cli.scripts import config_option
from tidegate.session.choice import ENGINES, LOCAL, need_engine

if TYPE_CHECKING:
    from tidegate.cli.shells.interpreter import Interpreter

_FORMS = ("table", "csv", "json", "jsonl", "markdown", "arrow")
_EPILOG = """\b
Examples:
  tidegate shell
  tidegate shell < pipeline.sql
  tidegate shell -o csv < pipeline.sql
"""


@click.command("shell", epilog=_EPILOG)
@config_option
@define_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=LOCAL,
    show_default=True,
    help="What runs queries. The in-process engine answers at once.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(_FORMS),
    help="How rows are printed: table on a terminal, jsonl elsewhere.",
)
@click.option(
    "--clock", "by_hand", is_flag=True, help="A clock that stands still until \\clock sets it."
)
def command(
    config_file: Path | None,
    defined: tuple[str, ...],
    engine: str,
    form: str | None,
    by_hand: bool,
) -> None:
    """Type SQL, and see at once what it does. A statement ends with a semicolon; \\help lists commands.

    INSERT, SHOW, DESCRIBE, EXPLAIN answer. A SELECT over files or other connectors runs until these end, or Ctrl-C. A
    SELECT over rows by hand stays, and prints what later statements make it emit. From a pipe, statements are done one
    after the other; at the end everything that is open is emitted.
    """
    settings = settings_with(config_file, defined)
    need_engine(engine)
    interactive = sys.stdin.isatty()
    if form == "arrow" and interactive:
        raise click.UsageError("-o arrow is for pipes")

    from dataclasses import replace

    from tidegate.cli.shells.interpreter import Interpreter
    from tidegate.engines.clock import ManualClock, WallClock
    from tidegate.plan.user_aggregates import Installed
    from tidegate.session.choice import Running, run_build
    from tidegate.session.opening import Way
    from tidegate.session.session import Session

    own = replace(settings, aggregates=Installed())
    way = Way(
        build=run_build(engine, Running(), own),
        build_bounded=run_build(engine, Running(bounded=True), own),
        clock=ManualClock() if by_hand else WallClock(),
        anonymous=False,
    )
    with Session(own, way) as session:
        shell = Interpreter(
            session=session,
            engine=engine,
            form=form or ("table" if sys.stdout.isatty() else "jsonl"),
            interactive=interactive,
        )
        _talk(shell) if interactive else _listen(shell)


def _listen(shell: "Interpreter") -> None:
    """To a pipe."""
    from tidegate.cli.shells.interpreter import Leave

    text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    try:
        shell.read(text, name="<stdin>")
    except Leave:
        return
    if shell.standing:
        shell.session.end()
        shell.stop()


def _talk(shell: "Interpreter") -> None:
    """To a person."""
    from tidegate import __version__
    from tidegate.cli.shells.interpreter import COMMANDS, Leave, show_problem
    from tidegate.cli.shells.prompt import PlainReader, reader
    from tidegate.errors import TidegateError

    editor = reader(lambda: shell.session.program, COMMANDS)
    click.echo(
        f"Tidegate {__version__}, {shell.engine} engine. \\help for commands, Ctrl-D to leave."
    )
    if isinstance(editor, PlainReader):
        click.echo("for history, completion and colours: pip install 'tidegate[shell]'")
    while True:
        try:
            shell.read(editor.read())
        except KeyboardInterrupt:
            click.echo()
        except (EOFError, Leave):
            return
        except (TidegateError, click.ClickException) as problem:
            show_problem(problem)
