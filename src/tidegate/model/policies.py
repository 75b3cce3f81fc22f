"""The choices that a query makes about time, emission and bad rows, as closed vocabularies."""

from dataclasses import dataclass
from enum import StrEnum

from tidegate.model.time import format_duration


class EmitMode(StrEnum):
    """When rows of a window or group are emitted. The value is how EXPLAIN writes it, `sql` how a person does."""

    ON_WINDOW_CLOSE = "on_window_close"
    AFTER_WATERMARK = "after_watermark"
    ON_UPDATE = "on_update"
    EVERY = "every"
    CHANGES = "changes"
    FINAL = "final"

    @property
    def sql(self) -> str:
        return self.value.upper().replace("_", " ")


class StreamKind(StrEnum):
    """How a consumer must read a stream: rows that stay, rows that replace by key, or rows with +I -U +U -D."""

    APPEND = "append"
    UPSERT = "upsert"
    CHANGELOG = "changelog"


STREAM_KIND = {
    EmitMode.ON_WINDOW_CLOSE: StreamKind.APPEND,
    EmitMode.FINAL: StreamKind.APPEND,
    EmitMode.AFTER_WATERMARK: StreamKind.CHANGELOG,
    EmitMode.CHANGES: StreamKind.CHANGELOG,
    EmitMode.ON_UPDATE: StreamKind.UPSERT,
    EmitMode.EVERY: StreamKind.UPSERT,
}
NEEDS_WINDOW_AND_WATERMARK = frozenset(
    {EmitMode.ON_WINDOW_CLOSE, EmitMode.AFTER_WATERMARK, EmitMode.FINAL}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emit:
    mode: EmitMode
    interval_us: int | None = None

    def __str__(self) -> str:
        return (
            self.mode.sql
            if self.interval_us is None
            else f"EVERY {format_duration(self.interval_us)}"
        )


class TimeMode(StrEnum):
    EVENT = "event"
    PROCESSING = "processing"


class WatermarkOrigin(StrEnum):
    """What moves the watermark."""

    ROWS = "rows"
    EXPLICIT = "explicit"
    UPSTREAM = "upstream"
    CLOCK = "clock"
    NONE = "none"


class MissingEventTime(StrEnum):
    FALLBACK = "fallback"
    DIVERT = "divert"
    FAIL = "fail"


class PreEpoch(StrEnum):
    ALLOW = "allow"
    DIVERT = "divert"


class SideKind(StrEnum):
    LATE = "late"
    EVICTED = "evicted"
    ERROR = "error"
    DUPLICATE = "duplicate"


class Reason(StrEnum):
    """Why a row is diverted; `SIDE_KIND` says to which side output."""

    ALLOWED_LATENESS_EXCEEDED = "allowed_lateness_exceeded"
    MAX_GROUPS = "max_groups"
    MAX_OPEN_WINDOWS = "max_open_windows"
    MAX_STATE_BYTES = "max_state_bytes"
    MISSING_EVENT_TIME = "missing_event_time"
    FUTURE_EVENT_TIME = "future_event_time"
    PRE_EPOCH_EVENT_TIME = "pre_epoch_event_time"
    MALFORMED_RECORD = "malformed_record"
    INVALID_CAST = "invalid_cast"
    DIVISION_BY_ZERO = "division_by_zero"
    OVERFLOW = "overflow"
    UDF_FAILED = "udf_failed"
    DUPLICATE_KEY = "duplicate_key"


_NOT_ERRORS = {
    Reason.ALLOWED_LATENESS_EXCEEDED: SideKind.LATE,
    Reason.MAX_GROUPS: SideKind.EVICTED,
    Reason.MAX_OPEN_WINDOWS: SideKind.EVICTED,
    Reason.MAX_STATE_BYTES: SideKind.EVICTED,
    Reason.DUPLICATE_KEY: SideKind.DUPLICATE,
}
SIDE_KIND = {reason: _NOT_ERRORS.get(reason, SideKind.ERROR) for reason in Reason}

# What became of a row, as the number that row SQL gives it: 0 is aggregated, 1 removed by WHERE, others are diverted.
AGGREGATED = 0
FILTERED = 1
DISPOSITION = {reason: code for code, reason in enumerate(Reason, start=2)}
