"""Random streams: batches of rows with disorder, ties, lateness, NULLs and extremes; watermarks, the clock, the end.

Doubles that are added are few and exact in binary, so that the order of an addition does not show.
"""

import datetime
import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.engines.local.random_programs import Text, texts
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program

SECOND = 1_000_000
BIGGEST = 2**63 - 1
D = decimal.Decimal

VALUES: dict[str, tuple[Any, ...]] = {
    "k": ("a", "b", "", None),
    "g": (0, 1, -1, None, BIGGEST, -BIGGEST - 1),
    "z": (0.0, -0.0, 1.5, math.nan, None, -math.nan, math.inf),
    "t": (True, False, None),
    "c": (D("0.00"), D("1.50"), D("-9999.99"), None),
    "y": (0, -1, 20_000, None),
    "m": (0, -1, 1_700_000_000_123_456, None),
    "r": (b"", b"\x00", b"ab", None),
    "v": (1, 0, 2, 3, -5, None, BIGGEST, -BIGGEST - 1),
    "i": (1, 0, 2, -7, None, 2**31 - 1, -(2**31)),
    "x": (0.5, 0.0, -0.0, 1.25, -3.0, None, math.nan, math.inf, -math.inf),
    "d": (D("1.00"), D("0.01"), D("-2.50"), None, D("99999999.99")),
    "w": ("p", "q", "", "ü-1", None),
    "b": (True, False, None),
    "name": ("a", "b", None, "a"),
    "sector": ("s1", "s2", None),
}
DAY = 86_400 * SECOND
YEAR_1 = int(datetime.datetime(1, 1, 1, tzinfo=datetime.UTC).timestamp()) * SECOND
EDGES = (None, None, YEAR_1, -(2**61), 2**61, 253_402_300_799 * SECOND, 1_000_000 * DAY - 1)

common = st.integers(-15, 40).map(lambda second: second * SECOND)
times = st.one_of(
    common,
    common,
    common,
    st.builds(lambda at, more: at + more, common, st.integers(-1, 1)),
    st.integers(0, 30 * 1000).map(lambda ms: ms * 1000),
    st.integers(0, 39).flatmap(lambda n: st.sampled_from(EDGES) if n == 0 else common),
)


@dataclass(frozen=True)
class Step:
    """`insert` with rows, `watermark`, `clock` with an instant, or `end`. `what`: a source or table."""

    kind: str
    what: str = ""
    rows: tuple[dict[str, Any], ...] = ()
    at_us: int = 0


@dataclass(frozen=True)
class Case:
    text: Text
    steps: tuple[Step, ...]

    def __repr__(self) -> str:
        """As one would write it down."""
        lines = [self.text.sql]
        for step in self.steps:
            lines.append(f"  {step.kind} {step.what} {step.at_us / 1000 if step.at_us else ''}")
            lines += [
                f"    { ({**row, 'ts': None if row.get('ts') is None else row['ts'] / 1000}) }"
                for row in step.rows
            ]
        return "\n" + "\n".join(lines)


def _value(name: str) -> st.SearchStrategy[Any]:
    return times if name == "ts" else st.sampled_from(VALUES[name])


def rows_of(schema: Schema, *, most: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({column.name: _value(column.name) for column in schema})
    return st.lists(row, max_size=most)


def steps_of(program: Program, text: Text) -> st.SearchStrategy[list[Step]]:
    """What happens to a program: mostly rows."""
    catalog = program.catalog
    choices: list[st.SearchStrategy[Step]] = []
    for name in (*text.sources, *text.tables):
        definition = catalog.find(name)
        assert isinstance(definition, (SourceDef, TableDef))
        rows = rows_of(definition.physical, most=7).map(tuple)
        insert = st.builds(Step, st.just("insert"), st.just(name), rows)
        choices += [insert] * (4 if name in text.sources else 1)
    for name in text.sources:
        choices.append(st.builds(Step, st.just("watermark"), st.just(name), at_us=common))
    clock = st.integers(0, 60).map(lambda at: Step("clock", at_us=at * SECOND))
    choices += [clock] * (4 if "EVERY" in text.sql or "PROCTIME" in text.sql else 1)
    return st.lists(st.one_of(choices), max_size=9)


@st.composite
def cases(draw: st.DrawFn, plan: Callable[[str], Program | None]) -> Case:
    """A program that plans, and a stream for it; `plan` gives the program, or None."""
    text = draw(texts().filter(lambda text: plan(text.sql) is not None))
    program = plan(text.sql)
    assert program is not None
    steps = draw(steps_of(program, text))
    if draw(st.booleans()):
        steps.append(Step("end"))
    return Case(text, tuple(steps))
