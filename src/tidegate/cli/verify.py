"""`tidegate verify`: is what a stream says what one SELECT over the same rows says?

Decided here: a query that cannot be judged is named with the reason, and makes the exit code 1, for nobody knows; one
that differs makes it 5, as a failed test does.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate.cli.messages import paint_outcome, show_errors, show_heading
from tidegate.cli.overrides import define_option, settings_with
from tidegate.cli.scripts import chosen_files, config_option, plan_source, read_source, sql_option

if TYPE_CHECKING:
    from tidegate.plan.script import Program
    from tidegate.session.verifying import Verdict, Verified

_DIFFERS, _UNKNOWN = 5, 1
_EPILOG = """\b
Examples:
  tidegate verify pipeline.sql
  tidegate verify pipeline.sql --runs 20 --seed 7
  tidegate verify query.sql --sql
"""


@click.command("verify", epilog=_EPILOG)
@click.argument("files", nargs=-1, metavar="FILE")
@sql_option
@config_option
@define_option
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=6,
    show_default=True,
    help="How often: once over all rows at once, then in random batches, every second time with restarts.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Another seed draws other batches."
)
@click.option("--sql", "show_sql", is_flag=True, help="Show what DuckDB is asked, and run nothing.")
def command(  # one argument per option
    files: tuple[str, ...],
    text: str | None,
    config_file: Path | None,
    defined: tuple[str, ...],
    runs: int,
    seed: int,
    show_sql: bool,
) -> None:
    """Hold every query of FILE against one batch query in DuckDB over the same rows.

    The sources are read to their end, once. The queries run over them as streams: all rows at once, in random batches,
    and with restarts. What they have in the end must be what DuckDB says; batches end where no later row is late by it.
    No sink is written, no checkpoint touched. Exits with 0 if all is the same, with 5 if something differs, with 1 if a
    query could not be judged.
    """
    from tidegate.session.choice import LOCAL, need, need_engine

    program = _program(files, text, config_file, defined)
    if show_sql:
        sys.exit(_show_sql(program))
    need_engine(LOCAL)
    need(["duckdb"], extra="verify")
    from tidegate.session.verifying import verify

    found = verify(program, runs=runs, seed=seed, now_us=time.time_ns() // 1_000)
    for line in _lines(found):
        click.echo(line, color=True)
    sys.exit(_exit_code(found.verdicts))


def _program(
    files: Sequence[str], text: str | None, config_file: Path | None, defined: tuple[str, ...]
) -> "Program":
    from tidegate.plan.user_aggregates import Installed

    chosen = chosen_files(files, text)
    if len(chosen) != 1:
        raise click.UsageError("verify takes one file")
    settings = replace(settings_with(config_file, defined), aggregates=Installed())
    program = plan_source(read_source(chosen[0], text), settings).program
    if program.errors:
        show_errors(program.errors)
        sys.exit(3)
    if not program.queries:
        raise click.UsageError("there is no query to verify")
    return program


def _show_sql(program: "Program") -> int:
    from tidegate.plan.batch.query import batches_of

    unknown = 0
    for name, batch in batches_of(program):
        show_heading(f"-- {name}")
        if isinstance(batch, str):
            unknown = _UNKNOWN
            click.echo(f"-- {batch}\n")
        else:
            click.echo(f"{batch.sql};\n")
    return unknown


def _lines(found: "Verified") -> Iterator[str]:
    from tidegate.session.duck import version

    wrong = found.malformed
    malformed = f", {wrong:,} malformed record{'' if wrong == 1 else 's'} left out" if wrong else ""
    yield f"{found.rows:,} rows{malformed}; {len(found.runs)} runs: {'; '.join(found.runs)}"
    for verdict in found.verdicts:
        yield from _verdict(verdict)
    same = sum(not verdict.problem and not verdict.wrong for verdict in found.verdicts)
    yield f"{same} of {len(found.verdicts)} queries say in every run what DuckDB {version()} says"


def _verdict(verdict: "Verdict") -> Iterator[str]:
    if verdict.problem:
        yield f"{paint_outcome('unknown', 'skipped')} {verdict.name}: {verdict.problem}"
        return
    left_out = verdict.batch.left_out if verdict.batch else ()
    without = f", without {', '.join(left_out)}" if left_out else ""
    if not verdict.wrong:
        yield f"{paint_outcome('same', 'passed')}    {verdict.name}: {verdict.rows:,} rows{without}"
        return
    yield f"{paint_outcome('differs', 'failed')} {verdict.name}: DuckDB has {verdict.rows:,} rows"
    for run, wrong in verdict.wrong.items():
        yield f"  {run}:"
        for one in wrong:
            row = ", ".join(f"{name}={value}" for name, value in one.row.items())
            yield f"    only {one.side} has {row}"


def _exit_code(verdicts: Sequence["Verdict"]) -> int:
    if any(verdict.wrong for verdict in verdicts):
        return _DIFFERS
    return _UNKNOWN if any(verdict.problem for verdict in verdicts) else 0
