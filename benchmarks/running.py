"""The in-process engine as users run it: planned SQL, epochs, watermark, log, emission to a listener."""

from collections.abc import Callable, Iterable
from functools import cache
from time import perf_counter

import pyarrow as pa

from benchmarks.events import SOURCE
from tidegate.engines.clock import ManualClock
from tidegate.engines.embedded.queries import Workers
from tidegate.engines.engine import Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.local.engine import LocalEngine
from tidegate.engines.stage import Made
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.state import Identity, Log, MemoryLog

NOBODY = Identity(plans={})
Watch = Callable[[str, Made], None]


@cache
def workers() -> Workers:
    """All cores."""
    return Workers()


def engine(sql: str, *, log: Log | None = None, watch: Watch | None = None) -> LocalEngine:
    """An engine for queries over `events`; without `log`, it keeps its log in memory."""
    program = plan_script(parse_script(SourceText(SOURCE + sql)), Settings())
    assert not program.errors, program.errors
    around = Surroundings(
        clock=ManualClock(),
        log=log or MemoryLog(NOBODY),
        listener=Listener(made=watch) if watch else Listener(),
    )
    return LocalEngine(program, around, workers=workers())


def feed(running: LocalEngine, batches: Iterable[pa.RecordBatch]) -> float:
    """Seconds from the first batch to the last row that the end of input emits."""
    begun = perf_counter()
    for batch in batches:
        running.insert("events", [batch])
    running.end()
    return perf_counter() - begun
