"""The command line's root: `tidegate --help` loads click and nothing else.

Subcommands are found in `_COMMANDS` and imported when one is called or asked for its help, so that the list of
commands costs nothing. Exit codes are those of `errors.py`: 1 failed, 2 usage or configuration, 3 SQL.
"""

import os
import sys
from importlib import import_module
from io import TextIOWrapper

import click

from tidegate import __version__
from tidegate.errors import TidegateError

_COMMANDS = {
    "demo": "Watch a pipeline at work on made-up data.",
    "init": "Write a small project to begin with.",
    "shell": "Type SQL, and see at once what it does.",
    "run": "Run a pipeline: sources, streams, sinks.",
    "check": "Parse, bind and plan SQL files; report everything that is wrong.",
    "explain": "Show how a query is understood and run.",
    "functions": "List the functions that queries can call.",
    "test": "Play scenarios: scripted streams with their expected output.",
    "why": "Say what a stream waits for, and why a window has not fired.",
    "advise": "Show what waiting for late rows would lose, and cost.",
    "verify": "Hold streams against one batch query over the same rows.",
    "warmup": "Let Spark start sooner: keep its classes ready.",
    "state": "Look into checkpoints: show, verify, compare.",
    "dlq": "Look into dead letters: show, count, replay.",
}


def _loaded(name: str) -> click.Command:
    command = import_module(f"tidegate.cli.{name}").command
    assert isinstance(command, click.Command)
    return command


class _LazyGroup(click.Group):
    """Knows its commands by name; imports `tidegate.cli.<name>` for the one that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return _loaded(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as unknown:
            from tidegate.errors import nearest

            hint = nearest(args[0], _COMMANDS) if args else ""
            message = f"{unknown.message.rstrip('.')}; {hint}" if hint else unknown.message
            raise click.UsageError(message, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="tidegate", message="%(prog)s %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Event-time window SQL for streams, in one process or on Spark. Alone, on a terminal, it is the shell."""
    if ctx.invoked_subcommand is not None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        ctx.invoke(_loaded("shell"), defined=(), engine="local")
        return
    click.echo(ctx.get_help(), err=True)
    sys.exit(2)


def _abandon_output() -> None:
    """Nobody takes what is left; Python would complain about it once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Entry point of the `tidegate` script."""
    if isinstance(
        sys.stdout, TextIOWrapper
    ):  # trees are drawn with lines that not every encoding has
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        root.main(prog_name="tidegate", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as refusal:
        refusal.show()
        sys.exit(refusal.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        _abandon_output()
        sys.exit(1)
    except OSError as problem:
        click.echo(f"Error: {problem.strerror or problem}", err=True)
        _abandon_output()
        sys.exit(1)
    except TidegateError as refusal:
        from tidegate.cli.messages import show_error

        show_error(refusal)
        sys.exit(refusal.exit_code)
