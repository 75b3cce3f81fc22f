"""What all tests share: how hard hypothesis tries, and one Spark for those that need it."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.services.kafka import Broker
    from tests.services.postgres import Server

# Commands run in process unless a test says otherwise: Spark takes seconds to start.
os.environ["TIDEGATE_ENGINE"] = "local"

# No deadlines: two noisy cores make any of them fail some day. `ci` draws the same examples every time, `quick` too.
settings.register_profile("quick", max_examples=15, deadline=None, derandomize=True, database=None)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, database=None)
settings.register_profile(
    "nightly",
    max_examples=5_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All Spark tests to one worker, so that a run starts one JVM, and none if no Spark test is selected.

    Every one of them has the session of `spark`, also if it does not ask for it: whoever comes first starts it.
    """
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
            if isinstance(item, pytest.Function) and "spark" not in item.fixturenames:
                item.fixturenames.insert(0, "spark")
        elif item.get_closest_marker("kafka"):
            item.add_marker(pytest.mark.xdist_group("kafka"))
        elif item.get_closest_marker("postgres"):
            item.add_marker(pytest.mark.xdist_group("postgres"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    from tidegate.engines.spark.session import session

    warehouse = tmp_path_factory.mktemp("warehouse")
    spark = session("local[2]", conf={"spark.sql.warehouse.dir": warehouse.as_uri()})
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Broker]":
    """An Apache Kafka that all tests of a worker share: each makes topics of its own, and leaves it running."""
    from tests.services import kafka

    place = tmp_path_factory.mktemp("kafka")
    try:
        kafka.jars()
    except kafka.NotInstalled as problem:
        pytest.skip(f"NO KAFKA, so nothing of it is tested: {problem}")
    with kafka.running(place) as broker:
        yield broker


@pytest.fixture(scope="session")
def postgres() -> "Iterator[Server]":
    """A PostgreSQL that all tests of a worker share: each makes tables of its own, and leaves it running."""
    from tests.services.kafka import NotInstalled
    from tests.services.postgres import running

    try:
        with running() as server:
            yield server
    except NotInstalled as problem:
        pytest.skip(f"NO POSTGRESQL, so nothing of it is tested: {problem}")
