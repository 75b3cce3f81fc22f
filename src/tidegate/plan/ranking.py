"""`ROW_NUMBER() OVER (PARTITION BY window_start, window_end [, k …] ORDER BY …)`: rows of a window, numbered.

In: the SELECT list of a windowed query, or of one that passes its rows on. Out: a `TopN` without a limit, the number
as its column `$rank`; `WHERE rn <= n` in the query around becomes the limit (`passing.py`). So Flink's window Top-N and
window deduplication are the plan node of ORDER BY … LIMIT, in every EMIT mode. `QUALIFY rn <= n` says the same at once.

Decided here: when the partition is exactly a window and keys within it. SQL would number the rows of all windows that
have equal values there; a stream has one window after the other, so the partition has to name its window.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Call, Expr, Field, Literal, SortKey, fields_of, walk
from tidegate.model.types import is_comparable
from tidegate.model.windows import (
    Calendar,
    Cumulating,
    Hopping,
    Inherited,
    Session,
    Tumbling,
    Window,
)
from tidegate.plan.aggregate_calls import sort_key
from tidegate.plan.calls import CallRules
from tidegate.plan.expressions import Context, bind, bind_condition
from tidegate.plan.logical import RANK, WINDOW_COLUMNS, Aggregate, Having, Logical, TopN, Windowed
from tidegate.plan.over import clause_of, is_row_number, refuse_ranking

_BY_WINDOW = "PARTITION BY window_start, window_end, and by keys if rows are numbered per key"
_EDGES = {
    "window_start": frozenset({"start"}),
    "window_end": frozenset({"end"}),
    "window_time": frozenset({"end"}),
    "window_id": frozenset({"start", "end"}),
}
_BOTH = frozenset({"start", "end"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One OVER clause of ROW_NUMBER, bound; `at` is where it stands, `limit` what QUALIFY says of the number."""

    partition: tuple[Expr, ...]
    order: tuple[SortKey, ...]
    at: errors.Location
    limit: int | None = None

    def renamed(self, rename: Callable[[Expr], Expr]) -> "Ranking":
        """The same in terms of something else."""
        return replace(
            self,
            partition=tuple(map(rename, self.partition)),
            order=tuple(replace(key, expr=rename(key.expr)) for key in self.order),
        )


@dataclass(slots=True, kw_only=True)
class RankSink:
    """The ROW_NUMBER of a SELECT list and of QUALIFY, of which there is one; `rules` bind everything else."""

    rules: CallRules
    named: dict[str, exp.Window]
    ranking: Ranking | None = None

    def bind(self, node: exp.Expression, context: Context) -> Expr:
        """The binder of the SELECT list."""
        if not isinstance(node, exp.Window):
            return self.rules.bind(node, context)
        if not is_row_number(node):
            refuse_ranking(node, context)
            return self.rules.bind(node, context)
        clause = clause_of(node, self.named, context)
        at = context.at_head(node.this)
        if clause.args.get("spec"):
            instead = "ROW_NUMBER numbers all rows of its partition: leave the frame out"
            raise errors.not_supported(at, what="ROW_NUMBER() with a frame", instead=instead)
        found = Ranking(
            partition=self._partition(clause, context),
            order=self._order(clause, context, at),
            at=at,
        )
        if self.ranking is not None and replace(self.ranking, at=at) != found:
            instead = "number the rows again in a query around this one's stream"
            raise errors.not_supported(
                at, what="ROW_NUMBER() by two different orders", instead=instead
            )
        self.ranking = self.ranking or found
        return RANK

    def _partition(self, clause: exp.Window, context: Context) -> tuple[Expr, ...]:
        inner = replace(context, clause="PARTITION BY", call=self.rules.bind)
        made = []
        for item in clause.args.get("partition_by") or ():
            expr = bind(item, inner)
            if not is_comparable(expr.type):
                raise errors.not_comparable(context.at(item), use="PARTITION BY", type=expr.type)
            made.append(expr)
        return tuple(dict.fromkeys(made))

    def _order(
        self, clause: exp.Window, context: Context, at: errors.Location
    ) -> tuple[SortKey, ...]:
        order = clause.args.get("order")
        if order is None:
            instead = "say which row comes first: ORDER BY n DESC"
            raise errors.not_supported(at, what="ROW_NUMBER() without ORDER BY", instead=instead)
        inner = replace(context, clause="ORDER BY", call=self.rules.bind)
        return tuple(sort_key(item, inner) for item in order.expressions)


def asked_for(select: exp.Select, sink: RankSink, context: Context) -> Ranking | None:
    """The ranking of the SELECT list, or of QUALIFY, which limits it."""
    clause = select.args.get("qualify")
    if clause is None:
        return sink.ranking
    condition = bind_condition(clause.this, replace(context, clause="QUALIFY", call=sink.bind))
    if sink.ranking is None:
        instead = "use WHERE or HAVING for what is not about ROW_NUMBER()"
        raise errors.not_supported(
            context.at(clause), what="QUALIFY without ROW_NUMBER()", instead=instead
        )
    return replace(sink.ranking, limit=upper_bound(condition, context.at(clause.this)))


def ranked(node: Logical, ranking: Ranking) -> TopN:
    """The rows of each window of the node, numbered."""
    edges: frozenset[str] = frozenset()
    within = []
    for expr in ranking.partition:
        meaning = expr.name[1:] if isinstance(expr, Field) and expr.name.startswith("$") else ""
        if meaning in WINDOW_COLUMNS:
            edges |= _EDGES[meaning]
        else:
            within.append(expr)
    _refuse_other_partitions(node, edges, within, ranking.at)
    return TopN(input=node, order=ranking.order, limit=ranking.limit, within=tuple(within))


def _refuse_other_partitions(
    node: Logical, edges: frozenset[str], within: list[Expr], at: errors.Location
) -> None:
    windowed, keys = _windowed(node)
    if windowed is None:
        raise no_window(at)
    needed = _needed(windowed)
    if needed is None:
        what = f"ROW_NUMBER() over {windowed.window.kind} windows"
        raise errors.not_supported(at, what=what, instead="write ORDER BY … LIMIT n")
    if not edges or not needed <= edges:
        raise errors.not_supported(
            at, what="ROW_NUMBER() over several windows at once", instead=_BY_WINDOW
        )
    if isinstance(windowed.window, Session) and not set(keys) <= set(within):
        instead = "add the keys of the session to PARTITION BY: each key has sessions of its own"
        raise errors.not_supported(
            at, what="ROW_NUMBER() over sessions of several keys", instead=instead
        )


def no_window(at: errors.Location) -> errors.TidegateError:
    """Rows that are of no window have no last one, and so no number that stays."""
    instead = f"number the rows of a query with a window ({_BY_WINDOW}), or write ORDER BY … LIMIT n there"
    return errors.not_supported(at, what="ROW_NUMBER() OVER without a window", instead=instead)


def _windowed(node: Logical) -> tuple[Windowed | None, tuple[Expr, ...]]:
    """The window whose rows these are, and the keys that they are grouped or kept by."""
    keys: tuple[Expr, ...] = ()
    while isinstance(node, (Having, Aggregate)):
        if isinstance(node, Aggregate):
            keys = tuple(Field(named.name, named.expr.type) for named in node.keys)
        node = node.input
    if not isinstance(node, Windowed):
        return None, keys
    return node, keys or node.partition_by


def _needed(windowed: Windowed) -> frozenset[str] | None:
    """The edges that tell this kind of window apart; None: nothing that a query can name does."""
    window: Window = windowed.window
    match window:
        case Calendar(kind="hopping", size=size) if not size.is_calendar:
            return _BOTH  # where a clock jumps, several begin at once
        case Tumbling() | Hopping() | Calendar(kind="tumbling" | "hopping"):
            return frozenset()
        case Cumulating() | Calendar():
            return frozenset({"end"})
        case Session():
            return _BOTH
        case Inherited():
            return frozenset().union(*(_EDGES[meaning] for _, meaning in windowed.inherited))
        case _:
            return None


def refuse_computed_rank(exprs: Iterable[Expr], at: errors.Location) -> None:
    """The number is known when all else is; nothing is computed of it."""
    if any(expr != RANK and RANK.name in fields_of(expr) for expr in exprs):
        instead = "select it as it is, and compute in a query that reads this one as a stream"
        raise errors.not_supported(at, what="an expression over ROW_NUMBER()", instead=instead)


def upper_bound(predicate: Expr, at: errors.Location) -> int:
    """The n of `rn <= n`, however that is written; whatever else the condition says is refused."""
    bounds = [_bound(part) for part in _conjuncts(predicate)]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        raise errors.not_supported(
            at,
            what="a condition on ROW_NUMBER() that is not rn <= n alone",
            instead="write rn <= n here, and other conditions in the query that numbers the rows",
        )
    return max(min(known), 0)


def is_bound(part: Expr) -> bool:
    """Whether the condition is `rn <= n` and nothing else."""
    return _bound(part) is not None


def reads_rank(predicate: Expr) -> bool:
    return any(node == RANK for node in walk(predicate))


_MIRRORED = {">=": "<=", ">": "<", "=": "=", "<=": ">=", "<": ">"}


def _bound(part: Expr) -> int | None:
    """`rn >= 1` holds always: the bound is as high as there are rows."""
    if not isinstance(part, Call) or len(part.args) != 2 or part.function not in _MIRRORED:
        return None
    (left, right), compared = part.args, part.function
    if right == RANK:
        left, right, compared = right, left, _MIRRORED[compared]
    if left != RANK or not isinstance(right, Literal) or type(right.value) is not int:
        return None
    match compared, right.value:
        case ("<=", most) | ("=", 1 as most):
            return most
        case ("<", above):
            return above - 1
        case (">=", 1) | (">", 0):
            return 2**31 - 1
        case _:
            return None


def _conjuncts(predicate: Expr) -> Iterator[Expr]:
    stack = [predicate]
    while stack:
        part = stack.pop()
        if isinstance(part, Call) and part.function == "and":
            stack.extend(part.args)
        else:
            yield part
