"""What is used more than once is computed once, and text does not explode."""

from tidegate.model.expressions import Case, Cast, Expr, Field, Named, bigint, call
from tidegate.model.types import Scalar
from tidegate.sql.functions.signature import Engine
from tidegate.sql.render import render
from tidegate.sql.sharing import in_layers

X, Y = Field("x", Scalar.BIGINT), Field("y", Scalar.BIGINT)


def plus(one: Expr, other: Expr) -> Expr:
    return call("+", one, other, type=Scalar.BIGINT)


def names(layers: list[tuple[Named, ...]]) -> list[list[str]]:
    return [[named.name for named in layer] for layer in layers]


def test_nothing_is_shared_that_is_used_once() -> None:
    columns = (Named("a", call("&", X, Y, type=Scalar.BIGINT)), Named("b", X), Named("c", X))
    assert in_layers(columns) == [columns]


def test_what_two_columns_use_gets_a_layer_below() -> None:
    both = call("&", X, Y, type=Scalar.BIGINT)
    below, last = in_layers((Named("a", both), Named("b", call("~", both, type=Scalar.BIGINT))))
    assert below == (Named("$t0", both),)
    shared = Field("$t0", Scalar.BIGINT)
    assert last == (Named("a", shared), Named("b", call("~", shared, type=Scalar.BIGINT)))


def test_an_operand_that_a_template_names_twice_is_shared() -> None:
    """A checked sum compares its operands before it adds them."""
    layers = in_layers((Named("a", plus(plus(X, Y), Y)),))
    assert names(layers) == [["$t0"], ["a"]]


def test_shared_parts_of_shared_parts_come_first() -> None:
    inner = plus(X, Y)
    outer = plus(inner, bigint(1))
    layers = in_layers((Named("a", outer), Named("b", outer), Named("c", inner)))
    assert names(layers) == [["$t1"], ["$t0"], ["a", "b", "c"]]
    assert layers[1][0].expr == plus(Field("$t1", Scalar.BIGINT), bigint(1))


def test_parts_of_a_case_and_of_a_cast_are_shared() -> None:
    text = Cast(Field("s", Scalar.VARCHAR), Scalar.BIGINT)
    case = Case(((call("is_null", text), bigint(0)),), text, Scalar.BIGINT)
    assert names(in_layers((Named("a", case),))) == [["$t0"], ["a"]]


def test_text_grows_with_the_depth_and_not_with_its_power() -> None:
    expr: Expr = X
    for _ in range(60):
        expr = plus(expr, Y)
    layers = in_layers((Named("a", expr),))
    text = "".join(render(named.expr, Engine.DATAFUSION) for layer in layers for named in layer)
    assert len(text) < 60 * 400
