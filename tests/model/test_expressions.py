"""Building, walking and rewriting bound expressions."""

from tidegate.model.expressions import (
    FALSE,
    TRUE,
    Call,
    Case,
    Cast,
    Expr,
    Field,
    Literal,
    all_of,
    any_of,
    bigint,
    call,
    children,
    fields_of,
    is_null,
    negate,
    null,
    substitute,
    text,
    walk,
)
from tidegate.model.types import Scalar

A, B, C = (Field(name, Scalar.BOOLEAN) for name in "abc")
CHOICE = Case(((A, bigint(1)), (B, bigint(2))), Cast(C, Scalar.BIGINT), Scalar.BIGINT)


def test_conjunction_leaves_out_what_is_always_true() -> None:
    assert all_of() == TRUE
    assert all_of(TRUE, A, TRUE) == A
    assert all_of(A, B, C) == call("and", call("and", A, B), C)
    assert all_of(A, FALSE) == call("and", A, FALSE)


def test_disjunction_leaves_out_what_is_never_true() -> None:
    assert any_of() == FALSE
    assert any_of(FALSE, A) == A
    assert any_of(A, B) == call("or", A, B)
    assert any_of(A, TRUE) == call("or", A, TRUE)


def test_short_forms() -> None:
    assert is_null(A) == Call("is_null", (A,), Scalar.BOOLEAN)
    assert negate(A) == Call("not", (A,), Scalar.BOOLEAN)
    assert text("x") == Literal("x", Scalar.VARCHAR)
    assert null() == Literal(None, Scalar.NULL)
    assert null(Scalar.DATE) == Literal(None, Scalar.DATE)


def test_children_come_left_to_right() -> None:
    assert children(CHOICE) == (A, bigint(1), B, bigint(2), Cast(C, Scalar.BIGINT))
    assert children(call("and", A, B)) == (A, B)
    assert children(A) == ()


def test_walking_meets_the_outermost_first() -> None:
    assert list(walk(CHOICE)) == [CHOICE, A, bigint(1), B, bigint(2), Cast(C, Scalar.BIGINT), C]


def test_fields_of_several() -> None:
    assert fields_of(CHOICE, Field("d", Scalar.DATE)) == {"a", "b", "c", "d"}
    assert fields_of(bigint(1)) == frozenset()


def test_substitution_replaces_the_outermost_match_only() -> None:
    def replacement(node: Expr) -> Expr | None:
        return B if node in (A, negate(A)) else None

    assert substitute(call("and", negate(A), A), replacement) == call("and", B, B)


def test_substitution_reaches_every_kind_of_node() -> None:
    names = {"a": B, "b": C, "c": A}
    turned = substitute(CHOICE, lambda node: names[node.name] if isinstance(node, Field) else None)
    assert turned == Case(((B, bigint(1)), (C, bigint(2))), Cast(A, Scalar.BIGINT), Scalar.BIGINT)
    strict = Cast(A, Scalar.BIGINT, strict=False)
    assert substitute(strict, lambda _node: None) == strict


def test_long_chains_do_not_nest_as_deep() -> None:
    many = [Field(f"f{place}", Scalar.BOOLEAN) for place in range(5_000)]
    folded = all_of(*many)
    assert [node for node in walk(folded) if isinstance(node, Field)] == many
    assert hash(folded) == hash(all_of(*many))
    assert substitute(folded, lambda _node: None) == folded
