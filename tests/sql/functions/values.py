"""Adversarial values, per type: what a column of that type must survive on both engines."""

import datetime as dt
import decimal
from dataclasses import dataclass

import pyarrow as pa

from tidegate.model.time import DAY, MAX_DURATION_US, MAX_EVENT_TIME_US, MIN_EVENT_TIME_US
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct

INF, NAN = float("inf"), float("nan")
MAX, MIN = 2**63 - 1, -(2**63)


@dataclass(frozen=True, eq=False)
class Pool:
    """A column type with the values to try."""

    name: str
    type: DataType
    arrow: pa.DataType
    values: tuple[object, ...]

    def __str__(self) -> str:
        return self.name


def _pool(name: str, kind: DataType, arrow: pa.DataType, *values: object) -> Pool:
    return Pool(name, kind, arrow, (*values, None))


def _numbers(*texts: str) -> tuple[decimal.Decimal, ...]:
    return tuple(decimal.Decimal(text) for text in texts)


def instant(text: str) -> int:
    moment = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


# fmt: off
INSTANTS = (
    MIN_EVENT_TIME_US, MIN_EVENT_TIME_US + 1, MAX_EVENT_TIME_US, 0, -1, 1, 999_999, -999_999,
    -1_000_000, instant("1582-10-04T23:59:59.999999"), instant("1582-10-15T00:00:00"),
    instant("1600-02-29T12:34:56.789012"), instant("1677-09-21T00:12:43"),
    instant("1899-12-31T23:59:59.999999"), instant("1900-02-28T23:00:00"),
    instant("1969-12-29T00:00:00"), instant("2000-02-29T00:00:00"),
    instant("2020-12-31T23:59:59.5"), instant("2021-01-03T23:59:59.999999"),
    instant("2021-01-31T10:00:00"), instant("2021-03-01T09:00:00"),
    instant("2026-11-18T22:13:05.000001"), instant("2262-04-11T23:47:16.854776"),
    instant("9999-01-01T00:00:00"), instant("0001-12-31T00:00:00.000500"),
)
DURATIONS = (
    0, 1, -1, 999, 1_000_000, -DAY, 86_399_999_999, 31 * DAY, MAX_DURATION_US, -MAX_DURATION_US, 5,
)
TEXTS = (
    "", " ", "a", "A", "abc", "ABC", "abcabc", "  padded  ", "\ttab\n", "a,b,,c", ",", "ß",
    "STRASSE ŒUVRE ΑΣ", "éé e\u0301", "😀a😀", "日本語テキスト", "a\x00b", 'it\'s \\ "q" ${x} $1 :p {0} %_',
    "line\nbreak\r\n", "x" * 300, "channel_id=42&b", "https://host/a/b?c=d&channel_id=äö", "123",
    "\u00a0nbsp", "aXbxc",
)
INTEGERS = (
    0, 1, -1, 2, -2, 3, 7, -7, 10, 63, 64, 65, 255, 1000, 2**31 - 1, 2**31, -(2**31), 2**53 + 1,
    MAX, MAX - 1, MIN, MIN + 1,
)
DOUBLES = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 1.005, 2.675, 1e-5, -7.3,
    3.0, 1e15 + 0.5, 4503599627370495.5, 1e22, 1e300, -1e300, 5e-324, INF, -INF, NAN,
    9.2233720368547758e18, 123456.789,
)

B = _pool("bigint", Scalar.BIGINT, pa.int64(), *INTEGERS)
I32 = _pool("integer", Scalar.INTEGER, pa.int32(), 0, 1, -7, 2**31 - 1, -(2**31))
D = _pool("double", Scalar.DOUBLE, pa.float64(), *DOUBLES)
R = _pool("real", Scalar.REAL, pa.float32(), 0.0, -0.0, 1.5, -2.25, INF, -INF, NAN, 16777216.0)
N = _pool(
    "decimal",
    Decimal(10, 3),
    pa.decimal128(10, 3),
    *_numbers(
        "0",
        "0.001",
        "-0.001",
        "0.5",
        "-0.5",
        "1.500",
        "2.500",
        "-2.5",
        "1.005",
        "-7.3",
        "9999999.999",
        "-9999999.999",
        "3",
    ),
)
WIDE = _pool(
    "wide",
    Decimal(38, 10),
    pa.decimal128(38, 10),
    *_numbers(
        "0",
        "1.5",
        "-0.0000000001",
        "9999999999999999999999999999.9999999999",
        "-9999999999999999999999999999.9999999999",
        "2.5",
    ),
)
# All nines: what has to be taken apart before it can be added up.
LONG, WHOLE = (
    _pool(
        f"long{scale}",
        Decimal(38, scale),
        pa.decimal128(38, scale),
        *(
            decimal.Decimal(sign + text).scaleb(-scale, decimal.Context(prec=38))
            for text in ("0", "9" * 38, "1" + "0" * 37, "12345678901234567890123456789012345678", "5" * 10)
            for sign in ("", "-")
        ),
    )
    for scale in (7, 0)
)
N0 = _pool(
    "decimal_whole", Decimal(12, 0), pa.decimal128(12, 0),
    *_numbers("0", "-1", "7", "999999999999", "-999999999999"),
)
S = _pool("varchar", Scalar.VARCHAR, pa.string(), *TEXTS)
PART = _pool(
    "part", Scalar.VARCHAR, pa.string(), "", "a", "b", "abc", ",", " ", "😀", "\u0301", "zz", "x",
    "/", "ab", "[.", "\\",
)
Y = _pool(
    "binary", Scalar.BINARY, pa.binary(), b"", b"abc", b"\x00\xff", "é😀".encode(), b"\x80",
    b"\x7f",
)
BOOL = _pool("boolean", Scalar.BOOLEAN, pa.bool_(), True, False)
T = _pool("timestamp", Scalar.TIMESTAMP, pa.timestamp("us"), *INSTANTS)
DATES = (-719162, 2932896, 0, -1, 1, 11016, 18993, 18658, -25509)
DAY_POOL = _pool("date", Scalar.DATE, pa.date32(), *DATES)
V = _pool("interval", Scalar.INTERVAL, pa.int64(), *DURATIONS)
COUNT = _pool(
    "count", Scalar.BIGINT, pa.int64(), 0, 1, 2, 3, 5, -1, -2, -5, 40, 70000, 2**31, MAX, MIN,
)
MILLIS = _pool(
    "millis", Scalar.BIGINT, pa.int64(), 0, 1, -1, 1_700_000_000_123, -62_135_596_800_000,
    -62_135_596_800_001, 253_402_300_799_999, 253_402_300_800_000, -62_135_596_800,
    -62_135_596_801, 253_402_300_799, 253_402_300_800, MAX_EVENT_TIME_US, MAX_EVENT_TIME_US + 1,
    MIN_EVENT_TIME_US, MIN_EVENT_TIME_US - 1, 999, -999, 1001, MAX, MIN,
)
MONTHS = _pool(
    "months", Scalar.BIGINT, pa.int64(), 0, 1, -1, 11, 12, -13, 1200, 119_987, -119_987, 200_000,
    MAX, MIN,
)
CODES = _pool(
    "codes", Scalar.BIGINT, pa.int64(), 0, 1, 65, 127, 128, 255, 256, 0xD7FF, 0xD800, 0xDFFF,
    0xE000, 0x1F600, 0x10FFFF, 0x110000, -1, MAX, MIN,
)
AS = _pool(
    "array_varchar", Array(Scalar.VARCHAR), pa.list_(pa.string()), [], ["a"], ["a", None, "b"],
    [None], ["", "abc"],
)
AB = _pool(
    "array_bigint", Array(Scalar.BIGINT), pa.list_(pa.int64()), [], [1], [1, None, 2], [MAX, MIN],
    [None],
)
AI = _pool("array_integer", Array(Scalar.INTEGER), pa.list_(pa.int32()), [], [1], [1, None, -7])
MS = _pool(
    "map_varchar", Map(Scalar.VARCHAR, Scalar.BIGINT), pa.map_(pa.string(), pa.int64()), [],
    [("a", 1)], [("a", 1), ("b", None), ("", 3)],
)
MB = _pool(
    "map_bigint", Map(Scalar.BIGINT, Scalar.VARCHAR), pa.map_(pa.int64(), pa.string()), [],
    [(1, "a")], [(0, None), (MAX, "b")],
)
ST = _pool(
    "struct", Struct((("a", Scalar.BIGINT), ("b c", Scalar.VARCHAR))),
    pa.struct([("a", pa.int64()), ("b c", pa.string())]), {"a": 1, "b c": "x"},
    {"a": None, "b c": ""},
)

WRITTEN = _pool(
    "written", Scalar.VARCHAR, pa.string(), "", " ", "0", "-0", "+7", " 12 ", "\t-128\n", "127",
    "128", "32768", "2147483648", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "00000000000000000000000000000000000000000000007", "1.5", "-2.5", ".5",
    "5.", ".", "+.5", "1.0005", "1.00049999999999999999999999999999999999999999", "-0.0005",
    "9999999.9995", "9999999.9994", "1e3", "1E-3", "1e999", "-1e-400", "inf", "-Infinity", "+INF",
    "NaN", "-nan", "1_000", "1,5", "0x10", "1d", "1f", "5L", "--5", "+-5", "5 5", "٣", "\uff11",
    "123456789012345678901234567890123456789", "99999999999999999999999999999999999999",
    "0." + "1" * 60, "-99999999999999999999999999999999999999.9", "true", "TRUE", " t", "Yes",
    "on", "OFF", "n", "f", "false", "truee", "null", "\u017f", "İ", "1970-01-01", "2020-02-29",
    "2021-02-29", "0001-01-01", "0000-01-01", "9999-12-31", "10000-01-01", "2020-13-01",
    "2020-1-1", "2020-00-10", "20200101", " 2020-01-02 ", "2020-01-02T03:04:05Z",
    "2020-01-02 03:04", "2020-01-02 03:04:05.123456789", "2020-01-02T03:04:05.1+05:30",
    "2020-01-02 03:04+00:00", "2020-01-02T03:04Z", "2020-01-02T24:00:00", "2020-01-02T23:59:60",
    "2020-01-02 03:04:05 ", "2020-01-02 03:04:05 UTC", "2020-01-02T03:04:05-18:00",
    "2020-01-02T03:04:05+19:00", "2020-01-02T03:04:05.", "2020-01-02t03:04:05",
    "2020-01-02T03:04:05z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59.999999-00:01",
    "9999-12-31T23:59:59.9999999", "1582-10-10", "1969-12-31T23:59:59.999999", "2020-01-02T03",
    "2020-01-02T03:04.5", "now", "epoch", "today", "2020-01-02 03:04:05+0530",
    "2020-01-02  03:04:05", "a\x00b", "😀",
)
FINE = _pool(
    "fine",
    Decimal(38, 30),
    pa.decimal128(38, 30),
    *_numbers(
        "0",
        "1.5",
        "99999999.999999999999999999999999999999",
        "-0.000000000000000000000000000001",
        "0.1",
    ),
)
SMALL = _pool("small", Scalar.SMALLINT, pa.int16(), 0, 1, -1, 127, 128, 32767, -32768)
TINY = _pool("tiny", Scalar.TINYINT, pa.int8(), 0, 1, -128, 127)
CLOSE = _pool(
    "close", Scalar.DOUBLE, pa.float64(), *DOUBLES, 126.99, 127.5, 127.99999999, 128.0, -128.99,
    -129.0, 2147483647.5, 2147483648.0, -2147483648.9, 9.2233720368547748e18,
    -9.2233720368547758e18, -9.2233720368547779e18, 0.0005, 0.0015, 1234567.8905, 9999999.9995,
    9999999.9994, 99999.5, 1e28, 9.999999999999999e27, 1.1, 0.1, 1e17, 123456789012345.678,
    1.2345678901234567e25, 3.4028235e38, 3.4028236e38, 1.7e38, 9.99e37, 1e38,
    1.401298464324817e-45, 16777217.0,
)

# Beyond the years 1 to 9999, where no result is promised but that both engines give the same, and neither raises.
WILD_T = _pool(
    "wild_timestamp", Scalar.TIMESTAMP, pa.timestamp("us"), MAX, MIN, MAX_EVENT_TIME_US + 1,
    MIN_EVENT_TIME_US - 1, 0, 10**18, -(10**18),
)
WILD_DAY = _pool(
    "wild_date", Scalar.DATE, pa.date32(), 2**31 - 1, -(2**31), 2932897, -719163, 0, 10**8,
    -(10**8),
)
# What the planner computes with: instants and small factors, never near the limits of BIGINT.
MODEST = _pool("modest", Scalar.BIGINT, pa.int64(), 0, 1, -1, 7, -7, 60_000_000, -60_000_001, *INSTANTS[:3])
# fmt: on
