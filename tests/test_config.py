"""`tidegate.toml` and the environment: what is accepted, how every mistake is named, and which value wins."""

from pathlib import Path

import pytest

from tests.planning import planned
from tidegate import config
from tidegate.config import Loaded
from tidegate.model.time import MINUTE, SECOND
from tidegate.plan.planner import plan_query
from tidegate.plan.settings import Settings

DIALECT = """\
[defaults]
event_time_field = "ts"
watermark_lag = "5s"
allowed_lateness = "0s"
idle_timeout = "30s"
[transforms.vwap]                    # one stream
max_groups = 100000
[transforms.vwap.side_output]
late.sink = "dlq_kafka"              # or "reinject:<source>", "metrics_only", "sink:<name>"
late.include_original = true
late.rate_limit = "1000/s"
evicted.sink = "metrics_only"
error.sink = "dlq_kafka"
duplicate.sink = "metrics_only"
[sinks.dlq_kafka]
connector = "kafka"
topic = "dlq"
[spark]
master = "local[*]"
state = "auto"                       # driver | executors | auto
shards = 8
"""


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(text: str, **environment: str) -> Loaded:
    Path("tidegate.toml").write_text(text, encoding="utf-8")
    return config.load(None, environment)


def accepted(text: str, **environment: str) -> Settings:
    loaded = read(text, **environment)
    assert loaded.errors == []
    return loaded.settings


def refused(text: str, **environment: str) -> list[str]:
    """Message and hint of each refusal."""
    loaded = read(text, **environment)
    assert all(error.exit_code == 2 for error in loaded.errors)
    return [f"{error.message} | {error.hint}".removesuffix(" | ") for error in loaded.errors]


def test_all_of_the_dialects_example() -> None:
    settings = accepted(DIALECT)
    assert settings.defaults == {
        "event_time_field": "ts",
        "watermark_lag": 5 * SECOND,
        "allowed_lateness": 0,
        "idle_timeout": 30 * SECOND,
    }
    assert settings.transforms == {
        "vwap": {
            "max_groups": 100_000,
            "late.sink": "dlq_kafka",
            "late.include_original": True,
            "late.rate_limit": "1000/s",
            "evicted.sink": "metrics_only",
            "error.sink": "dlq_kafka",
            "duplicate.sink": "metrics_only",
        }
    }
    assert settings.sinks.keys() == {"dlq_kafka"}
    assert settings.spark == {"master": "local[*]", "state": "auto", "shards": 8}


def test_without_a_file_there_is_nothing_to_set() -> None:
    assert config.load(None, {}) == Loaded(Settings())


def test_an_empty_file_and_a_byte_order_mark() -> None:
    assert accepted("") == Settings()
    assert accepted('\ufeff[defaults]\nwatermark_lag = "1s"').defaults == {"watermark_lag": SECOND}


# Files that cannot be read


def test_a_named_file_must_exist() -> None:
    (error,) = config.load(Path("none.toml"), {}).errors
    assert str(error) == "TG-4006: none.toml cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "TG-4006: tidegate.toml cannot be read: it is not UTF-8"),
        (b"a = ", "TG-4007: tidegate.toml is not valid TOML: "),
        (b"a = 1\na = 2", "TG-4007: tidegate.toml is not valid TOML: "),
        (
            b"a = " + b"[" * 100_000,
            "TG-4007: tidegate.toml is not valid TOML: it is nested too deep",
        ),
    ],
)
def test_what_is_no_toml(content: bytes, said: str) -> None:
    Path("tidegate.toml").write_bytes(content)
    (error,) = config.load(None, {}).errors
    assert str(error).startswith(said)


def test_a_directory_is_no_file() -> None:
    Path("tidegate.toml").mkdir()
    (error,) = config.load(None, {}).errors
    assert error.message == "tidegate.toml cannot be read: Is a directory"


# Mistakes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[default]", "default is not a setting | did you mean defaults?"),
        ("[zzz]", "zzz is not a setting"),
        ("watermark_lag = '5s'", "watermark_lag is not a setting"),
        ("defaults = 5", "defaults = 5: expected a table: [defaults]"),
        ("transforms = 'x'", "transforms = 'x': expected a table: [transforms]"),
        ("[transforms]\nvwap = 1", "transforms.vwap = 1: expected a table: [transforms.vwap]"),
        ("[[sinks]]\nconnector = 'console'", "sinks = [{'connector': 'console'}]: expected a table: [sinks]"),
        ("[sinks]\nout = 'console'", "sinks.out = 'console': expected a table: [sinks.out]"),
        ("[defaults]\nwatermark_lg = '5s'", "defaults.watermark_lg is not a setting | did you mean watermark_lag?"),
        ("[defaults]\nWatermark_Lag = '5s'", "defaults.Watermark_Lag is not a setting | did you mean watermark_lag?"),
        ("[transforms.v]\nmax_group = 5", "transforms.v.max_group is not a setting | did you mean max_groups?"),
        ("[transforms.v.side_output]\nlate.sinc = 'x'",
         "transforms.v.side_output.late.sinc is not a setting | did you mean late.sink?"),
        ("[transforms.v.side_output.lates]\nsink = 'x'",
         "transforms.v.side_output.lates.sink is not a setting | did you mean late.sink?"),
        ("[spark]\nshard = 3", "spark.shard is not a setting | did you mean shards?"),
        ("[defaults]\nwatermark_lag = 5",
         "defaults.watermark_lag = 5: expected a duration such as '5s'"),
        ("[defaults]\nwatermark_lag = '-5s'",
         "defaults.watermark_lag = '-5s': a duration cannot be negative here"),
        ("[defaults]\nwatermark_lag = ['5s']",
         "defaults.watermark_lag = ['5s']: expected a string, a number, true or false"),
        ("[defaults]\npre_epoch = 1979-05-27",
         "defaults.pre_epoch = datetime.date(1979, 5, 27): expected a string, a number, true or false"),
        ("[defaults]\nmax_groups = 0", "defaults.max_groups = 0: expected a whole number above zero"),
        ("[defaults]\nmax_groups = true", "defaults.max_groups = True: expected a whole number above zero"),
        ("[defaults]\nmax_groups = 1.5", "defaults.max_groups = 1.5: expected a whole number above zero"),
        ("[defaults]\npre_epoch = 'drop'", "defaults.pre_epoch = 'drop': expected one of allow, divert"),
        ("[defaults]\nfuse_sliding = 'maybe'", "defaults.fuse_sliding = 'maybe': expected true or false"),
        ("[defaults]\nmax_state_bytes = 'big'", "defaults.max_state_bytes = 'big': expected a size such as '512MB'"),
        ("[defaults]\nlate.rate_limit = 5", "defaults.late.rate_limit = 5: expected a rate such as '1000/s'"),
        ("[defaults]\nlate.sink = 'a b'",
         "defaults.late.sink = 'a b': expected metrics_only, sink:<name>, dlq_<name> or reinject:<source>"),
        ("[spark]\nstate = 'moon'", "spark.state = 'moon': expected one of driver, executors, auto"),
        ("[sinks.out]\nconnector = 'kafkaa'",
         "sinks.out.connector = 'kafkaa': expected one of memory, file, kafka, console, callback, http, postgres"),
        ("[sinks.out]\nconnector = 'socket'",
         "sinks.out.connector = 'socket': expected one of memory, file, kafka, console, callback, http, postgres"),
        ("[sinks.out]\ntopic = 'x'",
         "sinks.out.connector = '': expected one of memory, file, kafka, console, callback, http, postgres"),
        ("[sinks.out]\nconnector = 'file'\npath = 'x'\npth = 'y'",
         "sinks.out.pth is not a setting | did you mean path?"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(text: str, said: str) -> None:
    assert refused(text) == [f"tidegate.toml: {said}"]


def test_a_sink_needs_what_its_connector_needs() -> None:
    assert refused("[sinks.out]\nconnector = 'file'") == [
        "connector file needs the option sinks.out.path"
    ]


def test_what_a_connector_passes_on_is_not_checked() -> None:
    assert accepted(
        "[sinks.o]\nconnector='kafka'\ntopic='t'\nproperties.linger.ms = 5"
    ).sinks.keys() == {"o"}


def test_all_mistakes_are_reported_at_once() -> None:
    text = """
        [defaults]
        watermark_lg = "5s"
        idle_timeout = "soon"
        [transforms.vwap]
        max_groups = "many"
        side_output.late.snk = "x"
        [sinks.a]
        connector = "file"
        [sinks.b]
        connector = "nothing"
        [spark]
        shards = 0
        [sparks]
    """
    said = refused(text)
    assert [message.removeprefix("tidegate.toml: ").partition(" ")[0] for message in said] == [
        "defaults.watermark_lg",
        "defaults.idle_timeout",
        "transforms.vwap.max_groups",
        "transforms.vwap.side_output.late.snk",
        "connector",
        "sinks.b.connector",
        "spark.shards",
        "sparks",
    ]


# The environment


@pytest.mark.parametrize(
    ("variable", "value", "section", "expected"),
    [
        ("DEFAULTS__WATERMARK_LAG", "1 minute", "defaults", {"watermark_lag": MINUTE}),
        ("DEFAULTS__FUSE_SLIDING", "FALSE", "defaults", {"fuse_sliding": False}),
        ("DEFAULTS__LATE__SINK", "dlq_x", "defaults", {"late.sink": "dlq_x"}),
        ("TRANSFORMS__VWAP__MAX_GROUPS", "5", "transforms", {"vwap": {"max_groups": 5}}),
        ("TRANSFORMS__VWAP__SIDE_OUTPUT__LATE__SINK", "x", "transforms", {"vwap": {"late.sink": "x"}}),
        ("SPARK__SHARDS", "3", "spark", {"shards": 3}),
    ],
)  # fmt: skip
def test_variables_set_without_a_file(
    variable: str, value: str, section: str, expected: object
) -> None:
    loaded = config.load(None, {f"TIDEGATE__{variable}": value, "OTHER__SPARK__SHARDS": "x"})
    assert loaded.errors == []
    assert getattr(loaded.settings, section) == expected


def test_variables_beat_the_file() -> None:
    settings = accepted(
        DIALECT, TIDEGATE__DEFAULTS__WATERMARK_LAG="9s", TIDEGATE__SPARK__STATE="driver"
    )
    assert settings.defaults["watermark_lag"] == 9 * SECOND
    assert settings.defaults["idle_timeout"] == 30 * SECOND
    assert settings.spark == {"master": "local[*]", "state": "driver", "shards": 8}


def test_variables_know_no_small_letters() -> None:
    text = "[transforms.Vwap]\nmax_groups = 5\n[sinks.Dlq]\nconnector = 'file'\npath = 'a'"
    changed = {"TIDEGATE__TRANSFORMS__VWAP__MAX_GROUPS": "7", "TIDEGATE__SINKS__DLQ__PATH": "b"}
    settings = accepted(text, **changed)
    assert settings.transforms == {"vwap": {"max_groups": 7}}
    assert {sink.name: sink.options for sink in settings.sinks.values()} == {"Dlq": {"path": "b"}}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TIDEGATE__DEFAULTS__WATERMARK_LG", "5s", "is not a setting | did you mean watermark_lag?"),
        ("TIDEGATE__DEFAULT__WATERMARK_LAG", "5s", ""),
        ("TIDEGATE__X", "1", "is not a setting"),
    ],
)  # fmt: skip
def test_a_wrong_variable_is_named(name: str, value: str, said: str) -> None:
    (message,) = refused("", **{name: value})
    assert message == (
        f"{name} {said}"
        if said
        else "tidegate.toml: default is not a setting | did you mean defaults?"
    )


def test_a_wrong_value_of_a_variable_names_the_variable() -> None:
    assert refused(DIALECT, TIDEGATE__SPARK__SHARDS="many") == [
        "TIDEGATE__SPARK__SHARDS = 'many': expected a whole number above zero"
    ]


def test_a_section_that_is_no_table_is_the_one_mistake() -> None:
    assert refused("defaults = 5", TIDEGATE__DEFAULTS__WATERMARK_LAG="5s") == [
        "tidegate.toml: defaults = 5: expected a table: [defaults]"
    ]
    assert refused("", TIDEGATE__DEFAULTS="x", TIDEGATE__DEFAULTS__WATERMARK_LAG="5s") == [
        "TIDEGATE__DEFAULTS = 'x': expected a table: [defaults]"
    ]


# Which one wins

LEVELS = ("defaults", "source", "transform", "with", "set")


@pytest.mark.parametrize("top", range(len(LEVELS)))
def test_set_beats_with_beats_the_section_beats_the_source_beats_the_defaults(top: int) -> None:
    given = {level: f"{place + 1}h" for place, level in enumerate(LEVELS[: top + 1])}

    def option(level: str) -> str:
        return f"max_future_skew = '{given[level]}'" if level in given else "pre_epoch = 'allow'"

    settings = accepted(
        f"[defaults]\n{option('defaults')}\n[transforms.Made]\n{option('transform')}"
    )
    script = (
        f"CREATE SOURCE s (x INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH ({option('source')});\n"
        + (f"SET {option('set')};\n" if "set" in given else "")
        + "CREATE STREAM made AS SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
        f" WITH ({option('with')});"
    )
    program = planned(script, settings=settings)
    (stage,) = plan_query(program.queries[-1], program).stages
    assert stage.option("max_future_skew") == (top + 1) * 60 * MINUTE
    time = stage.branches[0].time
    assert time is not None
    assert time.max_future_skew_us == (top + 1) * 60 * MINUTE


def test_sources_of_a_union_keep_their_own_options() -> None:
    script = (
        "CREATE SOURCE a (ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (idle_timeout = '1s', pre_epoch = 'divert');"
        "CREATE SOURCE b (ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        "SELECT COUNT(*) AS n FROM (SELECT ts FROM a UNION ALL SELECT ts FROM b)"
        " GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
    )
    program = planned(script, settings=Settings(defaults={"idle_timeout": 9 * SECOND}))
    (stage,) = plan_query(program.queries[-1], program).stages
    times = [branch.time for branch in stage.branches]
    assert [time.idle_timeout_us for time in times if time] == [SECOND, 9 * SECOND]
    assert [time.pre_epoch for time in times if time] == ["divert", "allow"]


def test_set_counts_from_where_it_stands() -> None:
    script = (
        "CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        "SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE); SET max_groups = 5;"
        "SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);"
    )
    program = planned(script)
    stages = [plan_query(query, program).last for query in program.queries]
    assert [stage.option("max_groups") for stage in stages] == [None, 5]


def test_options_behind_any_query_reach_its_plan() -> None:
    source = "CREATE SOURCE s (k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    windowed = "SELECT k, COUNT(*) AS n FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)"
    for query in (
        f"{windowed} WITH (error.sink = 'dlq_x')",
        f"CREATE STREAM v AS {windowed} WITH (error.sink = 'dlq_x')",
        "SELECT k FROM s WITH (error.sink = 'dlq_x')",
        "SELECT k FROM s UNION ALL SELECT k FROM s WITH (error.sink = 'dlq_x')",
        f"SELECT n FROM ({windowed}) WITH (error.sink = 'dlq_x')",
    ):
        program = planned(source + query)
        first = plan_query(program.queries[-1], program).stages[0]
        assert first.option("error.sink") == "dlq_x", query


def test_a_clause_beats_the_option_of_its_meaning() -> None:
    script = (
        "CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts); SET late.sink = 'metrics_only';"
        "SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE) LATE DATA TO late_rows"
    )
    program = planned(script)
    assert plan_query(program.queries[-1], program).last.option("late.sink") == "sink:late_rows"
