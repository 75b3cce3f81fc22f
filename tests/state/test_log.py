"""What an engine may rely on, wherever the log is."""

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from math import nan
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pytest

from tests.state.places import PLACES
from tests.state.story import (
    IDENTITY,
    Run,
    added,
    check_recovered,
    intended,
    left_at,
    recovered_rows,
    rows,
    state_after,
)
from tidegate.state import (
    Identity,
    Log,
    MemoryLog,
    PartialLog,
    ShardFiles,
    growth,
    layout,
    open_log,
)
from tidegate.state.contents import scan
from tidegate.state.growth import EPOCH_BYTES, LEAST_BYTES
from tidegate.state.local import LocalStore
from tidegate.state.store import Store

Reopen = Callable[[], Log]


@pytest.fixture(params=[*PLACES, "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    """A log, not yet recovered; the next call closes it and opens it again."""
    if request.param == "memory":
        memory = MemoryLog(IDENTITY)
        return lambda: memory
    store = PLACES[request.param](tmp_path)
    opened: list[Log] = []

    def again() -> Log:
        for log in opened:
            log.close()
        opened[:] = [open_log(store, identity=IDENTITY)]
        return opened[0]

    return again


@pytest.fixture(params=PLACES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return PLACES[request.param](tmp_path)


def recovered(log: Log) -> Log:
    log.recover()
    return log


# Epochs


def test_a_new_log_has_nothing(reopen: Reopen) -> None:
    assert reopen().recover() is None
    assert reopen().recover() is None
    assert reopen().identity == IDENTITY


@pytest.mark.parametrize("last", [0, 1, 5])
def test_what_was_committed_is_recovered(reopen: Reopen, last: int) -> None:
    Run().to(last, recovered(reopen()))
    check_recovered(reopen().recover(), last)
    check_recovered(reopen().recover(), last)


@pytest.mark.parametrize("last", [-1, 0, 3])
def test_an_intent_without_its_epoch_is_recovered(reopen: Reopen, last: int) -> None:
    log = recovered(reopen())
    Run(frozenset({2})).to(last, log)
    log.intend(last + 1, {"first": "thoughts"})
    log.intend(last + 1, intended(last + 1))
    log.write(last + 1, 0, added(last + 1, 0))
    check_recovered(reopen().recover(), last, intent=True)
    log = reopen()
    check_recovered(log.recover(), last, intent=True)
    Run().to(last + 2, log, first=last + 1)
    check_recovered(reopen().recover(), last + 2)


def test_an_epoch_may_be_committed_without_an_intent_and_without_entries(reopen: Reopen) -> None:
    log = recovered(reopen())
    log.commit(0, {"n": 0}, [])
    log.commit(1, {"n": 1}, [log.write(1, 0, {})])
    found = reopen().recover()
    assert found is not None
    assert [(delta.epoch, delta.facts, list(delta.shards)) for delta in found.deltas()] == [
        (0, {"n": 0}, []),
        (1, {"n": 1}, [{}]),
    ]
    assert found.intent is None


def test_shards_keep_their_numbers(reopen: Reopen) -> None:
    log = recovered(reopen())
    log.commit(0, {}, [log.write(0, shard, added(0, shard)) for shard in (3, 1)])
    log.commit(1, {}, [log.write(1, 0, added(1, 0))])
    found = reopen().recover()
    assert found is not None
    first, second = found.deltas()
    assert [rows([parts]) for parts in first.shards] == [
        [],
        rows([added(0, 1)]),
        [],
        rows([added(0, 3)]),
    ]
    assert len(second.shards) == 1


def test_writing_a_shard_again_replaces_it(reopen: Reopen) -> None:
    log = recovered(reopen())
    log.write(0, 0, added(7, 0))
    log.commit(0, {}, [log.write(0, 0, added(0, 1))])
    found = reopen().recover()
    assert found is not None
    assert recovered_rows(found) == rows([added(0, 1)])


def test_an_entry_says_what_is_in_it(reopen: Reopen) -> None:
    entry = recovered(reopen()).write(0, 1, state_after(4)[0])
    assert entry.file == "shard=01/epoch=000000000000.arrow"
    assert entry.shard == 1
    assert [(part.name, part.rows) for part in entry.parts] == [("sums", 5), ("late", 3)]
    assert sum(part.bytes for part in entry.parts) == entry.bytes > 0


def test_facts_come_back_exactly(reopen: Reopen) -> None:
    facts = {
        "offset": 2**63 + 1,
        "far": 10**40,
        "before": -(2**62),
        "share": 0.1 + 0.2,
        "name": "naïve \ud800 \x00",
        "none": None,
        "nested": [{"a": [True, False, 1, 1.0]}],
    }
    log = recovered(reopen())
    log.intend(0, facts)
    log.commit(0, facts, [])
    log.intend(1, facts)
    log.snapshot(0, facts, shards=[])
    found = reopen().recover()
    assert found is not None
    assert found.snapshot is not None
    for read in (found.facts, found.intent, found.snapshot.facts):
        assert read == facts
        assert json.dumps(read) == json.dumps(facts)


def test_facts_are_those_at_the_time_of_the_call(reopen: Reopen) -> None:
    log = recovered(reopen())
    facts = {"offsets": {"trades": 1}}
    log.commit(0, facts, [])
    facts["offsets"]["trades"] = 2
    found = reopen().recover()
    assert found is not None
    assert found.facts == {"offsets": {"trades": 1}}


def test_facts_that_are_no_json_are_a_mistake_of_the_caller(reopen: Reopen) -> None:
    with pytest.raises(ValueError, match="JSON"):
        recovered(reopen()).intend(0, {"share": nan})
    with pytest.raises(TypeError):
        recovered(reopen()).intend(0, {"plan": object()})


@pytest.mark.parametrize("epoch", [-1, 1, 2])
def test_epochs_have_no_gap(reopen: Reopen, epoch: int) -> None:
    with pytest.raises(AssertionError):
        recovered(reopen()).intend(epoch, {})
    with pytest.raises(AssertionError):
        recovered(reopen()).commit(epoch, {}, [])


# Tables


def test_tables_come_back_as_they_were(reopen: Reopen) -> None:
    tables = {
        "empty": pa.table({"k": pa.array([], pa.string())}),
        "no columns": pa.table({}),
        "chunks": pa.table({"k": pa.chunked_array([[1], [], [2, None]])}),
        "words ⏱": pa.table({"word": pa.array(["a", "b", "a"]).dictionary_encode()}),
        "nested": pa.table({"l": [[{"x": 1}], None], "d": pa.array([1, 2], pa.decimal128(38, 3))}),
        "noted": pa.table(
            pa.table({"k": [1]}, schema=pa.schema([pa.field("k", pa.int8(), nullable=False)]))
        ).replace_schema_metadata({"by": "us"}),
        "slice": pa.table({"k": list(range(1000))}).slice(990),
    }
    log = recovered(reopen())
    log.commit(0, {}, [log.write(0, 0, tables)])
    found = reopen().recover()
    assert found is not None
    [delta] = found.deltas()
    [parts] = delta.shards
    assert list(parts) == list(tables)
    for name, table in tables.items():
        parts[name].validate(full=True)
        assert parts[name].equals(table, check_metadata=True), name


# Snapshots


def test_a_snapshot_replaces_what_came_before(reopen: Reopen) -> None:
    Run(frozenset({2})).to(4, recovered(reopen()))
    log = reopen()
    found = log.recover()
    check_recovered(found, 4)
    assert found is not None
    assert found.snapshot is not None
    assert found.snapshot.epoch == 2
    Run(frozenset({5, 6})).to(6, log, first=5)
    check_recovered(reopen().recover(), 6)
    check_recovered(reopen().recover(), 6)


def test_a_snapshot_of_the_same_epoch_is_there_already(reopen: Reopen) -> None:
    Run(frozenset({1})).to(1, recovered(reopen()))
    log = recovered(reopen())
    log.snapshot(1, {"of": "another"}, shards=[])
    check_recovered(reopen().recover(), 1)


def test_a_snapshot_is_of_the_last_epoch(reopen: Reopen) -> None:
    log = recovered(reopen())
    Run().to(1, log)
    with pytest.raises(AssertionError):
        log.snapshot(0, {}, shards=[])


def test_a_snapshot_is_wanted_when_deltas_outweigh_the_last(
    reopen: Reopen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many small epochs, then one large one; after the snapshot it takes as much as it has."""
    epochs = 8
    least = epochs * EPOCH_BYTES
    monkeypatch.setattr(growth, "LEAST_BYTES", least)
    log = recovered(reopen())
    for epoch in range(epochs - 1):
        log.commit(epoch, {}, [])
        assert not log.wants_snapshot()
    large = {"large": pa.table({"k": pa.array(range(least // 8), pa.int64())})}
    entry = log.write(epochs - 1, 0, large)
    log.commit(epochs - 1, {}, [entry])
    assert log.wants_snapshot()
    log.snapshot(epochs - 1, {}, shards=[large, large])
    assert not log.wants_snapshot()
    log.commit(epochs, {}, [log.write(epochs, 0, large)])
    assert not log.wants_snapshot()
    log.commit(epochs + 1, {}, [log.write(epochs + 1, 0, large)])
    assert log.wants_snapshot()


def test_growth_is_remembered_over_a_restart(store: Store) -> None:
    log = open_log(store, identity=IDENTITY)
    log.recover()
    for epoch in range(LEAST_BYTES // EPOCH_BYTES):
        log.commit(epoch, {}, [])
    log.close()
    log = open_log(store, identity=IDENTITY)
    log.recover()
    assert not log.wants_snapshot()
    log.commit(LEAST_BYTES // EPOCH_BYTES, {}, [])
    assert log.wants_snapshot()


def names(store: Store) -> list[str]:
    return [*store.list(""), *(name for shard in (0, 1) for name in store.list(f"shard=0{shard}"))]


def test_superfluous_files_go_with_the_next_epochs(store: Store) -> None:
    log = open_log(store, identity=IDENTITY)
    log.recover()
    Run(frozenset({4})).to(4, log)
    before = len(names(store))
    Run().to(9, log, first=5)
    assert len(names(store)) < before + 5 * 4
    log.close()
    contents = scan(store)
    assert contents.manifests == tuple(range(4, 10))
    assert contents.deltas == tuple((epoch, shard) for epoch in range(5, 10) for shard in (0, 1))
    assert contents.snapshots == ((4, 0), (4, 1))
    assert contents.intents == tuple(range(5, 10))
    assert contents.unfinished == contents.foreign == ()


def test_many_snapshots_leave_no_more_than_one(store: Store) -> None:
    log = open_log(store, identity=IDENTITY)
    log.recover()
    Run(frozenset(range(30))).to(29, log)
    assert len(scan(store).manifests) < 5
    log.close()
    assert scan(store).manifests == (29,)


# Other processes


@pytest.mark.thorough
def test_shards_are_written_and_read_in_other_processes(tmp_path: Path) -> None:
    log = open_log(tmp_path / "checkpoint", identity=IDENTITY)
    log.recover()
    shards = pickle.loads(pickle.dumps(log.shards))
    assert shards == log.shards
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        write = [pool.submit(shards.write, 0, shard, added(0, shard)) for shard in (0, 1)]
        log.commit(0, left_at(0), [done.result() for done in write])
        entries = [
            pool.submit(shards.write_snapshot, 0, shard, parts).result()
            for shard, parts in enumerate(state_after(0))
        ]
        log.adopt_snapshot(0, {"of": 0}, entries)
        read = [pool.submit(shards.read, entry).result() for entry in entries]
    assert rows(read) == rows(state_after(0))
    log.close()
    log = open_log(tmp_path / "checkpoint", identity=IDENTITY)
    check_recovered(log.recover(), 0)
    log.close()


def test_a_store_finds_its_place_from_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = open_log("checkpoint", identity=IDENTITY)
    log.recover()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    Run().to(1, log)
    log.close()
    assert list(elsewhere.iterdir()) == []
    assert isinstance(log.shards, ShardFiles)
    store = log.shards.store
    assert isinstance(store, LocalStore)
    assert store.place == "checkpoint"


# Closing


def test_a_closed_log_is_done(store: Store) -> None:
    log = open_log(store, identity=IDENTITY)
    log.recover()
    log.close()
    log.close()
    with pytest.raises(AssertionError):
        log.intend(0, {})


def test_recover_comes_first(store: Store) -> None:
    log = open_log(store, identity=IDENTITY)
    with pytest.raises(AssertionError, match="recover"):
        log.intend(0, {})
    log.close()


# Starting over


def test_starting_over_removes_what_is_ours_and_nothing_else(store: Store) -> None:
    log = open_log(store, identity=IDENTITY)
    log.recover()
    Run(frozenset({1})).to(3, log)
    log.close()
    for file in ("notes.txt", "shard=00/notes.txt", "intent=1.json"):
        with store.create(file) as sink:
            sink.write(b"kept")
    other = Identity(plans={"days": ("format: 1",)})
    log = open_log(store, identity=other, reset=True)
    assert log.recover() is None
    Run().to(0, log)
    log.close()
    assert set(names(store)) - {layout.LOCK} == {
        "epoch=000000000000.arrow",
        "identity.json",
        "intent=000000000000.json",
        "intent=1.json",
        "manifest=000000000000.json",
        "notes.txt",
        "shard=00",
        "shard=01",
    }
    assert store.read("notes.txt").to_pybytes() == b"kept"
    log = open_log(store, identity=other)
    check_recovered(log.recover(), 0)
    log.close()


def test_a_new_log_may_be_told_to_start_over(store: Store) -> None:
    log: PartialLog = open_log(store, identity=IDENTITY, reset=True)
    assert log.recover() is None
    log.close()
