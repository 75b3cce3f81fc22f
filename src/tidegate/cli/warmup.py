"""`tidegate warmup`: later runs on Spark start sooner."""

import sys
import time

import click

from tidegate.session.choice import SPARK, need_engine

_PROFILES = ("dev", "prod")
_EPILOG = """\b
Examples:
  tidegate warmup
  tidegate warmup --profile prod
"""


@click.command("warmup", epilog=_EPILOG)
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default=_PROFILES[0],
    show_default=True,
    help="The profile of the runs to come, as in [spark] of tidegate.toml.",
)
def command(profile: str) -> None:
    """Let Spark start sooner: keep its classes ready.

    Runs a small pipeline and keeps the classes that Java loaded for it in an archive, below the user's cache directory.
    Runs with the same Java, Spark and profile use it by themselves. Do it again after an update of Java or Spark.
    """
    need_engine(SPARK)
    from tidegate.engines.spark.warmup import warm_up

    began = time.monotonic()
    if sys.stderr.isatty():
        click.echo("training a Java process; this takes some ten seconds", err=True)
    made = warm_up(profile)
    took_s = time.monotonic() - began
    click.echo(f"{made}: {made.stat().st_size / 1e6:.0f} MB in {took_s:.0f} s")
