"""What every overload of every function is tried on. A function that is missing here fails the suite."""

from dataclasses import dataclass

from tests.sql.functions.values import (
    AB,
    AI,
    AS,
    BOOL,
    CLOSE,
    CODES,
    COUNT,
    DAY_POOL,
    FINE,
    I32,
    LONG,
    MB,
    MILLIS,
    MODEST,
    MONTHS,
    MS,
    N0,
    PART,
    SMALL,
    ST,
    TINY,
    WHOLE,
    WIDE,
    WILD_DAY,
    WILD_T,
    WRITTEN,
    B,
    D,
    N,
    Pool,
    R,
    S,
    T,
    V,
    Y,
)
from tidegate.model.expressions import Literal, bigint, null, text
from tidegate.model.types import Array, DataType, Decimal, Scalar, Struct
from tidegate.sql.functions.casts import can_cast

Argument = Pool | Literal


@dataclass(frozen=True)
class Exercise:
    """A call: pools stand for columns, literals for themselves."""

    function: str
    args: tuple[Argument, ...]

    @property
    def pools(self) -> tuple[Pool, ...]:
        return tuple(arg for arg in self.args if isinstance(arg, Pool))

    def __str__(self) -> str:
        shown = (str(arg) if isinstance(arg, Pool) else repr(arg.value) for arg in self.args)
        return f"{self.function}({', '.join(shown)})"


Calls = tuple[tuple[Argument, ...], ...]

# fmt: off
_COMPARED: Calls = (
    (B, B), (D, D), (R, R), (N, N), (N, B), (D, N), (S, S), (Y, Y), (BOOL, BOOL), (T, T),
    (T, DAY_POOL), (DAY_POOL, DAY_POOL), (V, V), (I32, B),
)
_SAME: Calls = (
    (B, B), (D, D), (R, R), (N, WIDE), (S, S), (T, T), (DAY_POOL, DAY_POOL), (Y, Y), (BOOL, BOOL),
    (V, V),
)
_UNITS = (
    "microsecond", "millisecond", "SECOND", "minute", "hour", "day", "week", "month", "quarter",
    "year",
)
_PARTS = (
    "year", "quarter", "month", "week", "isoyear", "day", "dow", "isodow", "doy", "hour", "minute",
    "second", "millisecond", "microsecond",
)
_ROUNDED: Calls = (
    (B,), (N,), (N0,), (WIDE,), (D,), (B, bigint(-1)), (N, null(Scalar.BIGINT)), (D, null(Scalar.BIGINT)),
    *((kind, bigint(n)) for kind in (N, WIDE) for n in (0, 1, 2, 5)),
    *((D, bigint(n)) for n in (0, 1, 2, 5, 15, 18, -1, -3, -18)),
)
_ONE_DOUBLE: Calls = ((D,), (R,))
_ONE_TIME: Calls = ((T,), (DAY_POOL,))
_PATTERNS = (
    "b+", "^a", "c$", "(&|^)channel_id=([^&]*)", "(x)?b", r"[\w-]+", r"\d", "(?i)ABC", ".", r"\s",
    "a.*c", r"k\r?$", r"\W", "[^a-z]+", "(?i)É", "(?s)k.b", "(?m)^break", r"\$\{x\}", "'", "é|ß",
    r"a\.|\x41", "a{2,3}", "^$", "(?:a|(b))c", r"\bnbsp",
)
_DATE_PATTERNS = (
    "yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMdd'T'HHmmss.SSSSSS'Z'", "EEE, dd MMM yyyy hh:mm a",
    "EEEE MMMM DDD", "'100%' ''yyyy", "",
)
_LIKES = (
    "", "a%", "%b%", "_", "%😀", r"%\%\_", "a\\b", "end\\", "%\n%", "A_C", r"%\\%", "%É%", "it's%",
)


def _with(*rest: Literal, by: Argument = S) -> Calls:
    return tuple((by, literal) for literal in rest)


_TEXT_NULL = null(Scalar.VARCHAR)
_BIGINT_NULL = null(Scalar.BIGINT)
_TABLE: dict[str, Calls] = {
    "+": (
        (B, B), (I32, B), (N, N), (N, B), (WIDE, WIDE), (D, D), (B, D), (B, bigint(5)), (T, V),
        (V, T), (V, V), (DAY_POOL, V),
    ),
    "-": (
        (B, B), (I32, B), (N, N), (N, B), (WIDE, WIDE), (D, D), (B, D), (bigint(-5), B), (T, V),
        (T, T), (V, V), (T, DAY_POOL),
    ),
    "*": ((B, B), (I32, B), (N, N), (N, N0), (WIDE, WIDE), (D, D), (B, D), (V, COUNT), (COUNT, V)),
    "/": ((D, D), (B, B), (N, D), (B, bigint(0))),
    "div": ((B, B), (B, I32), (B, bigint(-1)), (B, bigint(0))),
    "%": ((B, B), (D, D), (B, bigint(0)), (N, D)),
    "neg": ((B,), (N,), (WIDE,), (D,), (V,)),
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "is_distinct", "is_not_distinct"), _COMPARED),
    "in": (
        (B, bigint(1), bigint(7)), (B, B, bigint(2**53 + 1)), (D, D, Literal(0.0, Scalar.DOUBLE)),
        (S, PART, text("abc")), (T, T), (B, _BIGINT_NULL, bigint(1)),
    ),
    "and": ((BOOL, BOOL),),
    "or": ((BOOL, BOOL),),
    "not": ((BOOL,),),
    "is_null": ((B,), (D,), (S,), (AS,), (ST,), (MS,)),
    "is_not_null": ((B,), (D,), (S,), (AS,), (ST,), (MS,)),
    "||": ((S, PART),),
    "like": _with(*map(text, _LIKES), _TEXT_NULL),
    "ilike": _with(*map(text, _LIKES), _TEXT_NULL),
    **dict.fromkeys("&|^", ((B, B),)),
    "~": ((B,),),
    "<<": ((B, B),),
    ">>": ((B, B),),
    "coalesce": (*_SAME, (AS, AS), (B, B, bigint(3)), (S,), (N, B)),
    "nullif": (*_SAME, (D, Literal(0.0, Scalar.DOUBLE))),
    "greatest": (*_SAME, (B, B, bigint(3)), (D, D, Literal(0.0, Scalar.DOUBLE))),
    "least": (*_SAME, (B, B, bigint(3)), (D, D, Literal(0.0, Scalar.DOUBLE))),
    "nanvl": ((D, D),),
    "abs": ((B,), (N,), (WIDE,), (D,)),
    "sign": ((B,), (D,), (N,)),
    **dict.fromkeys(("ceil", "floor"), ((B,), (N,), (N0,), (WIDE,), (D,), (R,))),
    **dict.fromkeys(("round", "truncate"), _ROUNDED),
    **dict.fromkeys(
        (
            "sqrt", "cbrt", "exp", "ln", "log10", "log2", "sin", "cos", "tan", "asin", "acos",
            "atan", "sinh", "cosh", "tanh", "degrees", "radians", "isnan", "isinf", "isfinite",
        ),
        _ONE_DOUBLE,
    ),
    "log": ((D, D),),
    "power": ((D, D),),
    "atan2": ((D, D),),
    "pi": ((),),
    **dict.fromkeys(("upper", "lower", "length", "reverse", "ascii"), ((S,),)),
    **dict.fromkeys(("btrim", "ltrim", "rtrim"), ((S,), (S, PART))),
    "octet_length": ((S,), (Y,)),
    "substring": (
        (S, COUNT), (S, COUNT, COUNT), (S, bigint(2), bigint(3)), (S, bigint(-2)),
        (S, bigint(0), bigint(2)),
    ),
    "left": ((S, COUNT), (S, bigint(2))),
    "right": ((S, COUNT), (S, bigint(2))),
    "lpad": ((S, COUNT), (S, COUNT, PART), (S, bigint(5), text("ab"))),
    "rpad": ((S, COUNT), (S, COUNT, PART), (S, bigint(5), text("ab"))),
    "repeat": ((S, COUNT), (S, bigint(3))),
    "replace": ((S, PART), (S, PART, PART), (S, text(""), text("x"))),
    "translate": ((S, PART, PART), (S, text("abc"), text("x"))),
    "concat": ((S,), (S, PART), (S, PART, _TEXT_NULL)),
    "concat_ws": ((PART, S), (PART, S, PART), (_TEXT_NULL, S)),
    **dict.fromkeys(("strpos", "starts_with", "ends_with", "contains"), ((S, PART),)),
    "locate": ((PART, S),),
    "split_part": ((S, PART, COUNT), (S, text(","), bigint(2))),
    "split_index": ((S, PART, COUNT), (S, text(","), bigint(1))),
    "chr": ((CODES,),),
    **dict.fromkeys(("md5", "sha256"), ((S,), (Y,))),
    **dict.fromkeys(("to_hex", "hex"), ((B,), (S,), (Y,))),
    "rlike": (*_with(*map(text, _PATTERNS)), (S, _TEXT_NULL)),
    "regexp_replace": tuple(
        (S, text(one), text(two))
        for one, two in (
            ("b+", "<$0>"),
            ("(a)(b)?", r"\2$1"),
            ("a", r"\$"),
            (r"\s", ""),
            ("(b)", "$10"),
            ("b", "$3"),
            ("[^0-9]", "é"),
        )
    ),
    "regexp_extract": (
        *_with(*map(text, _PATTERNS)), (S, text("(&|^)channel_id=([^&]*)"), bigint(2)),
        (S, text("(x)?b"), bigint(1)), (S, text("(x)?b"), bigint(2)),
        (S, text("a(b)(c)"), bigint(0)), (S, _TEXT_NULL), (S, text("a"), _BIGINT_NULL),
    ),
    "regexp_count": _with(text("b"), text("[a-c]+"), text("😀")),
    "date_trunc": tuple((text(unit), kind) for unit in _UNITS for kind in (T, DAY_POOL)),
    **{f"extract_{part}": _ONE_TIME for part in _PARTS},
    **dict.fromkeys(
        ("dayofweek", "unix_seconds", "unix_millis", "unix_micros", "last_day"), _ONE_TIME
    ),
    **{f"to_timestamp_{unit}": ((MILLIS,),) for unit in ("s", "ms", "us", "ns")},
    "epoch_ms": ((MILLIS,), (T,)),
    "to_timestamp": ((S,), (T,), (text("2020-02-29T23:59:60.5+01:00"),)),
    "date": ((S,), (T,), (DAY_POOL,)),
    "timestampdiff": tuple((text(unit), T, T) for unit in _UNITS),
    "timestampadd": tuple((text(unit), count, T) for unit in _UNITS for count in (MONTHS, MILLIS)),
    "add_months": ((DAY_POOL, MONTHS), (T, MONTHS), (T, bigint(-1))),
    "date_format": (*((T, text(pattern)) for pattern in _DATE_PATTERNS), (T, null(Scalar.VARCHAR))),
    "element_at": (
        (MS, PART), (MB, B), (AS, COUNT), (AB, COUNT), (AS, bigint(-1)), (AB, bigint(0)),
    ),
    "slice": tuple(
        (kind, start, count) for kind in (AS, AB) for start in (COUNT, bigint(2)) for count in (COUNT, bigint(2))
    ),
    "cardinality": ((AS,), (AB,), (MS,), (MB,)),
    "array_contains": ((AS, PART), (AB, B), (AI, B), (AI, I32)),
    "map_keys": ((MS,), (MB,)),
    "map_values": ((MS,), (MB,)),
    "named_struct": ((text("a"), B), (text("a"), S, text("b c"), B)),
    "field": ((ST, text("a")), (ST, text("b c"))),
    "$shift": ((MODEST, MODEST),),
    **dict.fromkeys(("$divide", "$remainder"), ((MODEST, bigint(60_000_000)), (MODEST, bigint(1)))),
    "$scale": ((MODEST, bigint(31)), (MODEST, bigint(-1))),
    "$negate": ((MODEST,),),
    **dict.fromkeys(("$coarse", "$fine"), ((WIDE,), (FINE,), (LONG,), (WHOLE,))),
    "make_array": ((B, B), (S, PART, _TEXT_NULL), (B, N)),
}
# fmt: on


@dataclass(frozen=True)
class Conversion:
    """A CAST of a column."""

    source: Pool
    target: DataType

    @property
    def pools(self) -> tuple[Pool, ...]:
        return (self.source,)

    def __str__(self) -> str:
        return f"CAST({self.source} AS {self.target})"


TARGETS = (
    *(kind for kind in Scalar if kind not in (Scalar.NULL, Scalar.INTERVAL)),
    Decimal(10, 3),
    Decimal(38, 10),
    Decimal(5, 0),
    Decimal(38, 0),
    Decimal(18, 18),
    Decimal(38, 30),
)
_NESTED = (
    (AI, Array(Scalar.BIGINT)),
    (AI, Array(Scalar.DOUBLE)),
    (ST, Struct((("a", Scalar.DOUBLE), ("b c", Scalar.VARCHAR)))),
)
# fmt: off
_SOURCES = (TINY, SMALL, I32, B, R, CLOSE, N, WIDE, FINE, N0, WRITTEN, Y, BOOL, T, DAY_POOL)
# fmt: on
_ALL_CASTS = (*((source, target) for source in _SOURCES for target in TARGETS), *_NESTED)
CASTS = tuple(
    Conversion(source, target) for source, target in _ALL_CASTS if can_cast(source.type, target)
)
EXERCISES = tuple(Exercise(name, args) for name, calls in _TABLE.items() for args in calls)
_WILD = {T: WILD_T, DAY_POOL: WILD_DAY}


def _wild(arg: Argument) -> Argument:
    return _WILD.get(arg, arg) if isinstance(arg, Pool) else arg


# Instants that no source should deliver: checked for agreement only.
WILD_EXERCISES = tuple(
    Exercise(exercise.function, tuple(map(_wild, exercise.args)))
    for exercise in EXERCISES
    if any(pool in _WILD for pool in exercise.pools)
)
WILD_CASTS = tuple(
    Conversion(_WILD[cast.source], cast.target) for cast in CASTS if cast.source in _WILD
)
