"""Types as they are written in SQL, and values of literals in them."""

from datetime import date
from decimal import Decimal as Number
from decimal import InvalidOperation

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Literal
from tidegate.model.time import MAX_EVENT_TIME_US, MIN_EVENT_TIME_US, parse_instant
from tidegate.model.types import MAX_PRECISION, Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.sql.columns import parse_type
from tidegate.sql.cursor import Cursor
from tidegate.sql.dialect import tokenize
from tidegate.sql.places import span_of
from tidegate.sql.source import SourceText, Span

_NAMES: dict[str, DataType] = {
    "BOOLEAN": Scalar.BOOLEAN,
    "TINYINT": Scalar.TINYINT,
    "SMALLINT": Scalar.SMALLINT,
    "INT": Scalar.INTEGER,
    "BIGINT": Scalar.BIGINT,
    "FLOAT": Scalar.REAL,
    "REAL": Scalar.REAL,
    "DOUBLE": Scalar.DOUBLE,
    "VARCHAR": Scalar.VARCHAR,
    "CHAR": Scalar.VARCHAR,
    "TEXT": Scalar.VARCHAR,
    "BINARY": Scalar.BINARY,
    "VARBINARY": Scalar.BINARY,
    "DATE": Scalar.DATE,
    "TIMESTAMP": Scalar.TIMESTAMP,
    "TIMESTAMPNTZ": Scalar.TIMESTAMP,
    "TIMESTAMPTZ": Scalar.TIMESTAMP,
    "TIMESTAMPLTZ": Scalar.TIMESTAMP,
    "DATETIME": Scalar.TIMESTAMP,
}
_KNOWN = (
    *(
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "REAL",
        "DOUBLE",
        "DECIMAL",
        "VARCHAR",
        "STRING",
        "BINARY",
    ),
    *("DATE", "TIMESTAMP", "ARRAY", "MAP", "STRUCT"),
)
_DECIMAL_DEFAULT = (18, 3)
_TIMESTAMP_DIGITS = 9
_BIGINT_LIMIT = 2**63
_ENOUGH_DIGITS = 40


def read_type(written: str) -> DataType:
    """The type that a text names."""
    source = SourceText(written)
    tokens = tokenize(source)
    if not tokens:
        raise errors.unknown_type(name=repr(written), hint=f"types are {', '.join(_KNOWN)}")
    return bind_type(parse_type(Cursor(source, tokens), tokens), source)


def bind_type(node: exp.DataType, source: SourceText, *, otherwise: Span | None = None) -> DataType:
    """The type that a syntax tree names. Lengths of VARCHAR, precisions of TIMESTAMP are accepted, and mean nothing."""
    span = span_of(node, source, otherwise=otherwise)
    name = node.this.value if isinstance(node.this, exp.DType) else str(node.this)
    match name:
        case "DECIMAL":
            return _decimal(node, source, span)
        case "ARRAY" | "LIST" if len(node.expressions) == 1:
            return Array(_nested(node.expressions[0], source, span))
        case "MAP" if len(node.expressions) == 2:
            return Map(
                _nested(node.expressions[0], source, span),
                _nested(node.expressions[1], source, span),
            )
        case "STRUCT" if node.expressions:
            return _struct(node, source, span)
        case _:
            return _plain(node, name, source, span)


def _plain(node: exp.DataType, name: str, source: SourceText, span: Span) -> DataType:
    if name in _NAMES and (
        name.startswith(("TIMESTAMP", "VARCHAR", "CHAR", "VARBINARY", "BINARY"))
        or not node.expressions
    ):
        _parameters(node, source, span)
        return _NAMES[name]
    written = str(node.args.get("kind") or name)
    if written.upper() == "BYTES":
        return Scalar.BINARY  # sqlglot does not know the word
    hint = errors.nearest(written, _KNOWN, otherwise=f"types are {', '.join(_KNOWN)}")
    raise errors.unknown_type(source.location(span), name=written, hint=hint)


def _nested(node: exp.Expression, source: SourceText, span: Span) -> DataType:
    if not isinstance(node, exp.DataType):
        raise errors.unknown_type(
            source.location(span), name=node.sql(), hint=f"types are {', '.join(_KNOWN)}"
        )
    return bind_type(node, source, otherwise=span)


def _struct(node: exp.DataType, source: SourceText, span: Span) -> DataType:
    fields: list[tuple[str, DataType]] = []
    seen: set[str] = set()
    for part in node.expressions:
        kind = part.args.get("kind") if isinstance(part, exp.ColumnDef) else None
        if kind is None:
            raise errors.bad_type_parameters(
                source.location(span), type="STRUCT", problem="write STRUCT<name type, …>"
            )
        if part.name.lower() in seen:
            raise errors.duplicate_name(
                source.location(span_of(part, source, otherwise=span)), what="field", name=part.name
            )
        seen.add(part.name.lower())
        fields.append((part.name, _nested(kind, source, span)))
    return Struct(tuple(fields))


def _parameters(node: exp.DataType, source: SourceText, span: Span) -> list[int]:
    values: list[int] = []
    for part in node.expressions:
        literal = part.this if isinstance(part, exp.DataTypeParam) else part
        if not (
            isinstance(literal, exp.Literal) and not literal.is_string and literal.name.isdecimal()
        ):
            raise errors.bad_type_parameters(
                source.location(span), type=node.this.value, problem="lengths are whole numbers"
            )
        values.append(whole_number(literal.name))
    if node.this is exp.DType.TIMESTAMP and values and values[0] > _TIMESTAMP_DIGITS:
        raise errors.bad_type_parameters(
            source.location(span), type="TIMESTAMP", problem="precision is 0 to 9"
        )
    return values


def _decimal(node: exp.DataType, source: SourceText, span: Span) -> DataType:
    given = _parameters(node, source, span)
    precision, scale = (*given, 0)[:2] if given else _DECIMAL_DEFAULT
    if len(given) > 2 or not 1 <= precision <= MAX_PRECISION or scale > precision:
        problem = f"precision is 1 to {MAX_PRECISION}, scale 0 to the precision"
        raise errors.bad_type_parameters(source.location(span), type="DECIMAL", problem=problem)
    return Decimal(precision, scale)


def whole_number(digits: str) -> int:
    """The value of a literal that must be small; one of many digits is too large in any case, and slow to convert."""
    return int(digits[:_ENOUGH_DIGITS])


def number_literal(node: exp.Literal, source: SourceText) -> Literal:
    """Whole numbers are BIGINT (beyond it DECIMAL), with a point DECIMAL, with an exponent DOUBLE."""
    written = node.name
    try:
        if written.isdecimal() and whole_number(written) < _BIGINT_LIMIT:
            return Literal(int(written), Scalar.BIGINT)
        number = Number(written)
    except (InvalidOperation, ValueError):
        raise errors.bad_literal(
            source.location(span_of(node, source)), text=written[:40], type="number", form=""
        ) from None
    _, digits, exponent = number.as_tuple()
    scale = -exponent if isinstance(exponent, int) else 0
    if "e" in written.lower() or max(len(digits), scale) > MAX_PRECISION or scale < 0:
        return _double_literal(node, written, source)
    return Literal(number, Decimal(max(len(digits), scale, 1), scale))


def _double_literal(node: exp.Literal, written: str, source: SourceText) -> Literal:
    value = float(written)
    if value in (float("inf"), float("-inf")):
        raise errors.literal_out_of_range(
            source.location(span_of(node, source)), text=written[:40], type="DOUBLE"
        )
    return Literal(value, Scalar.DOUBLE)


def instant_literal(written: str, kind: Scalar, *, source: SourceText, span: Span) -> Literal:
    """DATE '…' or TIMESTAMP '…'."""
    try:
        instant_us = parse_instant(written)
        days = date.fromisoformat(written.strip()[:10]).toordinal() - date(1970, 1, 1).toordinal()
    except (ValueError, OverflowError):
        form = (
            "write it as '2026-01-31'"
            if kind is Scalar.DATE
            else "write it as '2026-01-31 12:00:00'"
        )
        raise errors.bad_literal(
            source.location(span), text=f"'{written[:40]}'", type=kind.value, form=form
        ) from None
    if not MIN_EVENT_TIME_US <= instant_us <= MAX_EVENT_TIME_US:
        raise errors.literal_out_of_range(
            source.location(span), text=f"'{written}'", type=kind.value
        )
    return Literal(days if kind is Scalar.DATE else instant_us, kind)
