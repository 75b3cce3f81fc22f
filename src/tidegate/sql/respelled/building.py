"""Small syntax trees, and what a rewriting is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sqlglot import exp

from tidegate.sql.source import SourceText

TEXTS = ("string_agg", "listagg", "group_concat")
WRITTEN = "written"  # what a rewritten call was called
Arguments = list[exp.Expression]
Rewrite = Callable[[Arguments, SourceText], exp.Expression | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Respelling:
    """A call in other words. `rewrite` gives what is meant, or None where the arguments are not of its forms."""

    names: tuple[str, ...]
    form: str
    means: str
    rewrite: Rewrite
    aggregate: bool = False


def by_name(entries: Iterable[Respelling]) -> dict[str, Respelling]:
    return {name: entry for entry in entries for name in entry.names}


def call(name: str, *arguments: exp.Expression) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def number(value: int) -> exp.Literal:
    return exp.Literal(this=str(value), is_string=False)


def string(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def case(condition: exp.Expression, then: exp.Expression, otherwise: exp.Expression) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)


def only_if(condition: exp.Expression, then: exp.Expression) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition, true=then)])


def is_null(operand: exp.Expression) -> exp.Is:
    return exp.Is(this=operand, expression=exp.Null())


def there(*operands: exp.Expression) -> exp.Expression:
    """That none of them is NULL."""
    every: exp.Expression = exp.Not(this=is_null(operands[0]))
    for operand in operands[1:]:
        every = exp.And(this=every, expression=exp.Not(this=is_null(operand)))
    return every


def cast(operand: exp.Expression, kind: str) -> exp.Cast:
    return exp.Cast(this=operand, to=exp.DataType.build(kind))


def constant_text(node: exp.Expression) -> str | None:
    return node.name if isinstance(node, exp.Literal) and node.is_string else None


def constant_count(node: exp.Expression) -> int | None:
    """A literal whole number."""
    whole = isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()
    return int(node.name) if whole and len(node.name) < 10 else None


def made(count: int, build: Callable[..., exp.Expression]) -> Rewrite:
    """A tree of exactly so many arguments; one that it has twice is copied by `build`."""

    def rewrite(given: Arguments, _source: SourceText) -> exp.Expression | None:
        return build(*given) if len(given) == count else None

    return rewrite


def slice_of(array: exp.Expression, count: int) -> exp.Anonymous:
    return call("slice", array, number(1), number(count))
