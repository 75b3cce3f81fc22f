"""Row relations as SELECT statements of one engine.

In: `model.relations`. Out: formatted SQL text. Engines run it over a batch that is registered under the scan's name;
EXPLAIN prints it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tidegate.model.expressions import Field, Named, fields_of
from tidegate.model.relations import Derive, Expand, Group, Keep, Lookup, Relation, Scan, Sessionize
from tidegate.sql.functions.ordering import datafusion_order_key
from tidegate.sql.functions.signature import Engine
from tidegate.sql.partials import render_partial
from tidegate.sql.render import quote, render
from tidegate.sql.sharing import in_layers

_INDENT = "  "


def render_relation(
    relation: Relation, engine: Engine, values: Mapping[str, int] | None = None
) -> str:
    """The SELECT that computes the relation; parameters stay `:name` unless their values are given."""
    return _Renderer(engine, values).select(relation)


@dataclass(frozen=True, slots=True)
class _Renderer:
    engine: Engine
    values: Mapping[str, int] | None

    def select(self, relation: Relation) -> str:
        match relation:
            case Scan(name=name, columns=columns):
                items = [self._as(self.quoted(physical), made) for made, physical in columns]
                return self._statement(items, self.quoted(name))
            case Derive(input=input, columns=columns):
                return self._derive(input, columns)
            case Keep(input=input, predicate=predicate):
                return f"{self._statement(['*'], self._source(input))}\nWHERE {render(predicate, self.engine, self.values)}"
            case Lookup(input=input, table=table, on=on):
                left, right = self._source(input), self._source(table, alias="r")
                return f"{self._statement(['*'], left)}\nLEFT JOIN {right}\n{_INDENT}ON {render(on, self.engine, self.values)}"
            case Expand(input=input, number=number, count=count):
                rows = ", ".join(f"({place})" for place in range(count))
                values = f"(VALUES {rows}) AS n({self.quoted(number)})"
                return f"{self._statement(['*'], self._source(input))}\nCROSS JOIN {values}"
            case Group():
                return self._group(relation)
            case Sessionize():
                return self._sessionize(relation)
            case _:
                assert_never(relation)

    def quoted(self, name: str) -> str:
        return quote(name, self.engine)

    def _as(self, text: str, name: str) -> str:
        return text if text == self.quoted(name) else f"{text} AS {self.quoted(name)}"

    def _statement(self, items: Sequence[str], source: str) -> str:
        lines = f",\n{_INDENT}".join(items)
        return f"SELECT\n{_INDENT}{lines}\nFROM {source}"

    def _source(self, relation: Relation, *, alias: str = "q") -> str:
        """What follows FROM: the scan's own name, or a subquery."""
        if (
            isinstance(relation, Scan)
            and all(made == physical for made, physical in relation.columns)
            and alias == "q"
        ):
            return self.quoted(relation.name)
        inner = self.select(relation).replace("\n", f"\n{_INDENT}")
        return f"(\n{_INDENT}{inner}\n) AS {alias}"

    def _derive(self, input: Relation, columns: Sequence[Named]) -> str:
        """One SELECT per layer of shared parts; each passes on the columns that are needed above."""
        source = self._source(input)
        *below, last = in_layers(columns)
        for place, layer in enumerate(below):
            above = [
                *(named.expr for later in below[place + 1 :] for named in later),
                *(named.expr for named in last),
            ]
            made = {named.name for later in below[place:] for named in later}
            needed = sorted(fields_of(*above) - made)
            text = self._statement([*map(self.quoted, needed), *map(self._column, layer)], source)
            source = f"(\n{_INDENT}{text.replace(chr(10), chr(10) + _INDENT)}\n) AS q"
        return self._statement([self._column(named) for named in last], source)

    def _column(self, named: Named) -> str:
        return self._as(render(named.expr, self.engine, self.values), named.name)

    def _key(self, key: Field) -> str:
        """Float keys are grouped by value, not by bits; Spark does so by itself."""
        text = self.quoted(key.name)
        return text if self.engine is Engine.SPARK else datafusion_order_key(text, key.type)

    def _group(self, group: Group) -> str:
        keys = [self._key(key) for key in group.keys]
        made = [
            f"{render_partial(named.spec, self.engine, self.values)} AS {self.quoted(named.name)}"
            for named in group.partials
        ]
        items = [self._as(text, key.name) for text, key in zip(keys, group.keys, strict=True)]
        statement = self._statement([*items, *made], self._source(group.input))
        return f"{statement}\nGROUP BY {', '.join(keys)}" if keys else statement

    def _sessionize(self, node: Sessionize) -> str:
        """Gaps and islands: a row begins a run unless the one before it, of the same keys, is near enough."""
        time, gap = self.quoted(node.time.name), node.gap_us
        keys = ", ".join(self._key(key) for key in node.keys)
        window = f"PARTITION BY {keys} ORDER BY {time}" if keys else f"ORDER BY {time}"
        near = "<=" if node.inclusive else "<"
        begins = f"CASE WHEN {time} - lag({time}) OVER ({window}) {near} {gap} THEN 0 ELSE 1 END"
        marked = self._statement(
            ["*", f"{begins} AS {self.quoted('$begins')}"], self._source(node.input)
        )
        inner = marked.replace("\n", f"\n{_INDENT}")
        frame = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
        number = (
            f"sum({self.quoted('$begins')}) OVER ({window} {frame}) AS {self.quoted(node.number)}"
        )
        return self._statement(["*", number], f"(\n{_INDENT}{inner}\n) AS q")
