"""Expressions: what each means over typed operands, and what is refused, where."""

import pytest

from tests.planning import bound, cases, check_refusal, planned, written


@pytest.mark.parametrize(
    ("expression", "plan", "kind"),
    [
        # names and literals
        ("qty", "qty", "BIGINT"),
        ("QTY", "qty", "BIGINT"),
        ("trades.qty", "qty", "BIGINT"),
        ("Trades.Qty", "qty", "BIGINT"),
        ('"qty"', "qty", "BIGINT"),
        ("place.city", "field(place, 'city')", "VARCHAR"),
        ("place.at.x", "field(field(place, 'at'), 'x')", "DOUBLE"),
        ("trades.place.at.Y", "field(field(place, 'at'), 'y')", "DOUBLE"),
        ("(place).city", "field(place, 'city')", "VARCHAR"),
        ("1", "1", "BIGINT"),
        ("9223372036854775807", "9223372036854775807", "BIGINT"),
        ("9223372036854775808", "9223372036854775808", "DECIMAL(19, 0)"),
        ("-9223372036854775808", "-9223372036854775808", "BIGINT"),
        ("-5", "-5", "BIGINT"),
        ("1.50", "1.50", "DECIMAL(3, 2)"),
        ("-1.5", "-1.5", "DECIMAL(2, 1)"),
        ("0.001", "0.001", "DECIMAL(3, 3)"),
        ("1e3", "1000.0", "DOUBLE"),
        ("1." + "0" * 38, "1.0", "DOUBLE"),
        ("'it''s'", '"it\'s"', "VARCHAR"),
        ("TRUE", "TRUE", "BOOLEAN"),
        ("false", "FALSE", "BOOLEAN"),
        ("NULL", "NULL::VARCHAR", "VARCHAR"),
        ("DATE '1970-01-03'", "day 2", "DATE"),
        ("DATE '1969-12-31'", "day -1", "DATE"),
        ("TIMESTAMP '1970-01-01 00:00:01.5'", "1970-01-01T00:00:01.500000Z", "TIMESTAMP"),
        ("TIMESTAMP '1970-01-01T01:00:00+01:00'", "1970-01-01T00:00:00Z", "TIMESTAMP"),
        ("CAST('1970-01-02' AS DATE)", "day 1", "DATE"),
        # arithmetic
        ("qty + 1", "(qty + 1)", "BIGINT"),
        ("qty - small", "(qty - small::BIGINT)", "BIGINT"),
        ("price * qty", "(price * qty::DOUBLE)", "DOUBLE"),
        ("qty / 2", "(qty::DOUBLE / 2.0)", "DOUBLE"),
        ("qty DIV 2", "div(qty, 2)", "BIGINT"),
        ("qty % 2", "(qty % 2)", "BIGINT"),
        ("-qty", "neg(qty)", "BIGINT"),
        ("- (qty)", "neg(qty)", "BIGINT"),
        ("~qty", "~(qty)", "BIGINT"),
        ("qty & 1", "(qty & 1)", "BIGINT"),
        ("qty | 1", "(qty | 1)", "BIGINT"),
        ("qty ^ 1", "(qty ^ 1)", "BIGINT"),
        ("qty << 1", "(qty << 1)", "BIGINT"),
        ("qty >> 1", "(qty >> 1)", "BIGINT"),
        ("symbol || 'x'", "(symbol || 'x')", "VARCHAR"),
        ("ts + INTERVAL '1' HOUR", "(ts + 1h)", "TIMESTAMP"),
        ("ts - INTERVAL '1' HOUR", "(ts - 1h)", "TIMESTAMP"),
        ("ts + - INTERVAL '1' HOUR", "(ts + -1h)", "TIMESTAMP"),
        ("ts + INTERVAL '1' MONTH", "add_months(ts, 1)", "TIMESTAMP"),
        ("ts - INTERVAL '1' YEAR", "add_months(ts, -12)", "TIMESTAMP"),
        # comparison and logic
        ("qty = 1", "(qty = 1)", "BOOLEAN"),
        ("qty <> 1", "(qty <> 1)", "BOOLEAN"),
        ("qty != 1", "(qty <> 1)", "BOOLEAN"),
        ("qty < 1.5", "(qty::DECIMAL(20, 1) < 1.5)", "BOOLEAN"),
        ("qty <= small", "(qty <= small::BIGINT)", "BOOLEAN"),
        ("qty > 1", "(qty > 1)", "BOOLEAN"),
        ("qty >= 1", "(qty >= 1)", "BOOLEAN"),
        ("price > 0", "(price > 0.0)", "BOOLEAN"),
        ("ts > '1970-01-01'", "(ts > 1970-01-01T00:00:00Z)", "BOOLEAN"),
        ("'1970-01-02' < day", "(day 1 < day)", "BOOLEAN"),
        ("ts > day", "(ts > day::TIMESTAMP)", "BOOLEAN"),
        ("qty IS NULL", "is_null(qty)", "BOOLEAN"),
        ("qty IS NOT NULL", "not(is_null(qty))", "BOOLEAN"),
        ("ok IS TRUE", "is_not_distinct(ok, TRUE)", "BOOLEAN"),
        ("ok IS FALSE", "is_not_distinct(ok, FALSE)", "BOOLEAN"),
        ("ok IS NOT TRUE", "not(is_not_distinct(ok, TRUE))", "BOOLEAN"),
        ("qty IS DISTINCT FROM 1", "is_distinct(qty, 1)", "BOOLEAN"),
        ("qty IS NOT DISTINCT FROM 1", "is_not_distinct(qty, 1)", "BOOLEAN"),
        ("qty BETWEEN 1 AND 2", "((qty >= 1) and (qty <= 2))", "BOOLEAN"),
        ("qty NOT BETWEEN 1 AND 2", "not(((qty >= 1) and (qty <= 2)))", "BOOLEAN"),
        ("day BETWEEN '1970-01-01' AND '1970-01-02'", "((day >= day 0) and (day <= day 1))", "BOOLEAN"),
        ("qty IN (1, 2)", "in(qty, 1, 2)", "BOOLEAN"),
        ("qty NOT IN (1)", "not(in(qty, 1))", "BOOLEAN"),
        ("symbol NOT LIKE 'a%'", "not(like(symbol, 'a%'))", "BOOLEAN"),
        ("symbol NOT ILIKE 'a%'", "not(ilike(symbol, 'a%'))", "BOOLEAN"),
        ("symbol LIKE 'a%'", "like(symbol, 'a%')", "BOOLEAN"),
        ("symbol ILIKE 'a%'", "ilike(symbol, 'a%')", "BOOLEAN"),
        ("ok AND qty > 1 AND ok", "((ok and (qty > 1)) and ok)", "BOOLEAN"),
        ("ok OR ok AND NULL", "(ok or (ok and NULL::BOOLEAN))", "BOOLEAN"),
        ("NOT ok", "not(ok)", "BOOLEAN"),
        # conversions
        ("CAST(qty AS DOUBLE)", "qty::DOUBLE", "DOUBLE"),
        ("qty::DOUBLE", "qty::DOUBLE", "DOUBLE"),
        ("CAST(qty AS BIGINT)", "qty", "BIGINT"),
        ("TRY_CAST(symbol AS BIGINT)", "symbol::BIGINT?", "BIGINT"),
        ("CAST(NULL AS DATE)", "NULL::DATE", "DATE"),
        ("TRY_CAST('1970-01-02' AS DATE)", "'1970-01-02'::DATE?", "DATE"),
        # CASE
        ("CASE WHEN ok THEN 1 ELSE 2 END", "case(ok: 1, 2)", "BIGINT"),
        ("CASE WHEN ok THEN qty END", "case(ok: qty, NULL::BIGINT)", "BIGINT"),
        ("CASE qty WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", "case((qty = 1): 'a', (qty = 2): 'b', NULL::VARCHAR)",
         "VARCHAR"),
        ("CASE WHEN ok THEN qty ELSE price END", "case(ok: qty::DOUBLE, price)", "DOUBLE"),
        ("IF(ok, 1, 2)", "case(ok: 1, 2)", "BIGINT"),
        ("IF(ok, qty)", "case(ok: qty, NULL::BIGINT)", "BIGINT"),
        # nested values
        ("tags[1]", "element_at(tags, 1)", "VARCHAR"),
        ("counts['a']", "element_at(counts, 'a')", "BIGINT"),
        ("ARRAY[1, 2]", "make_array(1, 2)", "ARRAY<BIGINT>"),
        # special forms
        ("EXTRACT(HOUR FROM ts)", "extract_hour(ts)", "BIGINT"),
        ("TRIM(symbol)", "btrim(symbol)", "VARCHAR"),
        ("TRIM(LEADING FROM symbol)", "ltrim(symbol)", "VARCHAR"),
        ("TRIM(TRAILING FROM symbol)", "rtrim(symbol)", "VARCHAR"),
        ("SUBSTRING(symbol FROM 2 FOR 3)", "substring(symbol, 2, 3)", "VARCHAR"),
        ("SUBSTRING(symbol FROM 2)", "substring(symbol, 2)", "VARCHAR"),
        ("POSITION('a' IN symbol)", "strpos(symbol, 'a')", "BIGINT"),
        ("PROCTIME()", "clock_us", "TIMESTAMP"),
    ],
)  # fmt: skip
def test_meaning(expression: str, plan: str, kind: str) -> None:
    made = bound(expression)
    assert (written(made), str(made.type)) == (plan, kind)


def where(condition: str) -> str:
    return f"SELECT symbol FROM trades WHERE {condition}"


def select(expression: str) -> str:
    return f"SELECT {expression} AS x FROM trades"


@cases(
    (where("«qty»"), "TG-2008", "WHERE needs a condition (BOOLEAN), this is BIGINT"),
    (where("ok AND «qty»"), "TG-2008", "AND needs a condition"),
    (where("«symbol» OR ok"), "TG-2008", "OR needs a condition"),
    (where("NOT «qty»"), "TG-2008", "NOT needs a condition"),
    (where("«qty» IS TRUE"), "TG-2008", "IS TRUE needs a condition"),
    (select("CASE WHEN «qty» THEN 1 END"), "TG-2008", "WHEN needs a condition"),
    (select("IF(«qty», 1, 2)"), "TG-2008", "IF needs a condition"),
    (select("CASE WHEN ok THEN 1 ELSE «symbol» END"),
     "TG-2009", "the results of CASE must have one type; these are BIGINT and VARCHAR"),
    (select("CASE WHEN ok THEN 1 WHEN ok THEN «'a'» ELSE 2 END"), "TG-2009", "BIGINT and VARCHAR"),
    (select("IF(ok, 1, «symbol»)"), "TG-2009", "BIGINT and VARCHAR"),
    (select("qty + «symbol»"), "TG-2007", "BIGINT + VARCHAR has no meaning", "TRY_CAST"),
    (select("«symbol» - 1"), "TG-2007", "VARCHAR - BIGINT"),
    (where("ts > «5»"), "TG-2007", "TIMESTAMP > BIGINT", "TO_TIMESTAMP_MS"),
    (where("symbol = «1»"), "TG-2007", "VARCHAR = BIGINT", "CAST"),
    (where("«tags» > tags"), "TG-2007", "ARRAY<VARCHAR> > ARRAY<VARCHAR>"),
    (where("symbol IN ('a', «1»)"), "TG-2007", "IN"),
    (select("-«symbol»"), "TG-2006", "NEG does not take VARCHAR"),
    (select("~«price»"), "TG-2006", "~ does not take DOUBLE"),
    (where("ts > «'yesterday'»"), "TG-1012", "'yesterday' is not a valid TIMESTAMP literal", "2026-01-31 12:00:00"),
    (where("day = «'1970-02-30'»"), "TG-1012", "'1970-02-30' is not a valid DATE literal", "2026-01-31"),
    (select("TIMESTAMP «'2026'»"), "TG-1012", "TIMESTAMP literal"),
    (select("«1e999»"), "TG-2023", "1e999 does not fit into DOUBLE"),
    (select("«qty»::MAP<VARCHAR, BIGINT>"), "TG-2010", "BIGINT cannot be converted to MAP<VARCHAR, BIGINT>"),
    (select("«CAST(qty» AS TIMESTAMP)"), "TG-2010", "BIGINT cannot be converted to TIMESTAMP", "TO_TIMESTAMP_MS"),
    (select("«CAST(ts» AS BIGINT)"), "TG-2010", "TIMESTAMP cannot be converted to BIGINT", "UNIX_MILLIS"),
    (select("«CAST(price» AS VARCHAR)"), "TG-2010", "DOUBLE cannot be converted to VARCHAR", "DECIMAL(p, s) first"),
    (select("«tags[1:2»]"), "TG-2018", "a slice", "a[1]"),
    (select("«qty[1»]"), "TG-2006", "[ ] does not take BIGINT; it takes ARRAY or MAP"),
    (select("«qty.x»"), "TG-2013", "BIGINT has no field named x"),
    (select("«place.citi»"), "TG-2013", "has no field named citi", "did you mean city?"),
    (select("«place.zzz»"), "TG-2013", "zzz", "fields are city, at"),
    (select("«(place).zzz»"), "TG-2013", "zzz"),
    (where("«qty IS 5»"), "TG-2018", "IS 5"),
    (where("«qty IN (SELECT qty FROM trades»)"), "TG-2018", "IN with a subquery", "list the values"),
    (where("qty > «(SELECT MAX(qty) FROM trades»)"),
     "TG-2018", "a subquery inside an expression", "join with a table"),
    (where("EXISTS («SELECT 1 FROM trades»)"), "TG-2018", "subquery"),
    (select("«ts AT TIME ZONE 'UTC'»"), "TG-3022", "AT TIME ZONE", "times are UTC"),
    (where("SUM(qty) OVER () > 5"), "TG-2018", "OVER in WHERE", "SELECT list"),
    (select("«INTERVAL '5' SECOND»"), "TG-2022", "a column cannot have type INTERVAL", "TIMESTAMPDIFF"),
    (select("«EXTRACT(FORTNIGHT FROM ts»)"), "TG-2018", "EXTRACT FORTNIGHT"),
    (select("«a.b»()"), "TG-2004", "a.b", "before a dot"),
    (select("«System.Timestamp»()"), "TG-2004", "System.Timestamp", "window_end"),
)  # fmt: skip
def test_what_has_no_meaning(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_an_interval_may_be_part_of_an_expression() -> None:
    planned("SELECT symbol FROM trades WHERE ts - ts < INTERVAL '5' SECOND")
