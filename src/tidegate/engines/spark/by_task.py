"""Partials as tasks make them: Spark's aggregation without its second half.

Spark aggregates within each task, exchanges what comes of that by its keys, and aggregates it again. The second half is
what the kernel is there for: it merges partials of one group, however many there are. So where few tasks make them, the
exchange (files written and read, a second stage, a second hash table) brings nothing, and the plan is cut off above it.

In: a frame whose statement is a `Group` at the top. Out: a frame of what its tasks made, or None: it is to be run as it
is. Decided here: when it may be cut. What a task holds per group must be, column by column, what the statement gives,
so only operations whose buffer is their result are cut (`_BUFFERS`); the plan must show the columns that are expected,
by name and type; and a plan that looks different in any way is run whole. So it is where tasks are many: each of them
might send all groups.

Batches of Arrow are of one task each, and have each group once, as the kernel wants it: they are never put into one.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidegate.engines.spark.frames import is_remote
from tidegate.model.partials import PartialOp, PartialSpec
from tidegate.model.relations import Group, Relation
from tidegate.model.types import Decimal
from tidegate.sql.functions.signature import Engine
from tidegate.sql.partials import render_partial
from tidegate.sql.relations import grouping_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_TASKS = 8
_PAUSE = 32  # frames: to find out how many tasks there are costs as much as half a plan
_BUFFERS = {
    PartialOp.ROWS: "count",
    PartialOp.COUNT: "count",
    PartialOp.SUM: "sum",
    PartialOp.MIN: "min",
    PartialOp.MAX: "max",
    PartialOp.BOOL_AND: "min",
    PartialOp.BOOL_OR: "max",
    PartialOp.BIT_AND: "bit_and",
    PartialOp.BIT_OR: "bit_or",
    PartialOp.BIT_XOR: "bit_xor",
}
# From the top of the plan to what tasks make; whole-stage code and its inputs are nodes of their own.
_ABOVE = ("WholeStageCodegen", "HashAggregate", "InputAdapter", "Exchange")
_BELOW = ("WholeStageCodegen", "HashAggregate")


def by_task(relation: Relation) -> "ByTask | None":
    """How the statement of the relation may be cut, if it may."""
    if isinstance(relation, Group) and all(_is_its_buffer(it.spec) for it in relation.partials):
        return ByTask(relation)
    return None


def _is_its_buffer(spec: PartialSpec) -> bool:
    """A sum of DECIMALs has a second buffer beside it."""
    return spec.op in _BUFFERS and not isinstance(spec.type, Decimal)


class ByTask:
    """Cuts plans of one statement. `names` are its columns, in their order."""

    def __init__(self, group: Group) -> None:
        keys = [key.name for key in group.keys]
        self.names = [*keys, *(named.name for named in group.partials)]
        self._own = grouping_order(keys, Engine.SPARK)
        self._buffers = list(self._own)
        self._places = [self._own.index(name) for name in keys]
        calls: dict[str, int] = {}  # equal ones are computed once
        for named in group.partials:
            text = "\n".join(render_partial(named.spec, Engine.SPARK))
            if text not in calls:
                calls[text] = len(self._own)
                self._own.append(named.name)
                self._buffers.append(_BUFFERS[named.spec.op])
            self._places.append(calls[text])
        self._schema: Any = None
        self._fits, self._pause = True, 0

    def cut(self, frame: "DataFrame") -> "DataFrame | None":
        """What the frame's tasks make, each group once per task; a column for each different one of the statement."""
        if not self._fits or self._pauses() or is_remote(frame.sparkSession):
            return None
        plan = _of_tasks(frame._jdf.queryExecution().executedPlan())
        if plan is None:
            return None
        if self._schema is None and not self._learn(frame, plan):
            self._fits = False
            return None
        rows = plan.execute()
        if rows.getNumPartitions() > _MOST_TASKS:
            self._pause = _PAUSE
            return None
        return _frame_of(rows, self._schema, frame.sparkSession)

    def _pauses(self) -> bool:
        """After a frame of many tasks, others are likely to have many."""
        self._pause = max(self._pause - 1, -1)
        return self._pause >= 0

    def partials(self, frame: "DataFrame") -> list[pa.RecordBatch] | None:
        """What the frame's tasks make, in the columns of the statement."""
        cut = self.cut(frame)
        return None if cut is None else [self._stated(it) for it in cut.toArrow().to_batches()]

    def _stated(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [batch.column(place) for place in self._places]
        return pa.RecordBatch.from_arrays(arrays, names=self.names)

    @property
    def columns(self) -> Mapping[str, str]:
        """Which column of a frame that was cut is each of the statement."""
        named = zip(self.names, self._places, strict=True)
        return {name: self._own[place] for name, place in named}

    def _learn(self, frame: "DataFrame", plan: Any) -> bool:
        """Whether the plan's columns are those that are expected, and what they are called from now on."""
        found = json.loads(plan.schema().json())["fields"]
        if [field["name"] for field in found] != self._buffers:
            return False
        stated = [field.jsonValue()["type"] for field in frame.schema.fields]
        if [found[place]["type"] for place in self._places] != stated:
            return False
        fields = [
            {**field, "name": name, "nullable": True}
            for field, name in zip(found, self._own, strict=True)
        ]
        text = json.dumps({"type": "struct", "fields": fields})
        self._schema = frame.sparkSession._jsparkSession.parseDataType(text)
        return True


def _of_tasks(plan: Any) -> Any | None:
    """What is below the exchange of an aggregation, if that is all there is above it."""
    for name in _ABOVE:
        if not plan.nodeName().startswith(name):
            return None
        plan = plan.child()
    code, aggregation = _BELOW
    is_it = plan.nodeName().startswith(code) and plan.child().nodeName() == aggregation
    return plan if is_it else None


def _frame_of(rows: Any, schema: Any, session: "SparkSession") -> "DataFrame":
    from pyspark.sql import DataFrame

    return DataFrame(session._jsparkSession.internalCreateDataFrame(rows, schema, False), session)
