"""The reference of everything a query can call, read off the tables that define it.

`tidegate functions` and `docs/functions.md` print it; nobody writes it by hand.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidegate.model.policies import Reason
from tidegate.plan.aggregates import AGGREGATES, HOLISTIC, AggregateFunction
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.functions.signature import COMPARABLE, Function, Overload, Param, first
from tidegate.sql.respelled import RESPELLED, Respelling
from tidegate.sql.windows import SPELLINGS

_SYMBOLS = "operators"
_SPELLED = {"is_distinct": "IS DISTINCT FROM", "is_not_distinct": "IS NOT DISTINCT FROM"}
_ONE_TYPE = "T"  # any type whose values can be compared, the same one wherever it stands in a form
_WINDOW_DOCS = {
    "tumble": "Windows of one size, one after the other. The size may be of months; a time zone may follow, "
    "in TUMBLE, HOP and CUMULATE: `TUMBLE(ts, INTERVAL '1' DAY, 'Europe/Berlin')`.",
    "hop": "Windows of one size that start every slide, and overlap.",
    "cumulate": "Windows that grow by a step up to a size, then start over; a month may grow by days or hours.",
    "session": "Windows that end when no row came for a gap.",
    "tumblingwindow": "TUMBLE in eKuiper's words, on the stream's own time; units are 'dd', 'hh', 'mi', 'ss' and 'ms'.",
    "hoppingwindow": "HOP in eKuiper's words: the size comes first.",
    "sessionwindow": "SESSION in eKuiper's words.",
    "slidingwindow": "For every row at t, the rows of [t - lookback, t + lookahead].",
    "countwindow": "Every step rows, the last n rows.",
    "statewindow": "From the first row where open holds to the first later one where close holds.",
    "window": "TUMBLE, or HOP with a slide, in Spark's words.",
    "session_window": "SESSION in Spark's words: rows exactly one gap apart share a session.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One function: how it may be called, and what it does."""

    family: str
    name: str
    doc: str
    forms: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    example: str = ""
    diverts: tuple[str, ...] = ()

    def as_object(self) -> dict[str, object]:
        return {
            "name": self.name,
            "family": self.family,
            "doc": self.doc,
            "forms": list(self.forms),
            "aliases": list(self.aliases),
            "example": self.example,
            "diverts": list(self.diverts),
        }


def entries() -> list[Entry]:
    """Windows, aggregates, then scalar functions by family, and what other systems call the like."""
    known = [*_windows(), *_aggregates(), *_scalars()]
    others: list[Entry] = []
    for respelling in RESPELLED:
        place = _place_of(respelling, known)
        if place is None:
            others.append(_in_other_words(respelling))
        else:
            form = f"{respelling.form}: {respelling.means}"
            known[place] = replace(known[place], forms=(*known[place].forms, form))
    return [*known, *others]


def _place_of(respelling: Respelling, known: list[Entry]) -> int | None:
    """Where the function is that has a further form here."""
    named = respelling.names[0]
    places = (place for place, entry in enumerate(known) if named in (entry.name, *entry.aliases))
    return next(places, None)


def _in_other_words(respelling: Respelling) -> Entry:
    name, *aliases = respelling.names
    return Entry(
        family="in other words",
        name=name,
        doc=f"It is {respelling.means}.",
        forms=(respelling.form,),
        aliases=tuple(aliases),
    )


def _windows() -> Iterator[Entry]:
    for name, spelling in SPELLINGS.items():
        yield Entry(family="windows", name=name, doc=_WINDOW_DOCS[name], forms=(spelling.form,))


def _aggregates() -> Iterator[Entry]:
    for function in AGGREGATES.values():
        kept = " Keeps every value of a group." if function.precision == HOLISTIC else ""
        yield Entry(
            family="aggregates",
            name=function.name,
            doc=function.doc + kept,
            forms=_aggregate_forms(function),
            aliases=function.aliases,
        )


def _aggregate_forms(function: AggregateFunction) -> tuple[str, ...]:
    star = (f"{function.name}(*) → BIGINT",) if function.star else ()
    return (
        *star,
        *dict.fromkeys(_form(function.name, overload) for overload in function.signatures),
    )


def _scalars() -> Iterator[Entry]:
    for function in FUNCTIONS.values():
        if function.family == "internal":
            continue
        yield Entry(
            family=function.family,
            name=function.name,
            doc=function.doc,
            forms=tuple(
                dict.fromkeys(_scalar_form(function, overload) for overload in function.overloads)
            ),
            aliases=function.aliases,
            example=function.example,
            diverts=tuple(dict.fromkeys(_reasons(function))),
        )


def _reasons(function: Function) -> Iterator[str]:
    for overload in function.overloads:
        if isinstance(overload.fails, Reason):
            yield overload.fails.value


def _scalar_form(function: Function, overload: Overload) -> str:
    """Operators as they are written: between their operands."""
    if function.family == _SYMBOLS and len(overload.params) == 2 and not overload.variadic:
        left, right = map(_label, overload.params)
        symbol = _SPELLED.get(function.name, function.name.upper())
        return f"{left} {symbol} {right}{_result(overload)}"
    return _form(function.name, overload)


def _form(name: str, overload: Overload) -> str:
    more = ", …" if overload.variadic else ""
    return (
        f"{name}({', '.join(_label(param) for param in overload.params)}{more}){_result(overload)}"
    )


def _label(param: Param) -> str:
    if param.choices:
        return " | ".join(f"'{value}'" for value in param.choices)
    return _ONE_TYPE if param == COMPARABLE else param.label


def _result(overload: Overload) -> str:
    """The type, where it can be said in a word."""
    if not callable(overload.returns):
        return f" → {overload.returns}"
    same = overload.returns is first and _label(overload.params[0]) == _ONE_TYPE
    return f" → {_ONE_TYPE}" if same else ""
