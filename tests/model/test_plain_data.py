"""States as text: every value of the closed set comes back exactly, and nothing else is let in."""

import json
import math
import subprocess
import sys
from collections import Counter, OrderedDict, namedtuple
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.plain_data import Failed, NotPlain, from_text, to_text

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(UTC))
    | st.timedeltas()
)
HASHABLE = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(HASHABLE, max_size=3)
        | st.dictionaries(HASHABLE | st.text("$ab", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def types(value: Any) -> Any:
    """All that equality forgets: 1, 1.0 and True are equal, and so are 0.0 and -0.0, and instants in two zones."""
    match value:
        case list() | tuple():
            return type(value), [types(item) for item in value]
        case dict():
            return dict, sorted(
                (repr(types(key)), repr(types(item))) for key, item in value.items()
            )
        case set():
            return set, sorted(repr(types(item)) for item in value)
        case datetime():
            return datetime, value.utcoffset()
        case float():
            return float, math.copysign(1, value)
        case _:
            return type(value)


@given(VALUES)
def test_round_trip(value: Any) -> None:
    text = to_text(value)
    assert from_text(text) == value
    assert repr(types(from_text(text))) == repr(types(value))
    assert to_text(from_text(text)) == text
    text.encode("ascii")
    json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([None, True, 1, 1.5, "é"], r'[null,true,1,1.5,"\u00e9"]'),
        ((1, (2,)), '{"$tuple":[1,{"$tuple":[2]}]}'),
        ({"a": 1, "b": {}}, '{"a":1,"b":{}}'),
        ({"$a": 1}, '{"$dict":[["$a",1]]}'),
        ({1: "a", None: 2}, '{"$dict":[[1,"a"],[null,2]]}'),
        ({"a"}, '{"$set":["a"]}'),
        (b"\x00\xff", '{"$bytes":"00ff"}'),
        (math.inf, '{"$float":"inf"}'),
        (-0.0, "-0.0"),
        (2**200, str(2**200)),
        ("\ud800", r'"\ud800"'),
        (Decimal("1.20"), '{"$decimal":"1.20"}'),
        (Decimal("sNaN"), '{"$decimal":"sNaN"}'),
        (date(1, 1, 1), '{"$date":"0001-01-01"}'),
        (datetime(2026, 1, 1, tzinfo=UTC), '{"$datetime":"2026-01-01T00:00:00+00:00"}'),
        (timedelta(days=-1, microseconds=1), '{"$timedelta_us":-86399999999}'),
        (Failed("why"), '{"$failed":"why"}'),
        (np.float64(0.1), "0.1"),
    ],
)
def test_spellings(value: Any, text: str) -> None:
    assert to_text(value) == text
    assert repr(from_text(text)) == repr(value).replace("np.float64(0.1)", "0.1")


def test_not_a_number() -> None:
    assert to_text([math.nan]) == '[{"$float":"nan"}]'
    assert math.isnan(from_text('{"$float":"nan"}'))


def test_other_zones_keep_the_instant_and_the_offset() -> None:
    at = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    back = from_text(to_text(at))
    assert (back, back.utcoffset()) == (at, at.utcoffset())


Point = namedtuple("Point", "x y")


class _Own:
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (_Own(), "tests.model.test_plain_data._Own"),
        ([Point(1, 2)], "tests.model.test_plain_data.Point"),
        ({"a": Counter()}, "collections.Counter"),
        (OrderedDict(), "collections.OrderedDict"),
        (np.int64(1), "numpy.int64"),
        (np.zeros(2), "numpy.ndarray"),
        (frozenset(), "frozenset"),
        ({_Own: 1}, "type"),
        (1j, "complex"),
    ],
)
def test_everything_else_is_refused(value: Any, kind: str) -> None:
    with pytest.raises(NotPlain, match=rf"it holds a {kind}; a state is made of None, bool, "):
        to_text(value)


def test_what_cannot_be_written() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (circle, 10**5000):
        with pytest.raises(NotPlain, match="it cannot be written as text"):
            to_text(value)


def test_the_text_of_a_set_does_not_depend_on_hashes() -> None:
    program = "from tidegate.model.plain_data import to_text; print(to_text({'ab', 'b', 'c', 1, None, (2, 'x')}))"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
