"""The window of a query: bound, and given its time.

In: the one `WindowSyntax` of a SELECT, or the window columns of an inner query that it groups by. Out: `ChosenWindow`:
the plan node's description, the time it runs on, and what it is kept per.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Expr
from tidegate.model.options import OptionValue
from tidegate.model.types import Scalar
from tidegate.model.windows import (
    AlignedWindow,
    Calendar,
    Conditional,
    Counting,
    Cumulating,
    Hopping,
    Inherited,
    InvalidLength,
    Session,
    Tumbling,
    Window,
    in_zone,
)
from tidegate.plan.calls import CallRules
from tidegate.plan.expressions import Context, bind
from tidegate.plan.grouping import Keys
from tidegate.sql.windows import WindowSyntax
from tidegate.sql.zones import named_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenWindow:
    window: Window
    syntax: WindowSyntax | None
    time: Expr | None
    partition_by: tuple[Expr, ...] = ()


def bind_window(
    syntax: WindowSyntax, context: Context, keys: Keys, *, options: dict[str, OptionValue]
) -> ChosenWindow:
    """The window that was written, with its time argument and conditions bound."""
    time = None if syntax.time is None else _time(syntax, syntax.time, context)
    partition = tuple(
        bind(key, replace(context, clause="PARTITION BY")) for key in syntax.partition_by
    )
    window = syntax.window
    if window is None:
        window = Conditional(
            open=_condition(syntax, 0, context), close=_condition(syntax, 1, context)
        )
    if isinstance(window, (Tumbling, Hopping, Cumulating, Calendar)):
        window = _in_zone(window, syntax, context, options)
    if isinstance(window, Session):
        inclusive = window.inclusive or options.get("session_gap") == "inclusive"
        window = replace(window, inclusive=inclusive)
        _refuse_other_partition(syntax, partition, keys, context)
        partition = () if keys.named else partition
    elif partition and not isinstance(window, (Counting, Conditional)):
        at = context.scope.source.location(syntax.span)
        raise errors.not_supported(
            at, what=f"PARTITION BY in {syntax.spelling}", instead="group by the keys instead"
        )
    return ChosenWindow(window=window, syntax=syntax, time=time, partition_by=partition)


def _in_zone(
    window: AlignedWindow,
    syntax: WindowSyntax,
    context: Context,
    options: dict[str, OptionValue],
) -> AlignedWindow:
    """A window that names no zone goes by that of the option `time_zone`, if there is one."""
    name = options.get("time_zone")
    if syntax.zone is not None or name is None:
        return window
    at = context.scope.source.location(syntax.span)
    try:
        return in_zone(window, named_zone(str(name), at))
    except InvalidLength as invalid:
        raise invalid.kind(at, order="", **invalid.facts) from None


def inherited_window(keys: Keys) -> ChosenWindow | None:
    """Grouping by window columns of an inner query groups by its windows."""
    if not keys.inherited:
        return None
    return ChosenWindow(window=Inherited(), syntax=None, time=None)


def _time(syntax: WindowSyntax, node: exp.Expression, context: Context) -> Expr:
    time = bind(node, replace(context, clause=syntax.spelling, call=CallRules().bind))
    if time.type is not Scalar.TIMESTAMP:
        named = node.name if isinstance(node, exp.Column) else "this"
        instead = (
            "convert it: CAST(x AS TIMESTAMP)"
            if time.type is Scalar.DATE
            else "convert it: TO_TIMESTAMP_MS(x) for milliseconds, TO_TIMESTAMP_S(x) for seconds"
        )
        at = context.at(node)
        raise errors.time_argument(
            at, window=syntax.spelling, name=named, type=time.type, instead=instead
        )
    return time


def _condition(syntax: WindowSyntax, place: int, context: Context) -> Expr:
    node = syntax.conditions[place]
    condition = bind(node, replace(context, clause=syntax.spelling, call=CallRules().bind))
    if condition.type is not Scalar.BOOLEAN:
        argument = ("open", "close")[place]
        at = context.at(node)
        raise errors.condition_on_own_rows(
            at, argument=argument, window=syntax.spelling, got=condition.type
        )
    return condition


def _refuse_other_partition(
    syntax: WindowSyntax, partition: tuple[Expr, ...], keys: Keys, context: Context
) -> None:
    """Sessions are kept per group; a PARTITION BY that says otherwise would mean something else."""
    grouped = {named.expr for named in keys.named}
    if partition and grouped and set(partition) != grouped:
        at = context.scope.source.location(syntax.span)
        instead = "group by exactly the columns of PARTITION BY"
        raise errors.not_supported(
            at,
            what=f"{syntax.spelling} partitioned by other columns than GROUP BY",
            instead=instead,
        )
