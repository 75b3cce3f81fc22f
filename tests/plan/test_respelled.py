"""Calls under the names and with the arguments that other systems give them: they mean the same plan."""

import pytest

from tests.planning import check_refusal, logical

OVER_WINDOW = "FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
IN_ROWS = "FROM trades"


@pytest.mark.parametrize(
    ("theirs", "ours", "rest"),
    [
        ("COUNT_IF(qty > 1)", "COUNT(CASE WHEN qty > 1 THEN 1 END)", OVER_WINDOW),
        ("countif(ok)", "COUNT(CASE WHEN ok THEN 1 END)", OVER_WINDOW),
        (
            "COUNT_IF(ok) FILTER (WHERE qty > 1)",
            "COUNT(CASE WHEN ok THEN 1 END) FILTER (WHERE qty > 1)",
            OVER_WINDOW,
        ),
        ("COLLECT_SET(symbol)", "ARRAY_AGG(DISTINCT symbol)", OVER_WINDOW),
        ("ANY_VALUE(qty)", "FIRST_VALUE(qty)", OVER_WINDOW),
        ("APPROX_MEDIAN(qty)", "MEDIAN(qty)", OVER_WINDOW),
        ("TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE)", "window_time", OVER_WINDOW),
        ("window_start()", "window_start", OVER_WINDOW),
        ("WINDOW_END()", "window_end", OVER_WINDOW),
        ("TO_TIMESTAMP_LTZ(qty, 3)", "TO_TIMESTAMP_MS(qty)", IN_ROWS),
        ("TO_TIMESTAMP_LTZ(qty, 0)", "TO_TIMESTAMP_S(qty)", IN_ROWS),
    ],
)
def test_they_mean_the_same(theirs: str, ours: str, rest: str) -> None:
    assert logical(f"SELECT {theirs} AS a {rest}") == logical(f"SELECT {ours} AS a {rest}")


@pytest.mark.parametrize(
    "call", ["«COUNT_IF»()", "«COLLECT_SET»(qty, ok)", "«TO_TIMESTAMP_LTZ»(qty, 6)"]
)
def test_other_arguments_mean_nothing(call: str) -> None:
    check_refusal(f"SELECT {call} AS a FROM trades", "TG-2004", "there is no function")


def test_a_window_function_needs_a_window() -> None:
    check_refusal("SELECT «window_start»() AS a FROM trades", "TG-3005", "without a window")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 10 MINUTES)", "ALLOWED LATENESS 10 MINUTES"),
        ("WINDOW SESSION (5 MINUTES, GRACE PERIOD '1h')", "ALLOWED LATENESS 1 HOUR"),
        ("WINDOW SESSION (INTERVAL '5' MINUTES)", ""),
    ],
)
def test_windows_of_ksqldb(theirs: str, ours: str) -> None:
    written = theirs.partition(", GRACE")[0].rstrip(")") + ")"
    written = written.replace("SESSION (", "SESSION (GAP ")
    plain = f"SELECT COUNT(*) AS n FROM trades {written} {ours}"
    assert logical(f"SELECT COUNT(*) AS n FROM trades {theirs}") == logical(plain)


def test_emit_in_front_of_the_query() -> None:
    query = "SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    one = logical(f"CREATE STREAM s EMIT CHANGES AS {query};")
    assert one == logical(f"CREATE STREAM s AS {query} EMIT CHANGES;")
