"""`tidegate init`: a project of one's own, small enough to be read in a minute.

Decided here: the files are ordinary ones beside this module, so that what people get is what our tests run. Nothing
that is there is written over; either all files are new, or none is written.
"""

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import click

_PROJECT = Path(__file__).with_name("project")
_RENAMED = {"gitignore": ".gitignore"}  # packages lose files whose names begin with a dot
_EPILOG = """\b
Examples:
  tidegate init takings
  tidegate init projects/orders
"""


@click.command("init", epilog=_EPILOG)
@click.argument("place", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def command(place: Path) -> None:
    """Write a small commented project into DIR: a pipeline, its settings, a scenario, data.

    It runs as it is. Files that exist are never written over.
    """
    files = dict(_files())
    taken = [str(name) for name in files if (place / name).exists()]
    if taken:
        raise click.UsageError(f"{place} has {', '.join(taken)} already; nothing was written")
    for name, content in files.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(content)
    for line in _told(place, files):
        click.echo(line)


def _files() -> Iterator[tuple[Path, bytes]]:
    for path in sorted(_PROJECT.rglob("*")):
        if path.is_file():
            name = path.relative_to(_PROJECT)
            yield name.with_name(_RENAMED.get(name.name, name.name)), path.read_bytes()


def _told(place: Path, files: dict[Path, bytes]) -> Iterator[str]:
    yield f"{place}: {', '.join(map(str, files))}"
    yield "\nTry next:"
    if place.resolve() != Path.cwd():
        yield f"  cd {quote(str(place))}"
    yield "  tidegate run pipeline.sql --engine local --batch-rows 8   rows, and what became of each record"
    yield "  tidegate test scenarios                                   what it should do, written down"
    yield "  README.md says what is in the other files"
