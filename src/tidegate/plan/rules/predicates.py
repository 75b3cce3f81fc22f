"""Where conditions are tested: with a static table's rows where that is the same, never below the count of a stream."""

from collections.abc import Mapping
from dataclasses import replace

from tidegate.model.expressions import TRUE, Expr, Field, all_of, conjuncts, fields_of, substitute
from tidegate.model.options import OptionValue
from tidegate.plan.physical import Branch, Decision, InputKind, Stage, TableLookup
from tidegate.plan.row_errors import NO_ERROR, error_of

RULE = "predicates"


def push_predicates(stage: Stage, _options: Mapping[str, OptionValue]) -> Stage:
    """What an inner join would leave without a match anyway is left out by the join, or by the table's scan.

    So `FROM trades t, symbols s WHERE t.symbol = s.symbol` is the join that it looks like. A condition that may fail
    stays with the row, and so do those behind it: what is removed first is never an error.
    """
    decisions: list[Decision] = []
    branches = tuple(_push(branch, decisions) for branch in stage.branches)
    return replace(
        stage, branches=branches, decisions=(*stage.decisions, *dict.fromkeys(decisions))
    )


def _push(branch: Branch, decisions: list[Decision]) -> Branch:
    kept: list[Expr] = []
    lookups = list(branch.lookups)
    may_fail = False
    for part in conjuncts(branch.predicate):
        may_fail = may_fail or error_of(part) != NO_ERROR
        place = None if may_fail else _last_table(part, lookups)
        if place is None:
            kept.append(part)
            continue
        lookups[place], decision = _pushed(lookups[place], part)
        decisions.append(decision)
    if any(part != TRUE for part in kept) and branch.input.kind is InputKind.SOURCE:
        reason = "removed rows are counted, and move the watermark"
        decisions.append(Decision(RULE, f"tested above {branch.input.name}", reason))
    return replace(branch, predicate=all_of(*kept), lookups=tuple(lookups))


def _last_table(part: Expr, lookups: list[TableLookup]) -> int | None:
    """The last table that the condition reads, if it is inner-joined: from there on the condition can be tested."""
    read = fields_of(part)
    places = [place for place, lookup in enumerate(lookups) if read & _made(lookup)]
    return places[-1] if places and not lookups[places[-1]].outer else None


def _made(lookup: TableLookup) -> frozenset[str]:
    return frozenset(named.name for named in lookup.columns)


def _pushed(lookup: TableLookup, part: Expr) -> tuple[TableLookup, Decision]:
    table = lookup.table.name
    if fields_of(part) <= _made(lookup):
        reason = f"rows of {table} that fail it can match nothing, and it reads no other columns"
        return _at_scan(lookup, part), Decision(RULE, f"tested when {table} is read", reason)
    reason = f"a row without a match in {table} is removed as well"
    joined = replace(lookup, on=all_of(lookup.on, part))
    return joined, Decision(RULE, f"a condition of the join with {table}", reason)


def _at_scan(lookup: TableLookup, part: Expr) -> TableLookup:
    made = {named.name: named.expr for named in lookup.columns}
    lowered = substitute(
        part, lambda node: made.get(node.name) if isinstance(node, Field) else None
    )
    table = lookup.table
    return replace(lookup, table=replace(table, predicate=all_of(table.predicate, lowered)))
