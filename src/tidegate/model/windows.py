"""The kinds of windows, as descriptions that check themselves.

Every spelling of a window in SQL ends as one of these. A description that exists is a valid one: lengths are
positive, a hop is not larger than its window, steps divide sizes. The errors carry no place; whoever parsed the
arguments knows it and adds it (`argument` names the culprit).
"""

from dataclasses import dataclass
from typing import ClassVar

from tidegate import errors
from tidegate.model.expressions import Expr
from tidegate.model.time import MAX_DURATION_US, format_duration


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


AlignedWindow = Tumbling | Hopping | Cumulating
TimeWindow = Tumbling | Hopping | Cumulating | Session | Sliding
Window = TimeWindow | Inherited | Counting | Conditional
