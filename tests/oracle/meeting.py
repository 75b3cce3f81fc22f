"""Joins within an interval: each new row beside every row of the other side that there is, one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracle.keepers import Refused
from tests.oracle.members import Member, Window, results
from tests.oracle.passing import Completer, Fired
from tests.oracle.values import identity
from tidegate.plan.logical import IntervalJoin


@dataclass
class Meetings(Completer):
    """`kept` are the rows of both sides that a row to come may match, `matched` those that have matched one."""

    join: IntervalJoin
    kept: list[Member] = field(default_factory=list)
    matched: set[int] = field(default_factory=set)

    @property
    def delay_us(self) -> int:
        return max(self.join.interval.upper_us, -self.join.interval.lower_us, 0)

    def admit(self, batch: Sequence[Member], watermark: float) -> tuple[list[Fired], list[Refused]]:
        fired = []
        for member in batch:
            for other in self.kept:
                if self._matches(member, other):
                    fired.append(self._fire([member, other]))
            self.kept.append(member)
        return fired, []

    def _matches(self, one: Member, other: Member) -> bool:
        pair = {_side(member): member for member in (one, other)}
        if len(pair) < 2 or None in one.keys or identity(one.keys) != identity(other.keys):
            return False
        later_us = pair[1].ts_us - pair[0].ts_us
        met = self.join.interval.lower_us <= later_us <= self.join.interval.upper_us
        self.matched |= {one.place, other.place} if met else set()
        return met

    def advance(self, watermark: float) -> list[Fired]:
        gone = [member for member in self.kept if self._last(member) < watermark]
        self.kept = [member for member in self.kept if self._last(member) >= watermark]
        lonely = [member for member in gone if self._may_stand_alone(member)]
        return [self._fire([member]) for member in lonely]

    def finish(self) -> list[Fired]:
        return self.advance(float("inf"))

    def _last(self, member: Member) -> int:
        """The latest instant of a row that it matches."""
        interval = self.join.interval
        return member.ts_us + (-interval.lower_us if _side(member) else interval.upper_us)

    def _may_stand_alone(self, member: Member) -> bool:
        keeps = (self.join.keeps_left, self.join.keeps_right)[_side(member)]
        return keeps and member.place not in self.matched

    def _fire(self, members: list[Member]) -> Fired:
        places = tuple(member.place for member in members)
        last = max(member.ts_us for member in members)
        window = Window(last, last + 1, last, places)
        return Fired(window, results(self.shape, window, members))


def _side(member: Member) -> int:
    side: int = member.arrival.env.get("$side")
    return side
