"""The table of options: what each kind of value may look like, and what it becomes."""

import pytest

from tidegate.model.connectors import CONNECTORS
from tidegate.model.options import (
    OPTIONS,
    BadValue,
    OptionSpec,
    OptionValue,
    Scope,
    describe_default,
)
from tidegate.model.time import MINUTE, SECOND


def spec(kind: str) -> OptionSpec:
    return OptionSpec(name="it", kind=kind, doc="", choices=("one", "two"))


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("text", "ts", "ts"),
        ("duration", "5s", 5 * SECOND),
        ("duration", "0s", 0),
        ("duration", "1 minute", MINUTE),
        ("count", 1, 1),
        ("count", "250", 250),
        ("count", " 7 ", 7),
        ("bytes", "512", 512),
        ("bytes", 512, 512),
        ("bytes", "1k", 1024),
        ("bytes", "2 KB", 2048),
        ("bytes", "3MiB", 3 * 1024**2),
        ("bytes", "1g", 1024**3),
        ("bytes", "1TB", 1024**4),
        ("flag", True, True),
        ("flag", "FALSE", False),
        ("flag", " true ", True),
        ("choice", "ONE", "one"),
        ("rate", "1000/s", "1000/s"),
        ("rate", "5 / min", "5 / min"),
        ("rate", "5/h", "5/h"),
        ("route", "metrics_only", "metrics_only"),
        ("route", "sink:a.b", "sink:a.b"),
        ("route", "dlq_kafka", "dlq_kafka"),
        ("route", "reinject:trades", "reinject:trades"),
        ("route", "late_trades", "late_trades"),
    ],
)
def test_values_in_their_normal_form(kind: str, given: OptionValue, value: OptionValue) -> None:
    read = spec(kind).read(given)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("kind", "given", "problem"),
    [
        ("text", 5, "string"),
        ("duration", 5, "such as '5s'"),
        ("duration", "five", "duration"),
        ("duration", "-1s", "negative"),
        ("count", 0, "above zero"),
        ("count", "0", "above zero"),
        ("count", -1, "above zero"),
        ("count", "many", "whole number"),
        ("count", 1.0, "whole number"),
        ("count", True, "whole number"),
        ("bytes", 0, "size"),
        ("bytes", "0MB", "size"),
        ("bytes", "1.5MB", "size"),
        ("bytes", 1.5, "size"),
        ("bytes", True, "size"),
        ("bytes", "MB", "size"),
        ("flag", "yes", "true or false"),
        ("flag", 1, "true or false"),
        ("choice", "three", "one, two"),
        ("rate", "1000", "rate"),
        ("rate", "1000/d", "rate"),
        ("rate", 1000, "rate"),
        ("route", "sink:", "sink:<name>"),
        ("route", "file://x", "metrics_only"),
        ("route", 1, "metrics_only"),
    ],
)
def test_values_that_do_not_fit(kind: str, given: OptionValue, problem: str) -> None:
    with pytest.raises(BadValue, match=problem):
        spec(kind).read(given)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_defaults_are_values_of_their_own_option(option: OptionSpec) -> None:
    assert option.doc
    if option.default is not None:
        option.read(option.default)
        assert describe_default(option)
    for choice in option.choices:
        assert option.read(choice) == choice


STREAM, SOURCE = {Scope.STREAM, Scope.SESSION}, {Scope.SOURCE, Scope.SESSION}
DEFAULTS = {
    "event_time_field": "",
    "watermark_lag": "",
    "allowed_lateness": "0s",
    "idle_timeout": "",
    "max_future_skew": "",
    "on_missing_event_time": "",
    "pre_epoch": "allow",
    "time": "event",
    "session_gap": "exclusive",
    "time_zone": "UTC",
    "max_groups": "",
    "max_open_windows": "",
    "max_state_bytes": "",
    "dedup_key": "",
    "dedup_within": "",
    "fuse_sliding": "true",
    "late.sink": "metrics_only",
    "late.include_original": "true",
    "late.rate_limit": "",
}
FOR_STREAMS_ONLY = {
    "allowed_lateness", "session_gap", "time_zone", "max_groups", "max_open_windows", "max_state_bytes", "fuse_sliding",
}  # fmt: skip


def test_all_options_and_their_defaults() -> None:
    per_kind = {
        name.replace("late.", f"{kind}."): default
        for kind in ("late", "evicted", "error", "duplicate")
        for name, default in DEFAULTS.items()
        if name.startswith("late.")
    }
    known = {name: default for name, default in DEFAULTS.items() if not name.startswith("late.")}
    assert {name: describe_default(option) for name, option in OPTIONS.items()} == known | per_kind


def test_where_options_may_be_set() -> None:
    for name, option in OPTIONS.items():
        only_streams = name in FOR_STREAMS_ONLY or "." in name
        expected = STREAM if only_streams else STREAM | SOURCE
        assert option.scopes == expected, name


def test_connectors() -> None:
    """Roles as first letters; + takes rows that replace or retract; required options in brackets."""
    described = {
        name: "".join(role[:2] for role in connector.roles)
        + ("+" if len(connector.holds) > 1 else "")
        + str([option.name for option in connector.options if option.required])
        for name, connector in CONNECTORS.items()
    }
    assert described == {
        "memory": "sotasi+[]",
        "file": "sotasi['path']",
        "kafka": "sosi+['topic']",
        "generator": "so[]",
        "console": "si+[]",
        "callback": "si+[]",
        "socket": "so['hostname', 'port']",
        "http": "sosi+['url']",
        "postgres": "tasi+['url', 'table']",
    }
    assert {
        name: connector.passes for name, connector in CONNECTORS.items() if connector.passes
    } == {"kafka": ("properties.", "kafka."), "http": ("header.",)}


@pytest.mark.parametrize(
    "option", [option for connector in CONNECTORS.values() for option in connector.options]
)
def test_options_of_connectors_are_described(option: OptionSpec) -> None:
    assert option.doc
    if option.default is not None:
        option.read(option.default)
