"""What a query is bound in: the catalogue, the settings, the names that WITH gives, and its own syntax."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tidegate import errors
from tidegate.model.options import OptionValue, Scope
from tidegate.plan.catalog import Catalog
from tidegate.plan.diagnostics import Diagnostics
from tidegate.plan.limits import MAX_LEVELS, Budget
from tidegate.plan.logical import Logical
from tidegate.plan.settings import Settings, read_options
from tidegate.sql.query import select_key
from tidegate.sql.source import SourceText, Span
from tidegate.sql.statements import Clauses, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Subquery:
    """A query that WITH names, and the names that it sees itself."""

    tree: exp.Expression
    names: "Mapping[str, Subquery]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`bind_query` binds a query inside this one; it is passed along because FROM and SELECT need each other.

    `inherited` are the clauses of the query around, where that one only passes on the rows of this one. `level` counts
    the queries around this one, and `budget` is shared with all of them.
    """

    catalog: Catalog
    settings: Settings
    source: SourceText
    query: Query
    diagnostics: Diagnostics
    stream: str
    options: Mapping[str, OptionValue]
    bind_query: "Callable[[exp.Expression, Surroundings], Logical]"
    names: Mapping[str, Subquery] = field(default_factory=dict)
    inherited: Clauses = field(default_factory=Clauses)
    reads: set[str] = field(default_factory=set)
    level: int = 0
    budget: Budget = field(default_factory=Budget)

    def inside(self, at: errors.Location) -> "Surroundings":
        """The surroundings of a query that this one reads, and names there."""
        if self.level >= MAX_LEVELS:
            raise errors.nested_too_deep(at, limit=MAX_LEVELS)
        self.budget.spend_query(at)
        return replace(self, level=self.level + 1)

    def clauses(self, select: exp.Expression) -> Clauses:
        """The streaming clauses of a SELECT; emission and lateness may come from the query around it."""
        own = self.query.clauses.get(select_key(select), Clauses())
        outer = self.inherited
        return Clauses(
            window=own.window,
            watermark=own.watermark or outer.watermark,
            lateness=own.lateness or outer.lateness,
            lateness_span=own.lateness_span or outer.lateness_span,
            late_to=own.late_to or outer.late_to,
            late_to_span=own.late_to_span or outer.late_to_span,
            emit=own.emit or outer.emit,
            options=(*own.options, *outer.options),
        )

    def own_options(self, clauses: Clauses) -> dict[str, OptionValue]:
        """Options that a query sets itself, or its section or SET for it; a clause beats the option of its meaning."""
        own = read_options(clauses.options, scope=Scope.STREAM, source=self.source)
        values = dict(self.settings.of_query(self.stream, {**self.options, **own}))
        if clauses.late_to is not None:
            values["late.sink"] = f"sink:{clauses.late_to.text}"
        return values

    def span(self, select: exp.Expression) -> Span:
        """The SELECT keyword, to point at where nothing closer is known."""
        start = select_key(select)
        return Span(start, start + 6) if start >= 0 else self.query.span
