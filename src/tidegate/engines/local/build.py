"""The in-process engine as scenarios and sessions ask for it: one set of workers for all engines of a process."""

from functools import cache

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.inputs import BY_HAND, Inputs, polled
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.subject import Build
from tidegate.plan.script import Program


@cache
def shared_workers() -> Workers:
    """The cores of this process."""
    return Workers()


def local_build(inputs: Inputs = BY_HAND) -> Build:
    """Makes engines that are driven by hand, or that read their sources."""

    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(program, around, inputs, workers=shared_workers())

    return build


def local_run(*, bounded: bool | None = None, batch_rows: int | None = None) -> Build:
    """Makes engines that read their sources. `bounded` True reads what is there now, False waits for more."""
    return local_build(polled(bounded=bounded, batch_rows=batch_rows))
