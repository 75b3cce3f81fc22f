"""The streaming clauses of a SELECT: WINDOW, WATERMARK, ALLOWED LATENESS, LATE DATA TO, EMIT, WITH.

In: a cursor at a place where a clause may begin. Out: the clause in `Clauses`, the cursor behind it. They may come in
any order after FROM; each at most once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import TokenType, exp

from tidegate import errors
from tidegate.model.calendar import Period
from tidegate.model.policies import EmitMode
from tidegate.model.time import format_duration
from tidegate.model.zones import Zone
from tidegate.sql.cursor import Cursor
from tidegate.sql.dialect import parse_expression
from tidegate.sql.lengths import Length, read_any_length, read_length
from tidegate.sql.options import read_options
from tidegate.sql.source import Span
from tidegate.sql.statements import Clauses, EmitClause, WatermarkClause
from tidegate.sql.windows import CLAUSE_SPELLINGS, Given, WindowSyntax, build_window
from tidegate.sql.zones import named_zone

_EMIT_MODES = (
    (("ON", "WINDOW", "CLOSE"), EmitMode.ON_WINDOW_CLOSE),
    (("AFTER", "WATERMARK"), EmitMode.AFTER_WATERMARK),
    (("ON", "WATERMARK"), EmitMode.AFTER_WATERMARK),
    (("ON", "UPDATE"), EmitMode.ON_UPDATE),
    (("CHANGES",), EmitMode.CHANGES),
    (("FINAL",), EmitMode.FINAL),
    (("EVERY",), EmitMode.EVERY),
    (("PERIODICALLY",), EmitMode.EVERY),
)
# Words that begin a part of the query, and so end the expression behind `ON`.
_PARTS = frozenset({"WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "UNION", "QUALIFY"})


@dataclass(frozen=True, slots=True)
class _Clause:
    begins: Callable[[Cursor], bool]
    read: Callable[[Cursor, Clauses], None]


def _read_emit(cursor: Cursor, clauses: Clauses) -> None:
    start = cursor.here()
    _once(cursor, "EMIT", clauses.emit is not None)
    cursor.expect("EMIT")
    for words, mode in _EMIT_MODES:
        if cursor.accept(*words):
            every = _positive(cursor, read_length(cursor)) if mode is EmitMode.EVERY else None
            clauses.emit = EmitClause(mode=mode, every=every, span=start)
            return
    raise _unknown_emit(cursor)


def _unknown_emit(cursor: Cursor) -> errors.TidegateError:
    """Points at the first word that no mode goes on with."""
    right = max(_matching(cursor, words) for words, _ in _EMIT_MODES)
    got = " ".join(cursor.word(ahead) for ahead in range(right + 1)).strip()
    cursor.position += right
    at = cursor.source.location(cursor.here())
    return errors.unknown_emit(at, got=got if not cursor.done else f"{got} (it ends here)".strip())


def _matching(cursor: Cursor, words: tuple[str, ...]) -> int:
    """How many of the words stand here, one after the other."""
    count = 0
    while count < len(words) and cursor.word(count) == words[count]:
        count += 1
    return count


def _positive(cursor: Cursor, length: Length) -> Length:
    if length.value_us <= 0:
        at = cursor.source.location(length.span)
        raise errors.length_not_positive(
            at, argument="interval", window="EMIT EVERY", value=format_duration(length.value_us)
        )
    return length


def _not_negative(cursor: Cursor, length: Length, what: str) -> Length:
    if length.value_us < 0:
        at = cursor.source.location(length.span)
        raise errors.length_negative(
            at, argument=what, window="the query", value=format_duration(length.value_us)
        )
    return length


def _read_lateness(cursor: Cursor, clauses: Clauses) -> None:
    start = cursor.here()
    _once(cursor, "ALLOWED LATENESS", clauses.lateness is not None)
    cursor.one_of("ALLOW", "ALLOWED")
    cursor.expect("LATENESS")
    clauses.lateness = _not_negative(cursor, read_length(cursor), "allowed lateness")
    clauses.lateness_span = start


def _read_late_data(cursor: Cursor, clauses: Clauses) -> None:
    _once(cursor, "LATE DATA TO", clauses.late_to is not None)
    clauses.late_to_span = cursor.here()
    cursor.expect("LATE", "DATA", "TO")
    clauses.late_to = cursor.name("the name of a sink")


def _read_with(cursor: Cursor, clauses: Clauses) -> None:
    _once(cursor, "WITH", bool(clauses.options))
    clauses.options = read_options(cursor)


def _read_watermark(cursor: Cursor, clauses: Clauses) -> None:
    start = cursor.here()
    _once(cursor, "WATERMARK", clauses.watermark is not None)
    cursor.expect("WATERMARK", "(")
    lag = _not_negative(cursor, read_length(cursor), "watermark lag")
    lateness = (
        _not_negative(cursor, read_length(cursor), "allowed lateness")
        if cursor.accept(",")
        else None
    )
    cursor.expect(")")
    clauses.watermark = WatermarkClause(lag=lag, lateness=lateness, span=start)


def _read_window(cursor: Cursor, clauses: Clauses) -> None:
    """`WINDOW HOPPING (SIZE i SLIDE i [ON expr] [WATERMARK(…)]) [ON expr] [WATERMARK(…)]`."""
    start = cursor.here()
    _once(cursor, "WINDOW", clauses.window is not None)
    cursor.expect("WINDOW")
    kind_span = cursor.here()
    kind = cursor.name("TUMBLING, HOPPING, CUMULATING, SESSION or SLIDING").text.upper()
    spelling = CLAUSE_SPELLINGS.get(kind)
    if spelling is None:
        hint = errors.nearest(
            kind, CLAUSE_SPELLINGS, otherwise="windows are " + ", ".join(CLAUSE_SPELLINGS)
        )
        raise errors.unknown_function(
            cursor.source.location(kind_span), name=f"WINDOW {kind}", hint=hint
        )
    lengths: dict[str, Period] = {}
    zones: list[Zone] = []
    places: dict[str, Span] = {}
    time: list[exp.Expression] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        cursor.accept(",")
        if _read_common(cursor, clauses, time) or _read_grace(cursor, clauses):
            continue
        if not _read_zone(cursor, zones):
            _read_argument(cursor, spelling.arguments, lengths, places)
    missing = [
        argument
        for argument in spelling.arguments[: spelling.required]
        if argument.lower() not in lengths
    ]
    if missing:
        at = cursor.source.location(kind_span)
        raise errors.wrong_arity(
            at,
            function=spelling.name,
            expected=" and ".join(spelling.arguments[: spelling.required]),
            got=f"just {', '.join(lengths).upper()}" if lengths else "nothing",
            form=f"write {missing[0]} INTERVAL '1' MINUTE inside the parentheses",
        )
    while _read_common(cursor, clauses, time):
        pass
    zone = zones[0] if zones else None
    given = Given(periods=lengths, zone=zone)
    window = build_window(spelling, given, source=cursor.source, places=places, otherwise=start)
    span = Span(start.start, start.end)
    clauses.window = WindowSyntax(
        spelling=spelling.name,
        span=span,
        window=window,
        time=time[0] if time else None,
        zone=zone,
    )


def _read_common(cursor: Cursor, clauses: Clauses, time: list[exp.Expression]) -> bool:
    """`ON expr` and `WATERMARK(…)`, which may stand inside or after the parentheses."""
    if cursor.sees("WATERMARK", "("):
        _read_watermark(cursor, clauses)
        return True
    if not cursor.sees("ON"):
        return False
    _once(cursor, "ON", bool(time))
    cursor.expect("ON")
    tokens = cursor.balanced(
        lambda at: at.word() in _PARTS or at.word() == "," or begins_clause(at)
    )
    if not tokens:
        raise cursor.unexpected("an expression")
    time.append(parse_expression(cursor.source, tokens))
    return True


def _read_grace(cursor: Cursor, clauses: Clauses) -> bool:
    """`GRACE PERIOD i`, ksqlDB's allowed lateness."""
    if not cursor.sees("GRACE", "PERIOD"):
        return False
    start = cursor.here()
    _once(cursor, "GRACE PERIOD", clauses.lateness is not None)
    cursor.expect("GRACE", "PERIOD")
    clauses.lateness = _not_negative(cursor, read_length(cursor), "grace period")
    clauses.lateness_span = start
    return True


def _read_zone(cursor: Cursor, zones: list[Zone]) -> bool:
    """`TIME ZONE 'Europe/Berlin'`."""
    if not cursor.sees("TIME", "ZONE"):
        return False
    _once(cursor, "TIME ZONE", bool(zones))
    cursor.expect("TIME", "ZONE")
    if cursor.kind() is not TokenType.STRING:
        raise cursor.unexpected("the name of a time zone, such as 'Europe/Berlin'")
    at = cursor.source.location(cursor.here())
    zones.append(named_zone(cursor.take().text, at))
    return True


def _read_argument(
    cursor: Cursor, arguments: tuple[str, ...], lengths: dict[str, Period], places: dict[str, Span]
) -> None:
    if cursor.word() in _FOREIGN_ARGUMENTS:
        clause, instead = _FOREIGN_ARGUMENTS[cursor.word()]
        raise errors.foreign_clause(
            cursor.source.location(cursor.here()), clause=clause, instead=instead
        )
    argument = "SLIDE" if cursor.sees("ADVANCE", "BY") and "SLIDE" in arguments else cursor.word()
    only = arguments[0] if len(arguments) == 1 and not lengths else None
    if argument not in arguments and only and (argument[:1].isdecimal() or argument == "INTERVAL"):
        argument = only  # ksqlDB's WINDOW SESSION (30 SECONDS)
    elif argument not in arguments:
        raise cursor.unexpected(" or ".join(arguments))
    else:
        cursor.accept("ADVANCE")
        cursor.take()
    if argument.lower() in lengths:
        raise errors.repeated_clause(cursor.source.location(cursor.here()), clause=argument)
    lengths[argument.lower()], places[argument.lower()] = read_any_length(cursor)


_FOREIGN_ARGUMENTS = {
    "RETENTION": ("RETENTION", "leave it out: a window's state goes when the window closes"),
}


def _once(cursor: Cursor, clause: str, given: bool) -> None:
    if given:
        raise errors.repeated_clause(cursor.source.location(cursor.here()), clause=clause)


def _read_timestamp_by(cursor: Cursor, _clauses: Clauses) -> None:
    raise errors.foreign_clause(
        cursor.source.location(cursor.here()),
        clause="TIMESTAMP BY",
        instead="declare the time in CREATE SOURCE: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    )


_CLAUSES = (
    _Clause(lambda at: at.sees("EMIT") and at.word(1) not in (".", "(", ","), _read_emit),
    _Clause(
        lambda at: at.word() in ("ALLOW", "ALLOWED") and at.word(1) == "LATENESS", _read_lateness
    ),
    _Clause(lambda at: at.sees("LATE", "DATA"), _read_late_data),
    _Clause(lambda at: at.sees("WINDOW") and at.word(2) == "(", _read_window),
    _Clause(lambda at: at.sees("WATERMARK", "("), _read_watermark),
    _Clause(lambda at: at.sees("WITH", "("), _read_with),
    _Clause(lambda at: at.sees("TIMESTAMP", "BY"), _read_timestamp_by),
)
_FIRST_WORDS = frozenset("EMIT ALLOW ALLOWED LATE WINDOW WATERMARK WITH TIMESTAMP".split())
_NOT_BEFORE_A_CLAUSE = frozenset(
    "AS , . ( [ = < > <= >= <> != + - * / % || AND OR NOT IN LIKE BETWEEN SELECT DISTINCT FROM JOIN WHERE HAVING ON "
    "USING GROUP_BY ORDER_BY PARTITION_BY LIMIT WHEN THEN ELSE CASE IS DIV".replace(
        "_BY", "-BY"
    ).split()
)


def begins_clause(cursor: Cursor) -> bool:
    """Whether a streaming clause begins here; where an operand is due, such a word is an ordinary name."""
    if (
        cursor.word() not in _FIRST_WORDS
        or cursor.word(-1).replace(" ", "-") in _NOT_BEFORE_A_CLAUSE
        or cursor.kind() is TokenType.IDENTIFIER
    ):
        return False
    return any(clause.begins(cursor) for clause in _CLAUSES)


def read_clause(cursor: Cursor, clauses: Clauses) -> None:
    """The clause that begins here."""
    next(clause for clause in _CLAUSES if clause.begins(cursor)).read(cursor, clauses)
