"""Windows that rows complete: sliding, counting and state windows. They give finished windows, in order."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracle.evaluate import evaluate, holds
from tests.oracle.keepers import Refused
from tests.oracle.members import Member, Result, Window, over_result, results
from tests.oracle.shape import Shape
from tests.oracle.values import Value, identity
from tidegate.model.policies import EmitMode
from tidegate.model.windows import Conditional, Counting, Sliding


@dataclass(frozen=True)
class Fired:
    """A window that is complete, with its rows."""

    window: Window
    results: list[Result]


@dataclass
class Completer(ABC):
    """`unused` counts rows that belong to no window at all."""

    shape: Shape
    unused: int = field(default=0, init=False)

    def admit(self, batch: Sequence[Member], watermark: float) -> tuple[list[Fired], list[Refused]]:
        """Take a batch, judged by the watermark that held when it began."""
        return [fired for member in batch for fired in self.take(member)], []

    def take(self, member: Member) -> list[Fired]:
        raise NotImplementedError

    def advance(self, watermark: float) -> list[Fired]:
        return []

    @abstractmethod
    def finish(self) -> list[Fired]:
        """The end of input."""


@dataclass
class Triggers(Completer):
    """Sliding windows: every row is a trigger. `processing`: its time is the clock's, and nothing can come late."""

    processing: bool = False
    kept: list[Member] = field(default_factory=list)
    pending: list[Member] = field(default_factory=list)

    @property
    def frames(self) -> list[Sliding]:
        if self.shape.over is not None:
            return [frame.window for frame in self.shape.over.frames]
        assert self.shape.windowed is not None
        assert isinstance(self.shape.windowed.window, Sliding)
        return [self.shape.windowed.window]

    @property
    def lookahead_us(self) -> int:
        return max(frame.lookahead_us or 0 for frame in self.frames)

    @property
    def at_once(self) -> bool:
        on_update = self.shape.emission.emit.mode is EmitMode.ON_UPDATE
        return on_update or (self.processing and self.lookahead_us == 0)

    @property
    def delay_us(self) -> int:
        return self.lookahead_us + self.shape.emission.lateness_us

    def admit(self, batch: Sequence[Member], watermark: float) -> tuple[list[Fired], list[Refused]]:
        fired: list[Fired] = []
        for member in sorted(batch, key=lambda member: (member.ts_us, member.place)):
            assert not self.is_late(member, watermark), member
            self.kept.append(member)
            if self.at_once:
                fired.append(self._fire(member))
            else:
                self.pending.append(member)
        return fired, []

    def is_late(self, member: Member, watermark: float) -> bool:
        """Its own trigger has passed."""
        return member.ts_us + self.delay_us < watermark

    def advance(self, watermark: float) -> list[Fired]:
        due = [member for member in self.pending if watermark >= member.ts_us + self.delay_us]
        self.pending = [member for member in self.pending if member not in due]
        due.sort(key=lambda member: (member.ts_us, member.place))
        return [self._fire(member) for member in due]

    def finish(self) -> list[Fired]:
        return self.advance(float("inf"))

    def window_of(self, member: Member) -> Window:
        t, frame = member.ts_us, self.frames[0]
        return Window(t - frame.lookback_us, t + (frame.lookahead_us or 0), t, member.place)

    def _within(self, frame: Sliding, trigger: Member) -> list[Member]:
        start, end = trigger.ts_us - frame.lookback_us, trigger.ts_us + (frame.lookahead_us or 0)
        return [member for member in self.kept if start <= member.ts_us <= end]

    def _fire(self, trigger: Member) -> Fired:
        window = self.window_of(trigger)
        if self.shape.over is None:
            members = self._within(self.frames[0], trigger)
            return Fired(window, results(self.shape, window, members))
        framed = []
        for frame in self.shape.over.frames:
            own = _partition(frame.partition_by, trigger)
            rows = self._within(frame.window, trigger)
            framed.append([row for row in rows if _partition(frame.partition_by, row) == own])
        return Fired(window, [over_result(self.shape, trigger, framed)])


def _partition(exprs: Sequence[Value], member: Member) -> Value:
    return identity([evaluate(expr, member.arrival.env) for expr in exprs])


def _extent(members: Sequence[Member], owner: Value) -> Window:
    """From the first instant in it to the last; the end is behind it."""
    times = [member.arrival.ts_us for member in members if member.arrival.ts_us is not None]
    if not times:
        return Window(None, None, None, owner)
    return Window(min(times), max(times) + 1, max(times), owner)


@dataclass
class Counts(Completer):
    """Every `step` rows the last `rows` rows, by arrival."""

    last: dict[Value, list[Member]] = field(default_factory=dict)
    since: dict[Value, int] = field(default_factory=dict)
    number: int = 0

    @property
    def window(self) -> Counting:
        assert self.shape.windowed is not None
        assert isinstance(self.shape.windowed.window, Counting)
        return self.shape.windowed.window

    def take(self, member: Member) -> list[Fired]:
        key = identity(member.partition)
        kept = [*self.last.get(key, ()), member][-self.window.rows :]
        self.last[key] = kept
        self.since[key] = self.since.get(key, 0) + 1
        return [self._fire(key, kept)] if self.since[key] == self.window.step else []

    def finish(self) -> list[Fired]:
        """The window that would have come next, as far as it has rows."""
        fired = []
        for key, since in self.since.items():
            size = self.window.rows - (self.window.step - since)
            if since > 0 and size > 0:
                fired.append(self._fire(key, self.last[key][-size:]))
        return fired

    def _fire(self, key: Value, members: list[Member]) -> Fired:
        self.since[key] = 0
        self.number += 1
        window = _extent(members, (key, self.number))
        return Fired(window, results(self.shape, window, members))


@dataclass
class Conditions(Completer):
    """From the first row that opens to the first later one that closes, by arrival."""

    held: dict[Value, list[Member]] = field(default_factory=dict)
    number: int = 0

    @property
    def window(self) -> Conditional:
        assert self.shape.windowed is not None
        assert isinstance(self.shape.windowed.window, Conditional)
        return self.shape.windowed.window

    def take(self, member: Member) -> list[Fired]:
        key, env = identity(member.partition), member.arrival.env
        if key not in self.held:
            if holds(self.window.open, env):
                self.held[key] = [member]
            else:
                self.unused += 1
            return []
        self.held[key].append(member)
        return [self._fire(key)] if holds(self.window.close, env) else []

    def finish(self) -> list[Fired]:
        return [self._fire(key) for key in list(self.held)]

    def _fire(self, key: Value) -> Fired:
        self.number += 1
        members = self.held.pop(key)
        window = _extent(members, (key, self.number))
        return Fired(window, results(self.shape, window, members))
