"""The logical plan as a tree: what the query means."""

from collections.abc import Iterable, Mapping

from tidegate.model.expressions import Expr
from tidegate.model.policies import WatermarkOrigin
from tidegate.model.time import format_duration
from tidegate.plan.display import (
    Names,
    Shown,
    show,
    show_aggregate,
    show_name,
    show_named,
    show_top,
    shown,
    window_facts,
)
from tidegate.plan.explain.tree import Facts, Node, facts
from tidegate.plan.logical import (
    RANK,
    WINDOW_COLUMNS,
    Aggregate,
    Emission,
    EventTime,
    Filter,
    Having,
    IntervalJoin,
    Logical,
    OverAggregate,
    Project,
    Source,
    StaticTable,
    StreamRef,
    TableJoin,
    TopN,
    UnionAll,
    Windowed,
    WindowJoin,
    inputs,
)


def logical_tree(node: Logical) -> Node:
    """The whole tree."""
    children = tuple(logical_tree(part) for part in inputs(node))
    return Node(*_describe(node, made_names(node)), children)


def made_names(node: Logical) -> dict[str, Shown]:
    """What the planner's own names stand for, seen from a node."""
    names = {f"${name}": Shown(name) for name in WINDOW_COLUMNS}
    names[RANK.name] = Shown("ROW_NUMBER()")
    while isinstance(node, (Emission, Project, Having, TopN)):
        node = node.input
    if isinstance(node, Aggregate):
        names.update((key.name, shown(key.expr)) for key in node.keys)
        names.update((named.name, Shown(show_aggregate(named.call))) for named in node.aggregates)
    if isinstance(node, OverAggregate):
        names.update(
            (named.name, Shown(f"{show_aggregate(named.call)} OVER {number}"))
            for number, frame in enumerate(node.frames, start=1)
            for named in frame.aggregates
        )
    return names


def _describe(node: Logical, names: Names) -> tuple[str, Facts]:
    match node:
        case Source() | StaticTable() | StreamRef():
            return _read(node)
        case (
            Filter()
            | TableJoin()
            | WindowJoin()
            | IntervalJoin()
            | UnionAll()
            | EventTime()
            | Project()
        ):
            return _row_operator(node, names)
        case _:
            return _window_operator(node, names)


def _read(node: Source | StaticTable | StreamRef) -> tuple[str, Facts]:
    columns = ", ".join(map(show_name, node.schema.names))
    if isinstance(node, StreamRef):
        return f"Stream {node.name}", facts(kind=node.kind.value, columns=columns)
    title = "Source" if isinstance(node, Source) else "Table"
    return f"{title} {node.name}", facts(connector=node.connector, columns=columns)


def _row_operator(
    node: Filter | TableJoin | WindowJoin | IntervalJoin | UnionAll | EventTime | Project,
    names: Names,
) -> tuple[str, Facts]:
    match node:
        case Project(columns=columns):
            return "Project", facts(columns=tuple(show_named(named, names) for named in columns))
        case Filter(predicate=predicate):
            return f"Filter {show(predicate)}", ()
        case TableJoin(on=on, outer=outer):
            return f"Join {'left' if outer else 'inner'} on {show(on)}", ()
        case WindowJoin(edges=edges, keys=keys):
            windows = _equalities((left, right) for left, right, _ in edges)
            described = facts(windows=windows, keys=_equalities(keys) or "none")
            return f"WindowJoin {node.manner}", described
        case IntervalJoin(interval=interval, keys=keys):
            described = facts(**window_facts(interval), keys=_equalities(keys) or "none")
            return f"IntervalJoin {node.manner}", described
        case EventTime():
            return "EventTime", _time_facts(node)
        case UnionAll():
            return "UnionAll", ()


def _window_operator(
    node: Windowed | Aggregate | OverAggregate | Having | TopN | Emission, names: Names
) -> tuple[str, Facts]:
    match node:
        case Windowed():
            partition = ", ".join(show(expr) for expr in node.partition_by)
            inherited = ", ".join(show(expr) for expr, _ in node.inherited)
            described = facts(
                **window_facts(node.window), partition_by=partition, columns=inherited
            )
            return "Window", described
        case Aggregate(keys=keys, aggregates=aggregates):
            shown = tuple(show_aggregate(named.call) for named in aggregates)
            return "Aggregate", facts(
                keys=", ".join(show(key.expr) for key in keys) or "none", aggregates=shown
            )
        case OverAggregate():
            return "Over", _over_facts(node)
        case Having(predicate=predicate):
            return f"Having {show(predicate, names)}", ()
        case TopN():
            return f"TopN {show_top(node, names)}", ()
        case Emission():
            return "Emit", _emission_facts(node)


def _equalities(pairs: Iterable[tuple[Expr, Expr]]) -> str:
    return ", ".join(f"{show(left)} = {show(right)}" for left, right in pairs)


def _emission_facts(node: Emission) -> Facts:
    lateness = format_duration(node.lateness_us) if node.lateness_us else None
    every = None if node.emit.interval_us is None else format_duration(node.emit.interval_us)
    return facts(mode=node.emit.mode.value, every=every, kind=node.kind.value, lateness=lateness)


def _time_facts(node: EventTime) -> Facts:
    ladder = ", ".join(
        f"{show(step.expr)} ({step.rung})" for step in node.ladder if step.expr is not None
    )
    lag = format_duration(node.lag_us) if node.watermark is WatermarkOrigin.ROWS else None
    return facts(mode=node.mode.value, watermark=node.watermark.value, lag=lag, ladder=ladder)


def _over_facts(node: OverAggregate) -> Facts:
    lines = []
    for number, frame in enumerate(node.frames, start=1):
        calls = [show_aggregate(named.call) for named in frame.aggregates]
        keys = [show(expr) for expr in frame.partition_by]
        lines.append(frame_line(number, calls, window_facts(frame.window), keys))
    return facts(frames=tuple(lines))


def frame_line(
    number: int, calls: Iterable[str], window: Mapping[str, str], keys: Iterable[str]
) -> str:
    """`2: kind=sliding lookback=10s lookahead=none partition_by=k of SUM(x)`: what `OVER 2` means."""
    shape = " ".join(f"{name}={value}" for name, value in window.items())
    return f"{number}: {shape} partition_by={', '.join(keys) or 'none'} of {', '.join(calls)}"
