"""What `tidegate demo` shows: pipelines, and the files that land while they run.

Decided here: event time is made up and goes by file, ten seconds in each, so that minutes close within seconds; rows
come from a seeded generator, so a show is the same every time and on both engines. Every show has what streams have in
real life: rows out of order, rows minutes late, records that are none, and one clock that is a thousand years off.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TypeAlias

FILES, ROWS_PER_FILE = 40, 60
FILE_SECONDS = 10
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_DISORDER_S = 4.0
_LATE_SHARE, _LATE_S = 0.01, (150, 240)
_BROKEN_SHARE = 0.005
_FUTURE_FILE = 25
_FUTURE = "2999-01-01T00:00:00.000Z"

Row: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """`sql` has {place} for the folder of the show; `row` makes all of a row but its time, `measure` is its number."""

    about: str
    sql: str
    row: Callable[[Random], Row]
    measure: str

    def files(self, seed: int = 7) -> Iterator[str]:
        """The text of each file: JSON, a record a line."""
        draw = Random(seed)
        for number in range(FILES):
            yield "".join(f"{line}\n" for line in self._lines(draw, number))

    def _lines(self, draw: Random, number: int) -> Iterator[str]:
        if number == _FUTURE_FILE:
            yield json.dumps({**self.row(draw), "ts": _FUTURE})
        for place in range(ROWS_PER_FILE):
            after_s = FILE_SECONDS * (number + place / ROWS_PER_FILE)
            after_s -= draw.uniform(0, min(_DISORDER_S, after_s))
            late_s = draw.uniform(*_LATE_S)
            if draw.random() < _LATE_SHARE and after_s > late_s:
                after_s -= late_s
            row = {**self.row(draw), "ts": _instant(after_s)}
            yield self._broken(draw, row) if draw.random() < _BROKEN_SHARE else json.dumps(row)

    def _broken(self, draw: Random, row: dict[str, object]) -> str:
        """Half a record, or a word where a number should be."""
        if draw.random() < 0.5:
            text = json.dumps(row)
            return text[: len(text) // 2]
        return json.dumps({**row, self.measure: "n/a"})


def _instant(after_s: float) -> str:
    at = _BEGIN + timedelta(seconds=after_s)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1_000:03}Z"


_HEAD = """\
-- {about}
-- tidegate run     {place}/{name}.sql --bounded
-- tidegate explain {place}/{name}.sql

SET 'late.sink' = 'sink:late_rows';
SET 'error.sink' = 'sink:broken_rows';
CREATE SINK late_rows WITH (connector = 'file', path = '{place}/late', format = 'json');
CREATE SINK broken_rows WITH (connector = 'file', path = '{place}/broken', format = 'json');

"""
_SOURCE_OPTIONS = (
    "WITH (connector = 'file', path = '{place}/in', format = 'json', max_future_skew = '1h')"
)

_TRADES = f"""\
CREATE SOURCE trades (
    symbol VARCHAR, price DOUBLE, qty BIGINT, ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) {_SOURCE_OPTIONS};

CREATE STREAM minutes AS
SELECT
    window_end, symbol, COUNT(*) AS trades, SUM(qty) AS qty,
    ROUND(SUM(price * qty) / SUM(qty), 2) AS vwap, MIN(price) AS low, MAX(price) AS high
FROM trades
GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)
EMIT ON WINDOW CLOSE;

CREATE SINK screen FROM minutes WITH (connector = 'console');
"""
_CLICKS = f"""\
CREATE SOURCE clicks (
    visitor VARCHAR, page VARCHAR, took_ms BIGINT, ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) {_SOURCE_OPTIONS};

CREATE STREAM visits AS
SELECT
    visitor, window_start AS began, COUNT(*) AS clicks, COUNT(DISTINCT page) AS pages,
    LAST_VALUE(page) AS left_from, CAST(AVG(took_ms) AS BIGINT) AS took_ms
FROM clicks
GROUP BY visitor, SESSION(ts, INTERVAL '20' SECOND)
HAVING COUNT(*) > 12
EMIT ON WINDOW CLOSE;

CREATE SINK screen FROM visits WITH (connector = 'console');
"""
_SENSORS = f"""\
CREATE SOURCE readings (
    sensor VARCHAR, celsius DOUBLE, ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) {_SOURCE_OPTIONS};

CREATE STREAM smoothed AS
SELECT
    window_end, sensor, COUNT(*) AS readings, ROUND(AVG(celsius), 2) AS mean,
    ROUND(STDDEV_SAMP(celsius), 2) AS spread, MAX(celsius) AS high
FROM readings
GROUP BY sensor, HOP(ts, INTERVAL '30' SECOND, INTERVAL '2' MINUTE)
EMIT ON WINDOW CLOSE;

CREATE SINK screen FROM smoothed WITH (connector = 'console');
"""

_SYMBOLS = {"ACME": 120.0, "BOLT": 48.5, "CIRQ": 310.0, "DYNE": 12.25}
_PAGES = ("/", "/search", "/product", "/basket", "/pay", "/help")
_ROOMS = {"attic": 24.0, "cellar": 11.5, "kitchen": 21.0}


def _trade(draw: Random) -> Row:
    symbol = draw.choice([*_SYMBOLS])
    price = round(_SYMBOLS[symbol] * draw.gauss(1, 0.01), 2)
    return {"symbol": symbol, "price": price, "qty": draw.randint(1, 500)}


def _click(draw: Random) -> Row:
    """Sixty visitors, each of whom clicks every ten seconds on average."""
    return {
        "visitor": f"v{draw.randrange(60):02}",
        "page": draw.choice(_PAGES),
        "took_ms": draw.randint(20, 900),
    }


def _reading(draw: Random) -> Row:
    room = draw.choice([*_ROOMS])
    return {"sensor": room, "celsius": round(_ROOMS[room] + draw.gauss(0, 0.4), 2)}


SHOWS: Mapping[str, Show] = {
    "trades": Show(
        about="Volume-weighted price of each share, minute by minute",
        sql=_HEAD + _TRADES,
        row=_trade,
        measure="qty",
    ),
    "clicks": Show(
        about="Long visits to a web site, which end when nothing is clicked for 20 seconds",
        sql=_HEAD + _CLICKS,
        row=_click,
        measure="took_ms",
    ),
    "sensors": Show(
        about="Temperature of each room over the last two minutes, every 30 seconds",
        sql=_HEAD + _SENSORS,
        row=_reading,
        measure="celsius",
    ),
}
