"""Metrics of a run for Prometheus: an endpoint that is asked for them.

Decided here: what is told is the account of a run at its last epoch, made when that epoch ends and not when somebody
asks, so that a scrape never waits for the stream nor the stream for a scrape. Names are `tidegate_*`; counts are those
of the run and the runs that it goes on from.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tidegate import errors
from tidegate.model.time import FOREVER_US, NEVER_US, SECOND
from tidegate.session.accounts import Account, StageAccount

_EVERY_S = 0.2
_BUCKETS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]
Sample = tuple[Labels, float]


class Endpoint:
    """A server at `host:port`; port 0 is any that is free."""

    def __init__(self, host: str, port: int) -> None:
        self._text = ""
        self._told = -_EVERY_S
        self._epochs = Durations()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the library's name
                found = self.path in ("/", "/metrics")
                body = endpoint._text.encode() if found else b""
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", _TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Nobody wants to read of scrapes."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as problem:
            place = f"{host}:{port}"
            raise errors.unreachable(
                connector="metrics", place=place, problem=problem.strerror
            ) from None
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_address[1]}/metrics"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def look(
        self,
        account: Callable[[], Account],
        *,
        now_us: int,
        epochs_s: Sequence[float],
        end: bool = False,
    ) -> None:
        """The run has gone on. `epochs_s` is how long each epoch took since the last call."""
        for taken_s in epochs_s:
            self._epochs.add(taken_s)
        now = time.monotonic()
        if end or now - self._told >= _EVERY_S:
            self._told = now
            self._text = exposition(account(), now_us=now_us, epochs=self._epochs)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Durations:
    """A histogram.

    >>> it = Durations()
    >>> it.add(0.02)
    >>> [*it.lines("d")][3:5], [*it.lines("d")][-1]
    (['d_bucket{le="0.03"} 1', 'd_bucket{le="0.1"} 1'], 'd_count 1')
    """

    def __init__(self) -> None:
        self._counts = [0] * (len(_BUCKETS_S) + 1)
        self._sum_s = 0.0

    def add(self, seconds: float) -> None:
        self._counts[sum(seconds > edge for edge in _BUCKETS_S)] += 1
        self._sum_s += seconds

    def lines(self, name: str) -> Iterator[str]:
        total = 0
        for edge, count in zip((*map(str, _BUCKETS_S), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{edge}"}} {total}'
        yield f"{name}_sum {self._sum_s:.6f}"
        yield f"{name}_count {total}"


def exposition(account: Account, *, now_us: int, epochs: Durations) -> str:
    """The text that Prometheus reads."""
    lines: list[str] = []
    for name, kind, doc, samples in _metrics(account, now_us):
        lines += [f"# HELP {name} {doc}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples]
    name = "tidegate_epoch_duration_seconds"
    lines += [
        f"# HELP {name} From the intent of an epoch to its commit.",
        f"# TYPE {name} histogram",
    ]
    return "\n".join([*lines, *epochs.lines(name)]) + "\n"


Metric = tuple[str, str, str, list[Sample]]


def _metrics(account: Account, now_us: int) -> Iterator[Metric]:
    yield "tidegate_epoch", "gauge", "The last epoch that is real.", [({}, account.epoch)]
    yield from _of_sources(account)
    yield from _of_stages(account.stages, now_us)
    for name, doc, counts in (
        ("delivered", "Diverted rows that a sink has.", account.delivered),
        ("dropped", "Diverted rows that a rate limit kept from their sink.", account.dropped),
    ):
        samples: list[Sample] = [({"kind": kind}, count) for kind, count in counts.items()]
        yield f"tidegate_side_output_{name}_total", "counter", doc, samples


def _of_sources(account: Account) -> Iterator[Metric]:
    for name, doc, counts in (
        ("tidegate_rows_in_total", "Rows read, by source.", account.read),
        ("tidegate_records_malformed_total", "Records that are no rows.", account.malformed),
    ):
        yield (
            name,
            "counter",
            doc,
            [({"source": source}, count) for source, count in counts.items()],
        )


_COUNTS = (
    ("tidegate_rows_aggregated_total", "Rows that are part of a result.", "aggregated"),
    ("tidegate_rows_filtered_total", "Rows that WHERE removed.", "filtered"),
    ("tidegate_rows_emitted_total", "Rows that the stage gave.", "emitted"),
    ("tidegate_rows_stamped_total", "Rows that got the clock's time.", "stamped"),
    ("tidegate_stage_seconds_total", "Time that the stage took, since the start.", "seconds"),
)
_GAUGES = (
    ("tidegate_open_windows", "Windows that are open.", "open_windows"),
    ("tidegate_state_bytes", "Memory that the stage's state holds.", "state_bytes"),
)


def _of_stages(stages: tuple[StageAccount, ...], now_us: int) -> Iterator[Metric]:
    own = {stage.name: {"stream": stage.stream, "stage": stage.name} for stage in stages}
    for kind, told in (("counter", _COUNTS), ("gauge", _GAUGES)):
        for name, doc, field in told:
            yield name, kind, doc, [(own[one.name], getattr(one, field)) for one in stages]
    diverted: list[Sample] = []
    for stage in stages:
        for reasons in (stage.reasons, stage.broken):
            for path, count in reasons.items():
                kind, _, reason = path.partition("/")
                diverted.append(({**own[stage.name], "kind": kind, "reason": reason}, count))
    doc = "Rows that were diverted, and groups without a value."
    yield "tidegate_rows_diverted_total", "counter", doc, diverted
    known = [one for one in stages if NEVER_US < one.watermark_us < FOREVER_US]
    at: list[Sample] = [(own[one.name], one.watermark_us / SECOND) for one in known]
    yield "tidegate_watermark_seconds", "gauge", "The watermark, since 1970.", at
    lag: list[Sample] = [(own[it.name], (now_us - it.watermark_us) / SECOND) for it in known]
    yield "tidegate_watermark_lag_seconds", "gauge", "How far it is behind the clock.", lag


def _labels(labels: Labels) -> str:
    """
    >>> _labels({"source": "a", "kind": "late"})
    '{source="a",kind="late"}'
    """
    if not labels:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6f}"
