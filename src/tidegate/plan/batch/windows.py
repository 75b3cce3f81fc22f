"""Which windows each row is in, in SQL: `$start_us`, `$end_us` and `$time_us` beside the row, one copy per window.

The definitions are those of semantics §2, written once more and from them alone; the grid of the engines has no part
in it.
"""

from collections.abc import Sequence

from tidegate.model.expressions import Expr
from tidegate.model.types import Scalar
from tidegate.model.windows import (
    Calendar,
    Conditional,
    Counting,
    Cumulating,
    Hopping,
    Inherited,
    Interval,
    Session,
    Sliding,
    Tumbling,
)
from tidegate.plan.batch.rows import Steps
from tidegate.plan.batch.scalars import quote, refused, scalar
from tidegate.plan.logical import Windowed

_TS = '"$ts"'


def windows(node: Windowed, rows: str, keys: Sequence[Expr], steps: Steps) -> str:
    """The name of a part that has all columns of `rows`, too. `keys` are the groups' own, which sessions go by."""
    source = quote(rows)
    parts = [scalar(expr) for expr in (node.partition_by or keys)]
    match node.window:
        case Tumbling(size_us=size, offset_us=offset):
            extent = _extent(_floor(size, offset), size)
            return steps.add("windows", f"SELECT *, {extent}\nFROM {source}")
        case Hopping(size_us=size, slide_us=slide, offset_us=offset):
            start = f"{_floor(slide, offset)} - {slide} * hop"
            hops = -(-size // slide)
            return steps.add(
                "windows",
                f"SELECT * EXCLUDE (hop), {_extent(start, size)}\nFROM {source}, range({hops}) AS hops(hop)\n"
                f"WHERE {start} > {_TS} - {size}",
            )
        case Cumulating(step_us=step, size_us=size, offset_us=offset):
            start = _floor(size, offset)
            end = f"{start} + {step} * (step + 1)"
            return steps.add(
                "windows",
                f'SELECT * EXCLUDE (step), {start} AS "$start_us", {end} AS "$end_us", {end} - 1 AS "$time_us"\n'
                f"FROM {source}, range({size // step}) AS steps(step)\nWHERE {end} > {_TS}",
            )
        case Session():
            return _sessions(node.window, source, parts, steps)
        case Sliding():
            return _triggers(node, source, steps)
        case Inherited():
            brought = {meaning: expr for expr, meaning in node.inherited}
            begun = brought.get("window_start")
            start_us = "CAST(NULL AS BIGINT)" if begun is None else f"epoch_us({scalar(begun)})"
            return steps.add(
                "windows",
                f'SELECT *, {start_us} AS "$start_us", {_TS} + 1 AS "$end_us", {_TS} AS "$time_us"\nFROM {source}',
            )
        case Calendar():
            raise refused("a window of the calendar")
        case Interval():
            raise AssertionError(node)  # that of a join, which is no window
        case Counting() | Conditional():
            raise refused(f"a {node.window.kind} window: it goes by the order in which rows arrive")


def _floor(step_us: int, offset_us: int) -> str:
    """The last point of a grid that is not after the row; `%` has the sign of what is divided."""
    since = f"({_TS} - {offset_us})" if offset_us else _TS
    return f"({_TS} - ({since} % {step_us} + {step_us}) % {step_us})"


def _extent(start: str, size_us: int) -> str:
    return (
        f'{start} AS "$start_us", {start} + {size_us} AS "$end_us", '
        f'{start} + {size_us} - 1 AS "$time_us"'
    )


def _sessions(window: Session, source: str, parts: Sequence[str], steps: Steps) -> str:
    within = f"PARTITION BY {', '.join(parts)} " if parts else ""
    far = ">" if window.inclusive else ">="
    apart = steps.add(
        "gaps",
        f"SELECT *, CASE WHEN {_TS} - lag({_TS}) OVER ({within}ORDER BY {_TS}) {far} {window.gap_us} "
        f'THEN 1 ELSE 0 END AS "$begins"\nFROM {source}',
    )
    numbered = steps.add(
        "runs",
        f'SELECT * EXCLUDE ("$begins"), sum("$begins") OVER ({within}ORDER BY {_TS}) AS "$run"\nFROM {apart}',
    )
    run = f"PARTITION BY {', '.join([*parts, chr(34) + '$run' + chr(34)])}"
    end = f"max({_TS}) OVER ({run}) + {window.gap_us}"
    return steps.add(
        "windows",
        f'SELECT * EXCLUDE ("$run"), min({_TS}) OVER ({run}) AS "$start_us", {end} AS "$end_us", '
        f'{end} - 1 AS "$time_us"\nFROM {numbered}',
    )


def _triggers(node: Windowed, source: str, steps: Steps) -> str:
    """Every row is a trigger, and has the rows within reach."""
    window = node.window
    assert isinstance(window, Sliding)
    if node.partition_by:
        raise refused("a sliding window that is kept per key without OVER")
    ahead = window.lookahead_us or 0
    triggers = steps.add(
        "triggers", f'SELECT {_TS} AS "$time_us", row_number() OVER () AS "$trigger"\nFROM {source}'
    )
    return steps.add(
        "windows",
        f'SELECT {source}.*, "$trigger", "$time_us", "$time_us" - {window.lookback_us} AS "$start_us", '
        f'"$time_us" + {ahead} AS "$end_us"\nFROM {source} JOIN {triggers}\n'
        f'ON {_TS} BETWEEN "$time_us" - {window.lookback_us} AND "$time_us" + {ahead}',
    )


WINDOW_TIMES = {
    "$window_start": ("$start_us", Scalar.TIMESTAMP),
    "$window_end": ("$end_us", Scalar.TIMESTAMP),
    "$window_time": ("$time_us", Scalar.TIMESTAMP),
}
