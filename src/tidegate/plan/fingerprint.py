"""What state belongs to: a digest of everything that decides what a query's state means, and a readable difference.

In the fingerprint: inputs and their types, filters, joins, event time, windows, panes, keys, aggregates, and for
streams that replace rows what these rows are. Not in it: names of output columns of append streams, lateness, watermark lag,
limits and routes, which may change between a checkpoint and its restart. `plan_id` is the digest; the lines are kept
with every checkpoint, so that a refusal can say what is different.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import ndiff
from hashlib import blake2b

from tidegate.model.expressions import TRUE
from tidegate.model.policies import StreamKind
from tidegate.plan.display import (
    show,
    show_aggregate,
    show_key,
    show_named,
    show_partial,
    window_facts,
)
from tidegate.plan.physical import Branch, Plan, Stage

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
    lines = [f"format: {FORMAT}"]
    for number, stage in enumerate(plan.stages, start=1):
        lines.extend(f"stage {number}: {line}" for line in _stage(stage))
    return Fingerprint(tuple(lines))


def _stage(stage: Stage) -> Iterator[str]:
    yield f"state: {stage.kind}"
    for branch in stage.branches:
        yield from _branch(branch)
    if stage.window is not None:
        yield "window: " + " ".join(
            f"{name}={value}" for name, value in window_facts(stage.window).items()
        )
    if stage.panes is not None:
        yield f"panes: width={stage.panes.width_us} offset={stage.panes.offset_us} copies={stage.panes.copies}"
    for field in (*stage.keys, *stage.partition_by):
        yield f"key: {field.name} {field.type}"
    for frame in stage.frames:
        facts = " ".join(f"{name}={value}" for name, value in window_facts(frame.window).items())
        yield f"frame: {facts} by ({', '.join(frame.partition_by)}) of {', '.join(frame.aggregates)}"
    for named in stage.aggregates:
        yield f"aggregate: {named.name} {show_aggregate(named.call)} {named.call.type}"
    for spec in stage.partials:
        yield f"partial: {show_partial(spec)} {spec.type} merged by {spec.merge}"
    if stage.stream_kind is not StreamKind.APPEND:
        yield from _replaced_rows(stage)


def _branch(branch: Branch) -> Iterator[str]:
    types = {column.name: column.type for column in branch.input.schema}
    used = ", ".join(f"{physical} {types[made]}" for made, physical in branch.input.columns)
    yield f"input: {branch.input.kind} {branch.input.name} ({used})"
    for lookup in branch.lookups:
        yield f"join: {'left' if lookup.outer else 'inner'} {lookup.table.name} on {show(lookup.on)}"
        if lookup.table.predicate != TRUE:
            yield f"join filter: {show(lookup.table.predicate)}"
    if branch.predicate != TRUE:
        yield f"filter: {show(branch.predicate)}"
    if branch.time is not None:
        yield f"time: {branch.time.mode} " + ", ".join(show(expr) for _, expr in branch.time.ladder)
    for named in branch.columns:
        yield f"column: {show_named(named)} {named.expr.type}"


def _replaced_rows(stage: Stage) -> Iterator[str]:
    """What replaced or retracted rows look like: they are kept until they are final."""
    yield f"rows: {stage.stream_kind}"
    for named in stage.output:
        yield f"output: {show_named(named)} {named.expr.type}"
    if stage.having is not None:
        yield f"having: {show(stage.having)}"
    if stage.limit is not None:
        yield f"top {stage.limit}: {', '.join(show_key(key) for key in stage.order)}"
