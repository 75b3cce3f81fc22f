"""`tidegate demo`: a pipeline at work on files that land while one looks on."""

import sys
from pathlib import Path

import click

from tidegate.session.choice import ENGINES, Running, default_engine, get_ready, need_engine

_NAMES = ("trades", "clicks", "sensors")
_EPILOG = """\b
Examples:
  tidegate demo
  tidegate demo clicks --engine local
  tidegate demo sensors --engine local --pace 0
  tidegate demo trades --engine local --ui 0
"""


@click.command("demo", epilog=_EPILOG)
@click.argument("name", type=click.Choice(_NAMES), default=_NAMES[0])
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=default_engine,
    show_default="spark; local where Spark is not installed",
    envvar="TIDEGATE_ENGINE",
    help="What runs the pipeline.",
)
@click.option(
    "--dir",
    "place",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tidegate-demo"),
    show_default=True,
    help="Where the pipeline and its files go. Replaced if it is of an earlier demo.",
)
@click.option(
    "--pace",
    type=click.FloatRange(min=0),
    default=0.3,
    show_default=True,
    help="Seconds from one file to the next.",
)
@click.option("--ui", metavar="[HOST:]PORT", help="With a live page; 0 is any free port.")
def command(name: str, engine: str, place: Path, pace: float, ui: str | None) -> None:
    """Watch a pipeline at work: files land, windows close, late and broken rows are set aside.

    The data is made up: prices of shares, clicks of visitors, or readings of sensors. What was run stays in --dir, to
    be looked at and run again.
    """
    need_engine(engine)
    from tidegate.plan.settings import Settings

    get_ready(engine, Running(bounded=False), Settings())

    from tidegate.cli.performing import Performance

    sys.exit(Performance(name, engine=engine, place=place, pace_s=pace, ui=ui).run())
