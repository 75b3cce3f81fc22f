"""Reading a stream whose rows change: allowed only where every aggregate can take a row back."""

from collections.abc import Sequence

from tidegate import errors
from tidegate.model.policies import StreamKind
from tidegate.model.windows import Conditional, Counting, Sliding, Window
from tidegate.plan.decompositions import AggregateCall
from tidegate.plan.lineage import bases
from tidegate.plan.logical import Logical, Source, StreamRef

RETRACTABLE = frozenset(
    {
        "count",
        "sum",
        "avg",
        "var_pop",
        "var_samp",
        "stddev_pop",
        "stddev_samp",
        "covar_pop",
        "covar_samp",
        "corr",
    }
)


def refuse_changing_input(
    node: Logical,
    aggregates: Sequence[AggregateCall],
    *,
    at: errors.Location,
    window: Window | None = None,
) -> None:
    """Refuse a changelog or upsert input, unless all that happens to it is retractable aggregation.

    A window that rows complete is emitted once and never corrected, so nothing can be taken back from it.
    """
    completed = isinstance(window, (Sliding, Counting, Conditional))
    for base in bases(node):
        if isinstance(base, Source) or base.kind is StreamKind.APPEND:
            continue
        stuck = [call for call in aggregates if call.distinct or call.function not in RETRACTABLE]
        if aggregates and not stuck and not completed:
            continue
        name = base.name if isinstance(base, StreamRef) else "the subquery"
        what = stuck[0].function.upper() if stuck else "a query without aggregates"
        if completed and window is not None:
            what = f"a {window.kind} window"
        instead = f"let {name} EMIT ON WINDOW CLOSE"
        raise errors.cascade_cannot_retract(
            at, stream=name, kind=base.kind, what=what, instead=instead
        )
