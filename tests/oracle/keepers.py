"""Windows that close with the watermark: aligned, session and inherited ones, and the one that never closes.

A keeper holds every row of every open window. `admit` takes a batch, judged by the watermark that held when it
began; rows that no open window takes are given back with the reason.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.oracle.calendar import calendar_windows
from tests.oracle.evaluate import evaluate
from tests.oracle.members import NO_WINDOW, Member, Window, half_open
from tests.oracle.values import Value
from tidegate.model.policies import Reason
from tidegate.model.windows import Calendar, Cumulating, Hopping, Session, Tumbling
from tidegate.plan.logical import Windowed, WindowJoin


@dataclass(frozen=True)
class Refused:
    member: Member
    reason: Reason
    window: Window | None = None


@dataclass(kw_only=True)
class Quotas:
    max_groups: int | None = None
    max_windows: int | None = None


@dataclass(kw_only=True)
class Keeper(ABC):
    """`open`: the rows of each window that is not closed yet."""

    lateness_us: int = 0
    quotas: Quotas = field(default_factory=Quotas)
    open: dict[Window, list[Member]] = field(default_factory=dict)

    def end(self, window: Window) -> int:
        assert window.end_us is not None
        return window.end_us

    def is_closed(self, window: Window, watermark: float) -> bool:
        return watermark >= self.end(window) + self.lateness_us

    def is_due(self, window: Window, watermark: float) -> bool:
        return watermark >= self.end(window)

    @abstractmethod
    def admit(self, batch: Sequence[Member], watermark: float) -> list[Refused]: ...

    def _quota(self, member: Member, new_windows: bool) -> Reason | None:
        """Whether a new group or a new window finds no room."""
        groups = {kept.group for members in self.open.values() for kept in members}
        most, most_open = self.quotas.max_groups, self.quotas.max_windows
        if most is not None and member.group not in groups and len(groups) >= most:
            return Reason.MAX_GROUPS
        if most_open is not None and new_windows and len(self.open) >= most_open:
            return Reason.MAX_OPEN_WINDOWS
        return None

    def _put(self, window: Window, member: Member) -> None:
        members = self.open.setdefault(window, [])
        if member.arrival.sign > 0:
            members.append(member)
            return
        taken = next((kept for kept in members if kept.equals(member)), None)
        if taken is not None:
            members.remove(taken)


@dataclass(kw_only=True)
class Unwindowed(Keeper):
    """One window that nothing closes."""

    def is_closed(self, window: Window, watermark: float) -> bool:
        return False

    def is_due(self, window: Window, watermark: float) -> bool:
        return False

    def admit(self, batch: Sequence[Member], watermark: float) -> list[Refused]:
        refused = []
        for member in batch:
            reason = self._quota(member, new_windows=False)
            if reason is None:
                self._put(NO_WINDOW, member)
            else:
                refused.append(Refused(member, reason))
        return refused


@dataclass(kw_only=True)
class Aligned(Keeper):
    """Windows that the time of a row decides: tumbling, hopping, cumulating, and the window a row brings along.

    Rows that are late for all of them do not get here: nothing is computed of such a row.
    """

    windowed: Windowed | None

    def admit(self, batch: Sequence[Member], watermark: float) -> list[Refused]:
        refused = []
        for member in batch:
            still = self.still_open(member, watermark)
            reasons = [self._take(window, member) for window in still]
            if None not in reasons:
                refused.append(Refused(member, reasons[0] or Reason.MAX_GROUPS, still[0]))
        return refused

    def _take(self, window: Window, member: Member) -> Reason | None:
        reason = self._quota(member, new_windows=window not in self.open)
        if reason is None:
            self._put(window, member)
        return reason

    def still_open(self, member: Member, watermark: float) -> list[Window]:
        return [one for one in self.windows_of(member) if not self.is_closed(one, watermark)]

    def windows_of(self, member: Member) -> list[Window]:
        t = member.ts_us
        assert self.windowed is not None
        match self.windowed.window:
            case Tumbling(size_us=size, offset_us=offset):
                start = (t - offset) // size * size + offset
                return [half_open(start, start + size)]
            case Hopping(size_us=size, slide_us=slide, offset_us=offset):
                last = (t - offset) // slide * slide + offset
                starts = range(last, t - size, -slide)
                return [half_open(start, start + size) for start in starts]
            case Cumulating(step_us=step, size_us=size, offset_us=offset):
                start = (t - offset) // size * size + offset
                ends = range(start + step, start + size + 1, step)
                return [half_open(start, end) for end in ends if end > t]
            case Calendar() as window:
                return [half_open(*edges) for edges in calendar_windows(window, t)]
            case _:
                return [self._brought(member)]

    def _brought(self, member: Member) -> Window:
        """The row came out of a window: its time is that window's last instant."""
        assert self.windowed is not None
        brought = {
            meaning: evaluate(expr, member.arrival.env) for expr, meaning in self.windowed.inherited
        }
        return half_open(brought.get("window_start"), member.ts_us + 1)


@dataclass(kw_only=True)
class Joining(Aligned):
    """Rows of both sides of a join, by the window that they bring along."""

    joined: WindowJoin

    def windows_of(self, member: Member) -> list[Window]:
        env = member.arrival.env
        side = env.get("$side")
        starts = [pair for *pair, meaning in self.joined.edges if meaning == "window_start"]
        start_us = evaluate(starts[0][side], env) if starts else None
        return [half_open(start_us, member.ts_us + 1)]


@dataclass(kw_only=True)
class Sessions(Keeper):
    """Per group, runs of rows that lie close together; merged first, then judged."""

    window: Session

    def admit(self, batch: Sequence[Member], watermark: float) -> list[Refused]:
        refused: list[Refused] = []
        groups = dict.fromkeys(member.group for member in batch)
        for group in groups:
            fresh = [member for member in batch if member.group == group]
            kept = [one for window in self._of(group) for one in self.open.pop(window)]
            gone = [one for one in fresh if one.arrival.sign < 0]
            for member in gone:
                taken = next((one for one in kept if one.equals(member)), None)
                kept = [one for one in kept if one is not taken]
            candidates = [*kept, *(one for one in fresh if one.arrival.sign > 0)]
            for run in self._runs(candidates):
                refused += self._judge(run, set(map(id, kept)), group, watermark)
        return refused

    def _of(self, group: Value) -> list[Window]:
        return [window for window in self.open if window.owner == group]

    def _runs(self, members: Iterable[Member]) -> list[list[Member]]:
        runs: list[list[Member]] = []
        for member in sorted(members, key=lambda member: (member.ts_us, member.place)):
            if runs and self._near(member.ts_us - runs[-1][-1].ts_us):
                runs[-1].append(member)
            else:
                runs.append([member])
        return runs

    def _near(self, distance_us: int) -> bool:
        gap = self.window.gap_us
        return distance_us <= gap if self.window.inclusive else distance_us < gap

    def _judge(
        self, run: list[Member], kept: set[int], group: Value, watermark: float
    ) -> list[Refused]:
        window = half_open(run[0].ts_us, run[-1].ts_us + self.window.gap_us, group)
        fresh = [member for member in run if id(member) not in kept]
        if len(fresh) == len(run):
            reason = (
                Reason.ALLOWED_LATENESS_EXCEEDED
                if self.is_closed(window, watermark)
                else self._quota(run[0], new_windows=True)
            )
            if reason is not None:
                return [Refused(member, reason, window) for member in fresh]
        self.open[window] = run
        return []
