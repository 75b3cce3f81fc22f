"""Where conditions are tested: at a static table's scan where that is the same, never below the count of a stream."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tidegate.model.expressions import TRUE, Call, Expr, Field, all_of, fields_of, substitute
from tidegate.model.options import OptionValue
from tidegate.plan.physical import Branch, Decision, InputKind, Stage, TableLookup
from tidegate.plan.row_errors import NO_ERROR, error_of

RULE = "predicates"


def push_predicates(stage: Stage, _options: Mapping[str, OptionValue]) -> Stage:
    """Conditions that only look at an inner-joined table are tested when the table is read, once, not per row."""
    decisions: list[Decision] = []
    branches = tuple(_push(branch, decisions) for branch in stage.branches)
    return replace(
        stage, branches=branches, decisions=(*stage.decisions, *dict.fromkeys(decisions))
    )


def _push(branch: Branch, decisions: list[Decision]) -> Branch:
    kept: list[Expr] = []
    lookups = list(branch.lookups)
    for part in _conjuncts(branch.predicate):
        place = _owner(part, lookups)
        if place is None:
            kept.append(part)
            continue
        lookups[place] = _at_scan(lookups[place], part)
        table = lookups[place].table.name
        reason = f"rows of {table} that fail it can match nothing, and it reads no other columns"
        decisions.append(Decision(RULE, f"tested when {table} is read", reason))
    if any(part != TRUE for part in kept) and branch.input.kind is InputKind.SOURCE:
        reason = "removed rows are counted, and move the watermark"
        decisions.append(Decision(RULE, f"tested above {branch.input.name}", reason))
    return replace(branch, predicate=all_of(*kept), lookups=tuple(lookups))


def _conjuncts(predicate: Expr) -> Iterator[Expr]:
    stack = [predicate]
    while stack:
        part = stack.pop()
        if isinstance(part, Call) and part.function == "and":
            stack.extend(reversed(part.args))
        else:
            yield part


def _owner(part: Expr, lookups: list[TableLookup]) -> int | None:
    """The inner-joined table that is all the condition reads; a condition that may fail stays with the row."""
    read = fields_of(part)
    if not read or error_of(part) != NO_ERROR:
        return None
    for place, lookup in enumerate(lookups):
        if not lookup.outer and read <= {named.name for named in lookup.columns}:
            return place
    return None


def _at_scan(lookup: TableLookup, part: Expr) -> TableLookup:
    made = {named.name: named.expr for named in lookup.columns}
    lowered = substitute(
        part, lambda node: made.get(node.name) if isinstance(node, Field) else None
    )
    table = lookup.table
    return replace(lookup, table=replace(table, predicate=all_of(table.predicate, lowered)))
