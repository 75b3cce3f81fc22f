"""What the clocks of a time zone read, as data: when their offset from UTC changed, and to what.

Decided here: what a local time stands for where a clock is turned. A local time stands for the first instant at which
the clock reads it or has passed it. So one that is skipped is the instant of the jump, one that comes twice is the
first of the two, and a clock that runs the same minutes again has not come to a later time. Local times and instants
then ascend together: whatever is cut by local time is cut into pieces that neither overlap nor leave gaps.

The rules of a zone are read elsewhere (`sql/zones.py`); nothing here asks a file or the machine's own zone. From
`REPEATS_FROM_US` on they are the same every 400 years, which is how long the Gregorian calendar takes to come around.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from tidegate.model.time import DAY

CYCLE_US = 146_097 * DAY  # 400 years, and a whole number of weeks
REPEATS_FROM_US = 4_102_444_800_000_000  # 2100-01-01T00:00:00Z; no zone has rules of its own beyond
_BEFORE_ALL = -(1 << 80)  # before watermarks that have not begun, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """`offsets_us` are from before the first of `changes_us` to after the last, and `reached_us` before which local
    time the clock has been before each of them; `zone_of` makes one.
    """

    name: str
    changes_us: tuple[int, ...] = field(repr=False)
    offsets_us: tuple[int, ...] = field(repr=False)
    reached_us: tuple[int, ...] = field(repr=False)

    @property
    def fixed_us(self) -> int | None:
        """The offset, if it never changes."""
        return None if self.changes_us else self.offsets_us[0]

    def local_us(self, instant_us: int) -> int:
        """The latest that the clock has read by then."""
        around_us = _cycles_us(instant_us)
        within_us = instant_us - around_us
        place = bisect_right(self.changes_us, within_us)
        return max(within_us + self.offsets_us[place], self.reached_us[place] - 1) + around_us

    def instant_us(self, local_us: int) -> int:
        """When the clock first reads that, or has passed it.

        >>> east = zone_of("east", [1000], [20, 50])  # jumps from 1020 to 1050
        >>> [east.instant_us(local) for local in (1019, 1020, 1049, 1050)]
        [999, 1000, 1000, 1000]
        >>> west = zone_of("west", [1000], [50, 20])  # runs from 1020 to 1050 once more
        >>> [west.instant_us(local) for local in (1020, 1049, 1050)], west.local_us(1010)
        ([970, 999, 1030], 1049)
        """
        around_us = _cycles_us(local_us)
        within_us = local_us - around_us
        place = bisect_right(self.reached_us, within_us) - 1
        found_us = within_us - self.offsets_us[place]
        return (max(found_us, self.changes_us[place - 1]) if place else found_us) + around_us

    def jumps(self) -> tuple[tuple[int, int, int], ...]:
        """When the clock leaves local times out: the instant, the first time left out, and the first one after."""
        before = zip(self.changes_us, self.reached_us[1:], self.offsets_us[1:], strict=True)
        return tuple(
            (at_us, reached_us, at_us + offset_us)
            for at_us, reached_us, offset_us in before
            if at_us + offset_us > reached_us
        )


def zone_of(name: str, changes_us: list[int], offsets_us: list[int]) -> Zone:
    """The zone whose offset is `offsets_us[0]` at first, and the next one from each change on."""
    read_us = (at_us + before_us for at_us, before_us in zip(changes_us, offsets_us, strict=False))
    return Zone(
        name=name,
        changes_us=tuple(changes_us),
        offsets_us=tuple(offsets_us),
        reached_us=(_BEFORE_ALL, *accumulate(read_us, max)),
    )


UTC_ZONE = zone_of("UTC", [], [0])


def _cycles_us(time_us: int) -> int:
    """By how many whole cycles the time lies behind what is written down."""
    beyond_us = time_us - REPEATS_FROM_US
    return beyond_us // CYCLE_US * CYCLE_US if beyond_us > 0 else 0
