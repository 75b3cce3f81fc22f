"""A directory that is being filled while it is read: nothing lost, nothing twice, whatever arrives when."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from tests.connectors.reading import LATER_US, SECOND, drain, file_source, ranges, stored
from tidegate.connectors.files import progress
from tidegate.connectors.protocols import Offset, SourceReader
from tidegate.errors import TidegateError

COLUMNS = "n BIGINT"


def put(directory: Path, name: str, *numbers: int, at: int = 1_000, end: str = "\n") -> Path:
    """A file of rows with these numbers, last changed `at` seconds after 1970."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(f'{{"n": {number}}}' for number in numbers) + end)
    os.utime(path, (at, at))
    return path


def numbers(reader: SourceReader, after: Offset | None = None, **how: Any) -> list[int]:
    return [row["n"] for row in drain(reader, after, **how).rows]


class Follower:
    """A reader, and how far it has come. `restart` keeps nothing but the offset."""

    def __init__(self, directory: Path, **options: Any) -> None:
        self._directory, self._options = directory, options
        self.at: Offset | None = None
        self.malformed: list[tuple[str, str]] = []
        self.restart()

    def restart(self) -> None:
        self._reader = file_source(COLUMNS, self._directory, **self._options)

    def take(self, **how: Any) -> list[int]:
        found = drain(self._reader, self.at, **how)
        self.at = found.at
        self.malformed += [(record.text, record.detail) for record in found.malformed]
        return [row["n"] for row in found.rows]


def test_files_are_read_by_time_and_then_by_name(tmp_path: Path) -> None:
    put(tmp_path, "c.json", 4, at=20)
    put(tmp_path, "b.json", 2, at=10)
    put(tmp_path, "sub/a.json", 3, at=10)
    put(tmp_path, "z.json", 1, at=5)
    assert Follower(tmp_path).take() == [1, 2, 3, 4]


def test_what_others_are_still_writing_is_left_alone(tmp_path: Path) -> None:
    for name in ("_a.json", ".a.json", "a.json.tmp", "a.crdownload", "a._COPYING_", "_tmp/a.json"):
        put(tmp_path, name, 0)
    put(tmp_path, "a.json", 1)
    assert Follower(tmp_path).take() == [1]


@pytest.mark.parametrize("restarts", [False, True])
def test_files_that_arrive_later(tmp_path: Path, restarts: bool) -> None:
    put(tmp_path, "b.json", 1, 2, at=10)
    follower = Follower(tmp_path)
    assert follower.take() == [1, 2]
    put(tmp_path, "c.json", 3, at=20)
    put(tmp_path, "a.json", 4, at=5)  # moved in, with a time before that of b
    if restarts:
        follower.restart()
    assert follower.take() == [4, 3]
    assert follower.take() == []


def test_a_range_gives_the_same_rows_whenever_it_is_read(tmp_path: Path) -> None:
    put(tmp_path, "b.json", *range(10), at=10)
    reader = file_source(COLUMNS, tmp_path)
    planned = list(ranges(reader, None, iter([3] * 9), LATER_US))
    before = [reader.read(*each).rows for each in planned]
    put(tmp_path, "a.json", 100, at=5)
    with (tmp_path / "b.json").open("a") as file:
        file.write('{"n": 101}\n')
    again = file_source(COLUMNS, tmp_path)
    for each, rows in reversed(list(zip(planned, before, strict=True))):
        assert again.read(*each).rows.equals(rows)


def test_source_time_is_that_of_the_file(tmp_path: Path) -> None:
    put(tmp_path, "a.json", 1, at=7)
    put(tmp_path, "b.json", 2, at=9)
    column = drain(file_source(COLUMNS, tmp_path)).table.column("$source_time")
    assert column.type == pa.timestamp("us", tz="UTC")
    assert column.cast("int64").to_pylist() == [7 * SECOND, 9 * SECOND]


def test_lines_are_followed_up_to_the_last_line_break(tmp_path: Path) -> None:
    path = put(tmp_path, "log.json", 1, 2, at=100)
    follower = Follower(tmp_path, settle="10s")
    assert follower.take(now_us=101 * SECOND) == [1, 2]
    for text, expected in (('{"n": 3}\n{"n"', [3]), (": 4", []), ("}\n", [4]), ('{"n": 5}', [])):
        with path.open("a") as file:
            file.write(text)
        os.utime(path, (100, 100))
        assert follower.take(now_us=109 * SECOND) == expected
        follower.restart()
    assert follower.take(now_us=110 * SECOND) == [5]  # nobody has touched it for long enough
    with path.open("a") as file:
        file.write('\n{"n": 6}\n')
    assert follower.take() == [6]


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    path = put(tmp_path, "log.json", 1, 2, 3)
    follower = Follower(tmp_path)
    follower.take()
    put(tmp_path, "log.json", 9)
    with pytest.raises(TidegateError, match=r"TG-6004: log\.json .* and 27 have been read"):
        follower.take()
    lenient = Follower(tmp_path, on_bad_file="skip")
    lenient.at = follower.at
    assert lenient.take() == []
    assert lenient.malformed[0][0] == path.name


def test_a_range_whose_file_changed_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "log.json", 1, 2, 3)
    until = drain(file_source(COLUMNS, tmp_path)).at
    assert until is not None
    put(tmp_path, "log.json", 1)
    with pytest.raises(TidegateError, match=r"TG-6005: log\.json .* ends at byte 9, and had 27"):
        file_source(COLUMNS, tmp_path).read(None, until)
    (tmp_path / "log.json").unlink()
    with pytest.raises(TidegateError, match=r"TG-6005: log\.json .* No such file"):
        file_source(COLUMNS, tmp_path).read(None, until)
    lenient = file_source(COLUMNS, tmp_path, on_bad_file="skip").read(None, until)
    assert lenient.rows.num_rows == 0
    assert [record.text for record in lenient.malformed] == ["log.json"]


def truncated_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(os.urandom(1_000))[:500])


def no_parquet(path: Path) -> None:
    path.write_bytes(b"no parquet")


@pytest.mark.parametrize(
    ("name", "make"),
    [("b.json.gz", truncated_gzip), ("b.parquet", no_parquet), ("b.unknown", no_parquet)],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, make: Any) -> None:
    put(tmp_path, "a.json", 1, at=100)
    put(tmp_path, "c.json", 3, at=102)
    make(tmp_path / name)
    os.utime(tmp_path / name, (101, 101))

    patient = Follower(tmp_path, settle="10s")
    assert patient.take(now_us=110 * SECOND) == [1, 3]  # b may still be being written
    with pytest.raises(TidegateError, match=f"TG-6004: {name} in "):
        patient.take(now_us=111 * SECOND)

    lenient = Follower(tmp_path, on_bad_file="skip")
    assert lenient.take() == [1, 3]
    [(text, detail)] = lenient.malformed
    assert text == name
    assert detail.startswith("the file cannot be read: ")
    lenient.restart()
    assert lenient.take() == []
    assert len(lenient.malformed) == 1


def test_a_file_that_is_completed_later(tmp_path: Path) -> None:
    follower = Follower(tmp_path, settle="10s")
    no_parquet(tmp_path / "a.parquet")
    os.utime(tmp_path / "a.parquet", (100, 100))
    assert follower.take(now_us=105 * SECOND) == []
    parquet.write_table(pa.table({"n": [1, 2]}), tmp_path / "a.parquet")
    os.utime(tmp_path / "a.parquet", (106, 106))
    assert follower.take(now_us=107 * SECOND) == [1, 2]


# Few names are remembered: the rest is behind the mark.


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "KEPT", 3)


@pytest.mark.usefixtures("few")
def test_the_offset_stays_small(tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    sizes = set()
    for number in range(30):
        put(tmp_path, f"{number:03}.json", number, at=100 + number)
        assert follower.take() == [number]
        follower.restart()
        if number >= 3:
            sizes.add(len(json.dumps(follower.at)))
    assert max(sizes) - min(sizes) <= 3  # digits of counters
    assert follower.at is not None
    assert follower.at["behind"] == 27


@pytest.mark.usefixtures("few")
def test_a_late_file_behind_the_mark_is_new_to_a_running_reader(tmp_path: Path) -> None:
    for number in range(10):
        put(tmp_path, f"{number}.json", number, at=100 + number)
    follower = Follower(tmp_path)
    assert follower.take(max_rows=2) == list(range(10))
    put(tmp_path, "late.json", 99, at=101)
    assert follower.take() == [99]
    assert follower.take() == []
    follower.restart()
    assert follower.take() == []
    assert follower.malformed == []


@pytest.mark.usefixtures("few")
def test_a_late_file_that_came_while_nobody_looked_is_reported_and_can_be_touched(
    tmp_path: Path,
) -> None:
    for number in range(10):
        put(tmp_path, f"{number}.json", number, at=100 + number)
    follower = Follower(tmp_path)
    assert follower.take() == list(range(10))
    late = put(tmp_path, "late.json", 99, at=101)
    follower.restart()
    assert follower.take() == []
    [(text, detail)] = follower.malformed
    assert text == str(tmp_path)
    assert detail.startswith("1 files came while nothing was running")
    os.utime(late, (200, 200))
    assert follower.take() == [99]
    assert len(follower.malformed) == 1


@pytest.mark.usefixtures("few")
def test_a_late_file_among_the_newest_is_found_after_a_restart(tmp_path: Path) -> None:
    for number in range(10):
        put(tmp_path, f"{number}.json", number, at=100 + number)
    follower = Follower(tmp_path)
    follower.take()
    put(tmp_path, "late.json", 99, at=107)
    follower.restart()
    assert follower.take() == [99]


@pytest.mark.usefixtures("few")
def test_done_files_may_be_removed(tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    for number in range(20):
        path = put(tmp_path, f"{number:02}.json", number, at=100 + number)
        assert follower.take() == [number]
        if number % 3:
            path.unlink()
        follower.restart()
    assert follower.malformed == []


@pytest.mark.usefixtures("few")
def test_the_mark_waits_for_a_file_that_cannot_be_read_yet(tmp_path: Path) -> None:
    put(tmp_path, "slow.json", 0, at=100, end="")
    follower = Follower(tmp_path, settle="1000s")
    for number in range(1, 10):
        put(tmp_path, f"{number}.json", number, at=100 + number)
    assert follower.take(now_us=200 * SECOND) == list(range(1, 10))
    follower.restart()
    assert follower.take(now_us=1_100 * SECOND) == [0]


def test_the_memory_of_the_newest_files_is_kept_by_hash(tmp_path: Path) -> None:
    for number in range(1_100):
        put(tmp_path, f"{number:05}.json", number, at=100 + number)
    follower = Follower(tmp_path)
    assert follower.take(max_rows=10_000) == list(range(1_100))
    assert len(json.dumps(follower.at)) < 45_000
    follower.restart()
    assert follower.take() == []


# Any cut of ranges, with any restarts and arrivals between them.


@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    cuts=st.lists(st.integers(1, 9), max_size=8),
    data=st.data(),
)
def test_any_cut_gives_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], cuts: list[int], data: st.DataObject
) -> None:
    directory = tmp_path_factory.mktemp("cuts")
    first = 0
    for place, size in enumerate(sizes):
        rows = range(first, first + size)
        first += size
        name = f"{place}.{data.draw(st.sampled_from(['json', 'csv', 'json.gz', 'parquet']))}"
        write(directory / name, rows)
        os.utime(directory / name, (100 + place, 100 + place))
    whole = drain(file_source(COLUMNS, directory))
    assert [row["n"] for row in whole.rows] == list(range(first))

    at: Offset | None = None
    found: list[int] = []
    for cut in (*cuts, *[50] * 7):
        reader = file_source(COLUMNS, directory)
        until = reader.latest(at, max_rows=cut, now_us=LATER_US)
        if until is None:
            continue
        rows_read = file_source(COLUMNS, directory).read(at, stored(until)).rows.column("n")
        assert len(rows_read) <= cut
        found += rows_read.to_pylist()
        at = stored(until)
    assert found == list(range(first))


def write(path: Path, rows: range) -> None:
    lines = "".join(f'{{"n": {n}}}\n' for n in rows)
    if path.name.endswith(".parquet"):
        parquet.write_table(pa.table({"n": pa.array(rows, pa.int64())}), path, row_group_size=2)
    elif path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines.encode()))
    elif path.name.endswith(".csv"):
        path.write_text("n\n" + "".join(f"{n}\n" for n in rows))
    else:
        path.write_text(lines)
