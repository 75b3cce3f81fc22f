"""Function calls: scalar functions and aggregates, their arguments and clauses."""

import pytest

from tests.planning import bound, cases, check_refusal, logical, the, written
from tidegate.model.expressions import SortKey
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.logical import Aggregate

TAIL = "FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"


def aggregates(items: str) -> list[AggregateCall]:
    return [named.call for named in the(Aggregate, logical(f"SELECT {items} {TAIL}")).aggregates]


def shown(call: AggregateCall) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    order = "".join(f" ORDER {_key(key)}" for key in call.order)
    where = f" WHERE {written(call.filter)}" if call.filter is not None else ""
    return f"{call.function}({distinct}{', '.join(map(written, call.args))}{order}){where}: {call.type}"


def _key(key: SortKey) -> str:
    return written(key.expr) + " DESC" * key.descending + " NULLS FIRST" * key.nulls_first


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("COUNT(*)", "count(): BIGINT"),
        ("count(qty)", "count(qty): BIGINT"),
        ("COUNT(DISTINCT symbol)", "count(DISTINCT symbol): BIGINT"),
        ("COUNT(*) FILTER (WHERE ok)", "count() WHERE ok: BIGINT"),
        ("SUM(qty)", "sum(qty): BIGINT"),
        ("SUM(small)", "sum(small::BIGINT): BIGINT"),
        ("SUM(amount)", "sum(amount): DECIMAL(20, 2)"),
        ("SUM(CAST(1 AS DECIMAL(35, 2)))", "sum(1::DECIMAL(35, 2)): DECIMAL(38, 2)"),
        ("SUM(price)", "sum(price): DOUBLE"),
        ("SUM(DISTINCT qty) FILTER (WHERE qty > 1)", "sum(DISTINCT qty) WHERE (qty > 1): BIGINT"),
        ("AVG(qty)", "avg(qty): DOUBLE"),
        ("AVG(amount)", "avg(amount): DECIMAL(14, 6)"),
        ("AVG(CAST(1 AS DECIMAL(38, 36)))", "avg(1::DECIMAL(38, 36)): DECIMAL(38, 36)"),
        ("MEAN(price)", "avg(price): DOUBLE"),
        ("MIN(symbol)", "min(symbol): VARCHAR"),
        ("MAX(ts)", "max(ts): TIMESTAMP"),
        ("FIRST_VALUE(price)", "first_value(price): DOUBLE"),
        ("EARLIEST_BY_OFFSET(price)", "first_value(price): DOUBLE"),
        ("LAST(price)", "last_value(price): DOUBLE"),
        ("LATEST(price)", "last_value(price): DOUBLE"),
        ("MIN_BY(symbol, price)", "min_by(symbol, price): VARCHAR"),
        ("ARG_MAX(symbol, ts)", "max_by(symbol, ts): VARCHAR"),
        ("VAR_POP(qty)", "var_pop(qty::DOUBLE): DOUBLE"),
        ("VARIANCE(price)", "var_samp(price): DOUBLE"),
        ("STDDEV(price)", "stddev_samp(price): DOUBLE"),
        ("STDDEV_POP(price)", "stddev_pop(price): DOUBLE"),
        ("COVAR_POP(price, qty)", "covar_pop(price, qty::DOUBLE): DOUBLE"),
        ("COVAR_SAMP(price, qty)", "covar_samp(price, qty::DOUBLE): DOUBLE"),
        ("CORR(price, amount)", "corr(price, amount::DOUBLE): DOUBLE"),
        ("BOOL_AND(ok)", "bool_and(ok): BOOLEAN"),
        ("EVERY(ok)", "bool_and(ok): BOOLEAN"),
        ("BOOL_OR(ok)", "bool_or(ok): BOOLEAN"),
        ("BIT_AND(small)", "bit_and(small::BIGINT): BIGINT"),
        ("BIT_OR(qty)", "bit_or(qty): BIGINT"),
        ("BIT_XOR(qty)", "bit_xor(qty): BIGINT"),
        ("MEDIAN(qty)", "median(qty::DOUBLE): DOUBLE"),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price)", "percentile_cont(price, 0.9 ORDER price): DOUBLE"),
        ("PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY price DESC)",
         "percentile_cont(price, 0.0 ORDER price DESC): DOUBLE"),
        ("QUANTILE(price, 1)", "percentile_cont(price, 1.0): DOUBLE"),
        ("PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY symbol)", "percentile_disc(symbol, 0.5 ORDER symbol): VARCHAR"),
        ("MODE(symbol)", "mode(symbol): VARCHAR"),
        ("ARRAY_AGG(qty)", "array_agg(qty): ARRAY<BIGINT>"),
        ("ARRAY_AGG(qty ORDER BY price DESC, ts)", "array_agg(qty ORDER price DESC ORDER ts): ARRAY<BIGINT>"),
        ("ARRAY_AGG(DISTINCT qty ORDER BY qty)", "array_agg(DISTINCT qty ORDER qty): ARRAY<BIGINT>"),
        ("COLLECT_LIST(tags)", "array_agg(tags): ARRAY<ARRAY<VARCHAR>>"),
        ("ARRAY_AGG(qty ORDER BY qty NULLS FIRST)", "array_agg(qty ORDER qty NULLS FIRST): ARRAY<BIGINT>"),
        ("ARRAY_AGG(qty ORDER BY qty DESC NULLS FIRST)", "array_agg(qty ORDER qty DESC NULLS FIRST): ARRAY<BIGINT>"),
        ("ARRAY_AGG(qty ORDER BY qty DESC NULLS LAST)", "array_agg(qty ORDER qty DESC): ARRAY<BIGINT>"),
        ("STRING_AGG(symbol, ',' ORDER BY ts)", "string_agg(symbol, ',' ORDER ts): VARCHAR"),
        ("LISTAGG(symbol, '')", "string_agg(symbol, ''): VARCHAR"),
        ("APPROX_COUNT_DISTINCT(symbol)", "approx_count_distinct(symbol): BIGINT"),
        ("APPROX_PERCENTILE(qty, 0.5)", "approx_percentile(qty::DOUBLE, 0.5): DOUBLE"),
    ],
)  # fmt: skip
def test_aggregates(aggregate: str, expected: str) -> None:
    assert [shown(call) for call in aggregates(f"{aggregate} AS x")] == [expected]


def test_equal_aggregates_are_computed_once() -> None:
    plan = logical(
        f"SELECT SUM(qty) / COUNT(*) AS a, sum(trades.qty) AS b, COUNT(*) AS n {TAIL} HAVING COUNT(*) > 1"
    )
    assert [named.name for named in the(Aggregate, plan).aggregates] == ["$a0", "$a1"]


def test_aggregates_differ_by_their_clauses() -> None:
    items = (
        "COUNT(*) AS a, COUNT(*) FILTER (WHERE ok) AS b, COUNT(qty) AS c, COUNT(DISTINCT qty) AS d"
    )
    assert len(aggregates(items)) == 4


@pytest.mark.parametrize(
    ("call", "plan"),
    [
        ("ABS(small)", "abs(small::BIGINT)"),
        ("coalesce(small, qty, 1.5)", "coalesce(small::DECIMAL(20, 1), qty::DECIMAL(20, 1), 1.5)"),
        ("UPPER(symbol)", "upper(symbol)"),
        ("DATE_TRUNC('HOUR', ts)", "date_trunc('hour', ts)"),
        ("DATE_TRUNC('hours', ts)", "date_trunc('hour', ts)"),
        ("TIMESTAMPDIFF(SECOND, ts, ts)", None),
        ("SPLIT_INDEX(symbol, '/', 1)", None),
    ],
)
def test_scalar_calls(call: str, plan: str | None) -> None:
    made = written(bound(call))
    assert made == plan or (plan is None and made)


def item(text: str) -> str:
    return f"SELECT {text} AS x {TAIL}"


def row(text: str) -> str:
    return f"SELECT {text} AS x FROM trades"


@cases(
    (row("«UPER»(symbol)"), "TG-2004", "there is no function named UPER", "did you mean UPPER?"),
    (row("«frobnicate_it»(symbol)"), "TG-2004", "frobnicate_it", "tidegate functions"),
    (row("«now»()"), "TG-2004", "now", "PROCTIME()"),
    (row("«CURRENT_TIMESTAMP»"), "TG-2002", "CURRENT_TIMESTAMP", "PROCTIME()"),
    (row("«json_value»(symbol, '$.a')"), "TG-2004", "json_value", "as a STRUCT or MAP"),
    (row("«window_end»()"), "TG-3005", "without a window", "GROUP BY"),
    (row("«TUMBLE_ROWTIME»(ts)"), "TG-3005", "without a window", "GROUP BY"),
    (row("«UPPER»(symbol, 1)"), "TG-2005", "UPPER takes 1 argument, not 2"),
    (row("«UPPER»()"), "TG-2005", "UPPER takes 1 argument, not 0"),
    (row("UPPER(«qty»)"), "TG-2006", "UPPER does not take BIGINT; it takes VARCHAR", "CAST"),
    (row("COALESCE(qty, «symbol»)"),
     "TG-2009", "the arguments of COALESCE must have one type; these are BIGINT and VARCHAR"),
    (row("DATE_TRUNC(«symbol», ts)"), "TG-3028", "argument 1 of DATE_TRUNC must be a constant"),
    (row("DATE_TRUNC(«'fortnight'», ts)"),
     "TG-1012", "'fortnight' is not a valid argument of DATE_TRUNC", "possible are"),
    (row("DATE_TRUNC(«'hoor'», ts)"), "TG-1012", "'hoor'", "did you mean hour?"),
    (row("UPPER(«x => symbol»)"), "TG-2018", "this argument of UPPER"),
    (row("UPPER(*)"), "TG-2018", "this argument of UPPER"),
    (row("«ABS(qty) FILTER (WHERE ok»)"), "TG-2018", "FILTER on something that is no aggregate"),
    (row("«UPPER(symbol) WITHIN GROUP (ORDER BY symbol»)"), "TG-2018", "WITHIN GROUP on something"),
    # where aggregates may not stand
    ("SELECT symbol FROM trades WHERE «SUM»(qty) > 1",
     "TG-3001", "an aggregate (SUM) cannot stand in WHERE", "use HAVING"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY «MAX»(qty), TUMBLE(ts, '1m')",
     "TG-3001", "cannot stand in GROUP BY"),
    ("SELECT t.qty FROM trades t JOIN symbols s ON «MAX»(t.qty) = s.lot", "TG-3001", "cannot stand in ON"),
    (item("SUM(«MAX»(qty))"), "TG-3002", "MAX is an aggregate inside an aggregate", "subquery"),
    (item("COUNT(*) FILTER (WHERE «SUM»(qty) > 1)"), "TG-3001", "cannot stand in FILTER"),
    # arguments of aggregates
    (item("«SUM»(qty, qty)"), "TG-2005", "SUM takes 1 argument, not 2"),
    (item("«CORR»(qty)"), "TG-2005", "CORR takes 2 arguments, not 1"),
    (item("SUM(«symbol»)"), "TG-2006", "SUM does not take VARCHAR"),
    (item("MIN(«tags»)"), "TG-2006", "MIN does not take ARRAY<VARCHAR>"),
    (item("MIN_BY(qty, «tags»)"), "TG-2006", "a comparable value"),
    (item("BOOL_AND(«qty»)"), "TG-2006", "BOOL_AND does not take BIGINT; it takes BOOLEAN"),
    (item("SUM(qty) FILTER (WHERE «qty»)"), "TG-2008", "FILTER needs a condition"),
    (item("QUANTILE(price, «qty»)"), "TG-3028", "argument 2 of QUANTILE must be a constant literal"),
    (item("QUANTILE(price, «1.5»)"), "TG-3028", "between 0 and 1"),
    (item("QUANTILE(price, «-0.5»)"), "TG-3028", "between 0 and 1"),
    (item("STRING_AGG(symbol, «symbol»)"), "TG-3028", "argument 2"),
    (item("COUNT(DISTINCT «tags»)"), "TG-2006", "COUNT(DISTINCT)", ""),
    (
        item("«ARRAY_AGG(DISTINCT symbol ORDER BY qty»)"),
        "TG-2018",
        "ARRAY_AGG(DISTINCT)",
        "the value itself",
    ),
    (item("«COUNT(DISTINCT *»)"), "TG-2018", "COUNT(DISTINCT *)", "name a column"),
    (item("«SUM(qty ORDER BY ts»)"), "TG-2018", "ORDER BY inside SUM", "order"),
    (item("SUM(*)"), "TG-2018", "* here"),
    (item("ARRAY_AGG(qty ORDER BY «nope»)"), "TG-2002", "nope"),
    # windows in the wrong place
    ("SELECT symbol FROM trades WHERE «TUMBLE»(ts, '1m') = 1",
     "TG-3005", "TUMBLE is a window: it stands in GROUP BY by itself, not in WHERE"),
    (item("«TUMBLE»(ts, '1m')"), "TG-3005", "not in SELECT", "window_start and window_end"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY ABS(«hop»(ts, '1m', '2m'))", "TG-3005", "hop is a window", ""),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(«TUMBLE»(ts, '1m'), '1m')", "TG-3005", "not inside TUMBLE"),
    (row("«TUMBLE_START»()"), "TG-3005", "TUMBLE_START", "add the window to GROUP BY"),
    (item("«TUMBLE_START»(ts, '2m')"), "TG-3004", "TUMBLE and TUMBLE_START"),
    (item("«HOP_END»(ts, '1s', '1m')"), "TG-3004", "TUMBLE and HOP_END"),
)  # fmt: skip
def test_wrong_calls(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)
