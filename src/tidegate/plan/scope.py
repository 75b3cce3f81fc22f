"""Names in a query, and the columns that they mean.

Decided here: how a dotted name is read (`alias.column.field` before `column.field`), that a name may be written in any
case where that is not ambiguous, and that the columns of the query's own window hide columns of its input.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate import errors
from tidegate.model.expressions import Call, Expr, Field, text
from tidegate.model.schema import Schema
from tidegate.model.types import Struct
from tidegate.plan.aggregates import UserAggregates
from tidegate.plan.logical import WINDOW_COLUMNS, window_field
from tidegate.sql.cursor import Name
from tidegate.sql.source import SourceText, Span

_WINDOW_ALIASES = ("window", "session_window")
ELSEWHERE = {
    "system.timestamp": "use window_end (System.Timestamp is the end of the window)",
    "windowstart": "use window_start",
    "windowend": "use window_end",
    "current_timestamp": "results may not depend on when they are computed; use event time, or a column AS PROCTIME()",
    "rowtime": "use the source's time column",
}
_WINDOW_FIELDS = {"start": "window_start", "end": "window_end"}


_WINDOW = Call(
    "named_struct",
    tuple(
        part
        for edge, column in _WINDOW_FIELDS.items()
        for part in (text(edge), window_field(column))
    ),
    Struct(tuple((edge, WINDOW_COLUMNS[column]) for edge, column in _WINDOW_FIELDS.items())),
)  # Spark's `window`, whole


@dataclass(frozen=True, slots=True)
class ScopeInput:
    """One item of FROM: the name it goes by, its columns, and what their names are prefixed with in the plan.

    Columns in `merged` (lower case) were joined by USING: without an alias their names mean those of the other side.
    """

    alias: str
    columns: Schema
    prefix: str = ""
    merged: frozenset[str] = frozenset()


@dataclass(slots=True)
class Scope:
    """`windowed`: whether the columns of the query's own window are visible. `seen` is where a column was named.

    `aggregates` are those in Python, which may be called like the others. `named` is what this SELECT calls its
    columns, in lower case: names that mean nothing yet where they are looked for.
    """

    source: SourceText
    inputs: tuple[ScopeInput, ...]
    windowed: bool = False
    aliases: Mapping[str, Expr] = field(default_factory=dict)
    seen: dict[str, Name] = field(default_factory=dict)
    aggregates: UserAggregates = field(default_factory=dict)
    named: frozenset[str] = frozenset()

    def resolve(self, parts: Sequence[str], span: Span) -> Expr:
        """The column, or the field inside it, that the dotted name means."""
        written = ".".join(parts)
        own = self._window_column(parts)
        if own is not None:
            return own
        found = self._qualified(parts) if len(parts) > 1 else []
        rest = parts[2:]
        if not found:
            found, rest = self._unqualified(parts[0]), parts[1:]
        if len(found) > 1:
            raise self._ambiguous(parts[0] if len(parts) == 1 else written, span)
        if not found:
            return self._alias_or_refuse(parts, span)
        self.seen.setdefault(found[0].name, Name(written, span))
        return self._fields_inside(found[0], rest, span)

    def _window_column(self, parts: Sequence[str]) -> Expr | None:
        lowered = [part.lower() for part in parts]
        if not self.windowed:
            return None
        if len(lowered) == 1 and lowered[0] in WINDOW_COLUMNS:
            return window_field(lowered[0])
        if self.names_own_window(parts):
            return window_field(lowered[1])
        if len(lowered) == 1 and lowered[0] in _WINDOW_ALIASES and not self._unqualified(parts[0]):
            return _WINDOW
        if (
            len(lowered) == 2
            and lowered[0] in _WINDOW_ALIASES
            and lowered[1] in _WINDOW_FIELDS
            and not self._input(parts[0])
        ):
            return window_field(_WINDOW_FIELDS[lowered[1]])
        return None

    def names_own_window(self, parts: Sequence[str]) -> bool:
        """`w.window_start` of `FROM TUMBLE(…) AS w`: the window is the query's, and no column of the table is meant."""
        given = self._input(parts[0]) if len(parts) == 2 else None
        own = given is not None and not given.columns.find(parts[1])
        return own and parts[1].lower() in WINDOW_COLUMNS

    def _input(self, alias: str) -> ScopeInput | None:
        return next((given for given in self.inputs if given.alias.lower() == alias.lower()), None)

    def _qualified(self, parts: Sequence[str]) -> list[Field]:
        given = self._input(parts[0])
        column = given.columns.find(parts[1]) if given else None
        return [Field(given.prefix + column.name, column.type)] if given and column else []

    def _unqualified(self, name: str) -> list[Field]:
        own = (given for given in self.inputs if name.lower() not in given.merged)
        found = [(given, given.columns.find(name)) for given in own]
        return [Field(given.prefix + column.name, column.type) for given, column in found if column]

    def _alias_or_refuse(self, parts: Sequence[str], span: Span) -> Expr:
        if len(parts) == 1 and parts[0].lower() in self.aliases:
            return self.aliases[parts[0].lower()]
        hint = ELSEWHERE.get(".".join(parts).lower()) or errors.nearest(
            parts[-1], self.visible(), otherwise=self._known()
        )
        if len(parts) > 1 and not self._input(parts[0]) and parts[0].lower() != "system":
            hint = (
                errors.nearest(parts[0], (given.alias for given in self.inputs), otherwise="")
                or self._inputs()
            )
        if len(parts) == 1 and parts[0].lower() in self.named:
            hint = (
                f"{parts[0]} is what this SELECT calls a column that it makes: write its expression once more, or "
                "compute with it in a query over this one"
            )
        if parts[-1].lower() in WINDOW_COLUMNS and not self.windowed:
            hint = (
                "columns of the window exist in SELECT, HAVING and ORDER BY of a query that groups by a window; "
                "a query over that one has those that it selects"
            )
        raise errors.unknown_column(self.source.location(span), name=".".join(parts), hint=hint)

    def _inputs(self) -> str:
        return f"FROM has {', '.join(given.alias for given in self.inputs if given.alias)}"

    def visible(self) -> Iterable[str]:
        """Names that a column can be reached by."""
        yield from (name for given in self.inputs for name in given.columns.names)
        if self.windowed:
            yield from WINDOW_COLUMNS

    def _known(self) -> str:
        names = list(self.visible())
        return (
            f"columns are {', '.join(names[:12])}{' …' if len(names) > 12 else ''}" if names else ""
        )

    def _ambiguous(self, name: str, span: Span) -> errors.TidegateError:
        holders = [given.alias for given in self.inputs if given.columns.find(name)]
        example = f"{holders[0]}.{name}" if holders else name
        return errors.ambiguous_column(
            self.source.location(span), name=name, inputs=", ".join(holders), example=example
        )

    def _fields_inside(self, column: Expr, names: Sequence[str], span: Span) -> Expr:
        for name in names:
            found = column.type.field(name) if isinstance(column.type, Struct) else None
            if found is None:
                known = (
                    [field_name for field_name, _ in column.type.fields]
                    if isinstance(column.type, Struct)
                    else []
                )
                hint = errors.nearest(
                    name, known, otherwise=f"fields are {', '.join(known)}" if known else ""
                )
                raise errors.unknown_field(
                    self.source.location(span), type=column.type, name=name, hint=hint
                )
            column = Call("field", (column, text(found[0])), found[1])
        return column
