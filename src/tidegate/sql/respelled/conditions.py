"""Conditions in other words: LIKE … ESCAPE, SIMILAR TO, BETWEEN SYMMETRIC, rows in parentheses, LIKE ANY."""

import re
from collections.abc import Sequence

from sqlglot import exp

from tidegate import errors
from tidegate.sql.places import span_of
from tidegate.sql.respelled.building import call, constant_text, string
from tidegate.sql.source import SourceText

_PLAIN_IN_REGEX = re.compile(r"([.^$\\])")


def escaped(node: exp.Escape, source: SourceText) -> exp.Expression | None:
    """`x LIKE 'a#%' ESCAPE '#'`: our own escape is the backslash."""
    matched = node.this
    sign = constant_text(node.expression)
    if not isinstance(matched, (exp.Like, exp.ILike)) or sign is None or len(sign) != 1:
        return None
    pattern = constant_text(matched.expression)
    if pattern is None:
        raise errors.unsupported_expression(
            source.location(span_of(node, source)),
            what="ESCAPE behind a pattern that is no literal",
            instead="the escape of LIKE is a backslash",
        )
    text = string(_with_backslashes(pattern, sign))
    text.meta.update(matched.expression.meta)
    return type(matched)(this=matched.this, expression=text, negate=matched.args.get("negate"))


def _with_backslashes(pattern: str, sign: str) -> str:
    r"""
    >>> print(_with_backslashes("a#%b\\##_%", "#"))
    a\%b\\#_%
    """
    made, signs = [], iter(pattern)
    for char in signs:
        if char == sign:
            following = next(signs, "")
            made.append(
                f"\\{following}" if following in ("%", "_", "\\") and following else following
            )
        else:
            made.append("\\\\" if char == "\\" else char)
    return "".join(made)


def similar(node: exp.SimilarTo, source: SourceText) -> exp.Expression | None:
    """SQL's regular expressions: LIKE's signs, and | * + ? {n} ( ) [ ] as elsewhere; the whole text has to match."""
    pattern = constant_text(node.expression)
    if pattern is None:
        raise errors.unsupported_expression(
            source.location(span_of(node, source)),
            what="SIMILAR TO a pattern that is no literal",
            instead="write the pattern as a literal",
        )
    text = string(f"^({_as_regex(pattern)})$")
    text.meta.update(node.expression.meta)
    return call("rlike", node.this, text)


def _as_regex(pattern: str) -> str:
    r"""
    >>> print(_as_regex("a%(b|c)_[x.y]\\%."))
    a(.|\n)*(b|c)(.|\n)[x.y]%\.
    """
    made, inside, signs = [], False, iter(pattern)
    for char in signs:
        if char == "\\":
            following = next(signs, "")
            made.append(re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", following))
        elif inside or char == "[":
            inside = char != "]"
            made.append(char)
        elif char in "%_":
            made.append(r"(.|\n)*" if char == "%" else r"(.|\n)")
        else:
            made.append(_PLAIN_IN_REGEX.sub(r"\\\1", char))
    return "".join(made)


def between(node: exp.Between) -> exp.Expression | None:
    """`BETWEEN SYMMETRIC`: the bounds in either order."""
    if not node.args.get("symmetric"):
        return None
    low, high = node.args["low"], node.args["high"]
    return exp.Paren(
        this=exp.Or(
            this=exp.Between(this=node.this.copy(), low=low.copy(), high=high.copy()),
            expression=exp.Between(this=node.this, low=high, high=low),
        )
    )


def of_rows(node: exp.EQ | exp.NEQ) -> exp.Expression | None:
    """`(a, b) = (c, d)`."""
    left, right = _parts(node.this), _parts(node.expression)
    if left is None or right is None or len(left) != len(right):
        return None
    every = _all_equal(left, right)
    return exp.Not(this=every) if isinstance(node, exp.NEQ) else every


def row_in(node: exp.In) -> exp.Expression | None:
    """`(a, b) IN ((c, d), …)`."""
    left = _parts(node.this)
    rows = [_parts(row) for row in node.expressions]
    if left is None or not rows:
        return None
    found: exp.Expression | None = None
    for row in rows:
        if row is None or len(row) != len(left):
            return None
        equal = _all_equal([part.copy() for part in left], row)
        found = equal if found is None else exp.Or(this=found, expression=equal)
    return exp.Paren(this=found)


def _all_equal(left: Sequence[exp.Expression], right: Sequence[exp.Expression]) -> exp.Expression:
    pairs = [exp.EQ(this=one, expression=other) for one, other in zip(left, right, strict=True)]
    every: exp.Expression = pairs[0]
    for pair in pairs[1:]:
        every = exp.And(this=every, expression=pair)
    return exp.Paren(this=every)


def _parts(node: exp.Expression) -> list[exp.Expression] | None:
    return list(node.expressions) if isinstance(node, exp.Tuple) else None


def like_any(node: exp.Like | exp.ILike) -> exp.Expression | None:
    """`x LIKE ANY ('a%', 'b%')` and ALL."""
    several = node.expression
    if not isinstance(several, (exp.Any, exp.All)):
        return None
    listed = several.this.this if isinstance(several.this, exp.Paren) else several.this
    patterns = _parts(listed) or [listed]
    combine = exp.Or if isinstance(several, exp.Any) else exp.And
    whole: exp.Expression | None = None
    for pattern in patterns:
        one = type(node)(this=node.this.copy(), expression=pattern, negate=node.args.get("negate"))
        whole = one if whole is None else combine(this=whole, expression=one)
    return exp.Paren(this=whole)
