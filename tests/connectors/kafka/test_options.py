"""What a definition of a topic may say, without a broker."""

import os
from pathlib import Path

import pytest

from tests.connectors.reading import sink_def, source_def
from tests.services.kafka import free_ports
from tidegate.connectors import open_sink, open_source
from tidegate.connectors.kafka.client import cluster_of
from tidegate.connectors.settings import Settings
from tidegate.errors import TidegateError
from tidegate.model.options import OptionValue
from tidegate.model.policies import StreamKind

SCHEMA = source_def("k VARCHAR, n BIGINT", connector="memory").physical


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({'"scan.startup.mode"': "timestamp"}, "scan.startup.mode = 'timestamp': it needs"),
        (
            {'"scan.startup.mode"': "specific-offsets", '"scan.startup.specific-offsets"': "0:3"},
            "expected partition:0,offset:42",
        ),
        ({"startingOffsets": "newest"}, "expected earliest, latest, or"),
        ({"format": "raw"}, "a raw value is one column"),
        ({"format": "csv", "delimiter": "ab"}, "expected one ASCII character"),
    ],
)
def test_what_a_source_cannot_mean(given: dict[str, object], said: str) -> None:
    definition = source_def("k VARCHAR, n BIGINT", connector="kafka", topic="t", **given)
    with pytest.raises(TidegateError, match=f"TG-4002: .*{said}"):
        open_source(definition)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (StreamKind.UPSERT, {}, "TG-6015: sink out takes upsert rows and has no key"),
        (StreamKind.APPEND, {"key.fields": "kk"}, "there is no column kk; did you mean k?"),
        (StreamKind.APPEND, {"key.fields": "k,n", "key.format": "raw"}, "a raw key is one column"),
        (StreamKind.APPEND, {"format": "raw"}, "a raw value is one column"),
    ],
)
def test_what_a_sink_cannot_mean(kind: StreamKind, given: dict[str, object], said: str) -> None:
    with pytest.raises(TidegateError, match=said.replace("?", r"\?")):
        open_sink(sink_def("kafka", topic="t", **given), SCHEMA, kind)


@pytest.mark.kafka  # its clients, though nobody answers them
@pytest.mark.parametrize("role", ["source", "sink"])
def test_nobody_answers(role: str) -> None:
    (port,) = free_ports(1)
    far: dict[str, OptionValue] = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "connection.timeout": 300_000,
    }
    sink, source = (
        sink_def("kafka", topic="t"),
        source_def("n BIGINT", connector="kafka", topic="t"),
    )
    sink.options.update(far)
    source.options.update(far)
    said = rf"TG-6010: kafka at 127.0.0.1:{port} cannot be reached"
    with pytest.raises(TidegateError, match=said) as caught:
        _ = open_sink(sink, SCHEMA, StreamKind.APPEND) if role == "sink" else open_source(source)
    assert caught.value.exit_code == 4


def test_what_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "password"
    secret.write_text("hidden\n")
    monkeypatch.setitem(os.environ, "USER_NAME", "me")
    options = {
        "bootstrap.servers": "b:1",
        "properties.sasl.username": "${env:USER_NAME}",
        "kafka.sasl.password": f"${{file:{secret}}}",
        "properties.key.deserializer": "org.apache.kafka.Something",
        "properties.enable.auto.commit": "true",
    }
    cluster = cluster_of(Settings("kafka", options))
    made = cluster.configuration(enable_auto_commit=False)
    assert made["sasl.username"] == "me"
    assert made["sasl.password"] == "hidden"
    assert made["enable.auto.commit"] is False
    assert "key.deserializer" not in made
    assert "hidden" not in repr(cluster)


@pytest.mark.parametrize("reference", ["${env:NO_SUCH_VARIABLE}", "${file:no/such/file}"])
def test_secrets_that_are_not_there(reference: str) -> None:
    options = {"bootstrap.servers": "b:1", "properties.sasl.password": reference}
    with pytest.raises(
        TidegateError, match=r"TG-4018: option sasl.password: there is no (var|file)"
    ):
        cluster_of(Settings("kafka", options)).configuration()


def test_the_other_spellings() -> None:
    definition = source_def(
        "n BIGINT", connector="kafka", subscribe="t", **{'"kafka.bootstrap.servers"': "b:1"}
    )
    assert definition.options == {"topic": "t", "bootstrap.servers": "b:1"}
