"""`Session`: what a program holds in its hand. About a dozen methods that call functions elsewhere.

Decided here: when things begin. Statements only define until the first row, watermark or run needs an engine; what is
defined afterwards joins the running engine, streams that were there keep their state, and new ones see what comes from
then on. The statements of one `sql()` count together or not at all: definitions first, then what is inserted.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any

import pyarrow as pa

from tidegate import config as configuration
from tidegate import errors
from tidegate.connectors.memory import MemorySink, stream_schema
from tidegate.engines.clock import Clock, ManualClock
from tidegate.engines.embedded.constants import constant_rows
from tidegate.engines.engine import Engine
from tidegate.errors import TidegateError
from tidegate.model.policies import SideKind
from tidegate.plan.catalog import Catalog, SourceDef, TableDef
from tidegate.plan.inserts import InsertedRows
from tidegate.plan.script import NamedQuery, Program
from tidegate.plan.settings import Settings
from tidegate.plan.user_aggregates import Installed, user_aggregate
from tidegate.session.accounts import Account, account_of
from tidegate.session.analysis import measured as measured_alone
from tidegate.session.analysis import stood
from tidegate.session.answers import Result, Rows, Subscription
from tidegate.session.background import Background
from tidegate.session.looking import explain
from tidegate.session.opening import BY_HAND, Opened, Way, change, start
from tidegate.session.reasons import Question, reasons
from tidegate.session.rows import Given, batch_from, instant_given
from tidegate.session.script import Heard, execute
from tidegate.session.standing import Standing, standing_of
from tidegate.session.watching import Watching
from tidegate.sql.source import SourceText


class Session:
    """Made by `tidegate.connect()`; a context manager. All methods may be called from any thread."""

    def __init__(self, settings: Settings, way: Way) -> None:
        self._way = way
        self._program = Program(catalog=Catalog(), settings=settings)
        self._lock = RLock()
        self._engine: Engine | None = None
        self._opened = Opened()
        self._watching = Watching()
        self._background: Background | None = None
        self._closed = False

    # SQL

    def sql(self, text: str, *, name: str = "<sql>") -> Rows:
        """Run statements; what the last one answers. A SELECT answers with what it emits from now on."""
        with self._lock:
            self._refuse_closed()
            heard = execute(
                SourceText(text, name),
                self._program,
                measure=self._measure,
                reasons=self._reasons,
            )
            self._take_over(heard)
            selected = heard.selected
            answer = self.subscribe(selected) if selected else heard.answers[-1]
            for inserted in heard.inserts:
                self._insert_constants(inserted)
            return answer

    def _take_over(self, heard: Heard) -> None:
        if self._engine is not None and heard.changes:
            change(self._engine, heard.program, self._way, self._opened)
        self._program = heard.program

    def _insert_constants(self, inserted: InsertedRows) -> None:
        target = self._target(inserted.source)
        self._put(target, constant_rows(inserted, target.physical))

    def explain(self, query: str, *, level: str = "physical", form: str = "text") -> str:
        """The plan of a stream, or of a SELECT. `level` is logical, physical, analyze or why, `form` text or json."""
        _refuse_other("level", level, ("logical", "physical", "analyze", "why"))
        _refuse_other("form", form, ("text", "json"))
        with self._lock:
            named = self._program.query(query)
            if named is not None:
                return self._explained(named, level, form)
            if len(query.split()) > 1:
                return str(self.sql(f"EXPLAIN {level} FORMAT {form} {query}"))
            raise self._unknown(query)

    def _explained(self, query: NamedQuery, level: str, form: str) -> str:
        if level == "why":
            return self._reasons(query, self._program)
        measured = self._measure(query, self._program) if level == "analyze" else None
        return str(explain(query, self._program, level=level, form=form, measured=measured))

    def _measure(self, query: NamedQuery, program: Program) -> Account:
        """Of a query that runs, what it did so far; any other one is run once."""
        account = self.account()
        if account is not None and account.stages_of(query.name):
            return account
        return measured_alone(query, program, self._way.build_bounded or self._way.build)

    def _reasons(self, query: NamedQuery, program: Program) -> str:
        """Why its windows have not fired; a query that does not run is asked behind all rows there are."""
        if self._engine is not None and self._program.query(query.name) is not None:
            standing = standing_of(self._engine, query.name)
            return "".join(f"{line}\n" for line in reasons(standing, Question()))
        standing, late = stood(query, program, self._way.build_bounded or self._way.build)
        return "".join(f"{line}\n" for line in reasons(standing, Question(late=late)))

    def standing(self, stream: str) -> Standing:
        """Where a stream stands: its watermark, inputs, and open windows."""
        with self._lock:
            query = self._program.query(stream)
            if query is None:
                raise self._unknown(stream)
            return standing_of(self._running(), query.name)

    @property
    def program(self) -> Program:
        """What is defined."""
        return self._program

    def register(self, name: str, aggregate: type[Any] | object) -> None:
        """An aggregate in Python, which queries can call from now on."""
        with self._lock:
            made = user_aggregate(name, aggregate)
            self._program.settings = self._program.settings.with_aggregate(made)

    # Rows in

    def insert(self, source: str, rows: Given) -> int:
        """One batch of rows: Arrow, pandas, Polars, a dict of columns, or dicts. How many there were."""
        with self._lock:
            target = self._target(source)
            batch = batch_from(rows, target.physical, source=target.name)
            self._put(target, batch)
            return int(batch.num_rows)

    def _put(self, target: SourceDef | TableDef, batch: pa.RecordBatch) -> None:
        engine = self._running()
        if isinstance(target, TableDef):
            engine.insert_into_table(target.name, pa.Table.from_batches([batch]))
        else:
            engine.insert(target.name, [batch])

    def watermark(self, source: str, at: Any) -> None:
        """No row of the source is expected before `at` any more: a datetime, ISO 8601, or milliseconds."""
        with self._lock:
            target = self._target(source)
            self._running().watermark(target.name, instant_given(at))

    def tick(self, at: Any = None) -> None:
        """Time goes on without rows. `at` sets a clock that can be set."""
        with self._lock:
            if at is not None:
                if not isinstance(self._way.clock, ManualClock):
                    raise errors.clock_not_settable()
                self._way.clock.set_us(instant_given(at))
            self._running().tick()

    @property
    def clock(self) -> Clock:
        return self._way.clock

    def end(self) -> None:
        """The input has ended: everything that is open closes and is emitted."""
        with self._lock:
            self._running().end()
            self._watching.finish()

    # Rows out

    def subscribe(self, stream: str) -> Subscription:
        """What the stream emits from now on, batch by batch; also for `async for`."""
        with self._lock:
            query = self._program.query(stream)
            if query is None:
                raise self._unknown(stream)
            schema = stream_schema(query.logical.schema, query.logical.kind)
            drop = self._drop(query.name) if query.anonymous else None
            ended = self._engine is not None and self._engine.ended
            return self._watching.subscribe(
                query.name, schema, alone=self._is_alone, close=drop, ended=ended
            )

    def _drop(self, name: str) -> Callable[[], None]:
        """A query without a name ends when nobody wants it any more."""

        def drop() -> None:
            with self._lock:
                if self._closed or self._program.query(name) is None:
                    return
                program = self._program.copy()
                program.queries = [query for query in program.queries if query.name != name]
                if self._engine is not None:
                    change(self._engine, program, self._way, self._opened)
                self._program = program

        return drop

    def table(self, stream: str) -> Result:
        """The newest row of each window and group of a stream; or the rows of a memory sink."""
        with self._lock:
            writer = self._opened.writers.get(stream.lower())
            if isinstance(writer, MemorySink):
                return Result(writer.rows())
            query = self._program.query(stream)
            if query is None:
                raise self._unknown(stream)
            return Result(self._watching.table(query.name, query.logical.schema))

    def side(self, kind: str) -> list[dict[str, Any]]:
        """Diverted rows of a kind since the last call, as semantics §8 describes them."""
        if kind not in [*SideKind]:
            hint = errors.nearest(kind, SideKind, otherwise=f"there are {', '.join(SideKind)}")
            raise errors.unknown_side(name=kind, hint=hint)
        return self._watching.take_side(kind)

    def metrics(self) -> dict[str, Any]:
        """What became of every row, and where the watermarks are."""
        account = self.account()
        return {} if account is None else account.as_object()

    def account(self) -> Account | None:
        """The same as an object; None before anything ran."""
        with self._lock:
            return None if self._engine is None else account_of(self._engine)

    # Running

    def run(self, *, progress: Callable[[], None] | None = None) -> None:
        """Read sources in the background, until they end or `stop()`. What they have, `subscribe` gives."""
        with self._lock:
            if self._background is None or self._background.is_over:
                engine = self._running()
                self._background = Background(
                    engine, by_hand=self._has_hands(), over=self._watching.finish, progress=progress
                )
                self._background.start()

    def _has_hands(self) -> bool:
        sources = self._program.catalog.all_of("source")
        return any(isinstance(one, SourceDef) and one.connector == BY_HAND for one in sources)

    def wait(self, timeout: float | None = None) -> bool:
        """Until the run in the background is over; whether it is. Raises what went wrong in it."""
        return self._background is None or self._background.wait(timeout)

    def stop(self) -> None:
        """End the run in the background, between two epochs. Raises what went wrong in it."""
        background, self._background = self._background, None
        if background is not None:
            background.stop()

    def checkpoint(self) -> None:
        """Write all state, so that a restart needs nothing before it."""
        with self._lock:
            self._running().checkpoint()

    def close(self) -> None:
        """Stop, and let go of the checkpoint. What is open stays open in it."""
        if self._closed:
            return
        try:
            self.stop()
        finally:
            with self._lock:
                self._closed = True
                self._watching.finish()
                if self._engine is not None:
                    self._engine.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # What is needed for all that

    def _running(self) -> Engine:
        self._refuse_closed()
        if self._engine is None:
            listener = self._watching.listener(self._program_of)
            self._engine, self._opened = start(self._program, self._way, listener)
        return self._engine

    def _program_of(self) -> Program:
        return self._program

    def _refuse_closed(self) -> None:
        if self._closed:
            raise errors.session_closed()

    def _is_alone(self) -> bool:
        return self._background is None or self._background.is_over

    def _target(self, name: str) -> SourceDef | TableDef:
        self._refuse_closed()
        found = self._program.catalog.find(name)
        if isinstance(found, (SourceDef, TableDef)):
            return found
        if found is None:
            raise self._unknown(name)
        raise errors.wrong_kind_of_relation(
            name=found.name, kind=found.kind, statement="insert", expected="source or table"
        )

    def _unknown(self, name: str) -> TidegateError:
        hint = self._program.catalog.suggestion(name)
        return errors.unknown_relation(name=name, hint=hint)


def settings_from(config: str | PathLike[str] | Mapping[str, object] | None) -> Settings:
    """From a file, from a mapping that is written like one, or from `tidegate.toml` here; the first error is raised."""
    if isinstance(config, Mapping):
        loaded = configuration.checked(config, file="config")
    else:
        loaded = configuration.load(None if config is None else Path(config))
    if loaded.errors:
        raise loaded.errors[0]
    return replace(loaded.settings, aggregates=Installed())


def _refuse_other(argument: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise errors.bad_argument(argument=argument, value=repr(value), known=", ".join(known))
