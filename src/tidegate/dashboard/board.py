"""What the page shows: pictures of a run, at most one a second, and what it was like in the last hour.

In: an engine between two epochs, in the thread that drives it. Out: plain data, for any thread. Decided here: the run
is never asked more than once a second and never for more than a screen can hold; a state that is too large to be listed
is told in numbers. Between two pictures nothing is computed, so a page that nobody opens costs next to nothing.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidegate.engines.engine import Engine
from tidegate.engines.inputs import sources_of
from tidegate.engines.sides import Payload
from tidegate.model.policies import SideKind
from tidegate.model.time import FOREVER_US, NEVER_US
from tidegate.plan.catalog import SinkDef, SourceDef
from tidegate.plan.explain.physical import physical_tree
from tidegate.plan.explain.text import as_text
from tidegate.plan.physical import InputKind
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.session.accounts import Account, StageAccount, account_of
from tidegate.session.reasons import Question, reasons
from tidegate.session.standing import Standing, standings

_EVERY_S = 1.0
_POINTS = 3_600
_SAMPLES = 20
_WINDOWS = 60
_LISTED_BYTES = 2_000_000

Picture = dict[str, Any]


@dataclass(slots=True)
class _Course:
    """What a stream was like, second by second."""

    points: deque[tuple[float, int, int, int | None, int | None, int, int]] = field(
        default_factory=lambda: deque(maxlen=_POINTS)
    )


class Board:
    """Of one run. `look` is called by the thread that drives it, everything else by any."""

    def __init__(
        self,
        *,
        name: str,
        engine: str,
        sql: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._engine_name, self._sql, self._clock = name, engine, sql, clock
        self._changed = threading.Condition()
        self._picture: Picture = {}
        self._number = 0
        self._state = "running"
        self._began = clock()
        self._last = float("-inf")
        self._before: tuple[float, _Counts] | None = None
        self._courses: dict[str, _Course] = {}
        self._samples: dict[str, deque[Payload]] = {
            kind.value: deque(maxlen=_SAMPLES) for kind in SideKind
        }
        self._program: Program | None = None
        self._sources: list[SourceDef] = []
        self._plans: dict[str, str] = {}
        self._watched: dict[str, int] = {}

    # The run's side

    def diverted(self, payloads: Sequence[Payload]) -> None:
        with self._changed:
            for payload in payloads:
                self._samples[payload["kind"]].append(payload)

    def look(self, engine: Engine, *, state: str = "running") -> None:
        """A picture, if it is time for one, or the state is another."""
        now = self._clock()
        if state == self._state and now - self._last < _EVERY_S:
            return
        account = account_of(engine)
        with self._changed:
            watched = {name for name, count in self._watched.items() if count}
        found = standings(engine, account, windows_of=watched, most_bytes=_LISTED_BYTES)
        if self._program is not engine.program:
            self._program = engine.program
            self._sources, self._plans = sources_of(engine.program), _plans(engine.program)
        counts = _Counts.of(account)
        rates = _Rates(self._before, now, counts)
        picture = self._drawn(engine, account, found, rates)
        with self._changed:
            self._state, self._last = state, now
            self._before = (now, counts)
            self._remember(now, counts, found, rates)
            self._picture = {**picture, "state": state, "sides": self._sides(account)}
            self._number += 1
            self._changed.notify_all()

    def _drawn(
        self,
        engine: Engine,
        account: Account,
        found: Mapping[str, Standing],
        rates: "_Rates",
    ) -> Picture:
        return {
            "name": self._name,
            "engine": self._engine_name,
            "epoch": account.epoch,
            "clock_us": engine.now_us,
            "seconds": round(self._clock() - self._began, 1),
            "sources": [
                {
                    "name": source.name,
                    "rows": rates.now.count("read", source.name),
                    "rate": rates.of("read", source.name),
                    "malformed": account.malformed.get(source.name.lower(), 0),
                }
                for source in self._sources  # also those that have said nothing yet
            ],
            "streams": [
                _stream(query.name, rates.now, found[query.name.lower()], rates, account.epoch)
                for query in engine.dataflow.queries
            ],
            "sinks": _sinks(engine.program),
            "edges": _edges(engine),
            "latest": {
                name: _shown(max((one.latest_us for one in standing.inputs), default=NEVER_US))
                for name, standing in found.items()
            },
            "details": {
                name: _details(found[name])
                for name in found
                if found[name].windows or name in self._watched
            },
        }

    def _sides(self, account: Account) -> Picture:
        counts: dict[str, dict[str, int]] = {}
        for stage in account.stages:
            for name, count in stage.reasons.items():
                kind, _, reason = name.partition("/")
                counts.setdefault(kind, {})[reason] = counts.get(kind, {}).get(reason, 0) + count
        malformed = sum(account.malformed.values())
        if malformed:
            counts.setdefault("error", {})["malformed_record"] = malformed
        return {
            kind.value: {
                "count": sum(counts.get(kind.value, {}).values()),
                "reasons": counts.get(kind.value, {}),
                "samples": [*self._samples[kind.value]][::-1],
            }
            for kind in SideKind
        }

    def _remember(
        self, now: float, counts: "_Counts", found: Mapping[str, Standing], rates: "_Rates"
    ) -> None:
        for name, standing in found.items():
            latest = max((one.latest_us for one in standing.inputs), default=NEVER_US)
            kept = counts.stages[name]
            point = (
                round(now - self._began, 1),
                rates.of("rows", name),
                rates.of("emitted", name),
                _shown(standing.watermark_us),
                _shown(latest),
                kept.open_windows,
                kept.state_bytes,
            )
            self._courses.setdefault(name, _Course()).points.append(point)

    # The page's side

    def watch(self, stream: str, *, more: int) -> None:
        """Somebody looks at the stream, or does not any longer."""
        with self._changed:
            self._watched[stream.lower()] = self._watched.get(stream.lower(), 0) + more

    def newer(self, than: int, timeout: float) -> tuple[int, Picture]:
        """The newest picture, with its number; waits for one that is newer."""
        with self._changed:
            self._changed.wait_for(lambda: self._number > than, timeout)
            return self._number, self._picture

    def history(self, stream: str) -> list[Sequence[object]]:
        with self._changed:
            course = self._courses.get(stream.lower())
            return [] if course is None else [*course.points]

    def texts(self) -> Picture:
        return {"sql": self._sql, "plans": self._plans}


@dataclass(frozen=True, slots=True)
class _Counts:
    """An account by lower-case names: of sources, of stages, and of the stages of each stream."""

    read: Mapping[str, int]
    stages: Mapping[str, StageAccount]
    streams: Mapping[str, Sequence[StageAccount]]

    @classmethod
    def of(cls, account: Account) -> "_Counts":
        streams: dict[str, list[StageAccount]] = {}
        for stage in account.stages:
            streams.setdefault(stage.stream.lower(), []).append(stage)
        return cls(
            read={name.lower(): rows for name, rows in account.read.items()},
            stages={stage.name.lower(): stage for stage in account.stages},
            streams=streams,
        )

    def count(self, what: str, name: str) -> int:
        if what == "read":
            return self.read.get(name.lower(), 0)
        stage = self.stages.get(name.lower())
        if stage is None:
            return 0
        return stage.rows if what == "rows" else stage.emitted


@dataclass(frozen=True, slots=True)
class _Rates:
    """Per second since the last picture."""

    before: tuple[float, _Counts] | None
    at: float
    now: _Counts

    def of(self, what: str, name: str) -> int:
        if self.before is None:
            return 0
        then, earlier = self.before
        more = self.now.count(what, name) - earlier.count(what, name)
        return round(max(more, 0) / max(self.at - then, 1e-3))


def _shown(at_us: int) -> int | None:
    """None for what is no instant; the page counts in numbers that hold 53 bits."""
    return at_us if NEVER_US < at_us < FOREVER_US else None


def _stream(name: str, counts: _Counts, standing: Standing, rates: _Rates, epoch: int) -> Picture:
    stages = counts.streams.get(name.lower(), ())
    return {
        "name": name,
        "anonymous": any(stage.anonymous for stage in stages),
        "windowed": standing.window is not None,
        "rows": stages[0].rows if stages else 0,
        "rate": rates.of("rows", stages[0].name) if stages else 0,
        "emitted": stages[-1].emitted if stages else 0,
        "emit_rate": rates.of("emitted", name),
        "diverted": sum(stage.diverted for stage in stages),
        "watermark_us": _shown(standing.watermark_us),
        "open_windows": sum(stage.open_windows for stage in stages),
        "state_bytes": sum(stage.state_bytes for stage in stages),
        "ms_per_epoch": round(
            sum(stage.seconds for stage in stages) * 1_000 / max(epoch + 1, 1), 2
        ),
        "holding": [one.name for one in standing.holding] if len(standing.inputs) > 1 else [],
    }


def _details(standing: Standing) -> Picture:
    windows = standing.windows[:_WINDOWS]
    return {
        "why": list(reasons(standing, Question())),
        "lateness_us": standing.lateness_us,
        "windows": [
            {
                "start_us": one.start_us,
                "end_us": one.end_us,
                "rows": one.rows,
                "groups": len(one.groups),
            }
            for one in windows
        ],
        "more": len(standing.windows) - len(windows),
        "groups": len(
            {tuple(group.items()) for one in standing.windows for group, _ in one.groups}
        ),
    }


def _edges(engine: Engine) -> list[tuple[str, str]]:
    """Who reads whom: `source:trades` → `stream:vwap` → `sink:out`."""
    edges: dict[tuple[str, str], None] = {}
    kinds = {InputKind.SOURCE: "source", InputKind.STREAM: "stream"}
    for query in engine.dataflow.queries:
        for stage in query.stages:
            for branch in stage.stage.branches:
                kind = kinds.get(branch.input.kind)
                if kind is not None:
                    name = branch.input.name
                    edges[f"{kind}:{name.lower()}", f"stream:{query.name.lower()}"] = None
    for sink in _sinks(engine.program):
        edges[f"{sink['of']}:{sink['stream'].lower()}", f"sink:{sink['name'].lower()}"] = None
    return [*edges]


def _sinks(program: Program) -> list[dict[str, str]]:
    found = []
    for sink in program.catalog.all_of("sink"):
        if isinstance(sink, SinkDef) and sink.stream is not None:
            definition = program.catalog.find(sink.stream)
            kind = definition.kind if definition is not None else "stream"
            found.append(
                {"name": sink.name, "stream": sink.stream, "of": kind, "connector": sink.connector}
            )
    return found


def _plans(program: Program) -> dict[str, str]:
    return {
        query.name: as_text(physical_tree(plan_query(query, program))) for query in program.queries
    }
