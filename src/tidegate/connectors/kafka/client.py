"""Kafka's client library: how it is configured, and what its failures are called here.

Decided here: what the user passes on (`properties.…` or `kafka.…`) goes to the library as it is, except for what an
exactly-once run depends on, which is ours. The library never gives up by itself; so it is we who say how long brokers
may stay away (`connection.timeout`), and a log line says so as soon as they do.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tidegate import errors
from tidegate.connectors.secrets import resolved
from tidegate.connectors.settings import Settings

_LOG = logging.getLogger("tidegate.kafka")
_PREFIXES = ("properties.", "kafka.")
_TRY_S = 10.0
_PAUSE_S = 0.1
_JAVA_ONLY = ("key.deserializer", "value.deserializer", "key.serializer", "value.serializer")
_PASSING = (
    *("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_TIMED_OUT_QUEUE", "_RESOLVE"),
    *("_WAIT_COORD", "_WAIT_CACHE", "LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION"),
    *("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"),
    *("REQUEST_TIMED_OUT", "BROKER_NOT_AVAILABLE", "NETWORK_EXCEPTION", "UNSTABLE_OFFSET_COMMIT"),
)
T = TypeVar("T")


def library() -> Any:
    """confluent_kafka, which is an extra."""
    try:
        import confluent_kafka
    except ImportError:
        raise errors.missing_library(name="confluent-kafka", extra="kafka") from None
    return confluent_kafka


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Brokers, and how to talk to them. Plain data, so that executors can have it; values may be secret."""

    servers: str
    timeout_us: int
    passed: Mapping[str, str] = field(default_factory=dict, repr=False)

    def configuration(self, **own: object) -> dict[str, object]:
        """What a client is made with: our own settings win."""
        passed = {
            name: resolved(name, value)
            for name, value in self.passed.items()
            if name not in _JAVA_ONLY
        }
        return {
            "reconnect.backoff.max.ms": 1_000,
            "log_level": 0,  # what it has to say, `Troubles` hears
            **passed,
            "bootstrap.servers": resolved("bootstrap.servers", self.servers),
            **{name.replace("_", "."): value for name, value in own.items()},
        }

    def unreachable(self, problem: object) -> errors.TidegateError:
        return errors.unreachable(connector="kafka", place=self.servers, problem=problem)

    def refused(self, problem: object) -> errors.TidegateError:
        return errors.edge_refused(connector="kafka", place=self.servers, problem=problem)


def cluster_of(settings: Settings) -> Cluster:
    passed = {
        name.removeprefix(prefix): str(value)
        for name, value in settings.options.items()
        for prefix in _PREFIXES
        if name.startswith(prefix)
    }
    return Cluster(
        servers=str(settings.get("bootstrap.servers")),
        timeout_us=settings.number("connection.timeout") or 0,
        passed=passed,
    )


class Troubles:
    """What the library says beside the answers to our calls; given to it as `error_cb`.

    Brokers that are gone are waited for, up to a limit; what will not get better by waiting is raised by `check`.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._down_since: float | None = None
        self._failure: errors.TidegateError | None = None

    def hear(self, error: Any) -> None:
        """Called by the library, in one of our calls."""
        kinds = library().KafkaError
        code = error.code()
        if code == kinds._ALL_BROKERS_DOWN and self._down_since is None:
            self._down_since = time.monotonic()
            _LOG.warning("kafka at %s is down; waiting for it", self._cluster.servers)
        elif code in (kinds._AUTHENTICATION, kinds._SSL) or error.fatal():
            self._failure = self._cluster.refused(error.str())

    def fail(self, failure: errors.TidegateError) -> None:
        """What our own callbacks have found."""
        self._failure = self._failure or failure

    def answered(self) -> None:
        """A broker has said something."""
        if self._down_since is not None:
            _LOG.warning("kafka at %s is back", self._cluster.servers)
        self._down_since = None

    @property
    def is_down(self) -> bool:
        return self._down_since is not None

    def check(self) -> None:
        """Raises what cannot be waited for, or has been waited for long enough."""
        if self._failure is not None:
            raise self._failure
        if self._down_since is not None:
            waited_s = time.monotonic() - self._down_since
            if waited_s * 1e6 > self._cluster.timeout_us:
                raise self._cluster.unreachable(f"no broker has answered for {waited_s:.0f} s")


def asked(cluster: Cluster, troubles: Troubles, question: Callable[[float], T]) -> T:
    """The answer to a question; asked again while brokers stay away. `question` is given how long it may take, in s."""
    kafka = library()
    until = time.monotonic() + cluster.timeout_us / 1e6
    while True:
        try:
            answer = question(min(_TRY_S, max(0.1, until - time.monotonic())))
        except kafka.KafkaException as failure:
            error = failure.args[0]
            troubles.check()
            if error.txn_requires_abort():
                raise
            if not (error.retriable() or error.code() in _passing(kafka.KafkaError)):
                raise cluster.refused(error.str()) from None
            if time.monotonic() >= until:
                raise cluster.unreachable(error.str()) from None
            time.sleep(0.05)
        else:
            troubles.answered()
            return answer


def _passing(kinds: Any) -> tuple[int, ...]:
    """Failures that say nothing but that nobody answers yet, as while brokers start or hand partitions over."""
    return tuple(getattr(kinds, name) for name in _PASSING)


def partitions_of(
    cluster: Cluster, client: Any, troubles: Troubles, topic: str, *, patience_s: float = 1.0
) -> list[int]:
    """The partitions of a topic; refused if there is no such topic.

    Brokers that have just started may know of it a moment later.
    """
    kinds = library().KafkaError
    until = time.monotonic() + patience_s
    while True:
        every = asked(cluster, troubles, lambda s: client.list_topics(topic, timeout=s))
        found = every.topics[topic]
        if found.error is None and found.partitions:
            return sorted(found.partitions)
        if time.monotonic() > until:
            break
        time.sleep(_PAUSE_S)
    if found.error is not None and found.error.code() == kinds.TOPIC_AUTHORIZATION_FAILED:
        raise cluster.refused(found.error.str())
    every = asked(cluster, troubles, lambda s: client.list_topics(timeout=s)).topics
    others = [name for name in every if not name.startswith("__")]
    instead = f"kafka-topics.sh --create --topic {topic} --bootstrap-server {cluster.servers}"
    hint = errors.nearest(topic, others)
    raise errors.no_topic(topic=topic, place=cluster.servers, instead=instead, hint=hint)
