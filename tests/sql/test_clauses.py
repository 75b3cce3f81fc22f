"""The streaming clauses of a SELECT: what each reads, in which order, how often."""

import itertools

import pytest

from tests.planning import cases, check_refusal
from tidegate.model.policies import EmitMode
from tidegate.model.time import MINUTE, SECOND
from tidegate.sql.parser import parse_statement
from tidegate.sql.source import SourceText
from tidegate.sql.statements import Clauses, Select

SELECT = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE) "


def clauses(tail: str) -> Clauses:
    statement = parse_statement(SourceText(SELECT + tail))
    assert isinstance(statement, Select)
    (only,) = statement.query.clauses.values()
    return only


@pytest.mark.parametrize(
    ("tail", "mode"),
    [
        ("EMIT ON WINDOW CLOSE", EmitMode.ON_WINDOW_CLOSE),
        ("emit on window close", EmitMode.ON_WINDOW_CLOSE),
        ("EMIT AFTER WATERMARK", EmitMode.AFTER_WATERMARK),
        ("EMIT ON WATERMARK", EmitMode.AFTER_WATERMARK),
        ("EMIT ON UPDATE", EmitMode.ON_UPDATE),
        ("EMIT CHANGES", EmitMode.CHANGES),
        ("EMIT FINAL", EmitMode.FINAL),
    ],
)
def test_emit_modes(tail: str, mode: EmitMode) -> None:
    emit = clauses(tail).emit
    assert emit is not None
    assert (emit.mode, emit.every) == (mode, None)


@pytest.mark.parametrize("word", ["EVERY", "PERIODICALLY"])
def test_periodic_emit_has_an_interval(word: str) -> None:
    emit = clauses(f"EMIT {word} INTERVAL '10' SECOND").emit
    assert emit is not None
    assert emit.every is not None
    assert (emit.mode, emit.every.value_us) == (EmitMode.EVERY, 10 * SECOND)


@pytest.mark.parametrize("word", ["ALLOW", "ALLOWED"])
def test_allowed_lateness(word: str) -> None:
    lateness = clauses(f"{word} LATENESS INTERVAL '1' MINUTE").lateness
    assert lateness is not None
    assert lateness.value_us == MINUTE


def test_watermark_of_adr_0001() -> None:
    both = clauses("WATERMARK('1s', '2s')").watermark
    assert both is not None
    assert both.lateness is not None
    assert (both.lag.value_us, both.lateness.value_us) == (SECOND, 2 * SECOND)
    lag = clauses("WATERMARK(INTERVAL '0' SECOND)").watermark
    assert lag is not None
    assert (lag.lag.value_us, lag.lateness) == (0, None)


def test_late_data_names_a_sink() -> None:
    assert str(clauses("LATE DATA TO late_trades").late_to) == "late_trades"


def test_options() -> None:
    options = clauses("WITH (max_groups = 5, 'late.sink' = 'dlq_x', fuse_sliding = FALSE)").options
    assert [(str(option.key), option.value) for option in options] == [
        ("max_groups", 5),
        ("late.sink", "dlq_x"),
        ("fuse_sliding", False),
    ]


PARTS = (
    "EMIT ON UPDATE",
    "ALLOWED LATENESS '1s'",
    "LATE DATA TO late_trades",
    "WATERMARK('1s')",
    "WITH (max_groups = 5)",
)


@pytest.mark.parametrize("order", list(itertools.permutations(range(5))), ids=str)
def test_clauses_come_in_any_order(order: tuple[int, ...]) -> None:
    read = clauses(" ".join(PARTS[place] for place in order))
    assert read.emit is not None
    assert read.lateness is not None
    assert read.late_to is not None
    assert read.watermark is not None
    assert read.options


def test_clauses_stand_behind_any_part_of_the_query() -> None:
    text = (
        "SELECT COUNT(*) AS n FROM trades EMIT ON UPDATE WHERE ok LATE DATA TO d "
        "GROUP BY TUMBLE(ts, '1m') ALLOWED LATENESS '1s' HAVING COUNT(*) > 1 WITH (max_groups = 5) ORDER BY n LIMIT 3"
    )
    statement = parse_statement(SourceText(text))
    assert isinstance(statement, Select)
    (read,) = statement.query.clauses.values()
    assert read.emit
    assert read.lateness
    assert read.late_to
    assert read.options
    assert set(statement.query.tree.args) >= {"where", "group", "having", "order", "limit"}
    assert statement.query.tree.args["limit"].expression.name == "3"


def test_clauses_belong_to_their_own_select() -> None:
    text = "SELECT n FROM (SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, '1m') EMIT FINAL) LATE DATA TO d"
    statement = parse_statement(SourceText(text))
    assert isinstance(statement, Select)
    outer, inner = (kept for _, kept in sorted(statement.query.clauses.items()))
    assert (outer.emit, str(outer.late_to)) == (None, "d")
    assert inner.emit is not None
    assert inner.late_to is None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT emit, late, window, watermark, allowed, size, gap FROM t",
        "SELECT t.emit FROM t WHERE emit = 1 AND late > 2",
        "SELECT a AS emit FROM t",
        "SELECT emit FROM emit",
        "SELECT emit.x FROM t AS emit",
        'SELECT a FROM t WHERE "EMIT" = 1',
        "SELECT a FROM t ORDER BY emit LIMIT 1",
        "SELECT a FROM t GROUP BY emit, late",
    ],
)
def test_words_of_clauses_are_names_elsewhere(query: str) -> None:
    statement = parse_statement(SourceText(query))
    assert isinstance(statement, Select)
    (read,) = statement.query.clauses.values()
    assert read == Clauses()


@cases(
    (SELECT + "EMIT CHANGES «EMIT» FINAL", "TG-1007", "EMIT is given twice", "keep one"),
    (SELECT + "ALLOWED LATENESS '1s' «ALLOW» LATENESS '2s'", "TG-1007", "ALLOWED LATENESS is given twice"),
    (SELECT + "LATE DATA TO a «LATE» DATA TO b", "TG-1007", "LATE DATA TO is given twice"),
    (SELECT + "WATERMARK('1s') «WATERMARK»('1s')", "TG-1007", "WATERMARK is given twice"),
    (SELECT + "WITH (max_groups = 5) «WITH» (max_groups = 5)", "TG-1007", "WITH is given twice"),
    (SELECT + "WINDOW TUMBLING (SIZE '1s') «WINDOW» TUMBLING (SIZE '1s')", "TG-1007", "WINDOW is given twice"),
    (SELECT + "EMIT «SOMETIMES»", "TG-1008", "unknown EMIT mode SOMETIMES", "ON WINDOW CLOSE"),
    (SELECT + "EMIT ON «MONDAY»", "TG-1008", "unknown EMIT mode ON MONDAY"),
    (SELECT + "EMIT ON WINDOW«»", "TG-1008", "unknown EMIT mode ON WINDOW (it ends here)"),
    (SELECT + "EMIT«»", "TG-1008", "(it ends here)"),
    (SELECT + "EMIT EVERY «'0s'»", "TG-3006", "interval of EMIT EVERY must be positive"),
    (SELECT + "EMIT EVERY «-5 SECONDS»", "TG-3006", "interval of EMIT EVERY must be positive"),
    (SELECT + "ALLOWED LATENESS «-5 SECONDS»", "TG-3007", "must not be negative, it is -5s"),
    (SELECT + "WATERMARK(«'-5s'»)", "TG-3007", "watermark lag of the query must not be negative"),
    (SELECT + "WATERMARK('5s', «'-5s'»)", "TG-3007", "allowed lateness of the query must not be negative"),
    (SELECT + "WATERMARK('5s'«;»", "TG-1001", "expected ), got the end"),
    (SELECT + "LATE DATA «INTO» d", "TG-1001", "expected TO, got INTO"),
    (SELECT + "LATE DATA TO «'d'»", "TG-1001", "the name of a sink"),
    ("SELECT COUNT(*) AS n FROM trades «TIMESTAMP» BY ts GROUP BY tumblingwindow('ss', 1)",
     "TG-1009", "TIMESTAMP BY", "WATERMARK FOR"),
)  # fmt: skip
def test_wrong_clauses(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked.replace("«;»", "«»"), code, message, hint)
