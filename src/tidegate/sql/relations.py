"""Row relations as SELECT statements of one engine.

In: `model.relations`. Out: formatted SQL text. Engines run it over a batch that is registered under the scan's name;
EXPLAIN prints it. Text is put together from lines, never indented afterwards: a literal may contain line breaks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tidegate.model.expressions import Case, Expr, Field, Named, fields_of
from tidegate.model.relations import Derive, Expand, Group, Keep, Lookup, Relation, Scan
from tidegate.model.types import is_float
from tidegate.sql.functions.ordering import datafusion_order_key
from tidegate.sql.functions.signature import Engine
from tidegate.sql.partials import narrowed, render_partial
from tidegate.sql.render import quote, render
from tidegate.sql.sharing import in_layers

Lines = list[str]


def render_relation(
    relation: Relation, engine: Engine, values: Mapping[str, int] | None = None
) -> str:
    """The SELECT that computes the relation; parameters stay `:name` unless their values are given."""
    return "\n".join(_Renderer(engine, values).select(relation))


def grouping_order(keys: Sequence[str], engine: Engine) -> list[str]:
    """The keys of a group, in the order of its GROUP BY.

    Spark's hash of a group adds its last key as it is and the others many times over. Keys and panes are often numbers
    that follow each other: panes that come last are cells in a row, and if they come first, all fall on the same cells.
    """
    return list(reversed(keys)) if engine is Engine.SPARK else list(keys)


def _indented(lines: Iterable[str]) -> Lines:
    return [f"  {line}" for line in lines]


def _statement(items: Sequence[Lines], rest: Lines) -> Lines:
    """SELECT with its items, each of one or more lines, and what follows."""
    *before, last = items
    separated = [*([*item[:-1], f"{item[-1]},"] for item in before), last]
    return ["SELECT", *_indented(line for item in separated for line in item), *rest]


def _behind(word: str, source: Lines) -> Lines:
    """The source behind FROM or JOIN."""
    return [f"{word} {source[0]}", *source[1:]]


@dataclass(frozen=True, slots=True)
class _Renderer:
    engine: Engine
    values: Mapping[str, int] | None

    def select(self, relation: Relation) -> Lines:
        match relation:
            case Scan(columns=columns):
                items = [[self._as(self._quoted(physical), made)] for made, physical in columns]
                return _statement(items, [f"FROM {self._quoted(relation.name)}"])
            case Derive(input=input, columns=columns):
                return self._derive(input, columns)
            case Keep() | Lookup() | Expand():
                return _statement([["*"]], self._from(relation))
            case Group():
                return self._group(relation)
            case _:
                assert_never(relation)

    # FROM

    def _from(self, relation: Relation) -> Lines:
        """FROM and what belongs to it; whatever does not change columns needs no SELECT of its own."""
        match relation:
            case Keep(input=input, predicate=predicate):
                return [*_behind("FROM", self._source(input)), f"WHERE {self._text(predicate)}"]
            case Lookup(input=input, table=table, on=on):
                joined = _behind("LEFT JOIN", self._source(table, alias="r"))
                condition = f"  ON {self._text(on)}"
                return [*_behind("FROM", self._source(input)), *joined, condition]
            case Expand(input=input, number=number, count=count):
                rows = ", ".join(f"({place})" for place in range(count))
                values = f"(VALUES {rows}) AS n({self._quoted(number)})"
                return [*_behind("FROM", self._source(input)), f"CROSS JOIN {values}"]
            case _:
                return _behind("FROM", self._source(relation))

    def _source(self, relation: Relation, *, alias: str = "q") -> Lines:
        """The scan's own name where its columns keep theirs, or a subquery."""
        if isinstance(relation, Scan) and all(
            made == physical for made, physical in relation.columns
        ):
            return [f"{self._quoted(relation.name)} AS {alias}"]
        return self._nested(self.select(relation), alias)

    def _nested(self, statement: Lines, alias: str = "q") -> Lines:
        return ["(", *_indented(statement), f") AS {alias}"]

    # Columns

    def _derive(self, input: Relation, columns: Sequence[Named]) -> Lines:
        """One SELECT per layer of shared parts; each passes on the columns that are needed above."""
        rest = self._from(input)
        *below, last = in_layers(columns)
        for place, layer in enumerate(below):
            above = [named.expr for later in (*below[place + 1 :], last) for named in later]
            made = {named.name for later in below[place:] for named in later}
            passed = [[self._quoted(name)] for name in sorted(fields_of(*above) - made)]
            statement = _statement([*passed, *map(self._column, layer)], rest)
            rest = _behind("FROM", self._nested(statement))
        return _statement(list(map(self._column, last)), rest)

    def _column(self, named: Named) -> Lines:
        match named.expr:
            case Case(branches=[_, _, *_] as branches, otherwise=otherwise):
                lines = [
                    f"  WHEN {self._text(when)} THEN {self._text(then)}" for when, then in branches
                ]
                end = f"END AS {self._quoted(named.name)}"
                return ["CASE", *lines, f"  ELSE {self._text(otherwise)}", end]
            case _:
                return [self._as(self._text(named.expr), named.name)]

    def _text(self, expr: Expr) -> str:
        return render(expr, self.engine, self.values)

    def _quoted(self, name: str) -> str:
        return quote(name, self.engine)

    def _as(self, text: str, name: str) -> str:
        return text if text == self._quoted(name) else f"{text} AS {self._quoted(name)}"

    # Groups

    def _key(self, key: Field) -> str:
        """Float keys are grouped by value, not by bits; Spark does so by itself."""
        text = self._quoted(key.name)
        if self.engine is Engine.SPARK or not is_float(key.type):
            return text
        return narrowed(datafusion_order_key(text, key.type), key.type)

    def _group(self, group: Group) -> Lines:
        keys = [self._key(key) for key in group.keys]
        items = [[self._as(text, key.name)] for text, key in zip(keys, group.keys, strict=True)]
        for named in group.partials:
            *before, last = render_partial(named.spec, self.engine, self.values)
            items.append([*before, f"{last} AS {self._quoted(named.name)}"])
        by = ", ".join(grouping_order(keys, self.engine))
        return [*_statement(items, self._from(group.input)), f"GROUP BY {by}"]
