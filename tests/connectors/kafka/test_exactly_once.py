"""Kafka → windows → Kafka, killed at random moments: who reads committed messages sees each row once.

What a window holds is known beforehand: rows of a partition are in order, so none is late, however they are cut into
epochs. So the one right answer needs no undisturbed run to compare with.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.connectors.kafka.pipeline import CRASHED
from tests.services.kafka import Broker, NotInstalled, running

pytestmark = [pytest.mark.kafka]

ROOT = Path(__file__).parents[3]
ROWS, PARTITIONS, EVERY_MS, POISON = 3_000, 3, 20, 500


@dataclass(frozen=True)
class Setup:
    """Topics of one test; rows are in the first."""

    broker: Broker
    place: Path
    topics: list[str]

    def results(self) -> Counter[tuple[str, int, int, str]]:
        made = [json.loads(value or b"") for value in self.broker.values(self.topics[1])]
        return Counter((it["k"], it["s"], it["n"], it["window_start"]) for it in made)

    def poison(self) -> Counter[str]:
        made = [json.loads(value or b"") for value in self.broker.values(self.topics[2])]
        return Counter(it["original_event"]["raw"] for it in made)

    def arguments(self, engine: str) -> list[str]:
        return [str(self.place), self.broker.servers, *self.topics, engine]


def prepare(broker: Broker, place: Path, *, rows: int = ROWS) -> Setup:
    place.mkdir(parents=True, exist_ok=True)
    source, sink, side = (
        broker.topic(partitions=PARTITIONS),
        broker.topic(partitions=2),
        broker.topic(),
    )
    for partition in range(PARTITIONS):
        mine = [number for number in range(rows) if number % PARTITIONS == partition]
        broker.produce(source, [value(number) for number in mine], partition=partition)
    return Setup(broker, place, [source, sink, side])


def value(number: int) -> str:
    if number % POISON == 0:
        return f"poison {number}"
    return json.dumps({"k": "abcde"[number % 5], "v": number % 11, "ts": number * EVERY_MS})


def expected(rows: int = ROWS) -> Counter[tuple[str, int, int, str]]:
    """Each window once."""
    sums: Counter[tuple[str, int]] = Counter()
    counts: Counter[tuple[str, int]] = Counter()
    for number in range(rows):
        if number % POISON and number % 11 != 7:
            key = "abcde"[number % 5], number * EVERY_MS // 2_000
            sums[key] += number % 11
            counts[key] += 1
    return Counter(
        (k, sums[k, window], counts[k, window], f"1970-01-01T00:00:{2 * window:02}Z")
        for k, window in counts
    )


def check(setup: Setup) -> None:
    assert setup.results() == expected()
    assert setup.poison() == Counter(f"poison {number}" for number in range(0, ROWS, POISON))


def killed_once(setup: Setup, draw: random.Random, *, engine: str = "local") -> bool:
    """Whether the run was killed before it came to its end."""
    command = [sys.executable, "-m", "tests.connectors.kafka.pipeline", *setup.arguments(engine)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() in (b"running\n", b"")
        time.sleep(draw.expovariate(4))
        process.send_signal(signal.SIGKILL)
        code = process.wait()
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def finish(setup: Setup, *, engine: str = "local") -> None:
    if not (setup.place / "done").exists():
        command = [
            sys.executable,
            "-m",
            "tests.connectors.kafka.pipeline",
            *setup.arguments(engine),
        ]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)


@pytest.mark.parametrize("where", ["before", pytest.param("behind", marks=pytest.mark.slow)])
def test_a_crash_next_to_the_commit(broker: Broker, tmp_path: Path, where: str) -> None:
    """The transaction of an epoch is in, and the log does not know it, or has just heard of it."""
    setup = prepare(broker, tmp_path / "run")
    for number in (4, 1):
        command = [
            sys.executable,
            "-m",
            "tests.connectors.kafka.pipeline",
            *setup.arguments("local"),
        ]
        crash = {**os.environ, "CRASH": f"{number} {where}"}
        assert subprocess.run(command, cwd=ROOT, env=crash, check=False).returncode == CRASHED
    finish(setup)
    check(setup)


def test_three_kills(broker: Broker, tmp_path: Path) -> None:
    setup = prepare(broker, tmp_path / "run")
    draw = random.Random(3)
    for _ in range(3):
        killed_once(setup, draw)
    finish(setup)
    check(setup)


@pytest.mark.slow
def test_thirty_kills(broker: Broker, tmp_path: Path) -> None:
    draw = random.Random(4)
    done = attempt = 0
    while done < 30:
        attempt += 1
        setup = prepare(broker, tmp_path / str(attempt))
        while done < 30 and killed_once(setup, draw):
            done += 1
        finish(setup)
        check(setup)


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """One that may be killed."""
    try:
        with running(tmp_path / "kafka") as broker:
            yield broker
    except NotInstalled as problem:
        pytest.skip(f"NO KAFKA: {problem}")


@pytest.mark.parametrize("kills", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_the_broker_dies(own_broker: Broker, tmp_path: Path, kills: int) -> None:
    """The run waits, and goes on when the broker is back; what was in a transaction is written once."""
    draw = random.Random(kills)
    setup = prepare(own_broker, tmp_path / "run")
    command = [sys.executable, "-m", "tests.connectors.kafka.pipeline", *setup.arguments("local")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"running\n"
        try:
            for _ in range(kills):
                time.sleep(draw.uniform(0.05, 0.5))
                own_broker.kill()
                own_broker.start()
            assert process.wait(120) == 0
        finally:
            process.kill()
    check(setup)
