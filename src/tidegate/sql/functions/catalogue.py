"""All scalar functions, by name. The order of `_FAMILIES` is the order of the generated documentation."""

from tidegate.sql.functions.arithmetic import ARITHMETIC
from tidegate.sql.functions.conditional import CONDITIONAL
from tidegate.sql.functions.encodings import ENCODINGS
from tidegate.sql.functions.epochs import EPOCHS
from tidegate.sql.functions.internal import INTERNAL
from tidegate.sql.functions.math import MATH
from tidegate.sql.functions.nested import NESTED
from tidegate.sql.functions.operators import OPERATORS
from tidegate.sql.functions.regex import REGEX
from tidegate.sql.functions.rounding import ROUNDING
from tidegate.sql.functions.searching import SEARCHING
from tidegate.sql.functions.signature import Function
from tidegate.sql.functions.text import TEXT
from tidegate.sql.functions.times import TIMES

_FAMILIES: tuple[tuple[Function, ...], ...] = (
    ARITHMETIC,
    OPERATORS,
    CONDITIONAL,
    ROUNDING,
    MATH,
    TEXT,
    SEARCHING,
    ENCODINGS,
    REGEX,
    TIMES,
    EPOCHS,
    NESTED,
    INTERNAL,
)

FUNCTIONS: dict[str, Function] = {
    function.name: function for family in _FAMILIES for function in family
}
_BY_ALIAS = {
    alias: function
    for function in FUNCTIONS.values()
    for alias in (function.name, *function.aliases)
}


def find_function(name: str) -> Function | None:
    """The entry with this name or alias, in any case."""
    return _BY_ALIAS.get(name.lower())


def function_names() -> tuple[str, ...]:
    """Every name that a query may call, aliases included; symbols and keywords are not among them."""
    return tuple(
        sorted(
            alias
            for alias, function in _BY_ALIAS.items()
            if function.family not in ("operators", "internal") or alias in function.aliases
        )
    )
