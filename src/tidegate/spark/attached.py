"""`Attached`: what a job holds in its hand. A handful of methods that call functions elsewhere.

Decided here: definitions are collected until `start()`, and a program that runs is not changed: Spark's queries could
not be told. Rows come from DataFrames and sources that have a connector; statements that would put rows in by hand, or
print some, are for sessions.
"""

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.callback import Callback
from tidegate.engines.clock import Clock
from tidegate.model.options import OptionValue
from tidegate.plan.catalog import Catalog, SinkDef
from tidegate.plan.script import Program
from tidegate.plan.settings import Settings
from tidegate.plan.user_aggregates import user_aggregate
from tidegate.session.answers import Result
from tidegate.session.looking import explain
from tidegate.session.script import execute
from tidegate.session.watching import Watching
from tidegate.spark.definitions import Lag, Registered, registered
from tidegate.spark.refusals import refuse_foreign, refuse_measuring
from tidegate.spark.rows import frame_of_rows
from tidegate.spark.running import Run
from tidegate.spark.starting import Start, started
from tidegate.spark.triggers import Trigger, triggering
from tidegate.spark.whole import answer
from tidegate.sql.source import SourceText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EachEpoch = Callable[[Any, int], object]


class Attached:
    """Made by `tidegate.spark.attach()`."""

    def __init__(self, spark: "SparkSession", settings: Settings, clock: Clock) -> None:
        self._spark, self._clock = spark, clock
        self._program = Program(catalog=Catalog(), settings=settings)
        self._frames: dict[str, Registered] = {}
        self._callbacks: dict[str, Callback] = {}
        self._watching = Watching()
        self._run: Run | None = None

    # Into a query

    def register(
        self,
        name: str,
        frame: "DataFrame",
        *,
        event_time: str | None = None,
        watermark_lag: Lag | None = None,
        **options: OptionValue,
    ) -> "Attached":
        """A streaming DataFrame is a source from now on, a static one a table; or an input of `batch()`.

        `event_time` names its TIMESTAMP column, and the watermark is `watermark_lag` behind it. A frame with one of its
        own (`df.withWatermark`) needs neither. `options` are those of a source, such as `idle_timeout="30s"`.
        """
        self._refuse_active()
        refuse_foreign(name, frame, self._spark)
        made = registered(
            name, frame, event_time=event_time, watermark_lag=watermark_lag, options=options
        )
        catalog = self._program.catalog
        before = catalog.find(name)
        if before is not None and name.lower() not in self._frames:
            raise errors.name_in_use(kind=before.kind, name=before.name)
        if readers := catalog.readers(name):
            raise errors.in_use(name=name, readers=", ".join(readers))
        catalog.add(made.source() if made.streams else made.table())
        self._frames[name.lower()] = made
        return self

    def aggregate(self, name: str, implementation: type[Any] | object) -> "Attached":
        """An aggregate in Python, which queries can call from now on."""
        made = user_aggregate(name, implementation)
        self._program.settings = self._program.settings.with_aggregate(made)
        return self

    def sql(self, text: str, *, name: str = "<sql>") -> Result:
        """Statements that define, set or look; what the last one answers."""
        self._refuse_active()
        heard = execute(SourceText(text, name), self._program, measure=refuse_measuring)
        if heard.inserts or heard.selected:
            what = "INSERT" if heard.inserts else "a SELECT without a name"
            instead = "register() a DataFrame; name the query: CREATE STREAM … AS SELECT …; or use batch()"
            raise errors.cannot_run(what=f"{what} in a Spark job", instead=instead)
        self._program = heard.program
        return heard.answers[-1]

    def explain(self, stream: str, *, level: str = "physical", form: str = "text") -> str:
        """The plan of a stream; `level` is logical or physical, `form` is text or json."""
        query = self._program.query(stream)
        if query is None:
            raise self._unknown(stream)
        if level == "analyze":
            refuse_measuring(query, self._program)
        return str(explain(query, self._program, level=level, form=form))

    # Out of a query

    def foreach_batch(self, stream: str, function: EachEpoch, *, arrow: bool = False) -> "Attached":
        """Call `function(rows, epoch)` with what each epoch emits, as a DataFrame or an Arrow table, if it does.

        After a crash the last epoch may come again, with the same rows and number. Rows of a stream that takes some
        back have the column `_op` in front.
        """
        self._refuse_active()
        found = self._program.catalog.find(stream)
        if found is None or found.kind not in ("stream", "source"):
            raise self._unknown(stream)

        def call(epoch: int, rows: pa.Table) -> None:
            try:
                function(rows if arrow else frame_of_rows(self._spark, rows), epoch)
            except Exception as failure:
                failure.add_note(f"in the function for {found.name}, epoch {epoch}")
                raise

        name = f"{found.name}${len(self._callbacks) + 1}"
        self._callbacks[name] = call
        sink = SinkDef(name=name, stream=found.name, connector="callback", options={})
        self._program.catalog.add(sink)
        return self

    def write(self, stream: str, writer: Callable[["DataFrame", int], object]) -> "Attached":
        """Write what each epoch emits by any batch writer of Spark: `lambda rows, epoch: rows.write…`."""
        return self.foreach_batch(stream, writer)

    def table(self, stream: str) -> "DataFrame":
        """The newest row of each window and group that this run has emitted; of an append stream the newest million."""
        query = self._program.query(stream)
        if query is None:
            raise self._unknown(stream)
        return frame_of_rows(self._spark, self._watching.table(query.name, query.logical.schema))

    # Running

    def start(
        self,
        *,
        checkpoint: str | PathLike[str] | None = None,
        trigger: Trigger | None = None,
        close_windows: bool = True,
        reset_state: bool = False,
    ) -> Run:
        """Run what is defined, from where `checkpoint` was left.

        `trigger` is 'availableNow', a time between batches such as '5 seconds', or as often as there are rows. With
        'availableNow' all windows close at the end; not with `close_windows=False`, for runs that are gone on with.
        """
        self._refuse_active()
        self._watching = Watching()
        how = Start(
            spark=self._spark,
            clock=self._clock,
            checkpoint=checkpoint,
            reset=reset_state,
            triggering=triggering(trigger),
            close_windows=close_windows,
        )
        program = self._program.copy()
        self._run = started(program, self._frames, self._callbacks, self._watching, how)
        return self._run

    def batch(self, text: str, *, stream: str | None = None) -> "DataFrame":
        """The same SQL over static DataFrames: what it has emitted when all rows are in and all windows are closed.

        The rows are those of `stream`, or of the last query.
        """
        static = {name: one for name, one in self._frames.items() if not one.streams}
        return answer(self._spark, text, static, self._program.settings, stream, self._clock)

    # What is needed for all that

    def _refuse_active(self) -> None:
        if self._run is not None and self._run.isActive:
            raise errors.run_is_active()

    def _unknown(self, name: str) -> errors.TidegateError:
        hint = self._program.catalog.suggestion(name)
        return errors.unknown_relation(name=name, hint=hint)
