"""Other words mean the same plan: what is written on the left is what is bound for the right."""

import pytest

from tests.planning import planned
from tidegate.plan.aggregates import find_aggregate
from tidegate.sql.functions.catalogue import find_function
from tidegate.sql.respelled import RESPELLED, respelled_names
from tidegate.sql.respelled.formats import FormatProblem, from_oracle, from_strftime, reader_of

_ROWS = [
    ("iif(ok, 1, 2)", "CASE WHEN ok THEN 1 ELSE 2 END"),
    ("nvl2(symbol, 1, 2)", "CASE WHEN symbol IS NULL THEN 2 ELSE 1 END"),
    (
        "decode(qty, 1, 'a', NULL, 'b', 'c')",
        "CASE WHEN qty IS NOT DISTINCT FROM 1 THEN 'a' WHEN qty IS NOT DISTINCT FROM NULL THEN 'b' ELSE 'c' END",
    ),
    ("isnull(qty)", "qty IS NULL"),
    ("isnotnull(qty)", "qty IS NOT NULL"),
    ("zeroifnull(qty)", "COALESCE(qty, 0)"),
    ("nullifzero(qty)", "NULLIF(qty, 0)"),
    ("try_divide(qty, small)", "qty / NULLIF(small, 0)"),
    ("pmod(qty, 3)", "(qty % 3 + 3) % 3"),
    ("shiftleft(qty, 2)", "qty << 2"),
    ("space(3)", "REPEAT(' ', 3)"),
    ("sha2(symbol, 256)", "SHA256(symbol)"),
    (
        "overlay(symbol PLACING 'x' FROM 2 FOR 3)",
        "LEFT(symbol, 2 - 1) || 'x' || SUBSTRING(symbol, 2 + 3)",
    ),
    ("date_part('hours', ts)", "EXTRACT(HOUR FROM ts)"),
    ("FLOOR(ts TO HOUR)", "DATE_TRUNC('hour', ts)"),
    ("trunc(ts, 'MM')", "DATE_TRUNC('month', ts)"),
    (
        "CEIL(ts TO DAY)",
        "CASE WHEN DATE_TRUNC('day', ts) = ts THEN ts ELSE TIMESTAMPADD(DAY, 1, DATE_TRUNC('day', ts)) END",
    ),
    ("date_add(DATE '2026-01-01', 3)", "CAST(TIMESTAMPADD(DAY, 3, DATE '2026-01-01') AS DATE)"),
    ("from_unixtime(qty)", "DATE_FORMAT(TO_TIMESTAMP_S(qty), 'yyyy-MM-dd HH:mm:ss')"),
    ("strftime(ts, '%d.%m.%Y')", "DATE_FORMAT(ts, 'dd.MM.yyyy')"),
    ("to_char(ts, 'YYYY-MM-DD HH24:MI')", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm')"),
    ("symbol LIKE 'a#%b' ESCAPE '#'", r"symbol LIKE 'a\%b'"),
    ("symbol NOT LIKE 'a#%b' ESCAPE '#'", r"symbol NOT LIKE 'a\%b'"),
    ("symbol SIMILAR TO '(a|b)_'", r"RLIKE(symbol, '^((a|b)(.|\n))$')"),
    ("symbol LIKE ANY ('a%', 'b%')", "symbol LIKE 'a%' OR symbol LIKE 'b%'"),
    ("qty BETWEEN SYMMETRIC 5 AND 1", "qty BETWEEN 5 AND 1 OR qty BETWEEN 1 AND 5"),
    ("(qty, small) = (1, 2)", "qty = 1 AND small = 2"),
    (
        "(qty, symbol) IN ((1, 'a'), (2, 'b'))",
        "qty = 1 AND symbol = 'a' OR qty = 2 AND symbol = 'b'",
    ),
]
_GROUPS = [
    ("count(qty, price)", "COUNT(CASE WHEN qty IS NOT NULL AND price IS NOT NULL THEN 1 END)"),
    ("count_distinct(qty)", "COUNT(DISTINCT qty)"),
    ("count(trades.*)", "COUNT(*)"),
    ("first(qty, true)", "FIRST_VALUE(qty)"),
    ("last_value(qty IGNORE NULLS)", "LAST_VALUE(qty)"),
    ("first(qty ORDER BY price DESC)", "MAX_BY(qty, price)"),
    ("last(qty ORDER BY price DESC)", "MIN_BY(qty, price)"),
    ("topk(qty, 2)", "SLICE(ARRAY_AGG(qty ORDER BY qty DESC), 1, 2)"),
    ("earliest_by_offset(qty, 2)", "SLICE(ARRAY_AGG(qty), 1, 2)"),
    ("string_agg(symbol)", "STRING_AGG(symbol, ',')"),
    ("listagg(symbol, ';') WITHIN GROUP (ORDER BY qty)", "STRING_AGG(symbol, ';' ORDER BY qty)"),
    ("mode() WITHIN GROUP (ORDER BY qty)", "MODE(qty)"),
    ("sum_if(qty, ok)", "SUM(qty) FILTER (WHERE ok)"),
    ("topk(qty, 1) FILTER (WHERE ok)", "SLICE(ARRAY_AGG(qty ORDER BY qty DESC) FILTER (WHERE ok), 1, 1)"),
    ("quantile_cont(price, [0.5, 0.9])",
     "CASE WHEN COUNT(price) > 0 THEN ARRAY[QUANTILE_CONT(price, 0.5), QUANTILE_CONT(price, 0.9)] END"),
    ("approx_percentile(price, 0.5, 1000)", "APPROX_PERCENTILE(price, 0.5)"),
]  # fmt: skip


def _plan(expression: str, group: str) -> object:
    return planned(f"SELECT {expression} AS x FROM trades {group}").queries[-1].logical


@pytest.mark.parametrize(("written", "meant"), _ROWS, ids=[pair[0] for pair in _ROWS])
def test_rows(written: str, meant: str) -> None:
    assert _plan(written, "") == _plan(meant, "")


@pytest.mark.parametrize(("written", "meant"), _GROUPS, ids=[pair[0] for pair in _GROUPS])
def test_groups(written: str, meant: str) -> None:
    group = "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    assert _plan(written, group) == _plan(meant, group)


def test_names_are_there_once_and_new_ones_mean_nothing_else() -> None:
    names = [name for entry in RESPELLED for name in entry.names]
    assert len(names) == len(set(names))
    for name in respelled_names():
        other = find_function(name) is not None or find_aggregate(name) is not None
        assert other or name == name.lower()


def test_columns_are_called_as_they_are_written() -> None:
    query = planned("SELECT count_if(ok), topk(qty, 1) FROM trades GROUP BY symbol").queries[-1]
    assert query.logical.schema.names == ("count_if", "topk")


@pytest.mark.parametrize("pattern", ["", "yy", "yyyy-yyyy", "EEEE"])
def test_formats_that_nothing_is_read_by(pattern: str) -> None:
    with pytest.raises(FormatProblem):
        reader_of(pattern)


def test_formats() -> None:
    assert reader_of("yyyy-MM-dd'T'HH")[1] == "$1-$2-$3T$4:00:00"
    assert from_strftime("%H o'clock") == "HH' o''clock'"
    assert from_oracle('YYYY"Q"') == "yyyy'Q'"
