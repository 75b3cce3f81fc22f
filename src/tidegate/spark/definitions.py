"""What a registered DataFrame is to SQL: a source if it streams, a table if it does not.

In: a frame and what its owner says of its time. Out: a definition for the catalogue. Decided here: a frame that brings
a watermark of its own (`withWatermark`) is taken at its word, unless `register` says otherwise; and without an event
time, the time that a query names moves the watermark, as far behind as `watermark_lag` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from tidegate import errors
from tidegate.engines.inputs import DATAFRAME
from tidegate.engines.spark.columns import (
    conformed,
    declared_watermark,
    is_repeatable,
    schema_of_frame,
)
from tidegate.engines.spark.handed import HandedFrame
from tidegate.kernel.arrow import arrow_type
from tidegate.model.expressions import Field, Named
from tidegate.model.options import OPTIONS, BadValue, OptionValue, Scope
from tidegate.model.schema import Schema
from tidegate.model.time import MICROSECOND
from tidegate.model.types import Scalar
from tidegate.plan.catalog import Declared, SourceDef, TableDef

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Lag = str | timedelta
_LAG = "watermark_lag"
_MICROSECOND = timedelta(microseconds=MICROSECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A frame with its name, its columns and its time."""

    name: str
    data: "DataFrame"
    schema: Schema
    watermark: Declared | None
    options: Mapping[str, OptionValue]

    @property
    def streams(self) -> bool:
        return bool(self.data.isStreaming)

    @property
    def handed(self) -> HandedFrame:
        return HandedFrame(schema=self.schema, repeatable=is_repeatable(self.data))

    def rows(self) -> pa.Table:
        """All rows, here; for tables, which every task gets whole."""
        columns = [(column.name, arrow_type(column.type)) for column in self.schema]
        return conformed(self.data, self.schema).toArrow().cast(pa.schema(columns))

    def source(self) -> SourceDef:
        return SourceDef(
            name=self.name,
            physical=self.schema,
            columns=_columns(self.schema),
            not_null=frozenset(),
            watermark=self.watermark,
            connector=DATAFRAME,
            options=dict(self.options),
            text=self._text("SOURCE"),
        )

    def bounded_source(self) -> SourceDef:
        """All rows come at once, and none is late: any time that a query names will do."""
        whole = {_LAG: 0} if self.watermark is None else {}
        source = self.source()
        source.options.update(whole | dict(self.options))
        return source

    def table(self) -> TableDef:
        return TableDef(
            name=self.name,
            physical=self.schema,
            columns=_columns(self.schema),
            connector=DATAFRAME,
            options={},
            text=self._text("TABLE"),
        )

    def _text(self, kind: str) -> str:
        columns = ", ".join(f"{column.name} {column.type}" for column in self.schema)
        return f"CREATE {kind} {self.name} ({columns})"


def registered(
    name: str,
    data: "DataFrame",
    *,
    event_time: str | None,
    watermark_lag: Lag | None,
    options: Mapping[str, OptionValue],
) -> Registered:
    """The frame as SQL sees it; refuses what it cannot."""
    schema = schema_of_frame(data, frame=name)
    lag_us = None if watermark_lag is None else _lag_us(watermark_lag)
    own = declared_watermark(data)
    if event_time is None and lag_us is None and own is not None:
        event_time, lag_us = own
    elif own is not None and lag_us is None and event_time == own[0]:
        lag_us = own[1]
    values = _options(options)
    watermark = None
    if event_time is not None:
        watermark = _declared(name, event_time, schema, lag_us or 0)
    elif lag_us is not None:
        values[_LAG] = lag_us
    return Registered(name=name, data=data, schema=schema, watermark=watermark, options=values)


def _declared(frame: str, event_time: str, schema: Schema, lag_us: int) -> Declared:
    column = schema.find(event_time)
    if column is None:
        otherwise = f"columns are {', '.join(schema.names)}"
        hint = errors.nearest(event_time, schema.names, otherwise=otherwise)
        raise errors.frame_time(frame=frame, column=event_time, problem="no such column", hint=hint)
    if column.type is not Scalar.TIMESTAMP:
        problem = f"it is {column.type}"
        raise errors.frame_time(frame=frame, column=event_time, problem=problem)
    return Declared(expr=Field(column.name, column.type), column=column.name, lag_us=lag_us)


def _lag_us(lag: Lag) -> int:
    if isinstance(lag, timedelta):
        return int(_read(_LAG, f"{lag // _MICROSECOND}us"))
    return int(_read(_LAG, lag))


def _options(given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    for name in given:
        spec = OPTIONS.get(name)
        if spec is None or (spec.scopes and Scope.SOURCE not in spec.scopes):
            able = [one.name for one in OPTIONS.values() if Scope.SOURCE in one.scopes]
            hint = errors.nearest(name, able, otherwise=f"there are {', '.join(able)}")
            raise errors.unknown_option(where="a frame", name=name, hint=hint)
    return {name: _read(name, value) for name, value in given.items()}


def _read(name: str, value: OptionValue) -> OptionValue:
    try:
        return OPTIONS[name].read(value)
    except BadValue as problem:
        raise errors.bad_option_value(name=name, value=repr(value), problem=problem) from None


def _columns(schema: Schema) -> tuple[Named, ...]:
    return tuple(Named(column.name, Field(column.name, column.type)) for column in schema)
