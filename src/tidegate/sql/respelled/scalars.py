"""Scalar calls of other systems that are short for an expression of ours."""

from sqlglot import exp

from tidegate.sql.respelled.building import (
    Arguments,
    Respelling,
    call,
    case,
    constant_count,
    constant_text,
    is_null,
    made,
    number,
    string,
)
from tidegate.sql.source import SourceText


def _decode(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """NULL is found by NULL, unlike in CASE x WHEN."""
    if len(given) < 3:
        return None
    value, *pairs = given
    default = pairs.pop() if len(pairs) % 2 else None
    branches = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=key), true=result)
        for key, result in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    return exp.Case(ifs=branches, default=default)


def _overlaid(given: Arguments) -> exp.Expression:
    text, new, start, *length = given
    behind = exp.Add(
        this=start.copy(), expression=length[0] if length else call("length", new.copy())
    )
    before = call(
        "left", text.copy(), exp.Sub(this=exp.Paren(this=start.copy()), expression=number(1))
    )
    return exp.DPipe(
        this=exp.DPipe(this=before, expression=new),
        expression=call("substring", text, behind),
    )


def overlay(node: exp.Overlay) -> exp.Expression:
    """`OVERLAY(x PLACING y FROM p FOR n)`."""
    parts = [node.this, node.expression, node.args["from_"], node.args.get("for_")]
    return _overlaid([part for part in parts if part is not None])


def _digest(given: Arguments, _source: SourceText) -> exp.Expression | None:
    bits = constant_count(given[1]) if len(given) == 2 else None
    return call("sha256", given[0]) if bits in (0, 256) else None


def _array_length(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """PostgreSQL's second argument is the dimension."""
    first = len(given) == 2 and constant_count(given[1]) == 1
    return call("cardinality", given[0]) if first else None


def _date_part(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """The part as a text or a word."""
    if len(given) != 2:
        return None
    part = constant_text(given[0]) or given[0].name
    return exp.Extract(this=exp.Var(this=part.upper()), expression=given[1]) if part else None


def _struct(given: Arguments, _source: SourceText) -> exp.Expression | None:
    """Fields are called like the columns and aliases that they are, else by their number."""
    parts: Arguments = []
    for place, value in enumerate(given, start=1):
        inner = value.expression if isinstance(value, exp.PropertyEQ) else value
        plain = inner.this if isinstance(inner, exp.Alias) else inner
        named = value.this if isinstance(value, exp.PropertyEQ) else inner
        name = named.alias_or_name if isinstance(named, _NAMED) else f"col{place}"
        parts += [string(name), plain]
    return call("named_struct", *parts) if parts else None


_NAMED = (exp.Alias, exp.Column, exp.Identifier, exp.Literal)


def struct(node: exp.Struct, source: SourceText) -> exp.Expression | None:
    """DuckDB's `{'a': x}`."""
    return _struct(list(node.expressions), source)


SCALARS = (
    Respelling(
        names=("struct", "row", "struct_pack"),
        form="struct(a, x AS b)",
        means="NAMED_STRUCT('a', a, 'b', x)",
        rewrite=_struct,
    ),
    Respelling(
        names=("iif",),
        form="iif(condition, a, b)",
        means="CASE WHEN condition THEN a ELSE b END",
        rewrite=made(3, case),
    ),
    Respelling(
        names=("nvl2",),
        form="nvl2(x, a, b)",
        means="CASE WHEN x IS NULL THEN b ELSE a END",
        rewrite=made(3, lambda value, there, rest: case(is_null(value), rest, there)),
    ),
    Respelling(
        names=("decode",),
        form="decode(x, key, a, …, b)",
        means="CASE WHEN x IS NOT DISTINCT FROM key THEN a … ELSE b END",
        rewrite=_decode,
    ),
    Respelling(
        names=("isnull",), form="isnull(x)", means="x IS NULL", rewrite=made(1, is_null)
    ),
    Respelling(
        names=("isnotnull",),
        form="isnotnull(x)",
        means="x IS NOT NULL",
        rewrite=made(1, lambda value: exp.Not(this=is_null(value))),
    ),
    Respelling(
        names=("zeroifnull",),
        form="zeroifnull(x)",
        means="COALESCE(x, 0)",
        rewrite=made(1, lambda value: call("coalesce", value, number(0))),
    ),
    Respelling(
        names=("nullifzero",),
        form="nullifzero(x)",
        means="NULLIF(x, 0)",
        rewrite=made(1, lambda value: call("nullif", value, number(0))),
    ),
    Respelling(
        names=("as_value",),
        form="as_value(x)",
        means="x",
        rewrite=made(1, lambda value: exp.Paren(this=value)),
    ),
    Respelling(
        names=("try_divide", "safe_divide"),
        form="try_divide(a, b)",
        means="a / NULLIF(b, 0)",
        rewrite=made(
            2, lambda a, b: exp.Div(this=exp.Paren(this=a), expression=call("nullif", b, number(0)))
        ),
    ),
    Respelling(
        names=("pmod", "positive_mod"),
        form="pmod(a, b)",
        means="(a % b + b) % b",
        rewrite=made(
            2,
            lambda a, b: exp.Mod(
                this=exp.Paren(
                    this=exp.Add(
                        this=exp.Mod(this=exp.Paren(this=a), expression=exp.Paren(this=b)),
                        expression=exp.Paren(this=b.copy()),
                    )
                ),
                expression=exp.Paren(this=b.copy()),
            ),
        ),
    ),
    Respelling(
        names=("negative",), form="negative(x)", means="-x",
        rewrite=made(1, lambda value: exp.Neg(this=exp.Paren(this=value))),
    ),
    Respelling(
        names=("e",), form="e()", means="EXP(1)", rewrite=made(0, lambda: call("exp", number(1)))
    ),
    Respelling(
        names=("hypot",),
        form="hypot(x, y)",
        means="SQRT(x * x + y * y)",
        rewrite=made(
            2,
            lambda x, y: call(
                "sqrt",
                exp.Add(
                    this=call("power", x, number(2)), expression=call("power", y, number(2))
                ),
            ),
        ),
    ),
    Respelling(
        names=("shiftleft",),
        form="shiftleft(x, n)",
        means="x << n",
        rewrite=made(2, lambda x, n: exp.BitwiseLeftShift(this=x, expression=n)),
    ),
    Respelling(
        names=("shiftright",),
        form="shiftright(x, n)",
        means="x >> n",
        rewrite=made(2, lambda x, n: exp.BitwiseRightShift(this=x, expression=n)),
    ),
    Respelling(
        names=("space",),
        form="space(n)",
        means="REPEAT(' ', n)",
        rewrite=made(1, lambda count: call("repeat", string(" "), count)),
    ),
    Respelling(
        names=("sha2",), form="sha2(x, 256)", means="SHA256(x)", rewrite=_digest
    ),
    Respelling(
        names=("array_length",),
        form="array_length(a, 1)",
        means="CARDINALITY(a)",
        rewrite=_array_length,
    ),
    Respelling(
        names=("map_contains_key",),
        form="map_contains_key(m, k)",
        means="ARRAY_CONTAINS(MAP_KEYS(m), k)",
        rewrite=made(2, lambda map, key: call("array_contains", call("map_keys", map), key)),
    ),
    Respelling(
        names=("date_part", "datepart"),
        form="date_part('hour', ts)",
        means="EXTRACT(HOUR FROM ts)",
        rewrite=_date_part,
    ),
)  # fmt: skip
