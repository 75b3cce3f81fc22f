"""SQL that commands are given: files, stdin, or text on the command line; planned with the project's settings."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tidegate import config, errors
from tidegate.errors import TidegateError
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Settings to use instead of ./tidegate.toml.",
)
sql_option = click.option(
    "-e",
    "-c",
    "--sql-text",
    "text",
    metavar="SQL",
    help="SQL on the command line, instead of a file.",
)


@dataclass(frozen=True, slots=True)
class PlannedScript:
    name: str
    program: Program


def chosen_files(files: Sequence[str], text: str | None) -> Sequence[str]:
    """The files to work on; `-` is stdin. Refuses a command line that names none, or files and text."""
    if text is not None and files:
        raise click.UsageError("give files or -e, not both")
    if text is None and not files:
        raise click.UsageError("name a file, - for stdin, or give SQL with -e")
    return files or ["<command line>"]


def read_source(file: str, text: str | None) -> SourceText:
    """One of `chosen_files`, or the text of the command line."""
    return _read(file) if text is None else SourceText(text, file)


def _read(file: str) -> SourceText:
    name = "<stdin>" if file == "-" else file
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return SourceText(content.decode("utf-8"), name)
    except UnicodeDecodeError as problem:
        raise errors.unreadable_file(
            path=name, problem=f"byte {problem.start} is not UTF-8"
        ) from None
    except OSError as problem:
        raise errors.unreadable_file(
            path=name, problem=problem.strerror or "unknown reason"
        ) from None


def load_settings(config_file: Path | None) -> Settings:
    """The project's settings; all that is wrong with them is shown before giving up."""
    loaded = config.load(config_file)
    if loaded.errors:
        raise ConfigProblems(loaded.errors)
    return loaded.settings


class ConfigProblems(click.ClickException):
    """Several refusals of one configuration."""

    exit_code = 2

    def __init__(self, refusals: list[TidegateError]) -> None:
        super().__init__("the configuration is not usable")
        self.refusals = refusals

    def show(self, file: object = None) -> None:
        from tidegate.cli.messages import show_errors

        show_errors(self.refusals)


def plan_source(source: SourceText, settings: Settings) -> PlannedScript:
    return PlannedScript(source.name, plan_script(parse_script(source), settings))
