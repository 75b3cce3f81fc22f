"""GROUP BY ALL, GROUPING SETS, ROLLUP and CUBE: as groups that are named one by one.

In: a SELECT as it was written. Out: for ALL, the same grouped by whatever in its list is no aggregate; for several
sets, one SELECT for each, in which a key that the set lacks is NULL, and GROUPING() says so. Decided here: the
sets are as many queries, whose rows come together as those of UNION ALL do. So each keeps its own state, every EMIT
mode means what it means there, and a row that is late is late for each of them.
"""

import itertools
from collections.abc import Iterator, Sequence

from sqlglot import exp

from tidegate import errors
from tidegate.plan.aggregates import UserAggregates
from tidegate.plan.passing import aggregates
from tidegate.plan.surroundings import Surroundings
from tidegate.sql.places import span_of

_Set = tuple[exp.Expression, ...]
_SEVERAL = {"grouping_sets": "GROUPING SETS", "rollup": "ROLLUP", "cube": "CUBE"}
_MOST_SETS = 64
_GROUPING = ("grouping", "grouping_id")


def with_all_keys(select: exp.Select, users: UserAggregates) -> exp.Select:
    """GROUP BY ALL, spelled out."""
    group = select.args.get("group")
    if group is None or not group.args.get("all") or _starred(select):
        return select
    items = [item for item in select.expressions if not aggregates(item, users)]
    keys = [item.this if isinstance(item, exp.Alias) else item for item in items]
    made = select.copy()
    made.set("group", exp.Group(expressions=[key.copy() for key in keys if not _constant(key)]))
    return made


def _starred(select: exp.Select) -> bool:
    return any(
        isinstance(item, exp.Star) or isinstance(item.this, exp.Star) for item in select.expressions
    )


def _constant(item: exp.Expression) -> bool:
    return isinstance(item, (exp.Literal, exp.Boolean, exp.Null))


def one_per_set(select: exp.Select, around: Surroundings) -> exp.Expression | None:
    """The query of all grouping sets; None where GROUP BY has no such words."""
    group = select.args.get("group")
    if group is None or not (named := _several(group)):
        return None
    at = around.source.location(span_of(group, around.source, otherwise=around.span(select)))
    beside = [part for part in ("order", "limit", "qualify", "distinct") if select.args.get(part)]
    if beside:
        what = f"{named} beside {'ORDER BY' if beside[0] == 'order' else beside[0].upper()}"
        raise errors.not_supported(at, what=what, instead="put the rest into a query around it")
    plain, sets = _sets(group)
    if len(sets) > _MOST_SETS:
        what = f"{named} of more than {_MOST_SETS} sets"
        raise errors.not_supported(at, what=what, instead="name the sets that are needed")
    every = list(dict.fromkeys(key for chosen in sets for key in chosen))
    _check_numbers(select, [*plain, *every], around)
    parts = [_of_set(select, plain, chosen, every, around) for chosen in sets]
    query: exp.Expression = parts[0]
    for part in parts[1:]:
        query = exp.Union(this=query, expression=part, distinct=False)
    return query


def _check_numbers(
    select: exp.Select, keys: Sequence[exp.Expression], around: Surroundings
) -> None:
    """GROUPING(x) asks about a key."""
    for call in select.find_all(exp.Anonymous):
        if call.name.lower() in _GROUPING:
            for asked in call.expressions:
                if asked not in keys:
                    span = span_of(asked, around.source, otherwise=around.span(select))
                    what = f"{call.name.upper()} of what is not grouped by"
                    raise errors.not_supported(
                        around.source.location(span), what=what, instead="name a key of GROUP BY"
                    )


def _several(group: exp.Group) -> str:
    """The words of the first part of GROUP BY that is several groupings."""
    kinds = {exp.GroupingSets: "GROUPING SETS", exp.Rollup: "ROLLUP", exp.Cube: "CUBE"}
    inside = [kinds[type(item)] for item in group.expressions if type(item) in kinds]
    behind = [words for part, words in _SEVERAL.items() if group.args.get(part)]
    return next(iter([*inside, *behind]), "")


def _sets(group: exp.Group) -> tuple[list[exp.Expression], list[_Set]]:
    """Plain keys, and all combinations of one set of each of the others."""
    plain: list[exp.Expression] = []
    choices: list[list[_Set]] = []
    behind = [item for part in _SEVERAL for item in group.args.get(part) or ()]
    for item in [*group.expressions, *behind]:
        match item:
            case exp.GroupingSets():
                choices.append([chosen for part in item.expressions for chosen in _nested(part)])
            case exp.Rollup() | exp.Cube():
                choices.append(list(_nested(item)))
            case _:
                plain.append(item)
    combined = [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*choices)]
    return plain, combined


def _nested(part: exp.Expression) -> Iterator[_Set]:
    """The sets that one item of GROUPING SETS stands for."""
    match part:
        case exp.Rollup():
            units = [_unit(item) for item in part.expressions]
            for length in range(len(units), -1, -1):
                yield tuple(itertools.chain(*units[:length]))
        case exp.Cube():
            units = [_unit(item) for item in part.expressions]
            for length in range(len(units), -1, -1):
                for chosen in itertools.combinations(units, length):
                    yield tuple(itertools.chain(*chosen))
        case _:
            yield _unit(part)


def _unit(part: exp.Expression) -> _Set:
    """`(a, b)`, `(a)`, `a` or `()`."""
    if isinstance(part, exp.Tuple):
        return tuple(part.expressions)
    return (part.this,) if isinstance(part, exp.Paren) else (part,)


def _of_set(
    select: exp.Select,
    plain: Sequence[exp.Expression],
    chosen: _Set,
    every: Sequence[exp.Expression],
    around: Surroundings,
) -> exp.Select:
    made = select.copy()
    keys = [*plain, *dict.fromkeys(chosen)]
    made.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    absent = [key for key in every if key not in chosen]
    users = around.settings.aggregates
    for item in list(made.expressions):
        value = item.this if isinstance(item, exp.Alias) else item
        meant = _meant(value, absent, users)
        if meant is not value:
            named = item if isinstance(item, exp.Alias) else _named(item)
            alias = named.args["alias"] if isinstance(named, exp.Alias) else None
            item.replace(exp.Alias(this=meant, alias=alias) if alias is not None else meant)
    having = made.args.get("having")
    if having is not None:
        having.set("this", _meant(having.this, absent, users))
    return made


def _named(item: exp.Expression) -> exp.Expression:
    """A column keeps its name when it becomes NULL, and GROUPING() when it becomes a number."""
    if not isinstance(item, (exp.Column, exp.Anonymous)):
        return item
    identifier = exp.Identifier(
        this=item.name.lower() if isinstance(item, exp.Anonymous) else item.name
    )
    identifier.meta.update(
        item.meta or (item.this.meta if isinstance(item.this, exp.Expression) else {})
    )
    return exp.Alias(this=item.copy(), alias=identifier)


def _meant(
    node: exp.Expression, absent: Sequence[exp.Expression], users: UserAggregates
) -> exp.Expression:
    """The expression in a set without these keys; inside aggregates they are values like others."""
    if isinstance(node, exp.Anonymous) and node.name.lower() in _GROUPING:
        return exp.Literal(this=str(_number(node.expressions, absent)), is_string=False)
    if node in absent:
        return exp.Null()
    if isinstance(node, (exp.Filter, exp.WithinGroup)):
        return node
    if isinstance(node, exp.Anonymous) and aggregates(exp.Anonymous(this=node.name), users):
        return node
    for part in list(node.iter_expressions()):
        if isinstance(part, exp.Expression):
            meant = _meant(part, absent, users)
            if meant is not part:
                part.replace(meant)
    return node


def _number(keys: Sequence[exp.Expression], absent: Sequence[exp.Expression]) -> int:
    """A bit for each key, the last one lowest; set where the row is not grouped by it."""
    return sum(1 << place for place, key in enumerate(reversed(keys)) if key in absent)
