"""Dead letters: payloads that side outputs have left in a directory or a topic; and rows put where they came from.

Decided here: a place is a path, or `kafka://brokers/topic`. A letter is what a line or a message holds; what is no
payload is passed over and counted. What is put back is the original row as it was, and of a record that was no row its
text, if all of it was kept.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidegate import errors
from tidegate.connectors.kafka.client import Cluster, Troubles, library, partitions_of
from tidegate.connectors.kafka.fetching import Feed, Topic, fetch
from tidegate.connectors.kafka.places import Span
from tidegate.connectors.records import MOST_CHARACTERS

_KAFKA = "kafka"
_TIMEOUT_US = 30_000_000
_AT_ONCE = 10_000
Letter = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which letters are meant; None is any."""

    kind: str | None = None
    reason: str | None = None
    stream: str | None = None

    def takes(self, letter: Letter) -> bool:
        wanted = {"kind": self.kind, "reason": self.reason, "stream": self.stream}
        return all(value in (None, letter.get(name)) for name, value in wanted.items())


def letters(place: str) -> Iterator[Letter]:
    """All of a place, in the order in which they were written."""
    for line in _lines(place):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and "kind" in found and "reason" in found:
            yield found


def _lines(place: str) -> Iterator[bytes]:
    if urlsplit(place).scheme == _KAFKA:
        yield from _messages(_topic(place))
        return
    path = Path(place)
    files = [path] if path.is_file() else sorted(path.glob("*.json"))
    if not files:
        raise errors.unreadable_path(path=place, problem="there are no files of JSON")
    for file in files:
        with open(file, "rb") as lines:
            yield from lines


def _topic(place: str) -> Topic:
    parts = urlsplit(place)
    name = parts.path.strip("/")
    if not parts.netloc or not name:
        raise errors.unreadable_path(path=place, problem="expected kafka://host:port/topic")
    cluster = Cluster(servers=parts.netloc, timeout_us=_TIMEOUT_US)
    return Topic(cluster=cluster, name=name, group="tidegate")


def _messages(topic: Topic) -> Iterator[bytes]:
    feed = Feed(topic)
    try:
        numbers = partitions_of(topic.cluster, feed.client, feed.troubles, topic.name)
        edges = {number: feed.edges(number) for number in numbers}
    finally:
        feed.close()
    for number, (first, last) in edges.items():
        for start in range(first, last, _AT_ONCE):
            span = Span(start=start, stop=min(start + _AT_ONCE, last))
            for message in fetch(topic, {number: span}):
                yield message.value() or b""


# Back to where they came from


def original(letter: Letter) -> str | None:
    """The row as it was; None where it is not known any more."""
    event = letter.get("original_event")
    if event is None:
        return None
    raw = event.get("raw") if letter["reason"] == "malformed_record" else None
    if raw is None:
        return json.dumps(event, ensure_ascii=False)
    return str(raw) if len(raw) < MOST_CHARACTERS else None


def put(place: str, rows: Sequence[str]) -> str:
    """Adds rows to a directory, as a new file, or to a topic; says where they are."""
    if urlsplit(place).scheme == _KAFKA:
        _produce(_topic(place), rows)
        return place
    directory = Path(place)
    name = f"replayed-{time.time_ns() // 1_000}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        hidden = directory / f".{name}.tmp"
        hidden.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        hidden.rename(directory / name)
    except OSError as problem:
        raise errors.unwritable_path(path=place, problem=problem.strerror) from None
    return str(directory / name)


def _produce(topic: Topic, rows: Sequence[str]) -> None:
    troubles = Troubles(topic.cluster)
    own = topic.cluster.configuration(enable_idempotence=True)
    client = library().Producer({**own, "error_cb": troubles.hear})
    partitions_of(topic.cluster, client, troubles, topic.name)
    for row in rows:
        while True:
            try:
                client.produce(topic.name, row.encode())
                break
            except BufferError:
                client.poll(0.1)
    if client.flush(_TIMEOUT_US / 1e6):
        raise topic.cluster.unreachable("messages were not acknowledged")
