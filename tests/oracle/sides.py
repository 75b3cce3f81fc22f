"""Rows that are not aggregated: counted, and written as side outputs (semantics §8)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracle.arrivals import FILTERED, Arrival
from tests.oracle.members import Window
from tests.oracle.shape import Shape
from tests.oracle.values import Value, Values, as_json, instant
from tidegate.model.expressions import Field
from tidegate.model.policies import SIDE_KIND, Reason


@dataclass
class Sides:
    """The side outputs of one stage, and the counts of the conservation law."""

    stream: str
    shape: Shape
    records: list[tuple[str, Values]] = field(default_factory=list)
    rows_in: int = 0
    aggregated: int = 0
    filtered: int = 0
    diverted: Counter[str] = field(default_factory=Counter)

    def check(self) -> None:
        """Each row is in exactly one place."""
        assert self.rows_in == self.aggregated + self.filtered + self.diverted.total(), self

    def gone(
        self,
        arrival: Arrival,
        reason: str | Reason,
        *,
        watermark: float,
        clock_us: int,
        window: Window | None = None,
        keys: Sequence[Value] = (),
        counted_only: bool = False,
    ) -> None:
        """A row that will not be aggregated."""
        if reason == FILTERED:
            self.filtered += 1
            return
        kind = SIDE_KIND[Reason(reason)]
        self.diverted[kind] += 1
        if counted_only:
            return
        original = {
            column.name: as_json(arrival.original[column.name], column.type)
            for column in arrival.columns
        }
        self._write(Reason(reason), arrival.ts_us, watermark, clock_us, window, keys, original)

    def broken_group(
        self,
        window: Window,
        keys: Sequence[Value],
        reason: Reason,
        *,
        watermark: float,
        clock_us: int,
    ) -> None:
        """A group without a value: none of its rows is lost, and none of them is the culprit."""
        self._write(reason, None, watermark, clock_us, window, keys, None)

    def _write(
        self,
        reason: Reason,
        ts_us: int | None,
        watermark: float,
        clock_us: int,
        window: Window | None,
        keys: Sequence[Value],
        original: Values | None,
    ) -> None:
        record = {
            "kind": str(SIDE_KIND[reason]),
            "reason": str(reason),
            "event_time": _instant(ts_us),
            "processing_time": _instant(clock_us),
            "watermark": _instant(watermark),
            "window": _extent(window),
            "group_key": self._group_key(keys),
            "original_event": original,
            "stream": self.stream,
        }
        self.records.append((str(SIDE_KIND[reason]), record))

    def _group_key(self, keys: Sequence[Value]) -> Values | None:
        """Keys by the name of their output column, else of their own column."""
        if self.shape.grouped is None or not keys:
            return None
        names = {}
        for named in self.shape.grouped.keys:
            shown = [
                output.name
                for output in self.shape.output or ()
                if isinstance(output.expr, Field) and output.expr.name == named.name
            ]
            own = named.expr.name if isinstance(named.expr, Field) else named.name
            names[named.name] = (shown[0] if shown else own, named.expr.type)
        return {
            name: as_json(value, kind)
            for (name, kind), value in zip(names.values(), keys, strict=True)
        }


def _instant(us: float | None) -> str | None:
    return None if us is None or math.isinf(us) else instant(int(us))


def _extent(window: Window | None) -> Values | None:
    if window is None or window.end_us is None:
        return None
    return {"start": _instant(window.start_us), "end": _instant(window.end_us)}
