"""Relations as text: where a SELECT of its own is needed, and where it is not."""

import pytest

from tidegate.model.expressions import Expr, Field, Named, Parameter, bigint, call, text
from tidegate.model.partials import Merge, PartialOp, PartialSpec
from tidegate.model.relations import (
    Derive,
    Expand,
    Group,
    Keep,
    Lookup,
    NamedPartial,
    Relation,
    Scan,
)
from tidegate.model.types import Scalar
from tidegate.sql.functions.signature import Engine
from tidegate.sql.relations import render_relation

A, B = Field("a", Scalar.BIGINT), Field("b", Scalar.BIGINT)
ROWS = Scan("$batch", (("a", "a"), ("b", "b")))
RENAMED = Scan("$batch", (("a", "x"), ("b", "b")))
BIG = call(">", A, bigint(1))
COUNT = NamedPartial(
    "n", PartialSpec(op=PartialOp.ROWS, args=(), filter=None, type=Scalar.BIGINT, merge=Merge.ADD)
)


def flat(relation: Relation, engine: Engine = Engine.DATAFUSION) -> str:
    return " ".join(render_relation(relation, engine).split())


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (RENAMED, 'SELECT "x" AS "a", "b" FROM "$batch"'),
        (Derive(ROWS, (Named("c", A),)), 'SELECT "a" AS "c" FROM "$batch" AS q'),
        (
            Derive(RENAMED, (Named("a", A),)),
            'SELECT "a" FROM ( SELECT "x" AS "a", "b" FROM "$batch" ) AS q',
        ),
        (Keep(ROWS, BIG), 'SELECT * FROM "$batch" AS q WHERE ("a" > 1)'),
        (
            Derive(Keep(ROWS, BIG), (Named("b", B),)),
            'SELECT "b" FROM "$batch" AS q WHERE ("a" > 1)',
        ),
        (
            Lookup(ROWS, Scan("t", (("c", "c"),)), call("=", A, Field("c", Scalar.BIGINT))),
            'SELECT * FROM "$batch" AS q LEFT JOIN "t" AS r ON ("a" = "c")',
        ),
        (
            Expand(ROWS, "n", 2),
            'SELECT * FROM "$batch" AS q CROSS JOIN (VALUES (0), (1)) AS n("n")',
        ),
        (
            Group(ROWS, (A,), (COUNT,)),
            'SELECT "a", count(*) AS "n" FROM "$batch" AS q GROUP BY "a"',
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_as_few_selects_as_possible(relation: Relation, expected: str) -> None:
    assert flat(relation) == expected


def test_float_keys_are_grouped_by_value() -> None:
    keys = (Field("x", Scalar.DOUBLE), Field("r", Scalar.REAL))
    made = flat(Group(ROWS, keys, (COUNT,)))
    assert made.count("(nanvl(\"x\", CAST('NaN' AS DOUBLE)) + 0.0e0)") == 2
    assert made.count('AS REAL) AS "r"') == 1
    assert flat(Group(ROWS, keys, (COUNT,)), Engine.SPARK).endswith("GROUP BY `r`, `x`")


def test_shared_parts_are_computed_below() -> None:
    both = call("&", A, B, type=Scalar.BIGINT)
    columns = (Named("c", both), Named("d", call("~", both, type=Scalar.BIGINT)), Named("a", A))
    assert flat(Derive(ROWS, columns)) == (
        'SELECT "$t0" AS "c", (-1 - "$t0") AS "d", "a" FROM '
        '( SELECT "a", ("a" & "b") AS "$t0" FROM "$batch" AS q ) AS q'
    )


def test_a_line_break_in_a_constant_stays_what_it_is() -> None:
    odd = "one\ntwo\n  three"
    nested: Relation = Keep(ROWS, call("=", Field("s", Scalar.VARCHAR), text(odd)))
    for name in ("x", "y", "z"):
        nested = Derive(nested, (Named(name, bigint(1)),))
    assert f"'{odd}'" in render_relation(nested, Engine.DATAFUSION)


def test_parameters_are_filled_in_where_they_are_known() -> None:
    late: Expr = call("<", A, Parameter("open_from_us", Scalar.BIGINT))
    assert ":open_from_us" in render_relation(Keep(ROWS, late), Engine.SPARK)
    filled = render_relation(Keep(ROWS, late), Engine.SPARK, {"open_from_us": -7})
    assert filled.endswith("WHERE (`a` < (-7L))")
