"""The in-process engine as scenarios and sessions ask for it: one set of workers for all engines of a process."""

from collections.abc import Mapping
from functools import cache

from tidegate.connectors.protocols import SourceReader
from tidegate.connectors.registry import open_source
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings, sources_of
from tidegate.engines.local.engine import BATCH_ROWS, LocalEngine
from tidegate.engines.subject import Build
from tidegate.plan.script import Program

BY_HAND = "memory"


@cache
def shared_workers() -> Workers:
    """The cores of this process."""
    return Workers()


def local_build() -> Build:
    """Makes engines that are driven by hand."""

    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(program, around, workers=shared_workers())

    return build


def local_run(*, bounded: bool | None = None, batch_rows: int | None = None) -> Build:
    """Makes engines that read their sources, about so many rows in an epoch.

    `bounded` True reads what is there now, False waits for more.
    """

    def open_readers(program: Program) -> Mapping[str, SourceReader]:
        return {
            source.name.lower(): open_source(source, bounded=bounded)
            for source in sources_of(program)
            if source.connector != BY_HAND
        }

    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(
            program,
            around,
            workers=shared_workers(),
            open_readers=open_readers,
            batch_rows=batch_rows or BATCH_ROWS,
        )

    return build
