"""Topics on Spark: executors fetch what the driver has planned; either engine goes on where the other has stopped."""

import json
from pathlib import Path

import pytest

from tests.connectors.kafka.pipeline import run
from tests.connectors.kafka.test_exactly_once import check, prepare
from tests.services.kafka import Broker
from tidegate.errors import TidegateError

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


def test_from_topics_to_topics_on_either_engine(broker: Broker, tmp_path: Path) -> None:
    setup = prepare(broker, tmp_path / "run")
    for upto, engine in enumerate(["spark", "local", "spark"]):
        run(setup.place, broker.servers, setup.topics, engine, upto=4 * upto + 3)
    run(setup.place, broker.servers, setup.topics, "spark")
    check(setup)
    facts = json.loads(max((setup.place / "checkpoint").glob("manifest=*")).read_text())
    assert "partitions" in json.dumps(facts)


def test_what_an_executor_refuses(broker: Broker, tmp_path: Path) -> None:
    """The records of an epoch that was begun are gone when it is repeated."""
    from confluent_kafka import TopicPartition

    setup = prepare(broker, tmp_path / "run")
    run(setup.place, broker.servers, setup.topics, "spark", upto=1)
    source = setup.topics[0]
    places = [TopicPartition(source, partition, 800) for partition in range(3)]
    admin = broker.admin()
    for done in admin.delete_records(places).values():
        done.result(30)
    with pytest.raises(TidegateError, match=rf"TG-6012: records \d+ to \d+ of {source}") as caught:
        run(setup.place, broker.servers, setup.topics, "spark")
    assert caught.value.exit_code == 4
