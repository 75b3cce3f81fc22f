"""A crash between any two operations, with whatever of it a disk keeps: the log tells what is real, and goes on."""

import errno
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.state.fragile import Died, Disk, FragileStore, restarted
from tests.state.story import IDENTITY, Run, check_recovered
from tidegate.errors import StateRefused
from tidegate.state import PartialLog, open_log
from tidegate.state.chain import Reader, read_chain, read_identity
from tidegate.state.contents import scan
from tidegate.state.survey import verify

LAST = 4
SNAPSHOTS = frozenset({1, 3})

# Whether a name is found as it was seen when the machine went, or as it was last synced.
KEPT: dict[str, Callable[[str], bool]] = {
    "the process is killed": lambda name: True,
    "the power goes": lambda name: False,
    "the root is written back first": lambda name: "/" not in name,
    "the shards are written back first": lambda name: "/" in name,
}


def play(store: FragileStore, run: Run) -> None:
    log = open_log(store, identity=IDENTITY)
    log.recover()
    run.to(LAST, log)
    log.close()


def steps_of_the_story() -> int:
    store = FragileStore(Disk())
    play(store, Run(SNAPSHOTS))
    return store.taken


STEPS = steps_of_the_story()


def died_at(step: int) -> tuple[Disk, Run]:
    disk, run = Disk(), Run(SNAPSHOTS)
    with pytest.raises(Died):
        play(FragileStore(disk, steps=step), run)
    return disk, run


def check_goes_on(disk: Disk, run: Run) -> None:
    """Recovers to what the run was told is real, or what it was being told; leaves nothing behind; goes on."""
    store = FragileStore(disk)
    log = open_log(store, identity=IDENTITY)
    found = log.recover()
    epoch = found.epoch if found else -1
    assert epoch in (run.committed, run.commits)
    has_intent = found is not None and found.intent is not None
    if run.intended == epoch + 1:
        assert has_intent
    if run.intends <= epoch:
        assert not has_intent
    check_recovered(found, epoch, intent=has_intent)
    check_nothing_else(store)
    Run(SNAPSHOTS).to(LAST + 2, log, first=epoch + 1)
    check_ends_well(store, log)


def check_nothing_else(store: FragileStore) -> None:
    _, mark = read_identity(store)
    contents = scan(store)
    chain = read_chain(contents, Reader(store, mark))
    coming = chain.newest.epoch + 1 if chain else 0
    assert set(contents.intents) <= {coming}
    assert set(contents.log_files) - {f"intent={coming:012}.json"} == set(
        chain.files if chain else ()
    )


def check_ends_well(store: FragileStore, log: PartialLog) -> None:
    log.close()
    assert verify(store) == []
    log = open_log(store, identity=IDENTITY)
    check_recovered(log.recover(), LAST + 2)
    log.close()


@pytest.mark.thorough
@pytest.mark.parametrize("kept", KEPT)
def test_a_crash_at_any_step(kept: str) -> None:
    for step in range(STEPS):
        disk, run = died_at(step)
        check_goes_on(restarted(disk, KEPT[kept]), run)


@given(step=st.integers(0, STEPS - 1), seed=st.integers(0, 2**32))
def test_a_crash_that_keeps_some_names_and_loses_others(step: int, seed: int) -> None:
    disk, run = died_at(step)
    chance = random.Random(seed)
    check_goes_on(restarted(disk, lambda name: chance.random() < 0.5), run)


@pytest.mark.thorough
@pytest.mark.parametrize("kept", KEPT)
def test_a_crash_while_recovering_from_a_crash(kept: str) -> None:
    for step in range(0, STEPS, 13):
        crash_recovering(*died_at(step), kept)


def crash_recovering(disk: Disk, run: Run, kept: str) -> None:
    """At every step of it."""
    recovering = 0
    while True:
        again = restarted(disk, KEPT[kept])
        try:
            log = open_log(FragileStore(again, steps=recovering), identity=IDENTITY)
            log.recover()
            break
        except Died:
            check_goes_on(restarted(again, KEPT[kept]), run)
        recovering += 1
    assert recovering >= 5


@pytest.mark.parametrize("kept", KEPT)
def test_a_crash_while_starting_over(kept: str) -> None:
    before = Disk()
    play(FragileStore(before), Run(SNAPSHOTS))
    outcomes = set()
    step = 0
    while True:
        disk = restarted(before)
        try:
            open_log(FragileStore(disk, steps=step), identity=IDENTITY, reset=True)
            break
        except Died:
            step += 1
        found = restarted(disk, KEPT[kept])
        outcomes.add(found_after_reset(found))
        found = restarted(found)
        log = open_log(FragileStore(found), identity=IDENTITY, reset=True)
        assert log.recover() is None
        Run(SNAPSHOTS).to(LAST + 2, log)
        check_ends_well(FragileStore(found), log)
    assert outcomes == {"the old state", "refused", "a new log"}


def found_after_reset(disk: Disk) -> str:
    """Never a part of the old state."""
    contents = scan(FragileStore(disk))
    if contents.holds_state and not contents.identity:
        with pytest.raises(StateRefused, match=r"TG-5005: disk/identity\.json is missing"):
            open_log(FragileStore(disk), identity=IDENTITY)
        return "refused"
    found = open_log(FragileStore(disk), identity=IDENTITY).recover()
    check_recovered(found, LAST if found else -1)
    return "the old state" if found else "a new log"


@pytest.mark.thorough
def test_a_disk_that_fails_once() -> None:
    for step in range(STEPS):
        fail_once(step)


def fail_once(step: int) -> None:
    """Whoever opened or drove the log is told; what was committed is there."""
    disk, run = Disk(), Run(SNAPSHOTS)
    store = FragileStore(disk, steps=step, failure=OSError(errno.ENOSPC, "No space left on device"))
    opened: list[PartialLog] = []

    def play_it() -> None:
        opened.append(open_log(store, identity=IDENTITY))
        opened[0].recover()
        run.to(LAST, opened[0])
        opened[0].close()

    told = r"TG-501[12]: disk\S* cannot be (read|written): No space left on device"
    with pytest.raises(StateRefused, match=told):
        play_it()
    for log in opened:
        log.close()
    check_goes_on(disk, run)
