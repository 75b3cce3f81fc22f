"""Every spelling of a window, and what it means: one table, one plan node.

In: a function call in GROUP BY, a window function in FROM, or a WINDOW clause. Out: `WindowSyntax`, which holds the
validated window. Each family of spellings keeps its own order and kind of arguments; nothing after this file knows
which one was written, except to name it in a message.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidegate import errors
from tidegate.model.calendar import NO_PERIOD, Period
from tidegate.model.time import DAY, HOUR, MILLISECOND, MINUTE, SECOND
from tidegate.model.windows import (
    AlignedKind,
    Counting,
    InvalidLength,
    Session,
    Sliding,
    Window,
    aligned,
)
from tidegate.model.zones import UTC_ZONE, Zone
from tidegate.sql.intervals import is_interval
from tidegate.sql.lengths import interval_period, read_period
from tidegate.sql.places import head_of, span_of
from tidegate.sql.source import SourceText, Span
from tidegate.sql.zones import named_zone

EKUIPER_UNITS = {"dd": DAY, "hh": HOUR, "mi": MINUTE, "ss": SECOND, "ms": MILLISECOND}
_AZURE_UNITS = {
    "day": DAY,
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
    "millisecond": MILLISECOND,
}
_DOUBLE_QUOTED = ("window", "session_window")  # Spark's texts may have either quotes
_NO_LENGTHS = frozenset({"time", "unit", "open", "close", "time_zone"})
_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_/+-]*")
_ZONE = re.compile(
    rf"{_ZONE_NAME.pattern}|[+-][0-9]{{1,2}}:?[0-9]{{2}}"
)  # there, no length can be meant
_UNIT_HINT = "units are " + ", ".join(f"'{unit}'" for unit in EKUIPER_UNITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSyntax:
    """A window as it was written, with the zone that is named in it, if one is.

    `window` is None for the state window, whose conditions have yet to be bound.
    """

    spelling: str
    span: Span
    window: Window | None
    time: exp.Expression | None = None
    conditions: tuple[exp.Expression, ...] = ()
    partition_by: tuple[exp.Expression, ...] = ()
    zone: Zone | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Arguments in order; those after `required` many may be left out. A leading `unit` scales the plain numbers.

    Where it is `zoned`, a `time_zone` may follow, by name or as a text that can only be one.
    """

    name: str
    arguments: tuple[str, ...]
    required: int
    build: "Callable[[Given], Window] | None"
    zoned: bool = False

    @property
    def takes_unit(self) -> bool:
        return self.arguments[0] == "unit"

    @property
    def order(self) -> str:
        """`(time, slide, size)`."""
        return f"({', '.join(self.arguments[: self.required])})"

    @property
    def form(self) -> str:
        """`HOP(time, slide, size [, offset])`."""
        optional = "".join(f" [, {argument}]" for argument in self.arguments[self.required :])
        name = self.name.upper() if self.arguments[0] == "time" else self.name
        return f"{name}{self.order[:-1]}{optional})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The arguments of a window: lengths, or counts as so many, and the zone whose clock it goes by."""

    periods: Mapping[str, Period]
    zone: Zone | None = None

    def us(self, name: str, otherwise: int = 0) -> int:
        """A length that has to be fixed."""
        period = self.periods.get(name, Period(us=otherwise))
        if period.is_calendar:
            raise InvalidLength(name, errors.calendar_length, unit=period)
        return period.us

    def aligned(self, kind: AlignedKind, step: str = "size") -> Window:
        periods, zone = self.periods, self.zone or UTC_ZONE
        offset = periods.get("offset", NO_PERIOD)
        return aligned(kind, periods["size"], periods[step], offset=offset, zone=zone)


def _tumbling(given: Given) -> Window:
    return given.aligned("tumbling")


def _hopping(given: Given) -> Window:
    return given.aligned("hopping", "slide")


def _cumulating(given: Given) -> Window:
    return given.aligned("cumulating", "step")


def _session(given: Given) -> Window:
    return Session(gap_us=given.us("gap"))


def _sliding(given: Given) -> Window:
    ahead = given.us("lookahead") if "lookahead" in given.periods else None
    return Sliding(lookback_us=given.us("lookback"), lookahead_us=ahead)


def _counting(given: Given) -> Window:
    rows = given.us("rows")
    return Counting(rows=rows, step=given.us("step", rows))


def _spark_window(given: Given) -> Window:
    size = given.periods["size"]
    return _tumbling(given) if given.periods.get("slide", size) == size else _hopping(given)


def _spark_session(given: Given) -> Window:
    return Session(gap_us=given.us("gap"), inclusive=True)


def _spelling(
    name: str, arguments: str, build: Callable[[Given], Window] | None, *, zoned: bool = False
) -> Spelling:
    required, _, optional = arguments.partition("|")
    return Spelling(
        name=name,
        arguments=(*required.split(), *optional.split()),
        required=len(required.split()),
        build=build,
        zoned=zoned,
    )


SPELLINGS = {
    spelling.name: spelling
    for spelling in (
        _spelling("tumble", "time size | offset", _tumbling, zoned=True),
        _spelling("hop", "time slide size | offset", _hopping, zoned=True),
        _spelling("cumulate", "time step size | offset", _cumulating, zoned=True),
        _spelling("session", "time gap", _session),
        _spelling("tumblingwindow", "unit size", _tumbling),
        _spelling("hoppingwindow", "unit size slide", _hopping),
        _spelling("sessionwindow", "unit gap", _session),
        _spelling("slidingwindow", "unit lookback | lookahead", _sliding),
        _spelling("countwindow", "rows | step", _counting),
        _spelling("statewindow", "open close", None),
        _spelling("window", "time size | slide offset", _spark_window, zoned=True),
        _spelling("session_window", "time gap", _spark_session),
    )
}
TABLE_SPELLINGS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
CLAUSE_SPELLINGS = {
    "TUMBLING": _spelling("WINDOW TUMBLING", "SIZE | OFFSET", _tumbling),
    "HOPPING": _spelling("WINDOW HOPPING", "SIZE SLIDE | OFFSET", _hopping),
    "CUMULATING": _spelling("WINDOW CUMULATING", "SIZE STEP | OFFSET", _cumulating),
    "SESSION": _spelling("WINDOW SESSION", "GAP", _session),
    "SLIDING": _spelling("WINDOW SLIDING", "LOOKBACK | LOOKAHEAD", _sliding),
}
_NAMED = {"timecol": "time", "time_col": "time"}


def spelling_of(node: exp.Expression) -> Spelling | None:
    """The window that a function call spells, if it does."""
    return SPELLINGS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None


def read_window(node: exp.Expression, source: SourceText) -> WindowSyntax | None:
    """A window function call, its arguments checked; None for anything else."""
    spelling = spelling_of(node)
    if spelling is None:
        return None
    span = head_of(node, source)
    return window_from_arguments(
        spelling, node.expressions, source=source, span=span, written=node.name
    )


def window_from_arguments(
    spelling: Spelling,
    arguments: Sequence[exp.Expression],
    *,
    source: SourceText,
    span: Span,
    written: str,
) -> WindowSyntax:
    """A window from argument trees, given by position or by name."""
    reader = _Arguments(spelling, source, span, written)
    given = reader.by_name(arguments)
    lengths = {
        name: reader.length(name, node, given)
        for name, node in given.items()
        if name not in _NO_LENGTHS
    }
    zone = reader.zone(given)
    conditions = tuple(given[name] for name in ("open", "close") if name in given)
    places = {name: span_of(node, source, otherwise=span) for name, node in given.items()}
    arguments_given = Given(periods=lengths, zone=zone)
    window = build_window(spelling, arguments_given, source=source, places=places, otherwise=span)
    return WindowSyntax(
        spelling=written,
        span=span,
        window=window,
        time=given.get("time"),
        conditions=conditions,
        zone=zone,
    )


def build_window(
    spelling: Spelling,
    given: Given,
    *,
    source: SourceText,
    places: Mapping[str, Span],
    otherwise: Span,
) -> Window | None:
    """The plan node; what it refuses is said at the argument that is wrong, in the order of this spelling."""
    if spelling.build is None:
        return None
    try:
        return spelling.build(given)
    except InvalidLength as invalid:
        place = source.location(places.get(invalid.argument, otherwise))
        facts = invalid.facts | {"window": spelling.name}
        raise invalid.kind(place, order=spelling.order, **facts) from None


class _Arguments:
    """Reads the arguments of one call, and words what is wrong with them."""

    def __init__(self, spelling: Spelling, source: SourceText, span: Span, written: str) -> None:
        self.spelling = spelling
        self.source = source
        self.span = span
        self.written = written

    def by_name(self, arguments: Sequence[exp.Expression]) -> dict[str, exp.Expression]:
        given: dict[str, exp.Expression] = {}
        first = self._first(arguments)
        for position, node in enumerate(arguments, start=first):
            name, value = self._named(position, node)
            if name in given:
                raise errors.duplicate_name(self._at(node), what="argument", name=name)
            given[name] = value
        self._take_zone(given)
        needed = self.spelling.arguments[first : self.spelling.required]
        missing = [name for name in needed if name not in given]
        if missing:
            by_name = any(isinstance(node, (exp.Kwarg, exp.PropertyEQ)) for node in arguments)
            raise self._arity(len(arguments), missing=missing if by_name else ())
        return given

    def _take_zone(self, given: dict[str, exp.Expression]) -> None:
        """`TUMBLE(ts AT TIME ZONE 'Europe/Berlin', …)`: the zone is the window's."""
        time = given.get("time")
        if not isinstance(time, exp.AtTimeZone) or not self.spelling.zoned:
            return
        zone = time.args["zone"]
        if "time_zone" in given:
            raise errors.duplicate_name(self._at(zone), what="argument", name="time_zone")
        given["time"], given["time_zone"] = time.this, zone

    def zone(self, given: Mapping[str, exp.Expression]) -> Zone | None:
        """The zone that is named, if one is."""
        node = given.get("time_zone")
        if node is None:
            return None
        name = _string(node)
        if name is None:
            example = "for example 'Europe/Berlin'"
            raise self._refuse("time_zone", node, "a string literal", example=example)
        return named_zone(name, self._at(node))

    def _first(self, arguments: Sequence[exp.Expression]) -> int:
        """Arroyo's `HOP(slide, size)`: lengths alone are a window on the stream's own time."""
        alone = (
            self.spelling.arguments[0] == "time" and len(arguments) == self.spelling.required - 1
        )
        return 1 if alone and all(map(is_interval, arguments)) else 0

    def _named(self, position: int, node: exp.Expression) -> tuple[str, exp.Expression]:
        if isinstance(node, (exp.Kwarg, exp.PropertyEQ)):
            lowered = node.this.name.lower()
            name = _NAMED.get(lowered, lowered)
            if name not in self._names():
                hint = errors.nearest(name, self._names(), otherwise=self.spelling.form)
                raise errors.unknown_option(
                    self._at(node), where=self.written, name=node.this.name, hint=hint
                )
            return name, node.expression
        arguments, zoned = self.spelling.arguments, self.spelling.zoned
        if zoned and position >= self.spelling.required:
            names = _ZONE_NAME if position < len(arguments) else _ZONE
            if isinstance(node, exp.Literal) and node.is_string and names.fullmatch(node.name):
                return "time_zone", node
        if position >= len(arguments):
            raise self._arity(position + 1)
        return arguments[position], node

    def _names(self) -> Sequence[str]:
        zone = ("time_zone",) if self.spelling.zoned else ()
        return (*self.spelling.arguments, *zone)

    def _arity(self, got: int, *, missing: Sequence[str] = ()) -> errors.TidegateError:
        fewest, most = self.spelling.required, len(self.spelling.arguments)
        count = str(fewest) if fewest == most else f"{fewest} to {most}"
        return errors.wrong_arity(
            self.source.location(self.span),
            function=self.written,
            expected=f"{count} argument{'' if count == '1' else 's'}",
            got=got,
            form=self.spelling.form + (f"; {', '.join(missing)} is missing" if missing else ""),
        )

    def _at(self, node: exp.Expression) -> errors.Location:
        return self.source.location(span_of(node, self.source, otherwise=self.span))

    def _refuse(
        self, name: str, node: exp.Expression, expected: str, *, example: str
    ) -> errors.TidegateError:
        form = f"{self.spelling.form}; {example}"
        return errors.not_a_literal(
            self._at(node), argument=name, function=self.written, expected=expected, form=form
        )

    def length(
        self, name: str, node: exp.Expression, given: Mapping[str, exp.Expression]
    ) -> Period:
        if name in ("rows", "step") and self.spelling.name == "countwindow":
            return Period(us=self._count(name, node))
        if self.spelling.takes_unit:
            return Period(us=self._count(name, node) * self._unit(given["unit"]))
        return self._interval(name, node)

    def _unit(self, node: exp.Expression) -> int:
        text = _string(node)
        if _bare_word(node) in _AZURE_UNITS and self.spelling.name != "slidingwindow":
            return _AZURE_UNITS[_bare_word(node)]
        if text is None:
            raise self._refuse("unit", node, "a string literal", example=_UNIT_HINT)
        if text.lower() not in EKUIPER_UNITS:
            raise errors.unknown_unit(self._at(node), unit=f"'{text}'", known=_UNIT_HINT)
        return EKUIPER_UNITS[text.lower()]

    def _count(self, name: str, node: exp.Expression) -> int:
        sign, number = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
        if not (
            isinstance(number, exp.Literal) and not number.is_string and number.name.isdecimal()
        ):
            raise self._refuse(name, node, "a literal unsigned integer", example="for example 10")
        if len(number.name) > 18:
            raise errors.literal_out_of_range(
                self._at(node), text=number.name, type="an unsigned integer"
            )
        return sign * int(number.name)

    def _interval(self, name: str, node: exp.Expression) -> Period:
        if isinstance(node, exp.Neg):
            return -self._interval(name, node.this)
        if is_interval(node):
            return interval_period(node, self.source)
        written = isinstance(node, exp.Literal) and node.is_string
        if written or (self.spelling.name in _DOUBLE_QUOTED and _string(node) is not None):
            span = span_of(node, self.source)
            return read_period(node.name, "", source=self.source, span=span)
        raise self._refuse(
            name, node, "a literal INTERVAL", example="for example INTERVAL '10' SECOND"
        )


def _string(node: exp.Expression) -> str | None:
    """A string literal; double quotes are accepted as eKuiper writes them."""
    if isinstance(node, exp.Literal) and node.is_string:
        return node.name
    if (
        isinstance(node, exp.Column)
        and not node.table
        and isinstance(node.this, exp.Identifier)
        and node.this.args.get("quoted")
    ):
        return node.name
    return None


def _bare_word(node: exp.Expression) -> str:
    """Azure Stream Analytics' units are words of the language: `TUMBLINGWINDOW(second, 10)`."""
    alone = isinstance(node, exp.Column) and not node.table
    return node.name.lower() if alone else ""
