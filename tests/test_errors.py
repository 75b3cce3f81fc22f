"""The catalogue of errors tests itself: every kind is raised by some test, travels between processes, and helps."""

import pickle
import re
from pathlib import Path

import pytest

from tidegate import errors
from tidegate.errors import CATALOGUE, ErrorKind, Location, TidegateError, nearest

ROOT = Path(__file__).parents[1]
NAMES = {kind.code: name for name, kind in vars(errors).items() if isinstance(kind, ErrorKind)}
KINDS = [CATALOGUE[code] for code in sorted(NAMES)]
PLACE = Location("q.sql", 3, 7, "SELECT nope", 4)
STAGES = {
    "TG-1": (errors.SyntaxRefused, 3),
    "TG-2": (errors.BindRefused, 3),
    "TG-3": (errors.PlanRefused, 3),
    "TG-4": (errors.ConfigRefused, 2),
    "TG-5": (errors.StateRefused, 1),
    "TG-6": (errors.EdgeRefused, 4),
    "TG-7": (errors.RunRefused, 1),
}

# Kinds whose message says it all, or that are given a hint where they are raised.
WITHOUT_STANDING_HINT = {
    "TG-1001": "says what was expected",
    "TG-1002": "says what is wrong",
    "TG-1005": "says what is wrong",
    "TG-1013": "says the limit",
    "TG-2001": "the nearest name is suggested",
    "TG-2002": "the nearest name is suggested",
    "TG-2004": "the nearest name is suggested",
    "TG-2008": "names the clause and the type",
    "TG-2010": "a conversion that means something is suggested",
    "TG-2011": "the nearest name is suggested",
    "TG-2012": "says the bounds",
    "TG-2013": "the nearest name is suggested",
    "TG-3034": "the nearest name is suggested",
    "TG-2014": "names the use and the type",
    "TG-2015": "names what is there twice",
    "TG-2019": "says whose such names are",
    "TG-2020": "says what is wrong",
    "TG-2021": "says what is needed",
    "TG-2023": "says the type",
    "TG-2024": "says both numbers",
    "TG-3006": "says what is allowed",
    "TG-3007": "says what is allowed",
    "TG-3010": "says the limit",
    "TG-3025": "shows the circle",
    "TG-3028": "says what is expected",
    "TG-3032": "says what is needed",
    "TG-4001": "the nearest name is suggested",
    "TG-4002": "says what is allowed",
    "TG-4003": "the nearest name is suggested",
    "TG-4005": "the option is explained",
    "TG-4006": "the system's reason",
    "TG-4007": "the parser's reason",
    "TG-4008": "the nearest name is suggested",
    "TG-4009": "the nearest name is suggested",
    "TG-4012": "the nearest name is suggested",
    "TG-7005": "the nearest name is suggested",
    "TG-4101": "the nearest key is suggested",
    "TG-4102": "says what is wrong",
}

# Raised where the tests are still to be written; shrinks with them.
PENDING = {"TG-4007", "TG-4008", "TG-4009"}


def facts(kind: ErrorKind) -> dict[str, str]:
    """Something for every part of the sentence and the hint."""
    return {name: f"<{name}>" for name in re.findall(r"{(\w+)}", kind.sentence + kind.hint)}


def example(kind: ErrorKind, location: Location | None = PLACE) -> TidegateError:
    return kind(location, **facts(kind))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_codes_go_by_stage(kind: ErrorKind) -> None:
    stage, exit_code = STAGES[kind.code[:4]]
    assert kind.error is stage
    assert kind.error.exit_code == exit_code
    assert re.fullmatch(r"TG-[1-7]\d{3}", kind.code)
    assert re.fullmatch(r"[0-9A-Z]{5}", kind.sqlstate)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_errors_survive_pickling(kind: ErrorKind) -> None:
    before = example(kind)
    after = pickle.loads(pickle.dumps(before))
    assert type(after) is type(before)
    assert after.kind is kind
    for part in ("code", "sqlstate", "message", "hint", "location", "line", "column"):
        assert getattr(after, part) == getattr(before, part)
    assert str(after) == str(before)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_facts_fill_the_sentence_and_the_hint(kind: ErrorKind) -> None:
    error = example(kind)
    for name in re.findall(r"{(\w+)}", kind.sentence):
        assert f"<{name}>" in error.message
    for name in re.findall(r"{(\w+)}", kind.hint):
        assert f"<{name}>" in error.hint
    assert kind(None, hint="do this", **facts(kind)).hint == "do this"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_every_kind_has_a_hint_or_a_reason_not_to(kind: ErrorKind) -> None:
    assert bool(kind.hint) is (kind.code not in WITHOUT_STANDING_HINT)
    assert not kind.sentence.endswith(".")
    assert not kind.hint.endswith(".")


def test_every_kind_that_is_raised_is_raised_by_a_test() -> None:
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    tested = "".join(
        path.read_text()
        for suffix in ("py", "yaml")
        for path in (ROOT / "tests").rglob(f"*.{suffix}")
        if path != Path(__file__)
    )
    codes = set(re.findall(r"TG-\d{4}", tested))
    untested = {
        code
        for code, name in NAMES.items()
        if re.search(rf"\berrors\.{name}\b", source)
        and code not in codes
        and not code.startswith("TG-49")  # tests/engines/spark compares their sentences
        and not re.search(rf"\berrors\.{name}\b", tested)
    }
    assert untested <= PENDING


def test_an_error_as_text() -> None:
    error = errors.unknown_column(PLACE, name="nope", hint="did you mean note?")
    assert str(error) == (
        "TG-2002: there is no column named nope (q.sql:3:7)\nhint: did you mean note?"
    )
    assert str(errors.unknown_column(name="nope")) == "TG-2002: there is no column named nope"
    assert (error.line, error.column, error.sqlstate) == (3, 7, "42703")
    assert (errors.unknown_column(name="x").line, errors.unknown_column(name="x").column) == (
        None,
        None,
    )


def test_the_closest_place_stays() -> None:
    other = Location("q.sql", 1, 1, "x")
    placeless = example(KINDS[0], location=None)
    assert placeless.located(other).location == other
    assert placeless.located(None) is placeless
    placed = example(KINDS[0])
    assert placed.located(other) is placed
    assert type(placeless.located(other)) is type(placeless)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("symbl", "did you mean symbol?"),
        ("SYMBOL", "did you mean symbol?"),
        ("Prize", "did you mean Price?"),
        ("zzz", "try another"),
    ],
)
def test_the_nearest_name(name: str, hint: str) -> None:
    assert nearest(name, ["symbol", "Price", "qty"], otherwise="try another") == hint


def test_nothing_near_and_nothing_else_to_say() -> None:
    assert nearest("x", []) == ""
    assert TidegateError.exit_code == 1
