"""The in-process engine as scenarios and sessions ask for it: one set of workers for all engines of a process."""

from functools import cache

from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.subject import Build
from tidegate.plan.script import Program


@cache
def shared_workers() -> Workers:
    """The cores of this process."""
    return Workers()


def local_build() -> Build:
    """Makes engines that are driven by hand."""

    def build(program: Program, around: Surroundings) -> LocalEngine:
        return LocalEngine(program, around, workers=shared_workers())

    return build
