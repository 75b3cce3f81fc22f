"""`tidegate demo`: every record that lands is found again, the same ones on both engines."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Tidegate
from tidegate.cli.demos import FILES, SHOWS

FIGURE = re.compile(r"^ *([\d,]+)  (\w+)", re.MULTILINE)


def figures(out: str) -> dict[str, int]:
    """What the end of a demo counts, by the first word of the line."""
    told = out.partition("What became of")[2].partition("Try next")[0]
    return {word: int(count.replace(",", "")) for count, word in FIGURE.findall(told)}


def kept(folder: str) -> list[dict[str, object]]:
    texts = [path.read_text() for path in Path("tidegate-demo", folder).iterdir()]
    return [json.loads(line) for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("name", SHOWS)
def test_every_record_is_found_again(tidegate: Tidegate, name: str) -> None:
    ran = tidegate("demo", name, "--engine", "local", "--pace", "0")
    assert (ran.code, ran.err) == (0, "")
    found = figures(ran.out)
    files = sorted(Path("tidegate-demo/in").glob("*.json"))
    landed = sum(len(path.read_text().splitlines()) for path in files)
    assert len(files) == FILES
    assert found["accounted"] == landed
    assert found["aggregated"] + found["late"] + found["broken"] + found["from"] == landed
    assert min(found["late"], found["broken"]) > 2
    assert found["from"] == 1
    assert len(kept("late")) == found["late"]
    assert len(kept("broken")) == found["broken"] + found["from"]


def test_a_show_is_the_same_every_time_and_replaces_the_one_before(tidegate: Tidegate) -> None:
    first, second = (
        re.sub(r"in \d+ s:", "", tidegate("demo", "--engine", "local", "--pace", "0").out)
        for _ in range(2)
    )
    assert first == second
    assert "! late, " in first
    assert "! from the future: " in first
    assert "! broken: " in first


@pytest.mark.parametrize("name", SHOWS)
def test_what_it_says_to_try_next_works(tidegate: Tidegate, name: str) -> None:
    out = tidegate("demo", name, "--engine", "local", "--pace", "0").out
    commands = re.findall(r"^  \S*tidegate (.*?)  ", out.partition("Try next:")[2], re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)
        local = [] if words[0] == "explain" else ["--engine", "local"]
        ran = tidegate(*words, *local, *(["--pace", "0"] if words[0] == "demo" else []))
        assert (ran.code, bool(ran.out)) == (0, True)


def test_the_files_of_others_stay(tidegate: Tidegate) -> None:
    Path("tidegate-demo").mkdir()
    mine = Path("tidegate-demo/mine.txt")
    mine.touch()
    ran = tidegate("demo", "--engine", "local")
    assert ran.code == 2
    assert "holds files that are not a demo's" in ran.err
    assert mine.exists()


def test_another_place(tidegate: Tidegate) -> None:
    ran = tidegate("demo", "--engine", "local", "--pace", "0", "--dir", "a place")
    assert ran.code == 0
    assert "run 'a place/trades.sql' --bounded" in ran.out
    assert Path("a place/trades.sql").exists()


@pytest.mark.spark
def test_it_is_the_same_show_on_spark(tidegate: Tidegate) -> None:
    there = tidegate("demo", "sensors", "--engine", "spark", "--pace", "0")
    here = tidegate("demo", "sensors", "--engine", "local", "--pace", "0")
    assert (there.code, figures(there.out)) == (0, figures(here.out))
    rows = [sorted(re.findall(r"^2026.*$", ran.out, re.MULTILINE)) for ran in (here, there)]
    assert rows[0] == rows[1]


def test_a_show_can_be_looked_at(tidegate: Tidegate) -> None:
    ran = tidegate("demo", "--engine", "local", "--pace", "0", "--ui", "0")
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"^live page: http://127\.0\.0\.1:\d+/$", ran.out, re.MULTILINE)
    assert figures(ran.out)["accounted"] > 2_000
