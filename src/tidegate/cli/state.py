"""`tidegate state`: what is in a checkpoint, whether it is whole, and what is different in another.

Looking takes no lock and changes nothing, so it may be done while a query runs.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tidegate.cli.checkpoints import as_lines, as_object, fact_differences
from tidegate.cli.messages import show_errors
from tidegate.cli.scripts import config_option, load_settings, plan_source, read_source
from tidegate.plan.fingerprint import fingerprint
from tidegate.plan.planner import plan_query
from tidegate.state.records import Identity
from tidegate.state.store import store_at
from tidegate.state.survey import Survey, survey, verify

_EPILOG = """\b
Examples:
  tidegate state show checkpoint
  tidegate state show checkpoint --json
  tidegate state verify checkpoint
  tidegate state diff checkpoint query.sql
"""


@click.group("state", epilog=_EPILOG)
def command() -> None:
    """Look into checkpoints. CHECKPOINT is a directory, or a URI of one."""


@command.command("show")
@click.argument("checkpoint")
@click.option("--json", "as_json", is_flag=True, help="Everything, for programs.")
def show(checkpoint: str, as_json: bool) -> None:
    """Show what a restart would begin with: epochs, snapshot, streams, parts, times."""
    found = survey(store_at(checkpoint))
    if as_json:
        click.echo(json.dumps(as_object(found), indent=2))
    else:
        click.echo("\n".join(as_lines(found)))


@command.command("verify")
@click.argument("checkpoint")
def verify_command(checkpoint: str) -> None:
    """Read every file and check it; one line per problem.

    Exits with 0 if a restart will find all that it needs, with 1 if not.
    """
    problems = verify(store_at(checkpoint))
    for problem in problems:
        click.echo(f"{problem.code}: {problem.message}")
    if problems:
        sys.exit(1)
    click.echo(f"{checkpoint}: whole")


@command.command("diff")
@click.argument("checkpoint")
@click.argument("other", metavar="OTHER")
@config_option
def diff(checkpoint: str, other: str, config_file: Path | None) -> None:
    """Show what OTHER, an SQL file or a second checkpoint, has that CHECKPOINT has not.

    Lines after - are of CHECKPOINT alone, lines after + of OTHER alone. Of two checkpoints it is also shown where
    each of them stands. Exits with 0 if there is no difference, with 1 if there is one.
    """
    ours = survey(store_at(checkpoint))
    theirs = _checkpoint(other)
    if theirs is None:
        lines = ours.identity.difference(_planned(other, config_file)).splitlines()
    else:
        lines = [*ours.identity.difference(theirs.identity).splitlines(), *_standing(ours, theirs)]
    click.echo("\n".join(lines) if lines else "no difference")
    sys.exit(1 if lines else 0)


def _checkpoint(other: str) -> Survey | None:
    """OTHER as a checkpoint; None if it is a file, or stdin."""
    if other == "-" or other.endswith(".sql") or Path(other).is_file():
        return None
    return survey(store_at(other))


def _planned(file: str, config_file: Path | None) -> Identity:
    """The plans of all queries of a file."""
    program = plan_source(read_source(file, None), load_settings(config_file)).program
    if program.errors:
        show_errors(program.errors)
        sys.exit(3)
    plans = {query.name: plan_query(query, program) for query in program.queries}
    return Identity(plans={name: fingerprint(plan).lines for name, plan in plans.items()})


def _standing(ours: Survey, theirs: Survey) -> Iterator[str]:
    if ours.epoch != theirs.epoch:
        yield f"epoch: {ours.epoch} -> {theirs.epoch}"
    if ours.chain and theirs.chain:
        yield from fact_differences(ours.chain.newest.delta.facts, theirs.chain.newest.delta.facts)
