"""When rows come out, and as what: semantics §5.

All modes but the closing ones compare what a window holds now with what was emitted of it last; the difference is
written as upsert or changelog rows. A window that exists no longer, because a session grew, is a difference too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.oracle.arrivals import Fed
from tests.oracle.keepers import Keeper
from tests.oracle.members import Result, Window, results
from tests.oracle.shape import Shape
from tests.oracle.values import Value, Values, identity
from tidegate.model.policies import EmitMode, Reason, StreamKind

Key = tuple[Window, Value]
_CLOSING = (EmitMode.ON_WINDOW_CLOSE, EmitMode.FINAL)


@dataclass(frozen=True)
class Broken:
    """A group whose row has no value, with the reason."""

    window: Window
    keys: tuple[Value, ...]
    reason: Reason


@dataclass
class Output:
    """What a stage emits in one epoch: rows as a subscriber sees them, and as another stage reads them."""

    rows: list[Values] = field(default_factory=list)
    fed: list[Fed] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    watermark: float = 0


@dataclass
class Emitter:
    """`live`: the row last emitted of every (window, group) that may still change. `table`: of all there ever were."""

    shape: Shape
    live: dict[Key, Values] = field(default_factory=dict)
    table: dict[Key, Values] = field(default_factory=dict)
    reported: dict[Key, Reason] = field(default_factory=dict)

    @property
    def kind(self) -> StreamKind:
        return self.shape.emission.kind

    def append(self, window: Window, found: Iterable[Result], output: Output) -> None:
        """Final rows of a window."""
        for result in found:
            if result.values is None:
                assert result.failed is not None
                output.broken.append(Broken(window, result.keys, result.failed))
                continue
            output.rows.append(result.values)
            output.fed.append(Fed(result.values, 1, window.time_us))
            self.table[window, result.group] = result.values

    def after_batch(self, keeper: Keeper, watermark: float, *, tick: bool) -> Output:
        """Emit what is due now that the watermark is where it is, and forget the windows that are closed."""
        output = Output()
        mode = self.shape.emission.emit.mode
        windows = list(keeper.open)
        closed = [window for window in windows if keeper.is_closed(window, watermark)]
        closed.sort(key=keeper.end)
        if mode in _CLOSING:
            for window in closed:
                found = results(self.shape, window, keeper.open[window])
                self.append(window, found, output)
        elif mode is EmitMode.AFTER_WATERMARK:
            due = [window for window in windows if keeper.is_due(window, watermark)]
            self._differences(keeper, due, self._vanished(keeper), output)
        elif mode is EmitMode.EVERY and not tick:
            self._differences(keeper, closed, self._absorbed(keeper, closed), output)
        else:
            self._differences(keeper, windows, self._vanished(keeper), output)
        for window in closed:
            del keeper.open[window]
            self.live = {key: row for key, row in self.live.items() if key[0] != window}
        return output

    def _vanished(self, keeper: Keeper) -> list[Window]:
        return [window for window, _ in self.live if window not in keeper.open]

    def _absorbed(self, keeper: Keeper, closed: Sequence[Window]) -> list[Window]:
        """Earlier extents of the sessions that close."""
        return [
            old
            for old in self._vanished(keeper)
            if any(old.owner == new.owner and _inside(old, new) for new in closed)
        ]

    def _differences(
        self, keeper: Keeper, windows: Sequence[Window], vanished: Sequence[Window], output: Output
    ) -> None:
        looked_at = {*windows, *vanished}
        now: dict[Key, Values] = {}
        for window in windows:
            for result in results(self.shape, window, keeper.open[window]):
                if result.values is not None:
                    now[window, result.group] = result.values
                    self.reported.pop((window, result.group), None)
                else:
                    self._report(window, result, output)
        before = {key: row for key, row in self.live.items() if key[0] in looked_at}
        for key, row in before.items():
            if key not in now:
                self._removed(key, row, output)
        for key, row in now.items():
            if key not in before:
                self._inserted(key, row, output)
            elif identity(row) != identity(before[key]):
                self._corrected(key, before[key], row, output)

    def _report(self, window: Window, result: Result, output: Output) -> None:
        """Once, until the group recovers."""
        key = (window, result.group)
        assert result.failed is not None
        if self.reported.get(key) != result.failed:
            self.reported[key] = result.failed
            output.broken.append(Broken(window, result.keys, result.failed))

    def _removed(self, key: Key, row: Values, output: Output) -> None:
        del self.live[key]
        del self.table[key]
        output.rows.append({**row, "_op": "-D"})
        output.fed.append(Fed(row, -1, key[0].time_us))

    def _inserted(self, key: Key, row: Values, output: Output) -> None:
        self.live[key] = self.table[key] = row
        op = "+I" if self.kind is StreamKind.CHANGELOG else "+U"
        output.rows.append({**row, "_op": op})
        output.fed.append(Fed(row, 1, key[0].time_us))

    def _corrected(self, key: Key, old: Values, row: Values, output: Output) -> None:
        self.live[key] = self.table[key] = row
        if self.kind is StreamKind.CHANGELOG:
            output.rows.append({**old, "_op": "-U"})
        output.rows.append({**row, "_op": "+U"})
        output.fed += [Fed(old, -1, key[0].time_us), Fed(row, 1, key[0].time_us)]


def _inside(old: Window, new: Window) -> bool:
    assert old.start_us is not None
    assert old.end_us is not None
    assert new.start_us is not None
    assert new.end_us is not None
    return new.start_us <= old.start_us and old.end_us <= new.end_us
