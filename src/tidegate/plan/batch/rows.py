"""What a windowed query reads, as one FROM with conditions: the rows before any window.

In: the logical plan below the window. Out: `Rows`: a FROM clause, and what every name means on it. Projections are
looked through, so that an expression is computed where it is used, and its errors are those of the row it is used for.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidegate.model.expressions import Expr, Field, Named, call, substitute
from tidegate.model.policies import TimeMode, WatermarkOrigin
from tidegate.model.types import Scalar
from tidegate.plan.batch.scalars import quote, refused, scalar
from tidegate.plan.event_time import UPSTREAM_TIME
from tidegate.plan.logical import (
    Emission,
    EventTime,
    Filter,
    Logical,
    Project,
    Source,
    StaticTable,
    StreamRef,
    TableJoin,
    UnionAll,
)
from tidegate.plan.row_errors import NO_ERROR, error_of

Meanings = Mapping[str, Expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """`meanings` gives each visible name in terms of the columns of `source`; `time` is the event time, if any.

    `timed`: what it reads has a `$time`.
    """

    source: str
    meanings: Meanings
    kept: tuple[Expr, ...] = ()
    time: Expr | None = None
    from_source: bool = False
    timed: bool = False

    def mean(self, expr: Expr) -> Expr:
        """The expression in terms of the columns."""
        return substitute(
            expr,
            lambda node: self.meanings.get(node.name) if isinstance(node, Field) else None,
        )


@dataclass(slots=True)
class Steps:
    """The named parts of one WITH, in order. `stream` and `subquery` write other queries into it and give their name.

    `taken` are names in use, in lower case, `timed` those of parts with a `$time`. `falls_back`: a row without the
    first of several times has the next one.
    """

    stream: Callable[[str], str]
    subquery: Callable[[Emission], str]
    taken: set[str]
    timed: set[str] = field(default_factory=set)
    falls_back: bool = False
    parts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, sql: str) -> str:
        """The name that the part got."""
        chosen, number = name, 1
        while chosen.lower() in self.taken:
            number += 1
            chosen = f"{name}_{number}"
        self.taken.add(chosen.lower())
        self.parts.append((chosen, sql))
        return chosen


def rows_of(node: Logical, steps: Steps) -> Rows:
    """The rows that the plan makes, one by one."""
    match node:
        case Source(name=name) | StaticTable(name=name):
            return _read(name, node, steps)
        case StreamRef(name=name):
            return _read(steps.stream(name), node, steps)
        case Emission():
            return _read(steps.subquery(node), node, steps)
        case Project(input=input, columns=columns):
            below = rows_of(input, steps)
            return replace(
                below, meanings={named.name: below.mean(named.expr) for named in columns}
            )
        case Filter(input=input, predicate=predicate):
            below = rows_of(input, steps)
            return replace(below, kept=(*below.kept, below.mean(predicate)))
        case EventTime():
            return _timed(node, steps)
        case TableJoin():
            return _joined(node, steps)
        case UnionAll():
            return _union(node, steps)
        case _:
            raise refused(f"{type(node).__name__} below a window")


def _read(name: str, node: Source | StaticTable | StreamRef | Emission, steps: Steps) -> Rows:
    """All columns of a relation; prefixed, they get names of their own first."""
    prefix = getattr(node, "prefix", "")
    fields = [Field(column.name, column.type) for column in node.schema]
    if prefix:
        inner = ", ".join(
            f"{quote(one.name.removeprefix(prefix))} AS {quote(one.name)}" for one in fields
        )
        hidden = f', "{UPSTREAM_TIME.name}"' if name in steps.timed else ""
        name = steps.add(prefix.rstrip("."), f"SELECT {inner}{hidden} FROM {quote(name)}")
        if hidden:
            steps.timed.add(name)
    return Rows(
        source=quote(name),
        meanings={one.name: one for one in fields},
        from_source=isinstance(node, Source),
        timed=name in steps.timed,
    )


def _timed(node: EventTime, steps: Steps) -> Rows:
    below = rows_of(node.input, steps)
    if node.mode is TimeMode.PROCESSING or node.watermark is WatermarkOrigin.CLOCK:
        raise refused("a window over the clock")
    if any(step.expr is None for step in node.ladder):
        raise refused("rows without an event time")
    if not below.timed and node.ladder[0].expr == UPSTREAM_TIME:
        return below  # a stream without windows has no time
    rungs = [below.mean(step.expr) for step in node.ladder if step.expr is not None]
    rungs = rungs if steps.falls_back else rungs[:1]
    time = rungs[0] if len(rungs) == 1 else call("coalesce", *rungs, type=Scalar.TIMESTAMP)
    return replace(below, time=time)


def _joined(node: TableJoin, steps: Steps) -> Rows:
    left, right = rows_of(node.input, steps), rows_of(node.table, steps)
    meanings = {**left.meanings, **right.meanings}
    both = replace(left, meanings=meanings)
    on = both.mean(node.on)
    if error_of(on) != NO_ERROR or right.kept:
        raise refused("a join whose condition may fail for a row")
    how = "LEFT JOIN" if node.outer else "JOIN"
    return replace(both, source=f"{left.source} {how} {right.source} ON {scalar(on)}")


def _union(node: UnionAll, steps: Steps) -> Rows:
    names = node.schema.names
    parts = [rows_of(part, steps) for part in node.inputs]
    timed = all(part.time is not None for part in parts)
    texts = []
    for part, branch in zip(parts, node.inputs, strict=True):
        own = [part.meanings[column.name] for column in branch.schema]
        columns = list(map(Named, names, own))
        if any(error_of(named.expr) != NO_ERROR for named in columns):
            raise refused("a UNION of expressions that may fail for a row")
        if timed and part.time is not None:
            columns.append(Named(UPSTREAM_TIME.name, part.time))
        texts.append(select(columns, part.source, list(conditions(part))))
    source = quote(steps.add("united", "\nUNION ALL\n".join(texts)))
    fields = [Field(column.name, column.type) for column in node.schema]
    return Rows(
        source=source,
        meanings={one.name: one for one in fields},
        time=UPSTREAM_TIME if timed else None,
        from_source=any(part.from_source for part in parts),
    )


def conditions(rows: Rows) -> Iterator[str]:
    """WHERE, and that it could be decided."""
    for predicate in rows.kept:
        yield scalar(predicate)
        yield from unless_failing(predicate)


def unless_failing(*exprs: Expr) -> Iterator[str]:
    """That the expressions have values, where they may have none."""
    for expr in exprs:
        code = error_of(expr)
        if code != NO_ERROR:
            yield f"({scalar(code)}) = 0"


def select(columns: list[Named], source: str, where: list[str]) -> str:
    shown = ", ".join(_column(named) for named in columns)
    kept = f"\nWHERE {' AND '.join(where)}" if where else ""
    return f"SELECT {shown}\nFROM {source}{kept}"


def _column(named: Named) -> str:
    text, name = scalar(named.expr), quote(named.name)
    return text if text == name else f"{text} AS {name}"
