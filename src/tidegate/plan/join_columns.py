"""The row columns of a join of two streams.

In: the join, and what is computed of its rows. Out: what each branch makes of a row. Decided here: both sides' rows are
kept by one operator, under the same names: `$side` says of which side a row is, `$k0` … are what both must agree in,
`$e0` … the edges of its window, and `$x0` … what something is computed from, NULL in rows of the other side. All that
is computed from them is computed of joined rows, behind the join, since an outer join makes NULLs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tidegate.model.expressions import Expr, Field, Named, bigint, null, substitute, walk
from tidegate.model.policies import PreEpoch
from tidegate.plan.logical import IntervalJoin, WindowJoin
from tidegate.plan.physical import SIDE, Branch, JoinSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinColumns:
    """`left` and `right` have the same names. `names` says which row column a column of the join is."""

    left: tuple[Named, ...]
    right: tuple[Named, ...]
    keys: tuple[Field, ...]
    edges: tuple[tuple[Field, str], ...]
    names: Mapping[str, Field]
    spec: JoinSpec

    def renamed(self, expr: Expr) -> Expr:
        """The expression over row columns."""
        return substitute(
            expr, lambda node: self.names.get(node.name) if isinstance(node, Field) else None
        )


def join_columns(join: WindowJoin | IntervalJoin, exprs: Iterable[Expr]) -> JoinColumns:
    """What is needed of the rows of both sides."""
    used = dict.fromkeys(node for expr in exprs for node in walk(expr) if isinstance(node, Field))
    on_left, on_right = set(join.left.schema.names), set(join.right.schema.names)
    read = [field for field in used if field.name in on_left | on_right]
    names = {field.name: Field(f"$x{place}", field.type) for place, field in enumerate(read)}
    keys = tuple(Field(f"$k{place}", one.type) for place, (one, _) in enumerate(join.keys))
    edges = tuple(
        (Field(f"$e{place}", one.type), meaning)
        for place, (one, _, meaning) in enumerate(join.edges)
    )
    shared = (*keys, *(field for field, _ in edges))

    def side(number: int, own: set[str]) -> tuple[Named, ...]:
        pairs = (*join.keys, *((left, right) for left, right, _ in join.edges))
        agreed = [pair[number] for pair in pairs]
        values = (field if field.name in own else null(field.type) for field in read)
        return (
            Named(SIDE.name, bigint(number)),
            *(Named(field.name, expr) for field, expr in zip(shared, agreed, strict=True)),
            *(
                Named(names[field.name].name, expr)
                for field, expr in zip(read, values, strict=True)
            ),
        )

    spec = JoinSpec(
        left=tuple(names[field.name].name for field in read if field.name in on_left),
        right=tuple(names[field.name].name for field in read if field.name in on_right),
        keeps_left=join.keeps_left,
        keeps_right=join.keeps_right,
        manner=join.manner,
    )
    return JoinColumns(
        left=side(0, on_left),
        right=side(1, on_right),
        keys=keys,
        edges=edges,
        names=names,
        spec=spec,
    )


def never_idle(branch: Branch) -> Branch:
    """A side that is silent may still have rows for a window: only its watermark says that it has none.

    That its rows are not from the future, nor from before 1970, was seen to where they came in.
    """
    if branch.time is None:
        return branch
    time = replace(
        branch.time, idle_timeout_us=None, max_future_skew_us=None, pre_epoch=PreEpoch.ALLOW
    )
    return replace(branch, time=time)
