"""One windowed or aggregated query, or one that passes rows on: an epoch in, what is emitted out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.oracle.arrivals import Arrival, Fed, Inputs, Reader
from tests.oracle.dedup import Seen
from tests.oracle.emission import Emitter, Output
from tests.oracle.evaluate import evaluate
from tests.oracle.keepers import Aligned, Joining, Keeper, Quotas, Refused, Sessions, Unwindowed
from tests.oracle.meeting import Meetings
from tests.oracle.members import NO_WINDOW, Member, Result, Window, member_of
from tests.oracle.passing import Completer, Conditions, Counts, Triggers
from tests.oracle.shape import Shape
from tests.oracle.sides import Sides
from tests.oracle.values import RowError
from tests.oracle.watermarks import FOREVER, NEVER, InputClock, together
from tidegate.model.options import OptionValue
from tidegate.model.policies import EmitMode, Reason
from tidegate.model.windows import Conditional, Counting, Session, Sliding
from tidegate.plan.logical import IntervalJoin, WindowJoin

Options = Mapping[str, OptionValue]


@dataclass(frozen=True)
class Moment:
    """What an epoch is besides its rows. `upstream` and `explicit` are watermarks by input."""

    clock_us: int
    before_us: int
    explicit: Mapping[str, float]
    upstream: Mapping[str, float]
    ended: bool = False

    def ticks(self, interval_us: int) -> bool:
        return self.clock_us // interval_us > self.before_us // interval_us


@dataclass
class Stage:
    """`clocks` are the watermarks of its inputs, `watermark` their minimum."""

    name: str
    shape: Shape
    options: Options
    clocks: list[InputClock]
    reader: Reader
    keeper: Keeper | Completer | None
    sides: Sides
    emitter: Emitter
    seen: Seen
    watermark: float = NEVER
    passed: int = 0
    places: int = 0
    _refused: list[Refused] = field(default_factory=list)

    def run(self, inputs: Inputs, moment: Moment) -> Output:
        for clock in self.clocks:
            clock.begin(moment.clock_us)
        began = self.watermark
        if any(clock.processing for clock in self.clocks):
            self.watermark = max(self.watermark, moment.clock_us)
            began = self.watermark
        arrivals = self.reader.arrivals(inputs)
        self.sides.rows_in += len(arrivals)
        members = self._members(arrivals, began, moment)
        for clock in self.clocks:
            explicit = moment.explicit.get(clock.source, NEVER)
            clock.advance(explicit, moment.upstream.get(clock.source, NEVER))
        self.watermark = FOREVER if moment.ended else together(self.clocks, self.watermark)
        output = self._apply(members, began, moment)
        output.watermark = self.outgoing(moment)
        for broken in output.broken:
            self.sides.broken_group(
                broken.window,
                broken.keys,
                broken.reason,
                watermark=began,
                clock_us=moment.clock_us,
            )
        return output

    def outgoing(self, moment: Moment) -> float:
        """What no row that is emitted from now on can lie behind."""
        delay = self.shape.emission.lateness_us
        if isinstance(self.keeper, (Triggers, Meetings)):
            delay = self.keeper.delay_us
        if not self.clocks:
            return min(moment.upstream.values(), default=NEVER)
        return self.watermark - delay

    # Rows

    def _members(self, arrivals: Sequence[Arrival], began: float, moment: Moment) -> list[Member]:
        """The rows that are fit to be aggregated; the others are accounted for."""
        members = []
        for arrival in arrivals:
            fate = arrival.fate or self._time_problem(arrival) or self._late(arrival, began, moment)
            if fate == "late":
                continue
            if not fate:
                try:
                    self.places += 1
                    members.append(member_of(arrival, self.shape, self.places))
                    continue
                except RowError as failed:
                    fate = failed.reason
            self.sides.gone(arrival, fate, watermark=began, clock_us=moment.clock_us)
        return self._unique(members, began, moment)

    def _unique(self, members: list[Member], began: float, moment: Moment) -> list[Member]:
        """Of equal rows of a batch the earliest by event time stays, whatever their order in the batch."""
        members.sort(key=lambda member: (member.arrival.ts_us or 0, member.place))
        kept = []
        for member in members:
            if self.seen.is_duplicate(member.arrival):
                why, clock_us = Reason.DUPLICATE_KEY, moment.clock_us
                self.sides.gone(member.arrival, why, watermark=began, clock_us=clock_us)
            else:
                kept.append(member)
        return sorted(kept, key=lambda member: member.place)

    def _late(self, arrival: Arrival, began: float, moment: Moment) -> str:
        """A row of an aligned or sliding window is late before anything is computed of it."""
        probe = Member(arrival, 0)
        latest: Window | None
        match self.keeper:
            case Aligned() as aligned if not aligned.still_open(probe, began):
                latest = max(aligned.windows_of(probe), key=lambda one: (one.end_us, one.start_us))
            case Triggers() as triggers if triggers.is_late(probe, began):
                latest = triggers.window_of(probe)
            case Meetings() if probe.ts_us < began:
                latest = None
            case _:
                return ""
        keys: Sequence[object] = ()
        if self.shape.grouped is not None:
            try:
                keys = [evaluate(named.expr, arrival.env) for named in self.shape.grouped.keys]
            except RowError:
                keys = ()
        self._divert_late(arrival, latest, keys, began, moment)
        return "late"

    def _divert_late(
        self,
        arrival: Arrival,
        window: Window | None,
        keys: Sequence[object],
        began: float,
        moment: Moment,
    ) -> None:
        self.sides.gone(
            arrival,
            Reason.ALLOWED_LATENESS_EXCEEDED,
            watermark=began,
            clock_us=moment.clock_us,
            window=window,
            keys=keys,
            counted_only=self.shape.emission.emit.mode is EmitMode.FINAL,
        )

    def _time_problem(self, arrival: Arrival) -> str | Reason:
        """Counting and state windows, and queries without a window, do not ask for the time."""
        if not isinstance(self.keeper, (Aligned, Sessions, Triggers, Meetings)):
            return ""
        assert arrival.clock is not None
        return arrival.clock.problem(arrival.ts_us) or ""

    # Windows

    def _apply(self, members: list[Member], began: float, moment: Moment) -> Output:
        match self.keeper:
            case None:
                return self._pass_on(members)
            case Keeper():
                self._account(members, self.keeper.admit(members, began), began, moment)
                emit = self.shape.emission.emit
                tick = moment.ended
                if emit.mode is EmitMode.EVERY:
                    assert emit.interval_us is not None
                    tick = tick or moment.ticks(emit.interval_us)
                return self.emitter.after_batch(self.keeper, self.watermark, tick=tick)
            case Completer():
                return self._complete(self.keeper, members, began, moment)

    def _complete(
        self, keeper: Completer, members: list[Member], began: float, moment: Moment
    ) -> Output:
        unused = keeper.unused
        fired, refused = keeper.admit(members, began)
        self._account(members, refused, began, moment)
        self.sides.aggregated -= keeper.unused - unused
        self.sides.filtered += keeper.unused - unused
        fired += keeper.advance(self.watermark)
        if moment.ended:
            fired += keeper.finish()
        output = Output()
        for one in fired:
            self.emitter.append(one.window, one.results, output)
        return output

    def _account(
        self, members: Sequence[Member], refused: Sequence[Refused], began: float, moment: Moment
    ) -> None:
        self.sides.aggregated += len(members) - len(refused)
        for one in refused:
            keys, window = one.member.keys, one.window
            if one.reason is Reason.ALLOWED_LATENESS_EXCEEDED:
                self._divert_late(one.member.arrival, window, keys, began, moment)
            else:
                self.sides.gone(
                    one.member.arrival,
                    one.reason,
                    watermark=began,
                    clock_us=moment.clock_us,
                    window=window,
                    keys=keys,
                )

    def _pass_on(self, members: list[Member]) -> Output:
        output = Output()
        self.sides.aggregated += len(members)
        for member in members:
            values = {name: member.arrival.env.get(name) for name in self.shape.names}
            self.passed += 1
            result = Result(self.passed, values=values)
            self.emitter.append(NO_WINDOW, [result], output)
            output.fed[-1] = Fed(values, 1, member.arrival.upstream_us)
        return output


def keeper_of(shape: Shape, options: Options, *, processing: bool) -> Keeper | Completer | None:
    """The window operator of a query."""
    lateness = shape.emission.lateness_us
    quotas = Quotas(
        max_groups=_count(options.get("max_groups")),
        max_windows=_count(options.get("max_open_windows")),
    )
    if shape.over is not None:
        return Triggers(shape, processing)
    if shape.joined is not None:
        return _joining(shape, shape.joined, quotas)
    if shape.windowed is None:
        return None if shape.grouped is None else Unwindowed(quotas=quotas)
    match shape.windowed.window:
        case Sliding():
            return Triggers(shape, processing)
        case Counting():
            return Counts(shape)
        case Conditional():
            return Conditions(shape)
        case Session() as session:
            return Sessions(lateness_us=lateness, quotas=quotas, window=session)
        case _:
            return Aligned(lateness_us=lateness, quotas=quotas, windowed=shape.windowed)


def _joining(shape: Shape, joined: WindowJoin | IntervalJoin, quotas: Quotas) -> Keeper | Completer:
    if isinstance(joined, IntervalJoin):
        return Meetings(shape, joined)
    return Joining(quotas=quotas, windowed=None, joined=joined)


def _count(value: OptionValue | None) -> int | None:
    return value if isinstance(value, int) else None
