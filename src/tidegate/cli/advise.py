"""`tidegate advise`: how long is it worth waiting for late rows?"""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate.cli.messages import show_errors
from tidegate.cli.overrides import define_option, settings_with
from tidegate.cli.scripts import chosen_files, config_option, plan_source, read_source, sql_option
from tidegate.model.time import DAY, format_duration

if TYPE_CHECKING:
    from tidegate.session.disorder import Disorder, Wait

_BAR = 30
_EPILOG = """\b
Examples:
  tidegate advise pipeline.sql
  tidegate advise pipeline.sql -D watermark_lag=10s
"""


@click.command("advise", epilog=_EPILOG)
@click.argument("files", nargs=-1, metavar="FILE")
@sql_option
@config_option
@define_option
def command(
    files: tuple[str, ...],
    text: str | None,
    config_file: Path | None,
    defined: tuple[str, ...],
) -> None:
    """Read the sources of FILE once, and show what each length of waiting would lose, and cost.

    Waiting is the lag of the watermark and ALLOWED LATENESS together. Rows are counted as if they came one by one, in
    the order in which the sources have them; in batches fewer are late.
    """
    from tidegate.plan.user_aggregates import Installed
    from tidegate.session.choice import LOCAL, need_engine

    chosen = chosen_files(files, text)
    if len(chosen) != 1:
        raise click.UsageError("advise takes one file")
    settings = replace(settings_with(config_file, defined), aggregates=Installed())
    program = plan_source(read_source(chosen[0], text), settings).program
    if program.errors:
        show_errors(program.errors)
        sys.exit(3)
    need_engine(LOCAL)
    from tidegate.session.disorder import disorder

    told = False
    for found in disorder(program, now_us=time.time_ns() // 1_000):
        if told:
            click.echo()
        told = True
        for line in _lines(found):
            click.echo(line)
    if not told:
        click.echo(
            "no stream waits for a watermark that rows of a source move: there is nothing to advise"
        )


def _lines(found: "Disorder") -> Iterator[str]:
    untimed = f", {found.untimed:,} without a time" if found.untimed else ""
    yield (
        f"{found.stream} reads {found.source}: {found.rows:,} rows{untimed}; {found.out_of_order:,} out of order, "
        f"by up to {format_duration(found.largest_us)}"
    )
    yield "where a window comes so long after its end, in event time, so many rows are late for it:"
    widest = max((found.share(one) for one in found.waits), default=0.0)
    for one in found.waits:
        yield _row(found, one, widest)
    yield _advice(found)


def _row(found: "Disorder", one: "Wait", widest: float) -> str:
    share = found.share(one)
    marks = [
        text
        for holds, text in (
            (one.wait_us == found.declared.wait_us, "declared"),
            (one.wait_us == found.advised.wait_us, "enough"),
        )
        if holds
    ]
    mark = f"  <- {', '.join(marks)}" if marks else ""
    bar = "█" * round(_BAR * share / widest) if widest else ""
    thin = "▏" if share and not bar else ""
    line = f"{format_duration(one.wait_us):>10}  {one.late:>10,}  {share:>9.3%}  {bar}{thin}"
    return f"{line.rstrip()}{mark}"


def _advice(found: "Disorder") -> str:
    """What to write instead, if anything."""
    advised, declared = found.advised, found.declared
    wait = format_duration(advised.wait_us)
    if advised.wait_us == declared.wait_us:
        return f"what is declared is enough: waiting {wait} loses {found.share(advised):.3%}"
    if advised.wait_us < declared.wait_us:
        sooner = format_duration(declared.wait_us - advised.wait_us)
        return f"waiting {wait} would be enough, and windows would come {sooner} sooner"
    if advised.wait_us > DAY:
        return (
            f"some rows lie {format_duration(found.largest_us)} behind others: a wrong clock, rather than disorder? "
            "max_future_skew = '1h' keeps rows of the future from moving the watermark"
        )
    lateness = format_duration(advised.wait_us - found.lag_us)
    return (
        f"waiting {wait} would lose {found.share(advised):.3%} instead of {found.share(declared):.3%}: "
        f"a lag of {wait}, or {lateness} of allowed lateness beside the lag of {format_duration(found.lag_us)}"
    )
