"""Connections to PostgreSQL, and the types that both sides have.

Decided here: what a column is called there is what it is called here, quoted, so that case is kept. An address is shown
without its password. Failures that a new connection may heal are told from those that it will not.
"""

from typing import Any

from tidegate import errors
from tidegate.connectors.secrets import resolved
from tidegate.connectors.settings import Settings
from tidegate.model.types import Array, DataType, Decimal, Scalar

_TYPES: dict[DataType, str] = {
    Scalar.BOOLEAN: "boolean",
    Scalar.TINYINT: "smallint",
    Scalar.SMALLINT: "smallint",
    Scalar.INTEGER: "integer",
    Scalar.BIGINT: "bigint",
    Scalar.REAL: "real",
    Scalar.DOUBLE: "double precision",
    Scalar.VARCHAR: "text",
    Scalar.BINARY: "bytea",
    Scalar.DATE: "date",
    Scalar.TIMESTAMP: "timestamp with time zone",
}


def library() -> Any:
    """psycopg, which is an extra."""
    try:
        import psycopg
    except ImportError:
        raise errors.missing_library(name="psycopg", extra="postgres") from None
    return psycopg


def type_name(kind: DataType) -> str:
    """The type of PostgreSQL for one of ours; maps and structs are JSON.

    >>> type_name(Array(Decimal(10, 2)))
    'numeric(10, 2)[]'
    """
    match kind:
        case Decimal(precision, scale):
            return f"numeric({precision}, {scale})"
        case Array(element):
            return f"{type_name(element)}[]"
        case _:
            return _TYPES.get(kind, "jsonb")


def quoted(name: str) -> str:
    """
    >>> quoted('odd"name')
    '"odd""name"'
    """
    return '"' + name.replace('"', '""') + '"'


def table_name(settings: Settings) -> str:
    """`schema.table`, each part quoted."""
    return ".".join(quoted(part) for part in str(settings.get("table")).split("."))


class Database:
    """One place to connect to."""

    def __init__(self, settings: Settings) -> None:
        self._url = str(settings.get("url"))
        self.timeout_us = settings.number("connection.timeout") or 0
        self.place = self._shown()

    def _shown(self) -> str:
        psycopg = library()
        try:
            parts = psycopg.conninfo.conninfo_to_dict(resolved("url", self._url))
        except psycopg.ProgrammingError:
            problem = "expected postgresql://user@host:port/database"
            raise errors.bad_option_value(name="url", value="…", problem=problem) from None
        where = ":".join(str(parts[part]) for part in ("host", "port") if parts.get(part))
        return f"{where or 'localhost'}/{parts.get('dbname', '')}"

    def connect(self) -> Any:
        psycopg = library()
        try:
            made = psycopg.connect(resolved("url", self._url), connect_timeout=10, autocommit=True)
            made.execute("SET TIME ZONE 'UTC'")
        except psycopg.OperationalError as problem:
            raise self.unreachable(problem) from None
        return made

    def unreachable(self, problem: Exception) -> errors.TidegateError:
        text = " ".join(str(problem).split())
        return errors.unreachable(connector="postgres", place=self.place, problem=text)

    def refused(self, problem: Exception) -> errors.TidegateError:
        text = " ".join(str(problem).split())
        return errors.edge_refused(connector="postgres", place=self.place, problem=text)
