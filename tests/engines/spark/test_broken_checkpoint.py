"""Checkpoints that cannot be trusted, with state on executors: what is wrong is named, wherever it was found.

Once it is put right, the run goes on as if nothing had been.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.engines.spark.test_files import drain
from tests.engines.spark.test_shards import Seen, log_in, run, start, told, write_rows
from tidegate.engines.spark.shards import PlacedOperator
from tidegate.errors import StateRefused, TidegateError

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

Harm = Callable[[bytes], bytes]
HARMS: list[tuple[str, Harm]] = [
    ("TG-5006", lambda content: content[: len(content) // 2]),
    ("TG-5007", lambda content: content[:-1] + bytes([content[-1] ^ 1])),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("rows") / "in", rows=600, keys=50)


@pytest.mark.parametrize(("code", "harm"), HARMS)
def test_an_entry_of_a_shard(
    code: str, harm: Harm, place: Path, tmp_path: Path, spark: SparkSession
) -> None:
    """It is read by the driver, when the run is taken up again."""
    made, seen, state = told(place, state="executors"), Seen.nothing(), tmp_path / "state"
    engine = start(made, seen, log_in(state))
    engine.poll()
    engine.close()
    entry = max(state.glob("shard=*/epoch=*.arrow"))
    content = entry.read_bytes()
    entry.write_bytes(harm(content))
    log = log_in(state)
    with pytest.raises(TidegateError) as refused:
        start(made, seen, log)
    log.close()
    assert refused.value.code == code
    assert entry.name in refused.value.message
    entry.write_bytes(content)
    engine = start(made, seen, log_in(state))
    drain(engine)
    assert (seen, engine.totals.facts()) == run(told(place), local=True)
    engine.close()


@pytest.mark.parametrize(("code", "harm"), HARMS)
def test_what_a_shard_begins_with(
    code: str,
    harm: Harm,
    place: Path,
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is read by a task, whose refusal is the driver's, under its own name."""
    state, tasks = tmp_path / "state", PlacedOperator._tasks
    harmed: list[Path] = []

    def harming(self: PlacedOperator, *args: Any) -> Any:
        for seed in () if harmed else state.glob("shard=*/.seed.*"):
            seed.write_bytes(harm(seed.read_bytes()))
            harmed.append(seed)
        return tasks(self, *args)

    made, seen = told(place, state="auto", driver_state=1), Seen.nothing()
    engine = start(made, seen, log_in(state))
    engine.poll()
    monkeypatch.setattr(PlacedOperator, "_tasks", harming)
    with pytest.raises(StateRefused) as refused:
        drain(engine)
    assert refused.value.code == code
    assert any(seed.name in refused.value.message for seed in harmed)
    engine.close()
    engine = start(made, seen, log_in(state))
    drain(engine)
    assert (seen, engine.totals.facts()) == run(told(place), local=True)
    engine.close()


def test_two_queries_on_one_checkpoint(place: Path, tmp_path: Path, spark: SparkSession) -> None:
    made, seen = told(place, state="executors"), Seen.nothing()
    engine = start(made, seen, log_in(tmp_path / "state"))
    engine.poll()
    with pytest.raises(TidegateError) as refused:
        start(made, Seen.nothing(), log_in(tmp_path / "state"))
    assert refused.value.code == "TG-5004"
    drain(engine)
    assert (seen, engine.totals.facts()) == run(told(place), local=True)
    engine.close()
