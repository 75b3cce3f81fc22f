"""`tidegate functions`: the reference on a terminal."""

import json

from tests.cli.conftest import Tidegate
from tidegate.plan.reference import entries


def test_the_list_has_every_function_once_under_its_family(tidegate: Tidegate) -> None:
    ran = tidegate("functions")
    assert (ran.code, ran.err) == (0, "")
    blocks = [block.splitlines() for block in ran.out.split("\n\n")]
    shown = {(block[0], line.split()[0]) for block in blocks for line in block[1:]}
    assert shown == {(entry.family, entry.name) for entry in entries()}
    assert len({block[0] for block in blocks}) == len(blocks)


def test_one_function_in_full(tidegate: Tidegate) -> None:
    assert tidegate("functions", "sum").out.splitlines()[0] == "sum"
    assert "  sum(an integer) → BIGINT" in tidegate("functions", "SUM").out.splitlines()


def test_an_exact_name_beats_those_that_it_is_part_of(tidegate: Tidegate) -> None:
    assert tidegate("functions", "min").out.splitlines()[0] == "min"
    assert tidegate("functions", "date").out.splitlines()[0] == "date"


def test_an_alias_is_a_name(tidegate: Tidegate) -> None:
    entry = next(entry for entry in entries() if entry.aliases)
    assert tidegate("functions", entry.aliases[0]).out.splitlines()[0] == entry.name


def test_part_of_a_name_lists_those_that_have_it(tidegate: Tidegate) -> None:
    shown = tidegate("functions", "regexp_").out
    assert shown.splitlines()[0] == "regex"
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [
        "rlike",
        "regexp_replace",
        "regexp_extract",
        "regexp_count",
    ]


def test_json_has_everything(tidegate: Tidegate) -> None:
    shown = json.loads(tidegate("functions", "--format", "json").out)
    assert shown == [entry.as_object() for entry in entries()]
    assert len(json.loads(tidegate("functions", "regexp_", "--format", "json").out)) == 4


def test_an_unknown_function_is_refused_with_the_nearest(tidegate: Tidegate) -> None:
    ran = tidegate("functions", "tumbel")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "TG-2004: there is no function named tumbel\nhint: did you mean tumble?\n"


def test_every_entry_says_how_it_is_called_and_what_it_does() -> None:
    for entry in entries():
        assert entry.forms, entry.name
        assert entry.doc.rstrip(")`").endswith("."), entry
        assert not any("<function" in form or "object at" in form for form in entry.forms), entry
    names = [entry.name for entry in entries()]
    assert len(names) == len(set(names))
