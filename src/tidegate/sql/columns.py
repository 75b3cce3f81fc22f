"""The column list of CREATE SOURCE and CREATE TABLE."""

from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

from tidegate import errors
from tidegate.sql.cursor import Cursor, Name
from tidegate.sql.dialect import parse_expression
from tidegate.sql.lint import refuse_gaps
from tidegate.sql.source import Span
from tidegate.sql.statements import ColumnDef, WatermarkDef

_CONSTRAINTS = (
    "PRIMARY",
    "PRIMARY KEY",
    "UNIQUE",
    "FOREIGN",
    "FOREIGN KEY",
    "CONSTRAINT",
    "CHECK",
    "DEFAULT",
    "REFERENCES",
)


def read_columns(
    cursor: Cursor, *, watermark_allowed: bool
) -> tuple[tuple[ColumnDef, ...], WatermarkDef | None]:
    """`( name type [NOT NULL] | name type METADATA [FROM 'key'] | name AS expr | WATERMARK FOR …, … )`."""
    columns: list[ColumnDef] = []
    watermarks: list[WatermarkDef] = []

    def read_item() -> None:
        if cursor.sees("WATERMARK", "FOR"):
            if not watermark_allowed:
                where = "watermarks belong to CREATE SOURCE"
                raise errors.misplaced_clause(
                    cursor.source.location(cursor.here()), clause="WATERMARK", where=where
                )
            if watermarks:
                raise errors.repeated_clause(
                    cursor.source.location(cursor.here()), clause="WATERMARK FOR"
                )
            watermarks.append(_read_watermark(cursor))
        else:
            columns.append(_read_column(cursor))

    if not cursor.sees("("):
        raise cursor.unexpected("( and the columns")
    cursor.comma_separated(read_item)
    return tuple(columns), watermarks[0] if watermarks else None


def _read_watermark(cursor: Cursor) -> WatermarkDef:
    start = cursor.here()
    cursor.expect("WATERMARK", "FOR")
    column = cursor.name("a column")
    expr = _read_expression(cursor) if cursor.accept("AS") else None
    return WatermarkDef(column=column, expr=expr, span=cursor.since(start))


def _read_column(cursor: Cursor) -> ColumnDef:
    _refuse_constraint(cursor)
    name = cursor.name("a column")
    type_tokens = _type_tokens(cursor)
    _refuse_constraint(cursor)
    nullable = not cursor.accept("NOT", "NULL")
    if nullable:
        cursor.accept("NULL")
    _refuse_constraint(cursor)
    metadata = _read_metadata(cursor, name) if type_tokens else None
    expr = _read_expression(cursor) if metadata is None and cursor.accept("AS") else None
    if not type_tokens and expr is None:
        raise cursor.unexpected(f"a type for column {name}")
    kind = parse_type(cursor, type_tokens) if type_tokens else None
    return ColumnDef(
        name=name,
        type=kind,
        expr=expr,
        nullable=nullable,
        metadata=metadata,
        span=cursor.since(name.span),
    )


def _read_metadata(cursor: Cursor, column: Name) -> str | None:
    """`METADATA [FROM 'key'] [VIRTUAL]`, as in Flink; without a key it is that of the column's name."""
    if not cursor.accept("METADATA"):
        return None
    key = column.text
    if cursor.accept("FROM"):
        key, _ = cursor.string("a key such as 'timestamp'")
    cursor.accept("VIRTUAL")
    return key


def _type_tokens(cursor: Cursor) -> list[Token]:
    """Everything up to NOT NULL, AS, a comma or the end, where these are not inside `<…>`."""
    start = cursor.position
    angles = 0

    def ends(at: Cursor) -> bool:
        nonlocal angles
        angles += at.word().count("<") - at.word().count(">")
        return angles <= 0 and at.word() in (",", "NOT", "NULL", "AS", "METADATA", *_CONSTRAINTS)

    cursor.balanced(ends)
    return list(cursor.tokens[start : cursor.position])


def _refuse_constraint(cursor: Cursor) -> None:
    if cursor.word() in _CONSTRAINTS and cursor.kind(1) is not None and not _is_type_ahead(cursor):
        clause = cursor.word()
        raise errors.foreign_clause(
            cursor.source.location(cursor.here()),
            clause=clause,
            instead="columns are: name type [NOT NULL], or name AS expression",
        )


def _is_type_ahead(cursor: Cursor) -> bool:
    """`check BOOLEAN` is a column; `CHECK (…)` and `PRIMARY KEY (…)` are constraints."""
    return (
        cursor.word(-1) in ("(", ",")
        and cursor.word(1) not in ("(", "KEY", "FROM")
        and " " not in cursor.word()
    )


def _read_expression(cursor: Cursor) -> exp.Expression:
    tokens = cursor.balanced(lambda at: at.word() == ",")
    if not tokens:
        raise cursor.unexpected("an expression")
    refuse_gaps(cursor.source, tokens)
    return parse_expression(cursor.source, tokens)


def parse_type(cursor: Cursor, tokens: list[Token]) -> exp.DataType:
    """A type, read by the same grammar as the one in CAST."""
    first, last = tokens[0], tokens[-1]
    head = [
        Token(TokenType.CAST if hasattr(TokenType, "CAST") else TokenType.VAR, "CAST"),
        Token(TokenType.L_PAREN, "("),
        Token(TokenType.NULL, "NULL"),
        Token(TokenType.ALIAS, "AS"),
    ]
    tree = parse_expression(
        cursor.source,
        [*head, *tokens, Token(TokenType.R_PAREN, ")", last.line, last.col, last.end, last.end)],
    )
    kind = tree.args.get("to") if isinstance(tree, exp.Cast) else None
    if not isinstance(kind, exp.DataType):
        span = Span(first.start, last.end + 1)
        raise errors.unknown_type(
            cursor.source.location(span), name=cursor.source.text[span.start : span.end]
        )
    kind.meta.update(start=first.start, end=last.end)
    return kind
