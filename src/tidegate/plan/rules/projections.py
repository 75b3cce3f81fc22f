"""Which columns are read: those that something is computed from. Diverted rows are fetched whole, by a second query."""

from collections.abc import Mapping
from dataclasses import replace

from tidegate.model.expressions import fields_of
from tidegate.model.options import OptionValue
from tidegate.plan.physical import Branch, Decision, Input, Stage
from tidegate.plan.row_sql import used_columns

RULE = "projections"


def push_projections(stage: Stage, _options: Mapping[str, OptionValue]) -> Stage:
    """Inputs and joined tables deliver only what is used."""
    decisions: list[Decision] = []
    branches = tuple(_prune(branch, decisions) for branch in stage.branches)
    return replace(
        stage, branches=branches, decisions=(*stage.decisions, *dict.fromkeys(decisions))
    )


def _prune(branch: Branch, decisions: list[Decision]) -> Branch:
    used = used_columns(branch)
    lookups = []
    for lookup in branch.lookups:
        columns = tuple(named for named in lookup.columns if named.name in used)
        needed = fields_of(lookup.table.predicate, *(named.expr for named in columns))
        lookups.append(
            replace(lookup, columns=columns, table=_narrowed(lookup.table, needed, decisions))
        )
    input = _narrowed(branch.input, used | fields_of(branch.input.predicate), decisions)
    return replace(branch, input=input, lookups=tuple(lookups))


def _narrowed(input: Input, used: frozenset[str], decisions: list[Decision]) -> Input:
    kept = tuple(pair for pair in input.columns if pair[0] in used)
    if len(kept) == len(input.columns):
        return input
    choice = f"{input.name} delivers {len(kept)} of {len(input.columns)} columns"
    decisions.append(Decision(RULE, choice, "nothing is computed from the others"))
    return replace(input, columns=kept)
