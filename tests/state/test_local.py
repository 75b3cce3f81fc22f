"""The local file system: order of writes to the disk, locks, and what the system refuses."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.state.story import IDENTITY, Run, check_recovered, intended, rows
from tidegate.errors import TidegateError
from tidegate.state import layout, open_log
from tidegate.state.store import store_at
from tidegate.state.survey import verify

ROOT = Path(__file__).parents[2]


def test_everything_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An epoch: each file is synced, named, and its directory synced; the manifest comes last."""
    log = open_log(tmp_path, identity=IDENTITY)
    log.recover()
    Run().to(0, log)
    seen: list[str] = []
    fsync, replace = os.fsync, os.replace

    def recorded_fsync(descriptor: int) -> None:
        name = os.readlink(f"/proc/self/fd/{descriptor}").removeprefix(str(tmp_path))
        seen.append(f"sync {name.lstrip('/').partition('.')[0]}")
        fsync(descriptor)

    def recorded_replace(old: str, new: str) -> None:
        seen.append(f"name {new.removeprefix(str(tmp_path)).lstrip('/').partition('.')[0]}")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    Run().to(1, log, first=1)
    log.close()
    number = "=000000000001"
    files = [f"intent{number}", f"shard=00/epoch{number}", f"shard=01/epoch{number}"]
    expected = [
        step
        for file in [*files, f"manifest{number}"]
        for step in (f"sync {file}", f"name {file}", f"sync {layout.directory(file)}")
    ]
    assert seen == expected


def test_a_checkpoint_is_made_with_the_directories_above(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "checkpoint"
    for spelling in (str(place), place, place.as_uri(), f"{place}/"):
        log = open_log(spelling, identity=IDENTITY)
        log.recover()
        log.close()
    assert sorted(path.name for path in place.iterdir()) == [layout.IDENTITY, layout.LOCK]


# Locks


def test_a_second_writer_is_refused_by_name(tmp_path: Path) -> None:
    log = open_log(tmp_path, identity=IDENTITY)
    for reset in (False, True):
        with pytest.raises(TidegateError) as told:
            open_log(tmp_path, identity=IDENTITY, reset=reset)
        assert told.value.code == "TG-5004"
        assert f"is being written by process {os.getpid()} on " in told.value.message
    log.recover()
    Run().to(1, log)
    log.close()
    open_log(tmp_path, identity=IDENTITY).close()


WRITER = """
import sys
from tests.state.story import IDENTITY, Run
from tidegate.state import open_log
log = open_log(sys.argv[1], identity=IDENTITY)
found = log.recover()
first = found.epoch + 1 if found else 0
print("open", flush=True)
for epoch in range(first, 10_000):
    Run(frozenset(range(0, 10_000, 7))).to(epoch, log, first=epoch)
    print(epoch, flush=True)
"""


def writer(place: Path) -> "subprocess.Popen[str]":
    """A process that writes epochs until it is killed, and says so after each; it has begun when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(place)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def kill(process: "subprocess.Popen[str]", *, after: int) -> int:
    """When it has made so many epochs, in the midst of another; the last of which it could tell."""
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(after)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    return int([*told, *rest.splitlines(keepends=True)][-1])


@pytest.mark.thorough
def test_a_killed_writer_loses_nothing_and_blocks_nobody(tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    last = -1
    for epochs in (1, 12, 5):
        process = writer(place)
        try:
            with pytest.raises(TidegateError, match=f"TG-5004: .* process {process.pid} on "):
                open_log(place, identity=IDENTITY)
        finally:
            told = kill(process, after=epochs)
        assert verify(store_at(place)) == []
        log = open_log(place, identity=IDENTITY)
        found = log.recover()
        assert found is not None
        assert found.epoch in (told, told + 1)
        assert told >= last + epochs
        check_recovered(found, found.epoch, intent=found.intent is not None)
        last = found.epoch
        log.close()


# What the system refuses


def test_a_file_where_the_directory_should_be(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(TidegateError, match=r"TG-5012: .*/file cannot be read: Not a directory"):
        open_log(place, identity=IDENTITY)


def test_a_place_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TidegateError, match=r"TG-501[12]: .*: Not a directory"):
        open_log(tmp_path / "file" / "checkpoint", identity=IDENTITY)


def test_a_directory_that_nobody_may_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made up, since whoever runs the tests may be allowed everything."""

    def refuse(*arguments: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(TidegateError) as told:
        open_log(tmp_path, identity=IDENTITY)
    assert told.value.code == "TG-5011"
    assert told.value.message.endswith("writer.lock cannot be written: Read-only file system")


LIMITED = """
import resource, signal, sys
import pyarrow as pa
from tests.state.story import IDENTITY, Run
from tidegate.errors import TidegateError
from tidegate.state import open_log
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = open_log(sys.argv[1], identity=IDENTITY)
log.recover()
Run().to(2, log)
log.intend(3, {"offsets": {"trades": {"0": 2**60 + 3}}, "clock_us": 3_000_000})
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
try:
    log.write(3, 0, {"large": pa.table({"k": list(range(1_000_000))})})
except TidegateError as told:
    print(told)
"""


@pytest.mark.thorough
def test_a_file_that_does_not_fit(tmp_path: Path) -> None:
    """The system's own refusal, in the middle of a file: one error, nothing left over, earlier epochs intact."""
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    message, hint = ran.stdout.splitlines()
    assert message.startswith("TG-5011: ")
    assert message.endswith("shard=00/epoch=000000000003.arrow cannot be written: File too large")
    assert hint.startswith("hint: epochs that were committed are intact")
    assert not list(tmp_path.rglob("*.tmp"))
    assert verify(store_at(tmp_path)) == []
    log = open_log(tmp_path, identity=IDENTITY)
    found = log.recover()
    check_recovered(found, 2, intent=True)
    log.close()


def test_a_checkpoint_that_vanishes_is_not_begun_anew(tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    log = open_log(place, identity=IDENTITY)
    log.recover()
    place.rename(tmp_path / "moved")
    with pytest.raises(TidegateError, match="TG-5011"):
        log.intend(0, intended(0))
    with pytest.raises(AssertionError):
        log.intend(0, intended(0))
    log.close()
    assert not place.exists()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    log = open_log(tmp_path, identity=IDENTITY)
    log.recover()
    Run().to(1, log)
    log.close()
    file = tmp_path / layout.delta(1, 0)
    file.unlink()
    file.mkdir()
    log = open_log(tmp_path, identity=IDENTITY)
    found = log.recover()
    assert found is not None
    deltas = found.deltas()
    assert rows(next(deltas).shards)
    with pytest.raises(TidegateError, match=f"TG-5012: {file} cannot be read: "):
        next(deltas)
    log.close()
    assert [problem.code for problem in verify(store_at(tmp_path))] == ["TG-5012"]


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("nope://x/y", "nope://x/y is no place for a checkpoint: "),
        ("s3:///x", "s3:///x is no place"),
        ("nope://me:secret@host/x?key=secret", "nope://host/x is no place"),
    ],
)
def test_a_location_that_is_none(location: str, shown: str) -> None:
    with pytest.raises(TidegateError) as told:
        open_log(location, identity=IDENTITY)
    assert told.value.code == "TG-5013"
    assert told.value.message.startswith(shown)
    assert "secret" not in str(told.value)
