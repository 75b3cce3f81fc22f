"""Where side outputs go: by kind and stream, into sinks that take them (semantics §8).

In: payloads of an epoch. Out: what each sink gets of them, and how many went where. Decided here:
* A route is an option of the query (`late.sink` and its like; LATE DATA TO is one of them); for records of a source
  that are no rows it is that of the session, or of `[defaults]`.
* A sink gets its payloads of an epoch at once and before the epoch is real, so it has them exactly as often as rows.
* The rate limit is a bucket that fills by the clock of the epochs and holds one second's worth. What does not fit is
  dropped, counted, and never holds up rows.
* A route to a sink that nobody defined counts, as `metrics_only` does; `Routes.unknown` names it, for whoever can warn.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from tidegate import errors
from tidegate.engines.sides import Payload
from tidegate.model.options import OPTIONS, OptionValue
from tidegate.model.policies import SideKind
from tidegate.model.time import HOUR, MINUTE, SECOND
from tidegate.plan.script import Program

_UNITS = {"s": SECOND, "min": MINUTE, "h": HOUR}
_COUNTED = "metrics_only"
Options: TypeAlias = Mapping[str, OptionValue]


class SideWriter(Protocol):
    """A sink for payloads. Taking the same epoch again replaces what it took before."""

    def write(self, epoch: int, payloads: Sequence[Payload]) -> None: ...

    def close(self) -> None: ...


OpenSide: TypeAlias = Callable[[str], SideWriter | None]
"""The sink of a name; None if there is none."""


@dataclass(slots=True)
class Bucket:
    """Lets through so many per unit of time.

    >>> bucket = Bucket(count=2, unit_us=1_000_000)
    >>> bucket.take(5, now_us=0), bucket.take(5, now_us=500_000), bucket.take(5, now_us=9_000_000)
    (2, 1, 2)
    """

    count: int
    unit_us: int
    _left: float = field(default=-1.0)
    _at_us: int = 0

    def take(self, wanted: int, *, now_us: int) -> int:
        """How many of those that are wanted may pass."""
        most = max(1.0, self.count * SECOND / self.unit_us)
        grown = (now_us - self._at_us) * self.count / self.unit_us
        self._left = most if self._left < 0 else min(most, self._left + max(grown, 0.0))
        self._at_us = max(self._at_us, now_us)
        taken = min(wanted, int(self._left))
        self._left -= taken
        return taken


@dataclass(slots=True)
class Route:
    """Of one kind and stream: to which sink, how much of it, and whether with the original row."""

    sink: str
    with_original: bool
    bucket: Bucket | None

    def passed(self, payloads: Sequence[Payload], now_us: int) -> list[Payload]:
        count = len(payloads)
        if self.bucket is not None:
            count = self.bucket.take(count, now_us=now_us)
        if self.with_original:
            return [*payloads[:count]]
        return [{**payload, "original_event": None} for payload in payloads[:count]]


class Routes:
    """The routes of a program. Sinks are opened when the first route names them."""

    def __init__(
        self, options: Mapping[str, Options], *, otherwise: Options, open_sink: OpenSide
    ) -> None:
        self._options = {name.lower(): given for name, given in options.items()}
        self._otherwise = otherwise
        self._sinks: dict[str, SideWriter | None] = {}
        self._routes: dict[tuple[str, SideKind], Route | None] = {}
        self._open = open_sink
        self.unknown: dict[str, str] = {}
        self.wanted = frozenset(
            kind
            for given in (*self._options.items(), ("", otherwise))
            for kind in SideKind
            if self._route(given[0], kind) is not None
        )

    def _route(self, stream: str, kind: SideKind) -> Route | None:
        """None where payloads are only counted."""
        key = stream.lower(), kind
        if key not in self._routes:
            given = self._options.get(key[0], self._otherwise)
            self._routes[key] = self._read(stream, kind, given)
        return self._routes[key]

    def _read(self, stream: str, kind: SideKind, given: Options) -> Route | None:
        target = str(given.get(f"{kind}.sink", _COUNTED))
        if target == _COUNTED:
            return None
        if target.startswith("reinject:"):
            what = f"{kind}.sink = '{target}'"
            raise errors.cannot_run(what=what, instead="route to a sink: sink:<name>")
        name = target.removeprefix("sink:").lower()
        if name not in self._sinks:
            self._sinks[name] = self._open(name)
        if self._sinks[name] is None:
            self.unknown[name] = f"{kind} rows of {stream}" if stream else f"{kind} records"
            return None
        original = given.get(
            f"{kind}.include_original", OPTIONS[f"{kind}.include_original"].default
        )
        rate = given.get(f"{kind}.rate_limit")
        bucket = None if rate is None else _bucket(str(rate))
        return Route(sink=name, with_original=original is not False, bucket=bucket)

    @property
    def writers(self) -> list[SideWriter]:
        """Of all sinks."""
        return [sink for sink in self._sinks.values() if sink is not None]

    def deliver(self, epoch: int, payloads: Iterable[Payload], *, now_us: int) -> "Delivered":
        """Everything of an epoch, to where it goes."""
        grouped: dict[tuple[str, SideKind], list[Payload]] = {}
        for payload in payloads:
            key = payload["stream"], SideKind(payload["kind"])
            grouped.setdefault(key, []).append(payload)
        bound: dict[str, list[Payload]] = {
            name: [] for name, sink in self._sinks.items() if sink is not None
        }
        done = Delivered()
        for (stream, kind), own in grouped.items():
            route = self._route(stream, kind)
            if route is None:
                continue
            passed = route.passed(own, now_us)
            bound[route.sink] += passed
            done.delivered[kind.value] += len(passed)
            done.dropped[kind.value] += len(own) - len(passed)
        for name, sink in self._sinks.items():
            if sink is not None:
                sink.write(epoch, bound[name])
        return done

    def close(self) -> None:
        for sink in self._sinks.values():
            if sink is not None:
                sink.close()


@dataclass(slots=True)
class Delivered:
    """Payloads by kind: those that a sink has, and those that the rate limit kept from it."""

    delivered: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def _bucket(rate: str) -> Bucket:
    count, _, unit = rate.partition("/")
    return Bucket(count=int(count), unit_us=_UNITS[unit.strip().lower()])


def routes_of(program: Program, open_sink: OpenSide) -> Routes:
    """The routes of all queries of a program."""
    settings = program.settings
    options = {
        query.name: {**settings.defaults, **dict(query.logical.options)}
        for query in program.queries
    }
    otherwise = {**settings.defaults, **settings.session}
    return Routes(options, otherwise=otherwise, open_sink=open_sink)


def unknown_routes(program: Program) -> Mapping[str, str]:
    """Sinks that routes name and nobody defined, with what is only counted for that. Nothing is opened."""

    def known(name: str) -> SideWriter | None:
        defined = program.catalog.find(name) or program.settings.sinks.get(name)
        return _Unopened() if defined else None

    return routes_of(program, known).unknown


class _Unopened:
    """A sink that is there."""

    def write(self, epoch: int, payloads: Sequence[Payload]) -> None:
        raise AssertionError("nobody runs")

    def close(self) -> None:
        """Nothing is open."""
