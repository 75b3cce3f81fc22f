"""An Apache Kafka of the tests' own: one broker (KRaft) on free ports of the loopback.

Its jars come once per machine by the Ivy that PySpark has among its jars, into the user's cache, and stay there. What
it stores is in a directory of the test run. `Broker` starts and kills it, so that tests can have it die.
"""

import fcntl
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

VERSION = "4.1.1"
_DONE = ".complete"
_JVM = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


class NotInstalled(Exception):
    """The text says why there is no broker here."""


def jars() -> Path:
    """The directory of the broker's jars, which are fetched if need be."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tidegate"
    place = cache / f"kafka-{VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "kafka.lock", "w") as lock:  # several workers, one download
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / _DONE).exists():
            _fetch(place, cache / "ivy")
    return place


def _fetch(place: Path, ivy_cache: Path) -> None:
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise NotInstalled("pyspark is not installed, whose Ivy fetches Kafka")
    (ivy,) = Path(found.origin).with_name("jars").glob("ivy-*.jar")
    shutil.rmtree(place, ignore_errors=True)
    command = [_java(), "-jar", str(ivy), "-cache", str(ivy_cache)]
    command += ["-dependency", "org.apache.kafka", "kafka_2.13", VERSION]
    command += ["-confs", "default", "-types", "jar", "bundle"]
    command += ["-retrieve", f"{place}/[artifact]-[revision].[ext]"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=480, check=False)
    except subprocess.TimeoutExpired:
        raise NotInstalled("Kafka's jars did not come within 8 minutes") from None
    if ran.returncode or not [*place.glob("kafka_2.13-*.jar")]:
        raise NotInstalled(f"Kafka's jars could not be fetched: {ran.stdout[-2000:]}")
    (place / _DONE).touch()


def _java() -> str:
    from tidegate.engines.spark.java import find_java

    return str(find_java().path)


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Broker:
    """Not running until `start`; what it stores outlives `kill`."""

    def __init__(self, place: Path) -> None:
        self._place, self._jars = place, jars()
        self._port, controller = free_ports(2)
        self.servers = f"127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None
        place.mkdir(parents=True, exist_ok=True)
        self._properties = place / "server.properties"
        self._properties.write_text(_properties(self._port, controller, place / "data"))
        self._run("kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c")

    def _command(self, *arguments: str) -> list[str]:
        return [_java(), *_JVM, "-cp", f"{self._jars}/*", *arguments, str(self._properties)]

    def _run(self, *arguments: str) -> None:
        subprocess.run(self._command(*arguments), check=True, capture_output=True)

    def start(self) -> None:
        with open(self._place / "broker.log", "ab") as log:
            self._process = subprocess.Popen(
                self._command("kafka.Kafka"), stdout=log, stderr=subprocess.STDOUT
            )
        self._wait()

    def _wait(self, seconds: float = 90) -> None:
        from confluent_kafka import KafkaException

        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            try:
                if self.admin().list_topics(timeout=1).brokers:
                    return
            except KafkaException:
                time.sleep(0.1)
        raise AssertionError((self._place / "broker.log").read_text()[-4000:])

    def kill(self) -> None:
        """At once, as power failing would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    # What tests do with it

    def admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def topic(self, *, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        """A new one."""
        from confluent_kafka.admin import NewTopic

        name = f"t{uuid.uuid4().hex[:10]}"
        new = NewTopic(name, partitions, 1, config=dict(config or {}))
        admin = self.admin()  # it is awaited by its own threads
        admin.create_topics([new])[name].result(30)
        return name

    def add_partitions(self, topic: str, total: int) -> None:
        from confluent_kafka.admin import NewPartitions

        admin = self.admin()
        admin.create_partitions([NewPartitions(topic, total)])[topic].result(30)

    def produce(
        self,
        topic: str,
        values: Sequence[bytes | str | None],
        *,
        partition: int = -1,
        keys: Sequence[bytes | str | None] | None = None,
        **more: Any,
    ) -> None:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 1, "log_level": 0})
        for value, key in zip(values, keys or [None] * len(values), strict=True):
            while True:
                try:
                    producer.produce(topic, value, key, partition=partition, **more)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(30) == 0

    def messages(self, topic: str, *, committed: bool = True) -> list[Any]:
        """All messages of a topic, by partition; those of open and aborted transactions only if asked for."""
        from confluent_kafka import Consumer, KafkaError, TopicPartition

        settings = {
            "bootstrap.servers": self.servers,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            "log_level": 0,
        }
        consumer = Consumer(settings)
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        found: list[Any] = []
        pending = set(partitions)
        until = time.monotonic() + 60
        while pending:
            assert time.monotonic() < until, "the topic could not be read to its end"
            for message in consumer.consume(1000, 0.2):
                if message.error() is None:
                    found.append(message)
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    pending.discard(message.partition())
        consumer.close()
        return sorted(found, key=lambda it: (it.partition(), it.offset()))

    def values(self, topic: str, *, committed: bool = True) -> list[bytes | None]:
        return [message.value() for message in self.messages(topic, committed=committed)]


def _cluster_id() -> str:
    import base64

    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "a")


def _properties(port: int, controller: int, data: Path) -> str:
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(data),
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "group.initial.rebalance.delay.ms": "0",
        "log.retention.check.interval.ms": "1000",
        "log.segment.delete.delay.ms": "100",
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


@contextmanager
def running(place: Path) -> Iterator[Broker]:
    """A broker, started and stopped."""
    broker = Broker(place)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()
