"""Compares what an engine's row SQL gave with what the oracle says, and says where they differ."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from tests.plan.row_sql import naive
from tests.plan.row_sql.evaluation import Row, evaluate
from tests.plan.row_sql.oracle import Answer, Judged, canonical, group_of, windows_of
from tests.sql.functions.harness import arrow_type_fits
from tidegate.model.calendar import PIECES_FROM_US
from tidegate.model.grid import pane_start_us
from tidegate.model.partials import PartialOp, PartialSpec, row_inputs
from tidegate.model.policies import AGGREGATED, FILTERED
from tidegate.model.types import DataType, Scalar
from tidegate.model.windows import Cumulating, Hopping, Session, Tumbling
from tidegate.plan.physical import Branch, Pieces, Routing, Stage, StageKind
from tidegate.plan.row_inputs import has_inputs, read_whole, row_columns

Groups = dict[tuple[Any, ...], list[Judged]]
_FLOATING = frozenset({PartialOp.SUM, PartialOp.MEAN, PartialOp.M2, PartialOp.COMOMENT})
_SQUARED = frozenset({PartialOp.M2, PartialOp.COMOMENT})
_LARGEST_SQUARED = 1e100


def check(
    stage: Stage, branch: Branch, answer: Answer, main: Sequence[Row], diverted: Sequence[Row]
) -> list[str]:
    """What is wrong, nothing if all is well."""
    problems = list(_check_diverted(answer, branch, diverted))
    if stage.kind is StageKind.STATELESS or stage.routing is Routing.ROWS:
        return [*problems, *_check_rows(stage, answer, main)]
    expected = expected_groups(stage, answer)
    inner = any(not lookup.outer for lookup in branch.lookups)
    counts = _check_counts(stage, answer, main, inner=inner)
    return [*problems, *counts, *_check_groups(stage, expected, main)]


def expected_groups(stage: Stage, answer: Answer) -> Groups:
    """Rows to be aggregated by (start of pane, keys)."""
    groups: Groups = {}
    for row in answer.of(code=AGGREGATED):
        for start in _pane_starts(stage, row):
            groups.setdefault((start, *group_of(stage, row)), []).append(row)
    return groups


def _pane_starts(stage: Stage, row: Judged) -> list[int]:
    panes = stage.panes
    if panes is None:
        return [0]
    assert row.ts is not None
    if panes.copies > 1:
        assert isinstance(stage.window, (Tumbling, Hopping, Cumulating))
        return [start for start, _ in windows_of(stage.window, row.ts)]
    if isinstance(panes, Pieces):
        return [_piece_start(panes, row.ts)]
    return [(row.ts - panes.offset_us) // panes.width_us * panes.width_us + panes.offset_us]


def _piece_start(pieces: Pieces, ts_us: int) -> int:
    """The last instant up to it at which a piece begins."""
    midnight = ts_us // pieces.width_us * pieces.width_us
    starts = [midnight + cut + back for cut in pieces.cuts_us for back in (0, -pieces.width_us)]
    return max(start for start in starts if start <= ts_us)


def key_of(stage: Stage, row: Row) -> tuple[Any, ...]:
    """The same of a row of partials."""
    if stage.panes is None:
        start = row["$pane"]
    elif isinstance(stage.panes, Pieces):
        start = row["$pane"] + PIECES_FROM_US
    else:
        start = pane_start_us(row["$pane"], stage.panes.width_us, stage.panes.offset_us)
    names = [field.name for field in (*stage.keys, *stage.partition_by)]
    names += [field.name for field, _ in stage.inherited]
    return (start, *(canonical(row[name]) for name in dict.fromkeys(names)))


def code_of(row: Row) -> int:
    code: int = row["$code"] if "$code" in row else -min(row["$pane"], 0)
    return code


def check_types(stage: Stage, branch: Branch, schema: pa.Schema) -> list[str]:
    """Columns whose Arrow type is not what the plan says."""
    kinds: dict[str, DataType] = {named.name: named.expr.type for named in branch.columns}
    kinds |= {field.name: field.type for field in (*stage.keys, *stage.partition_by)}
    if stage.routing is Routing.ROWS:
        kinds |= {column.name: column.type for column in row_columns(stage)}
    else:
        kinds |= {f"$p{place}": spec.type for place, spec in enumerate(stage.partials)}
    kinds |= dict.fromkeys(("$pane", "$code", "$ts", "$rows", "$max_ts"), Scalar.BIGINT)
    return [
        f"{name}: {kinds[name]}, but {schema.field(name).type}"
        for name in schema.names
        if name in kinds and not arrow_type_fits(kinds[name], schema.field(name).type)
    ]


# Rows that went elsewhere


def _check_diverted(answer: Answer, branch: Branch, found: Sequence[Row]) -> Iterator[str]:
    names = [name for _, name in branch.input.originals if not name.startswith("$")]
    keys = [name for name in (found[0] if found else ()) if name.startswith("$")][2:]

    def shown(code: int, ts: int | None, original: Row) -> Any:
        return canonical([code, ts, *(original[name] for name in names)])

    expected = Counter(shown(row.code, row.ts, row.original) for row in answer.diverted)
    given = Counter(shown(row["$code"], row["$ts"], row) for row in found)
    if expected != given:
        yield f"diverted: missing {expected - given}, unexpected {given - expected}"
    if found and list(found[0]) != ["$code", "$ts", *keys, *names]:
        yield f"diverted columns: {list(found[0])}"


def _check_counts(
    stage: Stage, answer: Answer, main: Sequence[Row], *, inner: bool
) -> Iterator[str]:
    """Conservation: each row once under exactly one code; and the time that moves the watermark.

    Of a row that matches a table several times every match counts. An inner join may already have left out some that
    the query's condition would remove.
    """
    once = "$rows_once" if stage.panes is not None and stage.panes.copies > 1 else "$rows"
    found: Counter[int] = Counter()
    for row in main:
        found[code_of(row)] += row[once]
    expected = Counter(row.code for row in answer.rows)
    if inner:
        del found[FILTERED], expected[FILTERED]
    if +found != expected:
        yield f"rows by code: expected {expected}, found {+found}"
    certain = [
        row
        for row in answer.rows
        if row.code in (AGGREGATED, FILTERED)
        and not row.stamped
        and (row.code == AGGREGATED or row.ts is None or row.ts <= row.latest_us)
    ]
    latest = _latest(row.ts for row in certain)
    if main and stage.window is not None and "$max_ts" in main[0]:
        given = _latest(row["$max_ts"] for row in main if code_of(row) in (AGGREGATED, FILTERED))
        if given != latest:
            yield f"latest time: expected {latest}, found {given}"


def _latest(times: Iterator[int | None]) -> int | None:
    return max((ts for ts in times if ts is not None), default=None)


# Rows


def _check_rows(stage: Stage, answer: Answer, main: Sequence[Row]) -> Iterator[str]:
    names = _whole(stage)
    timed = bool(main) and "$ts" in main[0]
    stamped = bool(main) and "$stamped" in main[0]

    def shown(code: int, ts: Any, stamp: bool, values: Row) -> Any:
        told = [values[name] for name in names] if code == AGGREGATED else []
        return canonical([code, ts if timed else 0, stamp if stamped else False, *told])

    expected = Counter(
        shown(row.code, row.ts, row.stamped, {**row.values, **_added(stage, row)})
        for row in answer.rows
    )
    found = Counter(
        shown(
            row["$code"],
            row.get("$ts"),
            row.get("$stamped", False),
            {**row, **_brought(stage, row)},
        )
        for row in main
    )
    if expected != found:
        yield f"rows: missing {expected - found}, unexpected {found - expected}"


def _whole(stage: Stage) -> list[str]:
    """The columns of a row that are told: as they are, and what it adds to each partial."""
    names = [named.name for named in stage.branches[0].columns]
    if not has_inputs(stage):
        return names
    whole = read_whole(stage)
    partials = [f"$p{place}" for place, _ in enumerate(stage.partials)]
    return [*(name for name in names if name in whole), *partials]


def _added(stage: Stage, row: Judged) -> Row:
    """The partials of the row alone."""
    if row.code != AGGREGATED or not has_inputs(stage):
        return {}
    return {
        f"$p{place}": naive.partial(spec, [row.values]) for place, spec in enumerate(stage.partials)
    }


def _brought(stage: Stage, row: Row) -> Row:
    """The same as it has crossed: what is collected comes bare, several values apart."""
    brought: dict[str, Any] = {}
    for place, spec in enumerate(stage.partials) if has_inputs(stage) else ():
        name, columns = f"$p{place}", row_inputs(spec, place)
        if not columns:
            brought[name] = 1
        elif len(columns) > 1:
            entry = tuple(row[column.name] for column in columns[1:])
            brought[name] = [entry] if row[name] else []
        elif spec.op in (PartialOp.COLLECT, PartialOp.COLLECT_SET):
            brought[name] = [] if row[name] is None else [row[name]]
    return brought


# Partials


def _check_groups(stage: Stage, expected: Groups, main: Sequence[Row]) -> Iterator[str]:
    found = {key_of(stage, row): row for row in main if code_of(row) == AGGREGATED}
    if set(found) != set(expected):
        yield f"groups: missing {set(expected) - set(found)}, unexpected {set(found) - set(expected)}"
        return
    for key, rows in expected.items():
        values = [row.values for row in rows]
        for place, spec in enumerate(stage.partials):
            exact = naive.partial(spec, values)
            given = found[key][f"$p{place}"]
            if not agree(spec, values, exact, given):
                yield f"{key} {spec}: expected {exact!r}, found {given!r}"
        if found[key]["$rows"] != len(rows):
            yield f"{key}: expected {len(rows)} rows, found {found[key]['$rows']}"
        if isinstance(stage.window, Session):
            times = [row.ts for row in rows if row.ts is not None]
            given_times = [found[key]["$first_ts"], found[key]["$last_ts"]]
            if given_times != [min(times), max(times)]:
                yield f"{key}: {given_times} are not the first and last of {times}"
        stamped = sum(row.stamped for row in rows)
        if found[key].get("$stamped_rows", 0) != stamped:
            yield f"{key}: expected {stamped} stamped rows"


def agree(spec: PartialSpec, rows: Sequence[Row], exact: Any, given: Any) -> bool:
    """Floating sums up to rounding; lists in any order, and an empty one may be NULL."""
    if spec.op in (PartialOp.COLLECT, PartialOp.COLLECT_SET):
        return Counter(map(canonical, exact or [])) == Counter(map(canonical, given or []))
    if spec.op in _FLOATING and isinstance(exact, float):
        return isinstance(given, float) and close(exact, given, _magnitude(spec, rows))
    return bool(canonical(exact) == canonical(given))


def _magnitude(spec: PartialSpec, rows: Sequence[Row]) -> float:
    """How large numbers were on the way: rounding is relative to them, not to the result."""
    sizes = [
        abs(value)
        for row in rows
        for arg in spec.args
        if isinstance(value := evaluate(arg, row), float) and not math.isnan(value)
    ]
    size = max(sizes, default=0.0)
    if spec.op in _SQUARED:
        return math.inf if size > _LARGEST_SQUARED else size * size * len(rows)
    return math.inf if math.isinf(size * len(rows)) and not math.isinf(size) else size * len(rows)


def close(exact: float, given: float, magnitude: float) -> bool:
    """`magnitude` infinite: numbers left what a DOUBLE can hold on the way, where nothing is promised but no error."""
    if math.isnan(exact) or math.isnan(given):
        return (math.isnan(exact) and math.isnan(given)) or math.isinf(magnitude)
    return exact == given or math.isinf(magnitude) or abs(exact - given) <= 1e-9 * magnitude
