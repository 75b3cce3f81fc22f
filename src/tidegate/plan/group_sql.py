"""Group SQL: what is computed per emitted row, once the kernel has finished its aggregates.

In: a stage. Out: `GroupQuery`: one relation over `$groups`, a batch of finished groups (or of rows that were kept
whole), which both engines run as they run row SQL. So HAVING, sort keys and the output obey the same functions and the
same rules about errors as everything per row, and the kernel knows no expressions.

Order of evaluation: HAVING, then the sort keys of what it lets through; only then the output. `$code` is for the first
two, `$output_code` for the last, since a row that Top-N cuts off has no output that could fail. Where every expression
is a bare column nothing can fail, and `plain` says so: the engine then renames columns and runs no SQL.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.model.expressions import (
    TRUE,
    Case,
    Expr,
    Field,
    Named,
    bigint,
    call,
    walk,
)
from tidegate.model.policies import AGGREGATED, FILTERED
from tidegate.model.relations import Derive, Relation, Scan
from tidegate.model.types import Scalar
from tidegate.plan.physical import CODE, Stage
from tidegate.plan.row_errors import NO_ERROR, error_of, first_of

GROUPS = "$groups"
ROW = Field("$row", Scalar.BIGINT)
OUTPUT_CODE = Field("$output_code", Scalar.BIGINT)
PASSED = Field("$passed", Scalar.BOOLEAN)
FAILED_HAVING = Field("$failed_having", Scalar.BIGINT)
FAILED_ORDER = Field("$failed_order", Scalar.BIGINT)
FAILED_OUTPUT = Field("$failed_output", Scalar.BIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupQuery:
    """`relation` makes `$row`, `$code`, `$output_code`, the sort keys `$s0`…, and the output by its own names.

    `columns` is what the scan must provide, `$row` first. `plain` pairs the output's names with columns of the scan
    where no SQL is needed; `sort` then names those of the sort keys. What Top-N is within counts as a sort key.
    """

    relation: Relation
    columns: tuple[Field, ...]
    plain: tuple[tuple[str, str], ...] | None
    sort: tuple[str, ...]


def group_query(stage: Stage) -> GroupQuery:
    """What a stage computes behind the kernel's finish."""
    columns = _columns(stage)
    scan = Scan(GROUPS, tuple((field.name, field.name) for field in columns))
    plain = _plain(stage)
    sort = tuple(expr.name for expr in _sorted_by(stage) if isinstance(expr, Field))
    return GroupQuery(
        relation=_judged(stage, scan),
        columns=columns,
        plain=plain,
        sort=() if plain is None else sort,
    )


def _exprs(stage: Stage) -> Iterator[Expr]:
    if stage.having is not None:
        yield stage.having
    yield from _sorted_by(stage)
    yield from (named.expr for named in stage.output)


def _sorted_by(stage: Stage) -> tuple[Expr, ...]:
    return (*stage.within, *(key.expr for key in stage.order))


def _columns(stage: Stage) -> tuple[Field, ...]:
    """The row's number and every column that something is computed from, each once."""
    parts = (node for expr in _exprs(stage) for node in walk(expr))
    return tuple(dict.fromkeys((ROW, *(node for node in parts if isinstance(node, Field)))))


def _plain(stage: Stage) -> tuple[tuple[str, str], ...] | None:
    if not all(isinstance(expr, Field) for expr in _exprs(stage)) or stage.having is not None:
        return None
    return tuple(
        (named.name, named.expr.name) for named in stage.output if isinstance(named.expr, Field)
    )


def _judged(stage: Stage, scan: Scan) -> Relation:
    """The values and what goes wrong in them are computed below, so that each is computed once."""
    sort = tuple(Named(f"$s{place}", expr) for place, expr in enumerate(_sorted_by(stage)))
    made = (*sort, *stage.output)
    failures = _Failures(
        having=stage.having or TRUE,
        failed_having=NO_ERROR if stage.having is None else error_of(stage.having),
        failed_order=first_of(*(error_of(named.expr) for named in sort)),
        failed_output=first_of(*(error_of(named.expr) for named in stage.output)),
    )
    computed = Derive(scan, (Named(ROW.name, ROW), *failures.columns(), *made))
    return Derive(
        computed,
        (
            Named(ROW.name, ROW),
            Named(CODE.name, failures.code()),
            Named(OUTPUT_CODE.name, failures.output_code()),
            *(Named(named.name, Field(named.name, named.expr.type)) for named in made),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failures:
    """What a group is judged by; TRUE and the literal 0 stand for what needs no column."""

    having: Expr
    failed_having: Expr
    failed_order: Expr
    failed_output: Expr

    def columns(self) -> Iterator[Named]:
        if self.having != TRUE:
            yield Named(PASSED.name, self.having)
        if self.failed_having != NO_ERROR:
            yield Named(FAILED_HAVING.name, self.failed_having)
        if self.failed_order != NO_ERROR:
            yield Named(FAILED_ORDER.name, self.failed_order)
        if self.failed_output != NO_ERROR:
            yield Named(FAILED_OUTPUT.name, self.failed_output)

    def code(self) -> Expr:
        reasons: list[tuple[Expr, Expr]] = []
        if self.failed_having != NO_ERROR:
            reasons.append((call("<>", FAILED_HAVING, NO_ERROR), FAILED_HAVING))
        if self.having != TRUE:
            reasons.append((call("is_distinct", PASSED, TRUE), bigint(FILTERED)))
        last = bigint(AGGREGATED) if self.failed_order == NO_ERROR else FAILED_ORDER
        return Case(tuple(reasons), last, Scalar.BIGINT) if reasons else last

    def output_code(self) -> Expr:
        """Of rows that HAVING and the sort keys let through."""
        code = self.code()
        if self.failed_output == NO_ERROR:
            return NO_ERROR
        if code == bigint(AGGREGATED):
            return FAILED_OUTPUT
        passed = call("=", code, bigint(AGGREGATED))
        return Case(((passed, FAILED_OUTPUT),), NO_ERROR, Scalar.BIGINT)
