"""The kinds of windows, as descriptions that check themselves.

Every spelling of a window in SQL ends as one of these. A description that exists is a valid one: lengths are
positive, a hop is not larger than its window, steps divide sizes. The errors carry no place; whoever parsed the
arguments knows it and adds it (`argument` names the culprit).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from tidegate import errors
from tidegate.model.calendar import NO_PERIOD, Period, Ruler, shared_part, whole
from tidegate.model.expressions import Expr
from tidegate.model.time import DAY, MAX_DURATION_US, format_duration
from tidegate.model.zones import UTC_ZONE, Zone


class InvalidLength(Exception):
    """Which argument is wrong, and what to say of it once its place is known."""

    def __init__(self, culprit: str, kind: errors.ErrorKind, /, **facts: object) -> None:
        super().__init__(culprit, kind.code)
        self.argument = culprit
        self.kind = kind
        self.facts = {name: str(fact) for name, fact in facts.items()}


def _positive(window: str, **lengths_us: int) -> None:
    for argument, length_us in lengths_us.items():
        if length_us <= 0:
            value = format_duration(length_us)
            raise InvalidLength(
                argument, errors.length_not_positive, argument=argument, window=window, value=value
            )
        _bounded(window, argument, length_us)


def _bounded(window: str, argument: str, length_us: int) -> None:
    if abs(length_us) > MAX_DURATION_US:
        limit = format_duration(MAX_DURATION_US)
        raise InvalidLength(
            argument, errors.length_too_large, argument=argument, window=window, limit=limit
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tumbling:
    kind: ClassVar[str] = "tumbling"
    size_us: int
    offset_us: int = 0

    def __post_init__(self) -> None:
        _positive(self.kind, size=self.size_us)
        _bounded(self.kind, "offset", self.offset_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hopping:
    kind: ClassVar[str] = "hopping"
    size_us: int
    slide_us: int
    offset_us: int = 0

    def __post_init__(self) -> None:
        _positive(self.kind, size=self.size_us, slide=self.slide_us)
        _bounded(self.kind, "offset", self.offset_us)
        if self.slide_us > self.size_us:
            slide, size = format_duration(self.slide_us), format_duration(self.size_us)
            raise InvalidLength("slide", errors.slide_too_large, slide=slide, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cumulating:
    kind: ClassVar[str] = "cumulating"
    step_us: int
    size_us: int
    offset_us: int = 0

    def __post_init__(self) -> None:
        _positive(self.kind, step=self.step_us, size=self.size_us)
        _bounded(self.kind, "offset", self.offset_us)
        if self.size_us % self.step_us:
            step, size = format_duration(self.step_us), format_duration(self.size_us)
            raise InvalidLength("size", errors.step_not_divisor, step=step, size=size)


AlignedKind = Literal["tumbling", "hopping", "cumulating"]
_MAX_MONTHS = 12 * 9999
_BOTH_ALIKE = "give both in months, or both in days and less"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Aligned windows between marks of a local clock: of months, or in a zone whose offset changes.

    `step` is the slide of hopping windows, the step of cumulating ones, and the size of tumbling ones.
    """

    kind: AlignedKind
    size: Period
    step: Period
    offset: Period
    zone: Zone

    def __post_init__(self) -> None:
        argument = "slide" if self.kind == "hopping" else "step"
        for name, period in (("size", self.size), (argument, self.step)):
            self._check(name, period)
        _bounded(self.kind, "offset", self.offset.us)
        alike = self.size.is_calendar == self.step.is_calendar
        if self.kind == "hopping":
            self._check_slide(alike)
        elif not whole(self.size, self.step) and (alike or self.step.is_calendar):
            raise InvalidLength("size", errors.step_not_divisor, step=self.step, size=self.size)
        if not self.pane.is_calendar and DAY % self.pane.us and (not alike or self.pane.us % DAY):
            problem = "a day is no whole number of them"
            instead = "give whole days, or parts of a day such as hours"
            raise self._refused(argument, self.step, problem, instead)
        if self.offset.is_calendar and not self.size.is_calendar:
            problem = f"windows are {self.size} long"
            raise self._refused("offset", self.offset, problem, "shift months only by months")

    def _check(self, argument: str, period: Period) -> None:
        if min(period.months, period.us) < 0 or period == NO_PERIOD:
            kind = errors.length_not_positive
            raise InvalidLength(argument, kind, argument=argument, window=self.kind, value=period)
        if period.months and period.us:
            problem = "a month is no whole number of days"
            raise self._refused(argument, period, problem, "leave the smaller unit out")
        _bounded(self.kind, argument, period.us)
        if period.months > _MAX_MONTHS:
            limit = Period(months=_MAX_MONTHS)
            facts = {"argument": argument, "window": self.kind, "limit": limit}
            raise InvalidLength(argument, errors.length_too_large, **facts)

    def _check_slide(self, alike: bool) -> None:
        if not alike:
            raise self._refused("slide", self.step, f"the size is {self.size}", _BOTH_ALIKE)
        if (self.step.months, self.step.us) > (self.size.months, self.size.us):
            raise InvalidLength("slide", errors.slide_too_large, slide=self.step, size=self.size)

    def _refused(self, argument: str, value: Period, problem: str, instead: str) -> InvalidLength:
        facts = {"argument": argument, "value": value, "problem": problem, "instead": instead}
        return InvalidLength(argument, errors.calendar_length_refused, window=self.kind, **facts)

    @property
    def pane(self) -> Period:
        """What windows are whole numbers of; months are not, of a shorter step, but end where one ends."""
        alike = self.size.is_calendar == self.step.is_calendar
        return shared_part(self.size, self.step) if alike else self.step

    @property
    def marks(self) -> Ruler:
        """Where panes begin."""
        return Ruler(period=self.pane, offset=self.offset, zone=self.zone)

    @property
    def bounds(self) -> Ruler:
        """Where whole windows begin, of those that do not overlap or that grow."""
        return Ruler(period=self.size, offset=self.offset, zone=self.zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`inclusive`: rows exactly one gap apart share a session (Flink's and Spark's rule); by default they do not."""

    kind: ClassVar[str] = "session"
    gap_us: int
    inclusive: bool = False

    def __post_init__(self) -> None:
        _positive(self.kind, gap=self.gap_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliding:
    """Every row at t is a trigger for [t - lookback, t + lookahead], both ends in. `lookahead_us` None: fire at t."""

    kind: ClassVar[str] = "sliding"
    lookback_us: int
    lookahead_us: int | None = None

    def __post_init__(self) -> None:
        _positive(self.kind, lookback=self.lookback_us)
        if self.lookahead_us is None:
            return
        if self.lookahead_us < 0:
            value = format_duration(self.lookahead_us)
            raise InvalidLength(
                "lookahead",
                errors.length_negative,
                argument="lookahead",
                window=self.kind,
                value=value,
            )
        _bounded(self.kind, "lookahead", self.lookahead_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Of two joined streams: a row at t matches rows of the other side from t + lower to t + upper, both ends in."""

    kind: ClassVar[str] = "interval"
    lower_us: int
    upper_us: int

    def __post_init__(self) -> None:
        _bounded(self.kind, "lower", self.lower_us)
        _bounded(self.kind, "upper", self.upper_us)
        if self.lower_us > self.upper_us:
            lower, upper = format_duration(self.lower_us), format_duration(self.upper_us)
            raise InvalidLength("lower", errors.no_interval, lower=lower, upper=upper)

    @property
    def reach_us(self) -> int:
        """How far behind the watermark the earlier row of a pair may lie that is still to come."""
        return max(self.upper_us, -self.lower_us, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """Every `step` rows, the last `rows` rows."""

    kind: ClassVar[str] = "counting"
    rows: int
    step: int

    def __post_init__(self) -> None:
        for argument, value in (("rows", self.rows), ("step", self.step)):
            if value <= 0:
                raise InvalidLength(
                    argument,
                    errors.length_not_positive,
                    argument=argument,
                    window=self.kind,
                    value=value,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional:
    """The state window: from the first row where `open` holds to the first later one where `close` holds."""

    kind: ClassVar[str] = "state"
    open: Expr
    close: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Inherited:
    """The window that each row already belongs to: grouping by the window columns of an inner query."""

    kind: ClassVar[str] = "inherited"


FixedWindow = Tumbling | Hopping | Cumulating
AlignedWindow = FixedWindow | Calendar
TimeWindow = AlignedWindow | Session | Sliding
Window = TimeWindow | Inherited | Counting | Conditional | Interval


def aligned(
    kind: AlignedKind,
    size: Period,
    step: Period | None = None,
    *,
    offset: Period = NO_PERIOD,
    zone: Zone = UTC_ZONE,
) -> AlignedWindow:
    """The windows with these lengths by that zone's clock; where its offset never changes, lengths are fixed."""
    periods = (size, step or size, offset)
    if zone.fixed_us is None or any(period.is_calendar for period in periods):
        return Calendar(kind=kind, size=size, step=step or size, offset=offset, zone=zone)
    offset_us = offset.us - zone.fixed_us
    match kind:
        case "tumbling":
            return Tumbling(size_us=size.us, offset_us=offset_us)
        case "hopping":
            return Hopping(size_us=size.us, slide_us=(step or size).us, offset_us=offset_us)
        case "cumulating":
            return Cumulating(size_us=size.us, step_us=(step or size).us, offset_us=offset_us)


def in_zone(window: AlignedWindow, zone: Zone) -> AlignedWindow:
    """The windows, which go by UTC, by that zone's clock instead."""
    match window:
        case Calendar(kind=kind, size=size, step=step, offset=offset):
            return aligned(kind, size, step, offset=offset, zone=zone)
        case Tumbling(size_us=size_us, offset_us=offset_us):
            return aligned("tumbling", Period(us=size_us), offset=Period(us=offset_us), zone=zone)
        case Hopping(size_us=size_us, slide_us=step_us, offset_us=offset_us):
            kind, offset = "hopping", Period(us=offset_us)
        case Cumulating(size_us=size_us, step_us=step_us, offset_us=offset_us):
            kind, offset = "cumulating", Period(us=offset_us)
    return aligned(kind, Period(us=size_us), Period(us=step_us), offset=offset, zone=zone)
