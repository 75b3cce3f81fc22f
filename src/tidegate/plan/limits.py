"""How large a plan may get.

Streams without state, names of WITH and subqueries are read through, so a short text can mean a plan that doubles with
every line, and an expression that does. Decided here: what is refused before it takes all memory and time. A text that
says what it means at full length stays far below every limit.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tidegate import errors
from tidegate.model.expressions import Expr, Field, Named, walk
from tidegate.plan.logical import Logical, Project, UnionAll, inputs

MAX_LEVELS = 100  # of queries inside queries
MAX_HEIGHT = 200  # of operators above each other
MAX_OPERATORS = 50_000
MAX_QUERIES = 6_000  # a name of WITH counts as often as it is read
MAX_NAMES = 1_000  # of WITH; each sees those before it
MAX_TERMS = 200_000
MAX_JOINS = 100


@dataclass(slots=True)
class Budget:
    """What is left of a statement's operators while it is bound."""

    operators: int = MAX_OPERATORS
    queries: int = MAX_QUERIES

    def spend_query(self, at: errors.Location) -> None:
        """A query inside, at its place."""
        self.queries -= 1
        if self.queries < 0:
            raise _too_large(at, f"a query of more than {MAX_QUERIES} queries")

    def spend_plan(self, plan: Logical, at: errors.Location) -> None:
        """A plan that is read through, at the name that it is read by."""
        operators = highest = 0
        for _, level in _levels(plan):
            operators, highest = operators + 1, max(highest, level)
            if operators > self.operators:
                break
        self.operators -= operators
        if self.operators < 0:
            raise _too_large(at, f"a query of more than {MAX_OPERATORS} operators")
        if highest > MAX_HEIGHT:
            raise _too_large(at, f"a query through more than {MAX_HEIGHT} operators")


def refuse_outgrown(plan: Logical, at: errors.Location) -> None:
    """Refuse a plan whose expressions, written over what enters the query, would be too large."""
    Budget().spend_plan(plan, at)
    _sizes(plan, at)


def refuse_doubled(columns: tuple[Named, ...], expr: Expr) -> None:
    """Refuse to write the expression over the input of a projection where it would become too large."""
    made = {named.name: named.expr for named in columns}
    _size(expr, lambda name: sum(1 for _ in walk(made[name])) if name in made else 1, None)


def _levels(plan: Logical) -> Iterator[tuple[Logical, int]]:
    stack = [(plan, 1)]
    while stack:
        node, level = stack.pop()
        yield node, level
        stack.extend((part, level + 1) for part in inputs(node))


def _sizes(plan: Logical, at: errors.Location) -> Mapping[str, int]:
    """How large each column is; those that are not named have the size of a name."""
    match plan:
        case Project(input=input, columns=columns):
            inner = _sizes(input, at)
            return {
                named.name: _size(named.expr, lambda name: inner.get(name, 1), at)
                for named in columns
            }
        case UnionAll(inputs=parts):
            sizes = [_sizes(part, at) for part in parts]
            return {name: max(each.get(name, 1) for each in sizes) for name in sizes[0]}
        case _:
            below = inputs(plan)
            return _sizes(below[0], at) if below else {}


def _size(expr: Expr, of: Callable[[str], int], at: errors.Location | None) -> int:
    size = 0
    for node in walk(expr):
        size += of(node.name) if isinstance(node, Field) else 1
        if size > MAX_TERMS:
            raise _too_large(at, f"an expression of more than {MAX_TERMS} terms")
    return size


def _too_large(at: errors.Location | None, what: str) -> errors.TidegateError:
    instead = "what is read through streams, WITH and subqueries counts each time it is read: aggregate in between"
    return errors.not_supported(at, what=what, instead=instead)
