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
from tidegate.model.time import DAY, HOUR, MILLISECOND, MINUTE, SECOND
from tidegate.model.windows import (
    Counting,
    Cumulating,
    Hopping,
    InvalidLength,
    Session,
    Sliding,
    Tumbling,
    Window,
)
from tidegate.sql.intervals import is_interval
from tidegate.sql.lengths import CalendarLength, interval_us, length_us
from tidegate.sql.places import head_of, span_of
from tidegate.sql.source import SourceText, Span

EKUIPER_UNITS = {"dd": DAY, "hh": HOUR, "mi": MINUTE, "ss": SECOND, "ms": MILLISECOND}
_TIME_ZONE = re.compile(r"[A-Za-z]+/[A-Za-z_/+-]+[0-9]*|UTC|GMT")
_UNIT_HINT = "units are " + ", ".join(f"'{unit}'" for unit in EKUIPER_UNITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSyntax:
    """A window as it was written. `window` is None for the state window, whose conditions have yet to be bound."""

    spelling: str
    span: Span
    window: Window | None
    time: exp.Expression | None = None
    conditions: tuple[exp.Expression, ...] = ()
    partition_by: tuple[exp.Expression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Arguments in order; those after `required` many may be left out. A leading `unit` scales the plain numbers."""

    name: str
    arguments: tuple[str, ...]
    required: int
    build: Callable[[Mapping[str, int]], Window] | None

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


def _tumbling(given: Mapping[str, int]) -> Window:
    return Tumbling(size_us=given["size"], offset_us=given.get("offset", 0))


def _hopping(given: Mapping[str, int]) -> Window:
    return Hopping(size_us=given["size"], slide_us=given["slide"], offset_us=given.get("offset", 0))


def _cumulating(given: Mapping[str, int]) -> Window:
    return Cumulating(
        size_us=given["size"], step_us=given["step"], offset_us=given.get("offset", 0)
    )


def _session(given: Mapping[str, int]) -> Window:
    return Session(gap_us=given["gap"])


def _sliding(given: Mapping[str, int]) -> Window:
    return Sliding(lookback_us=given["lookback"], lookahead_us=given.get("lookahead"))


def _counting(given: Mapping[str, int]) -> Window:
    return Counting(rows=given["rows"], step=given.get("step", given["rows"]))


def _spark_window(given: Mapping[str, int]) -> Window:
    hops = given.get("slide", given["size"]) != given["size"]
    return _hopping(given) if hops else _tumbling(given)


def _spark_session(given: Mapping[str, int]) -> Window:
    return Session(gap_us=given["gap"], inclusive=True)


def _spelling(
    name: str, arguments: str, build: Callable[[Mapping[str, int]], Window] | None
) -> Spelling:
    required, _, optional = arguments.partition("|")
    return Spelling(
        name=name,
        arguments=(*required.split(), *optional.split()),
        required=len(required.split()),
        build=build,
    )


SPELLINGS = {
    spelling.name: spelling
    for spelling in (
        _spelling("tumble", "time size | offset", _tumbling),
        _spelling("hop", "time slide size | offset", _hopping),
        _spelling("cumulate", "time step size | offset", _cumulating),
        _spelling("session", "time gap", _session),
        _spelling("tumblingwindow", "unit size", _tumbling),
        _spelling("hoppingwindow", "unit size slide", _hopping),
        _spelling("sessionwindow", "unit gap", _session),
        _spelling("slidingwindow", "unit lookback | lookahead", _sliding),
        _spelling("countwindow", "rows | step", _counting),
        _spelling("statewindow", "open close", None),
        _spelling("window", "time size | slide offset", _spark_window),
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
        if name not in ("time", "unit", "open", "close")
    }
    conditions = tuple(given[name] for name in ("open", "close") if name in given)
    places = {name: span_of(node, source, otherwise=span) for name, node in given.items()}
    window = build_window(spelling, lengths, source=source, places=places, otherwise=span)
    return WindowSyntax(
        spelling=written, span=span, window=window, time=given.get("time"), conditions=conditions
    )


def build_window(
    spelling: Spelling,
    lengths: Mapping[str, int],
    *,
    source: SourceText,
    places: Mapping[str, Span],
    otherwise: Span,
) -> Window | None:
    """The plan node; what it refuses is said at the argument that is wrong, in the order of this spelling."""
    if spelling.build is None:
        return None
    try:
        return spelling.build(lengths)
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
        needed = self.spelling.arguments[first : self.spelling.required]
        missing = [name for name in needed if name not in given]
        if missing:
            by_name = any(isinstance(node, (exp.Kwarg, exp.PropertyEQ)) for node in arguments)
            raise self._arity(len(arguments), missing=missing if by_name else ())
        return given

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
            if name not in self.spelling.arguments:
                hint = errors.nearest(name, self.spelling.arguments, otherwise=self.spelling.form)
                raise errors.unknown_option(
                    self._at(node), where=self.written, name=node.this.name, hint=hint
                )
            return name, node.expression
        if position >= len(self.spelling.arguments):
            raise self._arity(position + 1)
        return self.spelling.arguments[position], node

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

    def length(self, name: str, node: exp.Expression, given: Mapping[str, exp.Expression]) -> int:
        if name in ("rows", "step") and self.spelling.name == "countwindow":
            return self._count(name, node)
        if self.spelling.takes_unit:
            return self._count(name, node) * self._unit(given["unit"])
        return self._interval(name, node)

    def _refuse_time_zone(self, name: str, node: exp.Expression) -> None:
        if name == "offset" and _TIME_ZONE.fullmatch(node.name):
            instead = (
                "windows are aligned to UTC: shift them with an offset such as INTERVAL '-8' HOUR"
            )
            raise errors.not_supported(
                self._at(node), what=f"a window in a time zone ('{node.name}')", instead=instead
            )

    def _unit(self, node: exp.Expression) -> int:
        text = _string(node)
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

    def _interval(self, name: str, node: exp.Expression) -> int:
        sign, inner = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
        try:
            if is_interval(inner):
                return sign * interval_us(inner, self.source)
            if isinstance(inner, exp.Literal) and inner.is_string:
                self._refuse_time_zone(name, inner)
                return sign * length_us(
                    inner.name, "", source=self.source, span=span_of(inner, self.source)
                )
        except CalendarLength as calendar:
            raise errors.calendar_length(self._at(node), unit=calendar.unit) from None
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
