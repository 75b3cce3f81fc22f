"""Text. Positions and lengths count characters (code points), positions start at 1; trimming means spaces.

Decided here: a negative start counts from the end and zero is taken for 1 (as in Spark and Flink); lengths below
zero are zero, positions and lengths beyond 2^31 - 1 are taken for that; a text that would be made longer than
`LONGEST` characters is an `overflow`, since one row must not exhaust memory.
"""

from collections.abc import Sequence
from functools import partial

from tidegate.model.policies import Reason
from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions.signature import (
    BIGINT,
    TEXTUAL,
    VARCHAR,
    Engine,
    Function,
    Param,
    Template,
    entry,
    overload,
)
from tidegate.sql.functions.spelling import bigint, bigint_value

LONGEST = 1_000_000
_INT = 2_147_483_647
_function = partial(entry, "text")


def clamped(sql: str, engine: Engine, *, low: int = -_INT, high: int = _INT) -> str:
    """A BIGINT as what the engine's functions take, values beyond the bounds moved to the bound."""
    value = bigint_value(sql)
    if value is not None:
        text = bigint(min(max(value, low), high), engine)
    else:
        text = f"CASE WHEN {sql} > {high} THEN {high} WHEN {sql} < {low} THEN {low} ELSE {sql} END"
    return f"CAST({text} AS INT)" if engine is Engine.SPARK else text


def _bounded(sql: str, engine: Engine) -> str:
    """A length: none below zero, NULL above `LONGEST`."""
    text = f"CASE WHEN {sql} > {LONGEST} THEN NULL WHEN {sql} < 0 THEN 0 ELSE {sql} END"
    return f"CAST({text} AS INT)" if engine is Engine.SPARK else text


def _sized(name: str, *, low: int = -_INT) -> dict[str, Template]:
    """Functions whose second argument is a size."""

    def template(engine: Engine) -> Template:
        def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
            return f"{name}({args[0]}, {clamped(args[1], engine, low=low)})"

        return text

    return {engine.value: template(engine) for engine in Engine}


def _padded(name: str) -> dict[str, Template]:
    def template(engine: Engine) -> Template:
        def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
            fill = args[2] if len(args) > 2 else "' '"
            return f"{name}({args[0]}, {_bounded(args[1], engine)}, {fill})"

        return text

    return {engine.value: template(engine) for engine in Engine}


def _substring_datafusion(
    args: Sequence[str], _types: Sequence[DataType], _result: DataType
) -> str:
    start = clamped(args[1], Engine.DATAFUSION)
    value = bigint_value(args[1])
    if value is None or value <= 0:
        from_end = f"character_length({args[0]}) + {start} + 1"
        start = f"CASE WHEN {args[1]} > 0 THEN {start} WHEN {args[1]} < 0 THEN {from_end} ELSE {args[1]} + 1 END"
    if len(args) == 2:
        return f"substr({args[0]}, {start})"
    return f"substr({args[0]}, {start}, {clamped(args[2], Engine.DATAFUSION, low=0)})"


def _substring_spark(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
    bounds = [clamped(args[1], Engine.SPARK)]
    bounds += [clamped(arg, Engine.SPARK, low=0) for arg in args[2:]]
    return f"substring({args[0]}, {', '.join(bounds)})"


def _repeated(engine: Engine) -> Template:
    def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
        times = clamped(args[1], Engine.DATAFUSION, low=0, high=LONGEST + 1)
        size = f"CAST(octet_length({args[0]}) AS BIGINT) * ({times})"
        allowed = f"CASE WHEN {size} <= {LONGEST} THEN {times} END"
        return (
            f"repeat({args[0]}, {f'CAST({allowed} AS INT)' if engine is Engine.SPARK else allowed})"
        )

    return text


def of_text(
    name: str,
    doc: str,
    returns: Scalar,
    datafusion: str,
    spark: str = "",
    aliases: tuple[str, ...] = (),
    params: tuple[Param, ...] = (VARCHAR,),
) -> Function:
    example = f"{name}({', '.join(('name', 'part')[: len(params)])})"
    text = overload(params, returns, datafusion=datafusion, spark=spark or datafusion)
    return _function(name, doc, example, text, aliases=aliases)


def _trim(name: str, side: str, doc: str, aliases: tuple[str, ...] = ()) -> Function:
    return _function(
        name,
        f"{doc} Without a second argument these are spaces.",
        f"{name}(name, 'xy')",
        overload([VARCHAR], Scalar.VARCHAR, f"{name}({{0}})"),
        overload(
            [VARCHAR, VARCHAR],
            Scalar.VARCHAR,
            f"{name}({{0}}, {{1}})",
            spark=f"trim({side} {{1}} FROM {{0}})",
        ),
        aliases=aliases,
    )


def _pad(name: str, side: str) -> Function:
    return _function(
        name,
        f"Filled on the {side} up to a length, or cut to it. `overflow` beyond a million characters.",
        f"{name}(code, 8, '0')",
        overload([VARCHAR, BIGINT], Scalar.VARCHAR, fails=Reason.OVERFLOW, **_padded(name)),
        overload(
            [VARCHAR, BIGINT, VARCHAR], Scalar.VARCHAR, fails=Reason.OVERFLOW, **_padded(name)
        ),
    )


TEXT = (
    of_text("upper", "In capital letters.", Scalar.VARCHAR, "upper({0})", aliases=("ucase",)),
    of_text("lower", "In small letters.", Scalar.VARCHAR, "lower({0})", aliases=("lcase",)),
    _trim("btrim", "BOTH", "Without the given characters at both ends.", aliases=("trim",)),
    _trim("ltrim", "LEADING", "Without the given characters at the beginning."),
    _trim("rtrim", "TRAILING", "Without the given characters at the end."),
    of_text(
        "length",
        "How many characters.",
        Scalar.BIGINT,
        "CAST(character_length({0}) AS BIGINT)",
        aliases=("char_length", "character_length", "len"),
    ),
    _function(
        "substring",
        "From a position on, and so many characters of it. A negative position counts from the end.",
        "substring(name, 2, 3)",
        overload(
            [VARCHAR, BIGINT],
            Scalar.VARCHAR,
            datafusion=_substring_datafusion,
            spark=_substring_spark,
        ),
        overload(
            [VARCHAR, BIGINT, BIGINT],
            Scalar.VARCHAR,
            datafusion=_substring_datafusion,
            spark=_substring_spark,
        ),
        aliases=("substr",),
    ),
    _function(
        "left",
        "The first n characters.",
        "left(name, 3)",
        overload([VARCHAR, BIGINT], Scalar.VARCHAR, **_sized("left", low=0)),
    ),
    _function(
        "right",
        "The last n characters.",
        "right(name, 3)",
        overload([VARCHAR, BIGINT], Scalar.VARCHAR, **_sized("right", low=0)),
    ),
    _pad("lpad", "left"),
    _pad("rpad", "right"),
    _function(
        "repeat",
        "So many times one after the other. `overflow` beyond a million bytes.",
        "repeat('ab', 2)",
        overload(
            [VARCHAR, BIGINT],
            Scalar.VARCHAR,
            fails=Reason.OVERFLOW,
            datafusion=_repeated(Engine.DATAFUSION),
            spark=_repeated(Engine.SPARK),
        ),
    ),
    of_text("reverse", "The characters in reverse order.", Scalar.VARCHAR, "reverse({0})"),
    _function(
        "concat",
        "The texts one after the other; NULLs are left out.",
        "concat(a, '-', b)",
        overload(
            [TEXTUAL],
            Scalar.VARCHAR,
            "concat({args})",
            spark="concat_ws('', {args})",
            variadic=True,
        ),
    ),
    _function(
        "concat_ws",
        "The texts with a separator between; NULLs are left out.",
        "concat_ws('/', a, b)",
        overload([VARCHAR, TEXTUAL], Scalar.VARCHAR, "concat_ws({args})", variadic=True),
    ),
)
