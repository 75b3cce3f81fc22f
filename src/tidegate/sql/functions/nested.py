"""ARRAY, MAP and STRUCT. Positions start at 1, negative ones count from the end; what is not there is NULL.

`field` takes the type of its result from the binder, which alone knows the name that is asked for. JSON is not
here: DataFusion has no function that reads it.
"""

from collections.abc import Sequence
from functools import partial

from tidegate.model.types import Array, DataType, Map, Scalar, is_integer
from tidegate.sql.functions.signature import (
    ANY,
    ARRAY,
    BIGINT,
    MAP,
    SAME,
    STRUCT,
    VARCHAR,
    Engine,
    Overload,
    Param,
    Template,
    constant,
    entry,
    first,
    overload,
)
from tidegate.sql.functions.spelling import quote, string_value
from tidegate.sql.functions.text import clamped


def _element_type(targets: Sequence[DataType]) -> DataType:
    return targets[0].element if isinstance(targets[0], Array) else Scalar.NULL


def _value_type(targets: Sequence[DataType]) -> DataType:
    return targets[0].value if isinstance(targets[0], Map) else Scalar.NULL


def _keys_type(targets: Sequence[DataType]) -> DataType:
    return Array(targets[0].key) if isinstance(targets[0], Map) else Scalar.NULL


def _values_type(targets: Sequence[DataType]) -> DataType:
    return Array(targets[0].value) if isinstance(targets[0], Map) else Scalar.NULL


def _array_type(targets: Sequence[DataType]) -> DataType:
    return Array(targets[0])


def _map_by(label: str, key: Scalar) -> Param:
    return Param(
        label, lambda given: given if isinstance(given, Map) and given.key is key else None
    )


def _array_of(label: str, element: Scalar) -> Param:
    def accepts(given: DataType) -> DataType | None:
        if not isinstance(given, Array):
            return None
        whole = element is Scalar.BIGINT and is_integer(given.element)
        return Array(element) if whole or given.element in (element, Scalar.NULL) else None

    return Param(label, accepts)


def _position(engine: Engine) -> Template:
    def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
        place = clamped(args[1], engine)
        if engine is Engine.SPARK:
            return f"try_element_at({args[0]}, NULLIF({place}, 0))"
        return f"array_element({args[0]}, {place})"

    return text


def _slice(engine: Engine) -> Template:
    """From 1 on; Spark raises below it, and where the count is negative."""

    def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
        start, count = (clamped(arg, engine, low=low) for arg, low in ((args[1], 1), (args[2], 0)))
        if engine is Engine.SPARK:
            return f"slice({args[0]}, {start}, {count})"
        end = f"LEAST(({start}) + ({count}) - 1, 2147483647)"
        inside = f"array_slice({args[0]}, {start}, {end})"
        none = f"WHEN {count} = 0 THEN array_slice({args[0]}, 2, 1)"
        return f"CASE WHEN {start} IS NULL OR {count} IS NULL THEN NULL {none} ELSE {inside} END"

    return text


def _field(engine: Engine) -> Template:
    def text(args: Sequence[str], _types: Sequence[DataType], _result: DataType) -> str:
        if engine is Engine.DATAFUSION:
            # get_field alone sees through a NULL struct to what lies beneath.
            return f"CASE WHEN {args[0]} IS NOT NULL THEN get_field({args[0]}, {args[1]}) END"
        return f"({args[0]}).{quote(string_value(args[1], engine) or '', engine)}"

    return text


_function = partial(entry, "nested")


def _contains(element: Scalar, param: Param) -> Overload:
    return overload(
        [_array_of(f"ARRAY<{element}>", element), param],
        Scalar.BOOLEAN,
        datafusion="CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN COALESCE(array_has({0}, {1}), FALSE) END",
        spark="CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN COALESCE(array_contains({0}, {1}), FALSE) END",
    )


def _by_key(key: Scalar, param: Param) -> Overload:
    return overload(
        [_map_by(f"MAP with {key} keys", key), param],
        _value_type,
        datafusion="map_extract({0}, {1})[1]",
        spark="try_element_at({0}, {1})",
    )


_NAME = constant("the name of a field (VARCHAR)", VARCHAR)

NESTED = (
    _function(
        "element_at",
        "The element at a position of an ARRAY, or the value under a key of a MAP.",
        "element_at(tags, 1)",
        _by_key(Scalar.VARCHAR, VARCHAR),
        _by_key(Scalar.BIGINT, BIGINT),
        overload(
            [ARRAY, BIGINT],
            _element_type,
            datafusion=_position(Engine.DATAFUSION),
            spark=_position(Engine.SPARK),
        ),
        aliases=(
            "array_extract",
            "list_extract",
            "list_element",
            "array_element",
            "map_extract_value",
        ),
    ),
    _function(
        "cardinality",
        "How many elements or entries.",
        "cardinality(tags)",
        overload(
            [ARRAY],
            Scalar.BIGINT,
            "CAST(cardinality({0}) AS BIGINT)",
            spark="CAST(array_size({0}) AS BIGINT)",
        ),
        overload(
            [MAP],
            Scalar.BIGINT,
            "CAST(cardinality({0}) AS BIGINT)",
            spark="CAST(array_size(map_keys({0})) AS BIGINT)",
        ),
        aliases=("array_length", "array_size", "size"),
    ),
    _function(
        "slice",
        "So many elements from a position on; positions below 1 are 1, counts below 0 are 0.",
        "slice(tags, 1, 3)",
        overload(
            [ARRAY, BIGINT, BIGINT],
            first,
            datafusion=_slice(Engine.DATAFUSION),
            spark=_slice(Engine.SPARK),
        ),
    ),
    _function(
        "array_contains",
        "Whether some element is equal; NULLs among the elements are equal to nothing.",
        "array_contains(tags, 'new')",
        _contains(Scalar.VARCHAR, VARCHAR),
        _contains(Scalar.BIGINT, BIGINT),
        aliases=("list_contains", "array_has", "list_has"),
    ),
    _function(
        "map_keys", "The keys.", "map_keys(labels)", overload([MAP], _keys_type, "map_keys({0})")
    ),
    _function(
        "map_values",
        "The values, in the order of the keys.",
        "map_values(labels)",
        overload([MAP], _values_type, "map_values({0})"),
    ),
    _function(
        "field",
        "A field of a STRUCT.",
        "person.name",
        overload(
            [STRUCT, _NAME],
            Scalar.NULL,
            datafusion=_field(Engine.DATAFUSION),
            spark=_field(Engine.SPARK),
        ),
    ),
    _function(
        "named_struct",
        "A STRUCT of names and values.",
        "named_struct('a', x, 'b', y)",
        overload([ANY, ANY], Scalar.NULL, "named_struct({args})", variadic=True),
    ),
    _function(
        "make_array",
        "The arguments as an ARRAY.",
        "make_array(a, b)",
        overload([SAME], _array_type, "make_array({args})", spark="array({args})", variadic=True),
        aliases=("array", "list_value"),
    ),
)
