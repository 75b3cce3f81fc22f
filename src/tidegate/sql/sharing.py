"""Computes what is used more than once only once.

A template may name its argument several times (a checked sum does), so the text of nested calls would grow
exponentially. Before columns are rendered, every part that would be written twice is given a column of its own in a
SELECT below. All our templates are total, so computing a part unconditionally changes nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from tidegate.model.expressions import Call, Case, Cast, Expr, Field, Named, children, substitute
from tidegate.sql.functions.catalogue import FUNCTIONS
from tidegate.sql.functions.signature import Template

PREFIX = "$t"


def in_layers(columns: Sequence[Named]) -> list[tuple[Named, ...]]:
    """Columns to compute first, layer by layer, and last the given columns in terms of them."""
    uses = _count_uses([named.expr for named in columns])
    shared = {expr for expr, count in uses.items() if count > 1 and _is_worth_it(expr)}
    if not shared:
        return [tuple(columns)]
    names = {
        expr: f"{PREFIX}{place}"
        for place, expr in enumerate(expr for expr in uses if expr in shared)
    }
    depths: dict[Expr, int] = {}
    layers: dict[int, list[Named]] = {}
    for expr, name in names.items():
        layers.setdefault(_depth(expr, shared, depths), []).append(
            Named(name, _inside(expr, names))
        )
    last = tuple(Named(named.name, _replaced(named.expr, names)) for named in columns)
    return [*(tuple(layers[depth]) for depth in sorted(layers)), last]


def _count_uses(exprs: Sequence[Expr]) -> Counter[Expr]:
    """How often each part would be written, counting the parts of a shared one once."""
    uses: Counter[Expr] = Counter()
    for expr in exprs:
        _visit(expr, 1, uses)
    return uses


def _visit(expr: Expr, times: int, uses: Counter[Expr]) -> None:
    seen = expr in uses
    uses[expr] += times
    if seen:
        return
    for part, weight in _parts(expr):
        _visit(part, weight, uses)


def _parts(expr: Expr) -> Iterator[tuple[Expr, int]]:
    """Operands, with how often the text of `expr` names each."""
    match expr:
        case Call(function=function, args=args):
            resolved = FUNCTIONS[function].resolve([arg.type for arg in args])
            assert resolved is not None, expr
            for place, arg in enumerate(args):
                yield (
                    arg,
                    max(
                        _mentions(resolved[0].datafusion, place),
                        _mentions(resolved[0].spark, place),
                    ),
                )
        case Cast(operand=operand):
            yield operand, 2
        case _:
            for part in children(expr):
                yield part, 1


def _mentions(template: Template, place: int) -> int:
    return template.count(f"{{{place}}}") or 1 if isinstance(template, str) else 2


def _is_worth_it(expr: Expr) -> bool:
    return isinstance(expr, (Call, Cast, Case))


def _depth(expr: Expr, shared: set[Expr], known: dict[Expr, int]) -> int:
    """How many layers must be there before the expression."""
    if expr not in known:
        below = [_depth(part, shared, known) for part in children(expr)]
        inside = [_depth(part, shared, known) + 1 for part in children(expr) if part in shared]
        known[expr] = max([0, *below, *inside])
    return known[expr]


def _replaced(expr: Expr, names: dict[Expr, str]) -> Expr:
    return substitute(expr, lambda node: Field(names[node], node.type) if node in names else None)


def _inside(expr: Expr, names: dict[Expr, str]) -> Expr:
    """The expression itself, with its parts replaced."""
    return substitute(
        expr,
        lambda node: Field(names[node], node.type) if node is not expr and node in names else None,
    )
