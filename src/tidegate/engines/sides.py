"""Side outputs: what is told of a row that was diverted (semantics §8).

In: whole rows, as `row_sql` gives them, and groups without a value. Out: payloads, plain JSON objects. Decided here:
the shape of a payload, the same on every engine; and that instants are RFC 3339 in UTC, decimals and binary text.
"""

import decimal
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tidegate.connectors.protocols import Malformed
from tidegate.kernel.arrow import conform
from tidegate.model.expressions import Field
from tidegate.model.policies import DISPOSITION, SIDE_KIND, Reason, SideKind
from tidegate.model.time import FOREVER_US, NEVER_US, format_instant
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.plan.physical import Branch, Stage

REASON = {code: reason for reason, code in DISPOSITION.items()}
Payload = dict[str, Any]


def kind_of(code: int) -> SideKind:
    """The side output of a code of `model/policies.py`."""
    return SIDE_KIND[REASON[code]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is the same for all rows of a stage's epoch."""

    stream: str
    plan_id: str
    epoch: int
    now_us: int
    watermark_us: int
    shard: int = 0


@dataclass(frozen=True, slots=True)
class Extent:
    start_us: int | None
    end_us: int | None


def key_names(stage: Stage) -> Mapping[str, str]:
    """By what names keys are shown: those of their output columns, else their own."""
    shown = {
        named.expr.name: named.name
        for named in reversed(stage.output)
        if isinstance(named.expr, Field)
    }
    own = {
        named.name: named.expr.name
        for named in stage.branches[0].columns
        if isinstance(named.expr, Field)
    }
    return {key.name: shown.get(key.name, own.get(key.name, key.name)) for key in stage.keys}


@dataclass(frozen=True, slots=True)
class Describer:
    """Writes the payloads of a stage."""

    stage: Stage
    names: Mapping[str, str]

    @classmethod
    def of(cls, stage: Stage) -> "Describer":
        return cls(stage, key_names(stage))

    def rows(
        self,
        rows: pa.RecordBatch,
        branch: Branch,
        around: Circumstances,
        *,
        extents: Sequence[Extent | None],
        with_keys: Sequence[bool],
    ) -> Iterator[Payload]:
        """One payload per diverted row, which has `$code`, `$ts`, keys and its own columns."""
        codes, times = (rows.column(name).to_pylist() for name in ("$code", "$ts"))
        keys = _plain(rows, {self.names[key.name]: (key.name, key.type) for key in self.stage.keys})
        own = {
            physical: (physical, column.type)
            for (_, physical), column in zip(
                branch.input.originals, branch.input.schema, strict=True
            )
            if not physical.startswith("$")
        }
        originals = _plain(rows, own)
        for place, code in enumerate(codes):
            yield _payload(
                REASON[code],
                around,
                event_time_us=times[place],
                extent=extents[place],
                group_key=keys[place] if with_keys[place] and self.stage.keys else None,
                original=originals[place],
            )

    def groups(
        self,
        units: pa.RecordBatch,
        codes: Sequence[int],
        details: Sequence[str],
        around: Circumstances,
    ) -> Iterator[Payload]:
        """One payload per group without a value: none of its rows is lost, and none of them is the culprit."""
        there = [key for key in self.stage.keys if key.name in units.schema.names]
        keys = _plain(units, {self.names[key.name]: (key.name, key.type) for key in there})
        edges = [units.column(name).to_pylist() for name in ("$window_start", "$window_end")]
        for place, code in enumerate(codes):
            extent = Extent(edges[0][place], edges[1][place])
            yield _payload(
                REASON[code],
                around,
                extent=extent if extent.end_us is not None else None,
                group_key=keys[place] if there else None,
                detail=details[place],
            )


def malformed_of(
    records: Iterable[Malformed], *, source: str, epoch: int, now_us: int
) -> list[Payload]:
    """Records of a source that are no rows."""
    around = Circumstances(
        stream=source, plan_id="", epoch=epoch, now_us=now_us, watermark_us=NEVER_US
    )
    return [
        _payload(Reason.MALFORMED_RECORD, around, original={"raw": it.text}, detail=it.detail)
        for it in records
    ]


def _payload(
    reason: Reason,
    around: Circumstances,
    *,
    event_time_us: int | None = None,
    extent: Extent | None = None,
    group_key: Payload | None = None,
    original: Payload | None = None,
    detail: str = "",
) -> Payload:
    window = None
    if extent is not None:
        window = {"start": _instant(extent.start_us), "end": _instant(extent.end_us)}
    return {
        "kind": SIDE_KIND[reason].value,
        "reason": reason.value,
        "event_time": _instant(event_time_us),
        "processing_time": _instant(around.now_us),
        "watermark": _instant(around.watermark_us),
        "window": window,
        "group_key": group_key,
        "original_event": original,
        "error_detail": detail or None,
        "plan_id": around.plan_id,
        "stream": around.stream,
        "shard": around.shard,
        "epoch": around.epoch,
    }


def _instant(instant_us: int | None) -> str | None:
    if instant_us is None or not NEVER_US < instant_us < FOREVER_US:
        return None
    try:
        return format_instant(instant_us)
    except OverflowError:
        return str(instant_us)  # outside the years that a date can have


# Values


def _plain(rows: pa.RecordBatch, columns: Mapping[str, tuple[str, DataType]]) -> list[Payload]:
    made = {shown: _values(rows.column(name), kind) for shown, (name, kind) in columns.items()}
    return [
        {shown: values[place] for shown, values in made.items()} for place in range(rows.num_rows)
    ]


def _values(column: pa.Array, kind: DataType) -> list[Any]:
    column = conform(column, kind)
    if pa.types.is_timestamp(column.type):
        return [_instant(value) for value in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_nested(column.type):
        return [as_json(_wide(value), kind) for value in column]
    return [as_json(value, kind) for value in column.to_pylist()]


def _wide(scalar: pa.Scalar) -> Any:
    """Nested values, with instants as integers, since Python's dates are narrower than ours."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_timestamp(kind):
        return scalar.value
    if pa.types.is_map(kind):
        return [(_wide(entry["key"]), _wide(entry["value"])) for entry in scalar.values]
    if pa.types.is_list(kind):
        return [_wide(item) for item in scalar.values]
    if pa.types.is_struct(kind):
        return {name: _wide(item) for name, item in scalar.items()}
    return scalar.as_py()


def as_json(value: Any, kind: DataType) -> Any:
    """A value of a SQL type as JSON has it; bytes are hexadecimal digits."""
    if value is None:
        return None
    match kind:
        case Array(element):
            return [as_json(item, element) for item in value]
        case Map(key, item_kind):
            return {str(as_json(k, key)): as_json(v, item_kind) for k, v in value}
        case Struct(fields):
            return {name: as_json(value[name], field) for name, field in fields}
        case _:
            return _plain_json(value, kind)


def _plain_json(value: Any, kind: DataType) -> Any:
    match kind:
        case Scalar.TIMESTAMP:
            return _instant(value)
        case Decimal():
            return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)
        case Scalar.BINARY:
            return value.hex()
        case Scalar.DATE:
            return value.isoformat()
        case Scalar.REAL | Scalar.DOUBLE:
            return value if math.isfinite(value) else str(value)
        case _:
            return value
