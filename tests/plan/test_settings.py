"""Where an option's value comes from: defaults < source < transforms < WITH < SET."""

import itertools

import pytest

from tests.planning import cases, check_refusal, logical, planned, the
from tidegate.model.time import SECOND
from tidegate.plan.logical import EventTime
from tidegate.plan.settings import Settings

PLACES = ("defaults", "source", "transforms", "with", "set")


@pytest.mark.parametrize(
    "given",
    [chosen for size in range(1, 6) for chosen in itertools.combinations(PLACES, size)],
    ids="+".join,
)
def test_the_later_place_wins(given: tuple[str, ...]) -> None:
    lags = {place: (number + 1) * SECOND for number, place in enumerate(PLACES)}
    settings = Settings(
        defaults={"watermark_lag": lags["defaults"]} if "defaults" in given else {},
        transforms={"v": {"watermark_lag": lags["transforms"]}} if "transforms" in given else {},
    )
    source_option = "WITH (watermark_lag = '2s')" if "source" in given else ""
    script = [f"CREATE SOURCE s (ts TIMESTAMP) {source_option}"]
    script += ["SET watermark_lag = '5s'"] if "set" in given else []
    query = "SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, '1m') EMIT ON UPDATE"
    script += [
        f"CREATE STREAM v AS {query}{' WITH (watermark_lag = $4s$)' if 'with' in given else ''}"
    ]
    plan = logical(";".join(script).replace("$", "'"), prelude="", settings=settings)
    assert the(EventTime, plan).lag_us == lags[given[-1]]


def test_merging_values() -> None:
    settings = Settings(
        defaults={"a": 1, "b": 1, "c": 1, "d": 1, "e": 1},
        transforms={"v": {"c": 3, "d": 3, "e": 3}},
        session={"e": 5},
    )
    own = settings.of_query("V", {"d": 4, "e": 4})
    assert own == {"c": 3, "d": 4, "e": 5}
    assert settings.of_query("w", {"d": 4}) == {"d": 4, "e": 5}
    sources = [{"b": 2, "c": 2, "d": 2, "e": 2}]
    assert settings.in_force(own, sources) == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}


def test_set_holds_from_there_on() -> None:
    made = planned(
        "SET max_groups = 5; SET max_groups = 6; SET late.sink = 'dlq_x'; SET side_output.late.rate_limit = '5/s'"
    )
    assert made.settings.session == {
        "max_groups": 6,
        "late.sink": "dlq_x",
        "late.rate_limit": "5/s",
    }
    assert Settings().session == {}


def test_options_in_both_places_of_a_stream() -> None:
    made = planned(
        "CREATE STREAM v WITH (max_groups = 5) AS SELECT COUNT(*) AS n FROM trades GROUP BY "
        "TUMBLE(ts, '1m') WITH (max_open_windows = 6)"
    )
    assert made.queries[0].logical.options == (("max_groups", 5), ("max_open_windows", 6))


@cases(
    ("SET «max_grops» = 5", "TG-4001", "a session has no option max_grops", "did you mean max_groups?"),
    ("SET max_groups = «0»", "TG-4002", "max_groups = 0: expected a whole number above zero"),
    ("SET session_gap = «'open'»", "TG-4002", "expected one of exclusive, inclusive"),
    ("SELECT COUNT(*) AS n FROM trades GROUP BY TUMBLE(ts, '1m') WITH («max_grops» = 5)",
     "TG-4001", "a stream has no option max_grops"),
    ("CREATE STREAM v WITH («max_grops» = 5) AS SELECT * FROM trades", "TG-4001", "max_grops"),
    ("CREATE SOURCE s (a INT) WITH («max_groups» = 5)",
     "TG-4010", "max_groups cannot be set for a source", "session, stream"),
    ("CREATE SOURCE s (a INT) WITH («path» = 'x')",
     "TG-4001", "connector memory has no option path", "connector = 'file'"),
    ("CREATE SOURCE s (a INT) WITH (connector = 'file', path = 'x', «topic» = 'y')",
     "TG-4001", "connector file has no option topic"),
    ("CREATE SOURCE s (a INT) WITH (connector = «'fiel'»)",
     "TG-4003", "there is no connector fiel", "did you mean file?"),
    ("CREATE SOURCE s (k INT) WITH (connector = «'datagen'»)",
     "TG-4003", "there is no connector datagen", "did you mean generator?"),
    ("CREATE SOURCE s (k INT) WITH («conector» = 'file')",
     "TG-4001", "connector memory has no option conector", "did you mean connector?"),
    ("CREATE SOURCE s (k INT) WITH (connector = 'file', path = 'x', format = «'jsn'»)",
     "TG-4002", "expected one of json, csv, parquet", "did you mean json?"),
    ("CREATE SOURCE s (a INT) WITH (connector = «'zzz'»)", "TG-4003", "zzz", "connectors are memory, file"),
    ("CREATE SOURCE s (a INT) WITH (connector = «5»)", "TG-4003", "5"),
    ("CREATE SOURCE s (a INT) WITH (connector = «'console'»)",
     "TG-4004", "connector console cannot be a source", "memory, file, kafka"),
    ("CREATE TABLE s (a INT) WITH (connector = «'kafka'»)", "TG-4004", "cannot be a table", "memory, file, postgres"),
    ("CREATE SINK o FROM trades WITH (connector = «'generator'»)", "TG-4004", "cannot be a sink", "console"),
    ("CREATE SOURCE «s» (a INT) WITH (connector = 'file')",
     "TG-4005", "connector file needs the option path", "file, glob, directory or URL"),
    ("CREATE SINK «o» FROM trades WITH (connector = 'kafka')", "TG-4005", "topic"),
    ("CREATE SOURCE s (a INT) WITH (connector = 'file', path = «5»)", "TG-4002", "path = 5: expected a string"),
    ("CREATE SOURCE s (a INT) WITH (connector = 'file', path = 'x', format = «'xml'»)", "TG-4002", "json, csv"),
)  # fmt: skip
def test_wrong_options(marked: str, code: str, message: str, hint: str) -> None:
    check_refusal(marked, code, message, hint)


def test_passing_properties_on() -> None:
    made = planned(
        "CREATE SOURCE k (a INT) WITH (connector = 'KAFKA', topic = 't', 'bootstrap.servers' = 'b', "
        "'properties.x.y' = 5)"
    )
    definition = made.catalog.find("k")
    assert definition is not None
    assert definition.options == {"topic": "t", "bootstrap.servers": "b", "properties.x.y": 5}
