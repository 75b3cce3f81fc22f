"""A topic as a sink.

In: the rows of an epoch. Out: messages of one transaction, which ends with a note of the epoch's number; readers that
read committed messages only see all of it or nothing.

Decided here: the note is a committed offset of a group that has the transaction's name: the broker makes it part of
the transaction, and gives it back after a crash. So an epoch that comes again, because the run was killed after the
transaction and before its own log, is passed over. The name holds that of the checkpoint: a run that begins anew is
another writer, and one that goes on fences whoever still writes under it. Brokers forget a group's offsets some time
after it was last written to (`offsets.retention.minutes`, a week); only a run that was killed in that moment and goes
on later than that would write its last epoch twice.

Without a checkpoint there is no epoch to come back to: messages are written at least once, and acknowledged when
`write` returns. Rows that replace others go by their key: a row that is gone leaves a message without value behind.
"""

import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.kafka.client import (
    Cluster,
    Troubles,
    asked,
    cluster_of,
    library,
    partitions_of,
)
from tidegate.connectors.kafka.messages import Encoding, encoding_of
from tidegate.connectors.protocols import Resumed
from tidegate.connectors.settings import Settings
from tidegate.model.policies import StreamKind
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SinkDef

_FOR_S = 1.0


class KafkaSink:
    """Writes epochs to one topic. Nothing is written before `resume` has said whose they are."""

    def __init__(
        self, name: str, topic: str, cluster: Cluster, encoding: Encoding, *, prefix: str | None
    ) -> None:
        self._name, self._topic, self._cluster = name, topic, cluster
        self._encoding, self._prefix = encoding, prefix
        self._troubles = Troubles(cluster)
        self._client = self._connected(None)
        self._transaction: str | None = None
        self._group: Any = None
        self._has = -1
        partitions_of(cluster, self._client, self._troubles, topic)

    def _connected(self, transaction: str | None) -> Any:
        own: dict[str, object] = {"enable_idempotence": True}
        if transaction is not None:
            own["transactional_id"] = transaction
        # a transaction that follows another one at once has to be tried again, after this time
        configuration = {
            "linger.ms": 5,
            "retry.backoff.ms": 5,
            **self._cluster.configuration(**own),
        }
        return library().Producer({**configuration, "error_cb": self._troubles.hear})

    def resume(self, resumed: Resumed) -> None:
        if self._prefix is None or resumed.run is None:
            return
        self._transaction = f"{self._prefix}-{resumed.run}-{self._name}"
        self._client = self._connected(self._transaction)
        self._asked(self._client.init_transactions)
        found = self._noted()
        if found > resumed.epoch + 1:
            raise errors.sink_is_ahead(name=self._name, found=found, known=resumed.epoch)
        self._has = found if resumed.repeats else min(found, resumed.epoch)

    def _noted(self) -> int:
        """The last epoch that the topic has, -1 before the first."""
        configuration = self._cluster.configuration(group_id=self._transaction)
        reader = library().Consumer({**configuration, "error_cb": self._troubles.hear})
        self._group = reader.consumer_group_metadata()
        try:
            places = [self._note(-1)]
            (found,) = self._asked(lambda s: reader.committed(places, timeout=s))
        finally:
            reader.close()
        return int(found.offset) - 1 if found.offset > 0 else -1

    def _note(self, epoch: int) -> Any:
        """Its offset is the number of epochs that are in."""
        return library().TopicPartition(self._topic, 0, epoch + 1)

    # An epoch

    def write(self, epoch: int, rows: pa.Table) -> None:
        if not rows.num_rows or (self._transaction is not None and epoch <= self._has):
            return
        messages = self._encoding.messages(rows)
        if self._transaction is None:
            self._produce(messages)
            self._flush()
            return
        while not self._try(epoch, messages):
            self._troubles.check()
        self._has = epoch

    def _try(self, epoch: int, messages: Sequence[tuple[bytes | None, bytes | None]]) -> bool:
        """One transaction; False if it has to be begun anew."""
        kafka = library()
        client = self._client
        try:
            client.begin_transaction()
            self._produce(messages)
            self._asked(
                lambda s: client.send_offsets_to_transaction([self._note(epoch)], self._group, s)
            )
            self._asked(client.commit_transaction)
            return True
        except kafka.KafkaException as failure:
            error = failure.args[0]
            if not error.txn_requires_abort():
                raise self._cluster.refused(error.str()) from None
            self._asked(client.abort_transaction)
            return False

    def _asked(self, question: Any) -> Any:
        """Asks until brokers answer; what a transaction can be aborted for is left to who began it."""
        return asked(self._cluster, self._troubles, question)

    def _produce(self, messages: Sequence[tuple[bytes | None, bytes | None]]) -> None:
        kafka = library()
        for key, value in messages:
            while True:
                try:
                    self._client.produce(self._topic, value, key, on_delivery=self._delivered)
                    break
                except BufferError:
                    self._client.poll(_FOR_S)
                    self._troubles.check()
                except kafka.KafkaException as failure:
                    raise self._refused(failure.args[0], value) from None
        self._client.poll(0)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._troubles.fail(self._refused(error, message.value()))

    def _refused(self, error: Any, value: bytes | None) -> errors.TidegateError:
        if error.code() == library().KafkaError.MSG_SIZE_TOO_LARGE:
            what = f"a row of {len(value or b''):,} bytes to topic {self._topic}: {error.str()}"
            instead = "raise properties.message.max.bytes here, and max.message.bytes of the topic"
            return errors.bad_sink_row(name=self._name, what=what, instead=instead)
        return self._cluster.refused(error.str())

    def _flush(self) -> None:
        """Everything is acknowledged when this returns."""
        until = time.monotonic() + self._cluster.timeout_us / 1e6
        while self._client.flush(_FOR_S):
            self._troubles.check()
            if time.monotonic() > until:
                raise self._cluster.unreachable("messages were not acknowledged")
        self._troubles.check()

    def close(self) -> None:
        """Every epoch is durable already. The client is freed here, not by the garbage collector: it has threads."""
        self._client = self._group = None


def open_kafka_sink(definition: SinkDef, schema: Schema, kind: StreamKind) -> KafkaSink:
    """The sink; refused if its topic is not there, or its rows have no key and need one."""
    settings = Settings("kafka", definition.options)
    transactional = settings.text("sink.delivery-guarantee") == "exactly-once"
    encoding = encoding_of(settings, schema, kind, sink=definition.name)
    return KafkaSink(
        definition.name,
        str(settings.get("topic")),
        cluster_of(settings),
        encoding,
        prefix=settings.text("sink.transactional-id-prefix") if transactional else None,
    )
