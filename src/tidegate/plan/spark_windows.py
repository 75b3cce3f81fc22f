"""Spark's windows in the SELECT list: `SELECT window(ts, '10 seconds') AS w, count(*) … GROUP BY w`.

In: a SELECT as it was written. Out: the same with the window where it belongs, in GROUP BY, and with its two edges as
a STRUCT where it stood. Decided here: only GROUP BY makes it the window of the query; elsewhere it stays what it is, to
be refused.
"""

from collections.abc import Iterator

from sqlglot import exp

from tidegate.sql.windows import spelling_of

_NAMES = ("window", "session_window")
_EDGES = {"start": "window_start", "end": "window_end"}


def with_window_in_group(select: exp.Select) -> exp.Select:
    """The SELECT itself if it names no window in its list, or one that it does not group by."""
    found = [item for item in select.expressions if _window(item) is not None]
    if not found or len({_window(item) for item in found}) > 1:
        return select
    window = _window(found[0])
    assert window is not None
    names = {item.alias_or_name.lower() or window.name.lower() for item in found}
    group = select.args.get("group")
    keys = [] if group is None else list(_keys(select, group, window, names))
    if not any(key == window for key in keys):
        return select
    return _rewritten(select, window, names, keys)


def _window(item: exp.Expression) -> exp.Anonymous | None:
    inner = item.this if isinstance(item, exp.Alias) else item
    spelled = spelling_of(inner)
    if spelled is None or spelled.name not in _NAMES or not isinstance(inner, exp.Anonymous):
        return None
    return inner


def _keys(
    select: exp.Select, group: exp.Group, window: exp.Anonymous, names: set[str]
) -> Iterator[exp.Expression]:
    """GROUP BY, with the window itself for its name or its place."""
    taken = False
    for key in group.expressions:
        named = isinstance(key, exp.Column) and not key.table and key.name.lower() in names
        if named or key == window or _places(select, key):
            if not taken:
                yield window.copy()
            taken = True
        else:
            yield key.copy()


def _places(select: exp.Select, key: exp.Expression) -> bool:
    if not isinstance(key, exp.Literal) or key.is_string or not key.name.isdecimal():
        return False
    place = int(key.name[:6])
    items = select.expressions
    return 1 <= place <= len(items) and _window(items[place - 1]) is not None


def _rewritten(
    select: exp.Select, window: exp.Anonymous, names: set[str], keys: list[exp.Expression]
) -> exp.Select:
    made = select.copy()
    group = exp.Group(expressions=keys)
    group.meta.update(select.args["group"].meta)
    made.set("group", group)
    for item, written in zip(made.expressions, select.expressions, strict=True):
        if _window(written) is not None:
            inner = item.this if isinstance(item, exp.Alias) else item
            name = item.alias if isinstance(item, exp.Alias) else window.name.lower()
            struct = _edges_of(inner)
            item.replace(exp.Alias(this=struct, alias=_identifier(name, item)))
    for column in list(made.find_all(exp.Column)):
        edge = _EDGES.get(column.name.lower()) if column.table.lower() in names else None
        if edge is not None:
            column.replace(_column(edge, column))
    return made


def _edges_of(call: exp.Expression) -> exp.Anonymous:
    parts: list[exp.Expression] = []
    for edge, column in _EDGES.items():
        parts += [exp.Literal(this=edge, is_string=True), _column(column, call)]
    struct = exp.Anonymous(this="named_struct", expressions=parts)
    struct.meta.update(call.meta)
    return struct


def _column(name: str, place: exp.Expression) -> exp.Column:
    identifier = exp.Identifier(this=name)
    marks = place.this.meta if isinstance(place, exp.Column) else place.meta
    identifier.meta.update(marks)
    return exp.Column(this=identifier)


def _identifier(name: str, item: exp.Expression) -> exp.Identifier:
    written = item.args.get("alias") if isinstance(item, exp.Alias) else None
    identifier = exp.Identifier(this=name)
    identifier.meta.update(written.meta if isinstance(written, exp.Expression) else item.meta)
    return identifier
