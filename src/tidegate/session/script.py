"""Statements of one call, against a copy of the session's program.

In: text. Out: the program they would make, the rows that they insert, and what each of them answers. Decided here: the
first refusal is raised before anything has changed; all others are its notes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tidegate import errors
from tidegate.plan.inserts import InsertedRows
from tidegate.plan.script import NamedQuery, Program, apply, explained
from tidegate.session import looking
from tidegate.session.accounts import Account
from tidegate.session.answers import Result
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText
from tidegate.sql.statements import (
    Create,
    Describe,
    Drop,
    Explain,
    Insert,
    Select,
    SetOption,
    Show,
    ShowCreate,
    Statement,
)


@dataclass(slots=True)
class Heard:
    """What statements ask for. `selected`: the last one is a SELECT, and this is its name."""

    program: Program
    answers: list[Result] = field(default_factory=list)
    inserts: Sequence[InsertedRows] = ()
    changes: bool = False
    selected: str | None = None


Measure = Callable[[NamedQuery, Program], Account]
Reasons = Callable[[NamedQuery, Program], str]


def _no_reasons(query: NamedQuery, program: Program) -> str:
    raise errors.cannot_run(
        what="EXPLAIN WHY here", instead="ask where the stream runs, or: tidegate why"
    )


def execute(
    source: SourceText, before: Program, *, measure: Measure, reasons: Reasons = _no_reasons
) -> Heard:
    """All statements of the text. `measure` says for EXPLAIN ANALYZE what a query did, `reasons` why it waits."""
    script = parse_script(source)
    program = before.copy()
    program.catalog.broken |= {name.lower() for name in script.broken}
    program.errors = [*script.errors]
    heard = Heard(program)
    for statement in script.statements:
        apply(statement, program)
        if not program.errors:
            heard.answers.append(_answer(statement, program, measure, reasons))
    _raise(program)
    heard.inserts, program.inserts = program.inserts, []
    heard.changes = any(isinstance(one, (Create, Drop, Select)) for one in script.statements)
    if script.statements and isinstance(script.statements[-1], Select):
        heard.selected = program.queries[-1].name
    if not heard.answers:
        heard.answers.append(looking.done("nothing to do"))
    return heard


def _raise(program: Program) -> None:
    refused = sorted(program.errors, key=lambda error: (error.line or 0, error.column or 0))
    if not refused:
        return
    first, *others = refused
    for other in others:
        first.add_note(str(other))
    raise first.with_traceback(None)


def _answer(statement: Statement, program: Program, measure: Measure, reasons: Reasons) -> Result:
    match statement:
        case Show():
            return looking.show(statement.kind, program)
        case ShowCreate() | Describe():
            definition = program.catalog.find(statement.name.text)
            assert definition is not None
            look = looking.show_create if isinstance(statement, ShowCreate) else looking.describe
            return look(definition)
        case Explain():
            query = explained(statement, program)
            if statement.level == "why":
                return looking.text(reasons(query, program))
            told = measure(query, program) if statement.level == "analyze" else None
            return looking.explain(
                query, program, level=statement.level, form=statement.format, measured=told
            )
        case Insert():
            return looking.done(f"INSERT {len(statement.rows)}")
        case Drop():
            return looking.done(f"DROP {statement.kind.upper()} {statement.name.text}")
        case Create():
            words = type(statement).__name__.removeprefix("Create").upper()
            return looking.done(f"CREATE {words} {statement.name.text}")
        case _:
            return looking.done("SET" if isinstance(statement, SetOption) else "SELECT")
