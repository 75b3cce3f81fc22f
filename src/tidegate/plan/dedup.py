"""`dedup_key` and `dedup_within`: rows of which the first one counts, and what it takes to know them.

In: a stage and the options of its query. Out: the stage with columns `$d0`, … in every branch, that the kernel tells
rows apart by. Decided here: what the option is about. In CREATE SOURCE or in a query it names columns of what is read,
as it is read; as a project's default it is about rows of sources alone.
"""

from collections.abc import Mapping
from dataclasses import replace

from tidegate import errors
from tidegate.model.expressions import Field, Named
from tidegate.model.options import OptionValue
from tidegate.model.policies import StreamKind
from tidegate.plan.lineage import bases
from tidegate.plan.logical import Emission, Logical, Source, StreamRef
from tidegate.plan.physical import Branch, Dedup, Input, InputKind, Stage
from tidegate.sql.source import SourceText
from tidegate.sql.statements import Clauses

KEY, WITHIN = "dedup_key", "dedup_within"


def with_dedup(stage: Stage, own: Mapping[str, OptionValue]) -> Stage:
    """The stage, with duplicates told apart if it has a `dedup_key`; `own` are the options of its query."""
    given = stage.option(KEY)
    reads_source = any(branch.input.kind is InputKind.SOURCE for branch in stage.branches)
    if given is None or not (reads_source or KEY in own):
        return stage
    names = key_columns(str(given))
    branches = tuple(_with_keys(branch, names) for branch in stage.branches)
    keys = [Field(named.name, named.expr.type) for named in _keys(stage.branches[0].input, names)]
    within = stage.option(WITHIN)
    dedup = Dedup(keys=tuple(keys), within_us=within if isinstance(within, int) else None)
    return replace(stage, branches=branches, dedup=dedup)


def check_keys(clauses: Clauses, node: Logical, source: SourceText) -> None:
    """A query's own `dedup_key` names columns of everything that it reads, and nothing that it reads changes."""
    for option in clauses.options:
        if option.key.text.lower() != KEY:
            continue
        at = source.location(option.span)
        for base in bases(node):
            columns = base.schema if isinstance(base, Emission) else base.columns
            for name in key_columns(str(option.value)):
                if columns.find(name) is None:
                    otherwise = f"columns are {', '.join(columns.names)}"
                    hint = errors.nearest(name, columns.names, otherwise=otherwise)
                    raise errors.unknown_column(at, name=name, hint=hint)
            if not isinstance(base, Source) and base.kind is not StreamKind.APPEND:
                named = base.name if isinstance(base, StreamRef) else "the subquery"
                instead = f"let {named} EMIT ON WINDOW CLOSE"
                raise errors.cascade_cannot_retract(
                    at, stream=named, kind=base.kind, what=KEY, instead=instead
                )


def key_columns(given: str) -> list[str]:
    """The names that the option lists."""
    return [name.strip() for name in given.split(",")]


def _with_keys(branch: Branch, names: list[str]) -> Branch:
    return replace(branch, columns=(*branch.columns, *_keys(branch.input, names)))


def _keys(input: Input, names: list[str]) -> list[Named]:
    types = {column.name: column.type for column in input.schema}
    made = {physical.lower(): made for made, physical in input.originals}
    missing = next((name for name in names if name.lower() not in made), None)
    if missing is not None:
        known = [physical for _, physical in input.originals]
        raise errors.unknown_column(None, name=missing, hint=errors.nearest(missing, known))
    found = [made[name.lower()] for name in names]
    return [Named(f"$d{place}", Field(name, types[name])) for place, name in enumerate(found)]
