"""What state belongs to: a digest of everything that decides what a query's state means, and a readable difference.

In the fingerprint: inputs and their types, filters, joins, event time, windows, panes, keys, aggregates, what one stage
hands to the next, and for streams that replace rows what these rows are. Not in it: names that a query gives to its
tables, subqueries, itself and the columns of append streams; lateness, watermark lag, limits and routes, all of which
may change between a checkpoint and its restart; nor, of a time zone, more than its name. `plan_id` is the digest; the
lines are kept with every checkpoint, so that a refusal can say what is different.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from hashlib import blake2b

from tidegate.model.expressions import TRUE, Expr
from tidegate.model.policies import StreamKind
from tidegate.model.windows import Window
from tidegate.plan.display import (
    Names,
    Shown,
    show,
    show_aggregate,
    show_key,
    show_name,
    show_named,
    show_partial,
    shown,
    window_facts,
)
from tidegate.plan.physical import (
    Branch,
    Input,
    InputKind,
    Panes,
    Plan,
    Stage,
    StageKind,
    TableLookup,
)

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One line per fact, in a fixed order."""

    lines: tuple[str, ...]

    @property
    def plan_id(self) -> str:
        """16 hexadecimal digits, the same on every machine."""
        return blake2b("\n".join(self.lines).encode(), digest_size=8).hexdigest()

    def difference(self, other: "Fingerprint") -> str:
        """Lines that only this one has after `-`, lines that only the other has after `+`; empty if they are equal."""
        changed = (
            line.rstrip()
            for line in ndiff(self.lines, other.lines)
            if line.startswith(("- ", "+ "))
        )
        return "\n".join(changed)


def fingerprint(plan: Plan) -> Fingerprint:
    """The fingerprint of a plan."""
    numbers = {stage.name: number for number, stage in enumerate(plan.stages, start=1)}
    handed = {
        branch.input.name: [physical for _, physical in branch.input.columns]
        for stage in plan.stages
        for branch in stage.branches
        if branch.input.kind is InputKind.STAGE
    }
    lines = [f"format: {FORMAT}"]
    for stage in plan.stages:
        facts = [*_stage(stage, numbers), *_rows_made(stage, handed.get(stage.name))]
        lines.extend(f"stage {numbers[stage.name]}: {line}" for line in facts)
    return Fingerprint(tuple(lines))


def _stage(stage: Stage, numbers: Mapping[str, int]) -> Iterator[str]:
    yield f"state: {stage.kind}"
    for branch in stage.branches:
        yield from _branch(branch, numbers, named=stage.kind is not StageKind.STATELESS)
    if stage.window is not None and not stage.frames:
        yield f"window: {_window(stage.window)}"
    for field, meaning in stage.inherited:
        yield f"window: {field.name} is its {meaning}"
    if isinstance(stage.panes, Panes):
        yield f"panes: width={stage.panes.width_us} offset={stage.panes.offset_us} copies={stage.panes.copies}"
    for field in (*stage.keys, *stage.partition_by):
        yield f"key: {field.name} {field.type}"
    yield from _rows_kept(stage)
    for named in stage.aggregates:
        yield f"aggregate: {named.name} {show_aggregate(named.call)} {named.call.type}"
    for spec in stage.partials:
        yield f"partial: {show_partial(spec)} {spec.type} merged by {spec.merge}"
    if stage.dedup is not None:
        yield f"rows are identified by: {stage.option('dedup_key')}"


def _rows_kept(stage: Stage) -> Iterator[str]:
    """What rows are kept for: frames of OVER, or a join."""
    if stage.join is not None:
        left, right = (", ".join(names) for names in (stage.join.left, stage.join.right))
        yield f"join: {stage.join.manner} of ({left}) and ({right})"
    for frame in stage.frames:
        by, of = ", ".join(frame.partition_by), ", ".join(frame.aggregates)
        yield f"frame: {_window(frame.window)} by ({by}) of {of}"


def _window(window: Window) -> str:
    return " ".join(f"{name}={value}" for name, value in window_facts(window).items())


def _branch(branch: Branch, numbers: Mapping[str, int], *, named: bool) -> Iterator[str]:
    """Per-row work in the input's own names, whatever the query calls them."""
    input, names = branch.input, _names(branch)
    types = {column.name: column.type for column in input.schema}
    used = ", ".join(f"{names[made].text} {types[made]}" for made, _ in input.columns)
    name = numbers[input.name] if input.kind is InputKind.STAGE else show_name(input.name)
    yield f"input: {input.kind} {name} ({used})"
    for place, lookup in enumerate(branch.lookups):
        yield f"join: {'left' if lookup.outer else 'inner'} {_table(place, lookup)} on {show(lookup.on, names)}"
        if lookup.table.predicate != TRUE:
            scanned = _scanned(place, lookup)
            yield f"join filter: {show(lookup.table.predicate, scanned)}"
    if branch.predicate != TRUE:
        yield f"filter: {show(branch.predicate, names)}"
    if branch.time is not None:
        ladder = ", ".join(show(expr, names) for _, expr in branch.time.ladder)
        yield f"time: {branch.time.mode} {ladder}"
    for number, column in enumerate(branch.columns):
        own = column.name if named else f"#{number}"
        yield f"column: {own} = {show(column.expr, names)} {column.expr.type}"


def _names(branch: Branch) -> Names:
    """What the query's names are called by those who deliver the columns; what a stage delivers has numbers."""
    names = _delivered(branch.input)
    for place, lookup in enumerate(branch.lookups):
        scanned = _scanned(place, lookup)
        names |= {column.name: shown(column.expr, scanned) for column in lookup.columns}
    return names


def _delivered(input: Input, prefix: str = "") -> dict[str, Shown]:
    if input.kind is InputKind.STAGE:
        return {made: Shown(f"#{number}") for number, (made, _) in enumerate(input.columns)}
    return {made: Shown(prefix + show_name(physical)) for made, physical in input.columns}


def _table(place: int, lookup: TableLookup) -> str:
    """A table may be joined more than once."""
    return f"{show_name(lookup.table.name)}#{place}"


def _scanned(place: int, lookup: TableLookup) -> Names:
    return _delivered(lookup.table, f"{_table(place, lookup)}.")


def _rows_made(stage: Stage, handed: Sequence[str] | None) -> Iterator[str]:
    """What the next stage reads; or rows that are kept because they may be replaced or retracted."""
    if handed is not None:
        made = {named.name: named.expr for named in stage.output}
        for number, name in enumerate(handed):
            yield f"output: #{number} = {_show_made(name, made)}"
    elif stage.stream_kind is StreamKind.APPEND:
        return
    else:
        yield f"rows: {stage.stream_kind}"
        for named in stage.output:
            yield f"output: {show_named(named)} {named.expr.type}"
    if stage.having is not None:
        yield f"having: {show(stage.having)}"
    if stage.order:
        count = "all" if stage.limit is None else stage.limit
        yield f"top {count}: {', '.join(show_key(key) for key in stage.order)}"
    if stage.within:
        yield f"top within: {', '.join(map(show, stage.within))}"


def _show_made(name: str, made: Mapping[str, Expr]) -> str:
    """A column that the next stage reads; what is not in the output, such as the row's time, is called by its name."""
    return f"{show(made[name])} {made[name].type}" if name in made else name
