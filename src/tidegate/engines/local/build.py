"""How others get an in-process engine: one set of workers for all that a process builds."""

from collections.abc import Mapping
from functools import cache

from tidegate.connectors.protocols import SourceReader
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import BATCH_ROWS, Surroundings
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.subject import Build, BuildReading
from tidegate.plan.script import Program

_workers = cache(Workers)


def local_build() -> Build:
    """Builds engines that are driven by hand."""

    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(program, around, workers=_workers())

    return build


def local_run(*, batch_rows: int | None = None) -> BuildReading:
    """Builds engines that read their sources, about so many rows in an epoch."""

    def build(
        program: Program, around: Surroundings, readers: Mapping[str, SourceReader]
    ) -> LocalEngine:
        rows = batch_rows or BATCH_ROWS
        return LocalEngine(program, around, workers=_workers(), readers=readers, batch_rows=rows)

    return build
