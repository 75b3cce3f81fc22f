"""Epochs written to a topic of a real broker: what messages look like, and that an epoch is there once."""

import json
from typing import Any

import pyarrow as pa
import pytest

from tests.connectors.reading import sink_def, source_def
from tests.services.kafka import Broker
from tidegate.connectors import open_sink
from tidegate.connectors.kafka.sink import KafkaSink
from tidegate.connectors.protocols import Resumed
from tidegate.errors import TidegateError
from tidegate.model.policies import StreamKind

pytestmark = pytest.mark.kafka
SCHEMA = source_def("k VARCHAR, n BIGINT", connector="memory").physical


def opened(
    broker: Broker, topic: str, kind: StreamKind = StreamKind.APPEND, **given: Any
) -> KafkaSink:
    definition = sink_def("kafka", topic=topic, **{"bootstrap.servers": broker.servers, **given})
    sink = open_sink(definition, SCHEMA, kind)
    assert isinstance(sink, KafkaSink)
    return sink


def rows(*pairs: tuple[str | None, int]) -> pa.Table:
    keys, numbers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return pa.table({"k": pa.array(keys, pa.string()), "n": pa.array(numbers, pa.int64())})


def changes(*triples: tuple[str, str, int]) -> pa.Table:
    table = rows(*((key, number) for _, key, number in triples))
    operations = pa.array([operation for operation, _, _ in triples], pa.string())
    return table.add_column(0, "_op", operations)


def pairs(broker: Broker, topic: str) -> list[tuple[Any, Any]]:
    return [(it.key(), it.value()) for it in broker.messages(topic)]


def test_values_and_keys(broker: Broker) -> None:
    topic = broker.topic()
    opened(broker, topic).write(0, rows(("a", 1), (None, 2)))
    opened(broker, topic, StreamKind.APPEND, **{"key.fields": "K"}).write(0, rows(("b", 3)))
    raw: dict[str, Any] = {"key.fields": "k", "key.format": "raw", "format": "csv"}
    opened(broker, topic, **raw).write(0, rows(("c\nd", 4), (None, 5)))
    opened(broker, topic, StreamKind.APPEND, **{**raw, "key.fields": "n"}).write(0, rows(("e", 6)))
    assert pairs(broker, topic) == [
        (None, b'{"k":"a","n":1}'),
        (None, b'{"k":null,"n":2}'),
        (b'{"k":"b"}', b'{"k":"b","n":3}'),
        (b"c\nd", b'"c\nd",4'),
        (None, b",5"),
        (b"6", b'"e",6'),
    ]


def test_rows_that_replace_others_go_by_their_key(broker: Broker) -> None:
    topic = broker.topic()
    given: dict[str, Any] = {"key.fields": "k", "key.format": "raw"}
    opened(broker, topic, StreamKind.UPSERT, **given).write(
        0, changes(("+U", "a", 1), ("+U", "b", 2), ("-D", "a", 1))
    )
    opened(broker, topic, StreamKind.CHANGELOG, **given).write(
        1, changes(("+I", "c", 1), ("-U", "c", 1), ("+U", "c", 2), ("-D", "c", 2))
    )
    assert pairs(broker, topic) == [
        (b"a", b'{"k":"a","n":1}'),
        (b"b", b'{"k":"b","n":2}'),
        (b"a", None),
        (b"c", b'{"k":"c","n":1}'),
        (b"c", b'{"k":"c","n":2}'),
        (b"c", None),
    ]


def test_a_changelog_without_a_key_is_written_as_it_is(broker: Broker) -> None:
    topic = broker.topic()
    opened(broker, topic, StreamKind.CHANGELOG).write(0, changes(("+I", "a", 1), ("-U", "a", 1)))
    written = [json.loads(value or b"") for value in broker.values(topic)]
    assert written == [{"_op": "+I", "k": "a", "n": 1}, {"_op": "-U", "k": "a", "n": 1}]


def resumed(epoch: int, *, repeats: bool = False, run: str | None = "r") -> Resumed:
    return Resumed(run=run, epoch=epoch, repeats=repeats)


def again(broker: Broker, topic: str, where: Resumed) -> KafkaSink:
    sink = opened(broker, topic)
    sink.resume(where)
    return sink


def test_an_epoch_that_comes_again_is_there_once(broker: Broker) -> None:
    """The run is killed behind the transaction of epoch 1, and before its own log says so."""
    topic = broker.topic()
    first = again(broker, topic, resumed(-1, run=topic))
    first.write(0, rows(("a", 0)))
    first.write(1, rows(("a", 1)))
    second = again(broker, topic, resumed(0, repeats=True, run=topic))
    second.write(1, rows(("a", 1)))
    second.write(2, rows(("a", 2)))
    assert [json.loads(it or b"")["n"] for it in broker.values(topic)] == [0, 1, 2]


def test_an_epoch_that_is_not_repeated_as_it_was_is_written(broker: Broker) -> None:
    topic = broker.topic()
    again(broker, topic, resumed(-1, run=topic)).write(0, rows(("a", 0)))
    again(broker, topic, resumed(-1, run=topic)).write(0, rows(("b", 7)))
    assert [json.loads(it or b"")["n"] for it in broker.values(topic)] == [0, 7]


def test_an_old_copy_of_the_checkpoint(broker: Broker) -> None:
    topic = broker.topic()
    sink = again(broker, topic, resumed(-1, run=topic))
    for epoch in range(3):
        sink.write(epoch, rows(("a", epoch)))
    with pytest.raises(
        TidegateError, match="TG-6014: sink out has epoch 2, and the checkpoint ends with 0"
    ):
        again(broker, topic, resumed(0, repeats=True, run=topic))


def test_who_is_killed_within_a_transaction_leaves_nothing(broker: Broker) -> None:
    topic = broker.topic()
    killed = again(broker, topic, resumed(-1, run=topic))
    killed._client.begin_transaction()
    killed._produce([(None, b"half")])
    killed._client.flush(30)
    again(broker, topic, resumed(-1, repeats=True, run=topic)).write(0, rows(("a", 0)))
    assert broker.values(topic) == [b'{"k":"a","n":0}']
    assert b"half" in broker.values(topic, committed=False)
    with pytest.raises(TidegateError, match="TG-6013"):
        killed.write(0, rows(("a", 1)))  # it is not the writer any more


def test_without_a_checkpoint_there_are_no_transactions(broker: Broker) -> None:
    topic = broker.topic()
    sink = again(broker, topic, resumed(-1, run=None))
    sink.write(0, rows(("a", 0)))
    assert broker.values(topic, committed=False) == [b'{"k":"a","n":0}']
    sink.close()


def test_a_row_that_is_too_large(broker: Broker) -> None:
    topic = broker.topic(config={"max.message.bytes": "2000"})
    here, there = (
        opened(broker, topic, StreamKind.APPEND, **{"properties.message.max.bytes": "1000"}),
        opened(broker, topic),
    )
    for sink, size in ((here, 1_500), (there, 3_000)):
        with pytest.raises(TidegateError, match="TG-6016: sink out cannot write a row of"):
            sink.write(0, rows(("x" * size, 1)))
    in_transactions = again(broker, topic, resumed(-1, run=topic))
    with pytest.raises(TidegateError, match="TG-6016"):
        in_transactions.write(0, rows(("x" * 3_000, 1)))


def test_no_such_topic(broker: Broker) -> None:
    with pytest.raises(TidegateError, match="TG-6011: there is no topic nowhere"):
        opened(broker, "nowhere")
