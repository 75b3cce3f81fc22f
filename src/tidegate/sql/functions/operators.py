"""Comparison, logic, text matching and bits. What floats compare like is decided in `ordering`."""

from collections.abc import Sequence

from tidegate.model.types import DataType, Scalar
from tidegate.sql.functions import patterns
from tidegate.sql.functions.arithmetic import operator
from tidegate.sql.functions.ordering import keyed
from tidegate.sql.functions.signature import (
    ANY,
    BIGINT,
    BOOLEAN,
    COMPARABLE,
    TEXTUAL,
    VARCHAR,
    Engine,
    Function,
    Overload,
    Template,
    constant,
    overload,
)
from tidegate.sql.functions.spelling import null, string, string_value


def _compare(symbol: str, doc: str) -> Function:
    plain = f"({{0}} {symbol} {{1}})"
    params = [COMPARABLE, COMPARABLE]
    return operator(
        symbol, doc, overload(params, Scalar.BOOLEAN, datafusion=keyed(plain), spark=plain)
    )


def _boolean(name: str, text: str, doc: str, *, operands: int = 2) -> Function:
    return operator(name, doc, overload([BOOLEAN] * operands, Scalar.BOOLEAN, text))


def _bits(name: str, doc: str, text: str, *, spark: str = "", operands: int = 2) -> Function:
    texts = {"datafusion": text, "spark": spark or text}
    return operator(name, doc, overload([BIGINT] * operands, Scalar.BIGINT, **texts))


def _like(text: str) -> Overload:
    """`text` is filled with the operand and the pattern, as literals of the engine."""

    def template(engine: Engine) -> Template:
        def filled(args: Sequence[str], _types: Sequence[DataType], result: DataType) -> str:
            pattern = string_value(args[1], engine)
            if pattern is None:
                return null(result, engine)
            return text.format(args[0], string(patterns.like(pattern), engine))

        return filled

    pattern = constant("a pattern (VARCHAR)", VARCHAR)
    texts = {engine.value: template(engine) for engine in Engine}
    return overload([VARCHAR, pattern], Scalar.BOOLEAN, **texts)


OPERATORS = (
    _compare("=", "Equal; NaN equals NaN."),
    _compare("<>", "Not equal."),
    _compare("<", "Less than."),
    _compare("<=", "At most."),
    _compare(">", "Greater than; NaN is greater than every number."),
    _compare(">=", "At least."),
    operator(
        "is_distinct",
        "Different, where NULL is a value like any other; never NULL.",
        overload(
            [COMPARABLE, COMPARABLE],
            Scalar.BOOLEAN,
            datafusion=keyed("({0} IS DISTINCT FROM {1})"),
            spark="(NOT ({0} <=> {1}))",
        ),
    ),
    operator(
        "is_not_distinct",
        "Equal, where NULL is a value like any other; never NULL.",
        overload(
            [COMPARABLE, COMPARABLE],
            Scalar.BOOLEAN,
            datafusion=keyed("({0} IS NOT DISTINCT FROM {1})"),
            spark="({0} <=> {1})",
        ),
    ),
    operator(
        "in",
        "Equal to one of the listed values.",
        overload(
            [COMPARABLE, COMPARABLE],
            Scalar.BOOLEAN,
            datafusion=keyed("({0} IN ({rest}))"),
            spark="({0} IN ({rest}))",
            variadic=True,
        ),
    ),
    _boolean(
        "and",
        "({0} AND {1})",
        "Both hold. The right side's row errors count only where the left side is not false.",
    ),
    _boolean(
        "or",
        "({0} OR {1})",
        "One holds. The right side's row errors count only where the left side is not true.",
    ),
    _boolean("not", "(NOT {0})", "The opposite.", operands=1),
    operator(
        "is_null", "Whether there is no value.", overload([ANY], Scalar.BOOLEAN, "({0} IS NULL)")
    ),
    operator(
        "is_not_null",
        "Whether there is a value.",
        overload([ANY], Scalar.BOOLEAN, "({0} IS NOT NULL)"),
    ),
    operator(
        "||",
        "The texts one after the other; NULL if one is NULL.",
        overload([TEXTUAL, TEXTUAL], Scalar.VARCHAR, "({0} || {1})"),
    ),
    operator(
        "like",
        "Matches a pattern: % is any text, _ any character, a backslash takes the next character as it is.",
        _like("({0} LIKE {1})"),
    ),
    operator("ilike", "LIKE without regard to case.", _like("(lower({0}) LIKE lower({1}))")),
    _bits("&", "Bits set in both.", "({0} & {1})"),
    _bits("|", "Bits set in either.", "({0} | {1})"),
    _bits("^", "Bits set in exactly one.", "({0} ^ {1})"),
    _bits("~", "All bits turned over.", "(-1 - {0})", spark="(~ {0})", operands=1),
    _bits(
        "<<",
        "Bits moved to the left, by the count modulo 64.",
        "({0} << ({1} & 63))",
        spark="shiftleft({0}, CAST({1} & 63L AS INT))",
    ),
    _bits(
        ">>",
        "Bits moved to the right, keeping the sign, by the count modulo 64.",
        "({0} >> ({1} & 63))",
        spark="shiftright({0}, CAST({1} & 63L AS INT))",
    ),
)
