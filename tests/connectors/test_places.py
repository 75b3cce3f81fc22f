"""What a path means, when a source ends, and paths that mean nothing."""

from pathlib import Path

import pytest

from tests.connectors.reading import drain, file_source, source_def
from tests.connectors.test_directory import COLUMNS, numbers, put
from tidegate.connectors import open_source
from tidegate.connectors.protocols import SourceReader
from tidegate.errors import TidegateError


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for place, name in enumerate(
        ("a.json", "b.json", "b.jsonl", "x/a.json", "x/y/a.json", "x/y/_a.json")
    ):
        put(tmp_path, name, place, at=100 + place)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a.json", [0]),
        ("*.json", [0, 1]),
        ("?.json*", [0, 1, 2]),
        ("[!a].json", [1]),
        ("*/a.json", [3]),
        ("**/a.json", [0, 3, 4]),
        ("x/**", [3, 4]),
        ("x/y/*.json", [4]),
        ("", [0, 1, 2, 3, 4]),
        ("x/", [3, 4]),
        ("x/y/_a.json", [5]),
    ],
)
def test_paths(tree: Path, pattern: str, expected: list[int]) -> None:
    reader = open_source(source_def(COLUMNS, connector="file", path=f"{tree}/{pattern}"))
    assert numbers(reader) == expected


def test_a_url_and_a_relative_path(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_url = open_source(source_def(COLUMNS, connector="file", path=f"{tree.as_uri()}/*.json"))
    assert numbers(by_url) == [0, 1]
    monkeypatch.chdir(tree)
    relative = open_source(source_def(COLUMNS, connector="file", path="x"))
    monkeypatch.chdir("/")
    assert numbers(relative) == [3, 4]


def ends(reader: SourceReader) -> tuple[bool, bool]:
    """Whether it has ended before anything is read, and behind everything."""
    return reader.ended(None), reader.ended(drain(reader).at)


def test_what_ends(tree: Path) -> None:
    assert ends(file_source(COLUMNS, tree)) == (False, False)
    assert ends(file_source(COLUMNS, tree, bounded=True)) == (False, True)
    assert ends(file_source(COLUMNS, tree / "a.json")) == (False, True)
    assert ends(file_source(COLUMNS, tree / "*.json")) == (False, True)
    as_declared = source_def(COLUMNS, connector="file", path=tree / "a.json", bounded="false")
    assert ends(open_source(as_declared)) == (False, False)
    assert ends(open_source(as_declared, bounded=True)) == (False, True)


def test_a_bounded_source_is_what_was_there_when_it_was_first_looked_at(tree: Path) -> None:
    reader = file_source(COLUMNS, tree, bounded=True)
    assert not reader.ended(None)
    put(tree, "later.json", 9, at=1)
    with (tree / "a.json").open("a") as file:
        file.write('{"n": 9}\n')
    found = drain(reader, max_rows=1)
    assert [row["n"] for row in found.rows] == [0, 1, 2, 3, 4]
    assert reader.ended(found.at)


def test_a_bounded_file_needs_no_last_line_break(tmp_path: Path) -> None:
    put(tmp_path, "a.json", 1, 2, at=100, end="")
    assert numbers(file_source(COLUMNS, tmp_path / "a.json"), now_us=0) == [1, 2]


def test_empty_files_end(tmp_path: Path) -> None:
    for name in ("a.json", "b.csv"):
        (tmp_path / name).touch()
    reader = file_source(COLUMNS, tmp_path, bounded=True)
    assert drain(reader).rows == []
    assert reader.ended(None)


def refused(path: object, **options: object) -> str:
    with pytest.raises(TidegateError) as caught:
        open_source(source_def(COLUMNS, connector="file", path=path, **options))
    return f"{caught.value.code}: {caught.value.message}"


def test_a_path_that_is_missing_is_told_what_is_there_instead(tmp_path: Path) -> None:
    def hint(path: object) -> str:
        with pytest.raises(TidegateError) as caught:
            open_source(source_def(COLUMNS, connector="file", path=path))
        return caught.value.hint

    assert hint(tmp_path / "trdes") == f"{tmp_path} is empty"
    (tmp_path / "trades").mkdir()
    (tmp_path / "trades" / "1.json").touch()
    assert hint(tmp_path / "trdes") == "did you mean trades?"
    assert hint(f"{tmp_path}/trdes/2026/1.json") == "did you mean trades?"
    assert hint(tmp_path / "zzz") == f"{tmp_path} has trades"
    assert hint(tmp_path / "trades" / "one.csv") == f"{tmp_path / 'trades'} has 1.json"


def test_paths_that_mean_nothing(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert (
        refused(nowhere) == f"TG-6002: {nowhere} cannot be read: there is no such file or directory"
    )
    assert (
        refused(f"{nowhere}/*.json") == f"TG-6002: {nowhere}/*.json cannot be read: no file matches"
    )
    assert refused("nosuch://x/y").startswith("TG-6002: nosuch://x/y cannot be read: Unrecognized")
    (tmp_path / "a.txt").touch()
    assert refused(tmp_path / "a.txt").startswith(
        f"TG-6004: a.txt in {tmp_path} cannot be read: its name"
    )


def test_a_file_that_is_awaited(tmp_path: Path) -> None:
    reader = file_source(COLUMNS, tmp_path / "a.json", bounded=False)
    assert numbers(reader) == []
    put(tmp_path, "a.json", 1)
    assert numbers(reader) == [1]


def test_an_offset_of_another_connector(tmp_path: Path) -> None:
    put(tmp_path, "a.json", 1)
    with pytest.raises(
        TidegateError,
        match="TG-6008: the place that the checkpoint names is none of connector file",
    ):
        file_source(COLUMNS, tmp_path).latest({"row": 1}, max_rows=1, now_us=0)
