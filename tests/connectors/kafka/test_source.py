"""A topic read in ranges, from a real broker: where it starts and ends, and that a range stays the same."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.connectors.reading import Drained, drain, source_def, stored
from tests.services.kafka import Broker
from tidegate.connectors import open_source
from tidegate.connectors.kafka.source import KafkaSource
from tidegate.connectors.protocols import Offset
from tidegate.errors import TidegateError

pytestmark = pytest.mark.kafka


def lines(*numbers: int) -> list[bytes]:
    return [json.dumps({"n": number}).encode() for number in numbers]


@contextmanager
def source(
    broker: Broker, topic: str, columns: str = "n BIGINT", *, bounded: bool = True, **more: Any
) -> Iterator[KafkaSource]:
    given: dict[str, object] = {'"bootstrap.servers"': broker.servers, "topic": topic, **more}
    definition = source_def(columns, connector="kafka", **given)
    reader = open_source(definition, bounded=bounded)
    assert isinstance(reader, KafkaSource)
    try:
        yield reader
    finally:
        reader.close()


def all_of(reader: KafkaSource, after: Offset | None = None, *, max_rows: int = 1_000) -> Drained:
    """Everything up to the end of a bounded source."""
    deliveries, until = [], time.monotonic() + 60
    while not reader.ended(after):
        assert time.monotonic() < until
        at = reader.latest(after, max_rows=max_rows, now_us=0)
        if at is None:
            time.sleep(0.01)
            continue
        deliveries.append(reader.read(after, stored(at)))
        after = stored(at)
    return Drained(tuple(deliveries), after)


def numbers(drained: Drained) -> list[int]:
    return sorted(row["n"] for row in drained.rows)


def test_all_partitions_to_their_ends(broker: Broker) -> None:
    topic = broker.topic(partitions=3)
    broker.produce(topic, lines(*range(1_000)))
    with source(broker, topic) as reader:
        found = all_of(reader, max_rows=100)
    assert numbers(found) == [*range(1_000)]
    assert len(found.deliveries) >= 10
    assert all(size <= 100 for size in found.sizes)
    assert found.at is not None
    assert [*found.at["partitions"]] == ["0", "1", "2"]


def test_large_messages_make_small_ranges(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.connectors.kafka.source._MOST_BYTES", 1_000)
    monkeypatch.setattr("tidegate.connectors.kafka.fetching._AT_ONCE", 10)
    topic = broker.topic()
    broker.produce(topic, [json.dumps({"n": number, "pad": "x" * 90}) for number in range(100)])
    with source(broker, topic) as reader:
        found = all_of(reader)
    assert numbers(found) == [*range(100)]
    assert max(found.sizes) <= 20


def test_a_range_is_the_same_when_another_reader_reads_it(broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    broker.produce(topic, lines(*range(500)))
    cuts: list[tuple[Offset | None, Offset]] = []
    with source(broker, topic, "n BIGINT, o BIGINT METADATA FROM 'offset'") as reader:
        after: Offset | None = None
        first: list[Any] = []
        while not reader.ended(after):
            at = reader.latest(after, max_rows=70, now_us=0)
            if at is not None:
                cuts.append((after, stored(at)))
                first.append(reader.read(after, stored(at)).rows)
                after = stored(at)
    with source(broker, topic, "n BIGINT, o BIGINT METADATA FROM 'offset'") as reader:
        again = [reader.read(after, until).rows for after, until in reversed(cuts)]
    assert [it.to_pylist() for it in reversed(again)] == [it.to_pylist() for it in first]


def test_going_on_behind_an_offset(broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    broker.produce(topic, lines(1, 2, 3))
    with source(broker, topic) as reader:
        at = all_of(reader).at
    broker.produce(topic, lines(4, 5))
    with source(broker, topic) as reader:
        assert numbers(all_of(reader, at)) == [4, 5]


def test_the_newest_is_where_a_reader_of_news_begins(broker: Broker) -> None:
    topic = broker.topic()
    broker.produce(topic, lines(1, 2))
    with source(broker, topic, bounded=False, **{'"scan.startup.mode"': "latest-offset"}) as reader:
        assert reader.latest(None, max_rows=10, now_us=0) is None
        broker.produce(topic, lines(3))
        found = awaited(reader, None)
        assert found["partitions"] == {"0": [2, 3]}
        assert reader.read(None, found).rows.column("n").to_pylist() == [3]


def awaited(reader: KafkaSource, after: Offset | None, now_us: int = 0) -> Offset:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = reader.latest(after, max_rows=1_000, now_us=now_us)
        if found is not None:
            return stored(found)
        time.sleep(0.01)
    raise AssertionError("nothing came")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({'"scan.startup.mode"': "earliest-offset"}, [0, 1, 2, 3]),
        ({'"scan.startup.mode"': "timestamp", '"scan.startup.timestamp-millis"': 2_000}, [2, 3]),
        ({'"scan.startup.mode"': "timestamp", '"scan.startup.timestamp-millis"': 9_000}, []),
        (
            {
                '"scan.startup.mode"': "specific-offsets",
                '"scan.startup.specific-offsets"': "partition:0,offset:3",
            },
            [3],
        ),
        ({"startingOffsets": "latest"}, []),
        ({"startingOffsets": '{"t": {"0": 1}}'}, [1, 2, 3]),
        ({"startingOffsets": '{"t": {"0": -2}}'}, [0, 1, 2, 3]),
    ],
)
def test_where_to_start(broker: Broker, given: dict[str, Any], expected: list[int]) -> None:
    topic = broker.topic()
    for number in range(4):
        broker.produce(topic, lines(number), timestamp=1 + 1_000 * number)
    with source(broker, topic, **given) as reader:
        assert numbers(all_of(reader)) == expected


def test_rows_of_aborted_transactions_are_none(broker: Broker) -> None:
    from confluent_kafka import Producer

    topic = broker.topic()
    producer = Producer(
        {"bootstrap.servers": broker.servers, "transactional.id": topic, "log_level": 0}
    )
    producer.init_transactions(30)
    for number, good in ((1, True), (2, False), (3, True)):
        producer.begin_transaction()
        producer.produce(topic, lines(number)[0])
        producer.flush(30)
        producer.commit_transaction(30) if good else producer.abort_transaction(30)
    with source(broker, topic) as reader:
        found = all_of(reader)
        assert numbers(found) == [1, 3]
        assert found.at is not None
        assert found.at["partitions"]["0"][1] == 6  # each transaction ends with a mark
        assert reader.read(None, found.at).rows.num_rows <= 2
    producer.begin_transaction()
    producer.produce(topic, lines(4)[0])
    producer.flush(30)
    with source(broker, topic) as reader:
        assert numbers(all_of(reader)) == [1, 3]  # what is open may still be aborted
        reader.plan_for_others()
        assert reader.latest(found.at, max_rows=10, now_us=0) is None
    producer.abort_transaction(30)


def test_a_partition_that_is_added_is_read_from_its_beginning(broker: Broker) -> None:
    topic = broker.topic()
    broker.produce(topic, lines(1), partition=0)
    news: dict[str, Any] = {
        '"scan.topic-partition-discovery.interval"': "5s",
        '"scan.startup.mode"': "latest-offset",
    }
    with source(broker, topic, bounded=False, **news) as reader:
        assert reader.latest(None, max_rows=10, now_us=0) is None
        broker.produce(topic, lines(2), partition=0)
        at = awaited(reader, None)
        broker.add_partitions(topic, 2)
        broker.produce(topic, lines(3), partition=1)
        assert reader.latest(at, max_rows=10, now_us=4_000_000) is None
        found = awaited(reader, at, now_us=6_000_000)
        assert reader.read(at, found).rows.column("n").to_pylist() == [3]
        assert reader.partitions(found) == [0, 1]


def test_shares_of_a_plan_for_others(broker: Broker) -> None:
    topic = broker.topic(partitions=3)
    broker.produce(topic, lines(*range(10)), partition=0)
    broker.produce(topic, lines(*range(100)), partition=1)
    with source(broker, topic) as reader:
        reader.plan_for_others()
        at = reader.latest(None, max_rows=50, now_us=0)
        assert at is not None
        assert at["partitions"] == {"0": [0, 10], "1": [0, 40], "2": [0, 0]}
        found = drain(reader, max_rows=50)
        assert len(found.rows) == 110
        assert reader.ended(found.at)


def test_records_that_were_deleted_before_they_were_read(broker: Broker) -> None:
    from confluent_kafka import TopicPartition

    topic = broker.topic()
    broker.produce(topic, lines(1, 2, 3))
    with source(broker, topic) as reader:
        whole = all_of(reader).at
        assert whole is not None
    early = {"topic": topic, "partitions": {"0": [0, 1]}}
    place = TopicPartition(topic, 0, 2)
    admin = broker.admin()
    admin.delete_records([place])[place].result(30)
    with source(broker, topic) as reader:
        said = rf"TG-6012: records 0 to 2 of {topic} \[0\] are gone: the topic begins at 2"
        with pytest.raises(TidegateError, match=said):
            reader.read(None, whole)
        with pytest.raises(TidegateError, match=r"TG-6012: records 1 to 2 of"):
            all_of(reader, early)


def test_no_such_topic(broker: Broker) -> None:
    topic = broker.topic()
    with (
        pytest.raises(TidegateError, match=rf"TG-6011: there is no topic {topic}x at") as caught,
        source(broker, f"{topic}x"),
    ):
        pass
    assert caught.value.hint == f"did you mean {topic}?"
    assert caught.value.exit_code == 4


def test_a_topic_that_is_deleted(broker: Broker) -> None:
    topic = broker.topic()
    broker.produce(topic, lines(1))
    with source(broker, topic, bounded=False) as reader:
        at = awaited(reader, None)
        admin = broker.admin()
        admin.delete_topics([topic])[topic].result(30)
        with pytest.raises(TidegateError, match=f"TG-6011: there is no topic {topic}"):
            awaited(reader, at, now_us=60_000_000)  # when it looks for more partitions


def test_an_offset_of_something_else(broker: Broker) -> None:
    topic = broker.topic()
    with source(broker, topic) as reader:
        for foreign in ({"row": 3}, {"topic": "other", "partitions": {}}):
            with pytest.raises(TidegateError, match="TG-6008"):
                reader.latest(foreign, max_rows=1, now_us=0)
