"""Does a stream say what one SELECT over all of its rows says? Asked of a program whose sources end.

In: a program. Out: per query a verdict. The rows are read once; the stream runs over them whole, in batches that are
cut at random, and with restarts at random epochs; DuckDB answers the same query over all rows at once (`plan/batch`).
Decided here: nothing is left behind (no sink, no checkpoint is touched), the clock stands still, and what a stream is
compared by is what it has in the end: all rows of one that appends, the current ones of one that changes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa

from tidegate.engines.clock import ManualClock
from tidegate.engines.engine import Engine, Surroundings
from tidegate.engines.epochs import Listener
from tidegate.engines.inputs import Inputs
from tidegate.engines.stage import Made
from tidegate.engines.views import CurrentRows
from tidegate.model.policies import SideKind
from tidegate.plan.batch.query import Batch, batches_of
from tidegate.plan.batch.scalars import refused
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program
from tidegate.session.accounts import Account, account_of
from tidegate.session.analysis import without_sinks
from tidegate.session.comparing import Difference, differences
from tidegate.session.duck import Judge
from tidegate.session.feeding import Cut, Given, drawn, everything, safe_cuts
from tidegate.state import Identity, MemoryLog

_MOST_BATCHES = 60
_MOST_ROWS = 100_000_000
_RESTARTS = 0.4
_MOST_DIFFERENCES = 10


@dataclass(slots=True, kw_only=True)
class Verdict:
    """Of one query. `problem`: it could not be judged. `wrong` are differences by the run that showed them."""

    name: str
    batch: Batch | None = None
    rows: int = 0
    problem: str = ""
    wrong: dict[str, list[Difference]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """All of it. `runs` says what each run was; `batches` is the most of one run."""

    verdicts: tuple[Verdict, ...]
    rows: int
    malformed: int
    runs: tuple[str, ...]
    batches: int


def _unjudged(program: Program, *, latest_us: int) -> Iterator[Verdict]:
    for name, batch in batches_of(program, latest_us=latest_us):
        if isinstance(batch, str):
            yield Verdict(name=name, problem=batch)
        else:
            yield Verdict(name=name, batch=batch)


def verify(
    program: Program, *, runs: int, seed: int, now_us: int, given: Given | None = None
) -> Verified:
    """Judges all queries of the program that can be judged, over what its sources have unless rows are `given`."""
    alone = without_sinks(program)
    given = given or everything(alone)
    latest_us = now_us + min(_skews(alone), default=0)
    verdicts = tuple(_unjudged(alone, latest_us=latest_us))
    answers = _Answers(_judge(alone, given), verdicts)
    cuts = safe_cuts(alone, given, answers.judge, now_us=now_us) if runs > 1 else {}
    told, most = [], 0
    for number in range(runs):
        draw = Random(f"{seed}/{number}")
        ends = {
            name: drawn(cuts[name], table.num_rows, draw, most=_MOST_BATCHES)
            if number
            else [table.num_rows]
            for name, table in given.sources.items()
        }
        run = _Run(alone, given, ends, now_us=now_us)
        restarts = number > 1 and number % 2 == 0
        account = run.play(draw if restarts else None)
        batches = max(map(len, ends.values()), default=0)
        told.append(_told(batches, run.restarts))
        most = max(most, batches)
        for verdict in verdicts:
            _refuse_uneven(verdict, account)
            answers.compare(verdict, run, told[-1])
    return Verified(
        verdicts=verdicts,
        rows=sum(table.num_rows for table in given.sources.values()),
        malformed=given.malformed,
        runs=tuple(told),
        batches=most,
    )


def _told(batches: int, restarts: int) -> str:
    again = f", {restarts} restart{'' if restarts == 1 else 's'}" if restarts else ""
    return f"{batches:,} batch{'' if batches == 1 else 'es'}{again}"


def _skews(program: Program) -> Iterator[int]:
    for query in program.queries:
        for stage in plan_query(query, program).stages:
            for branch in stage.branches:
                if branch.time is not None and branch.time.max_future_skew_us is not None:
                    yield branch.time.max_future_skew_us


def _judge(program: Program, given: Given) -> Judge:
    called = {
        each.name.lower(): each.name
        for kind in ("source", "table")
        for each in program.catalog.all_of(kind)
    }
    every = {**given.tables, **given.sources}
    return Judge({called[name]: table for name, table in every.items()})


def _refuse_uneven(verdict: Verdict, account: Account) -> None:
    """What depends on the clock or on the order of arrival has no counterpart in a batch."""
    for stage in account.stages_of(verdict.name):
        uneven = {f"{SideKind.EVICTED}/", f"{SideKind.DUPLICATE}/", f"{SideKind.LATE}/"}
        found = [name for name in stage.reasons if any(map(name.startswith, uneven))]
        if found and not verdict.problem:
            verdict.problem = refused(
                f"a run with rows that are diverted ({', '.join(found)})"
            ).message
        if stage.stamped and not verdict.problem:
            verdict.problem = refused("a run with rows that have the clock's time").message


class _Answers:
    """What DuckDB says, asked once per query."""

    def __init__(self, judge: Judge, verdicts: Sequence[Verdict]) -> None:
        self.judge = judge
        self._tables: dict[str, pa.Table] = {}
        for verdict in verdicts:
            if verdict.batch is not None:
                self._tables[verdict.name] = judge.answer(verdict.batch.sql)
                verdict.rows = self._tables[verdict.name].num_rows

    def compare(self, verdict: Verdict, run: "_Run", told: str) -> None:
        if verdict.problem or verdict.batch is None:
            return
        found = differences(
            run.result(verdict.name),
            self._tables[verdict.name],
            verdict.batch.compared,
            names=("the stream", "DuckDB"),
        )
        shown = [one for one, _ in zip(found, range(_MOST_DIFFERENCES), strict=False)]
        if shown:
            verdict.wrong[told] = shown


class _Run:
    """One run of the stream."""

    def __init__(
        self, program: Program, given: Given, ends: dict[str, list[int]], *, now_us: int
    ) -> None:
        from tidegate.engines.local.build import local_build

        self._program, self._given = program, given
        self._views: dict[str, CurrentRows] = {}
        self._log = MemoryLog(Identity(plans={}))
        self._clock = ManualClock(now_us)
        self._readers = {name: Cut(table, ends[name]) for name, table in given.sources.items()}
        self._build: Callable[[Program, Surroundings], Engine] = local_build(
            Inputs(readers=self._readers)
        )
        self.restarts = 0

    def _engine(self) -> Engine:
        around = Surroundings(
            clock=self._clock,
            log=self._log,
            listener=Listener(made=self._made, wanted=frozenset()),
            tables=self._given.tables,
        )
        return self._build(self._program, around)

    def _made(self, stage: str, made: Made) -> None:
        if self._program.query(stage) is None:
            return
        view = self._views.get(stage.lower())
        if view is None:
            view = self._views[stage.lower()] = CurrentRows(
                made.emitted.rows.schema, most=_MOST_ROWS
            )
        view.add(made.emitted)

    def play(self, draw: Random | None) -> Account:
        """To the end of the input; with `draw`, dropping the engine now and then and going on from its log."""
        engine = self._engine()
        while engine.poll() is not None:
            if draw is not None and draw.random() < _RESTARTS:
                engine = self._engine()
                self.restarts += 1
        engine.end()
        account = account_of(engine)
        engine.close()
        return account

    def result(self, name: str) -> pa.Table:
        return self._views[name.lower()].table()
