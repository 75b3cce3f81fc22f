"""Bytes, code points, hashes and hexadecimal digits."""

from functools import partial

from tidegate.model.types import Scalar
from tidegate.sql.functions.signature import BIGINT, BINARY, VARCHAR, entry, overload
from tidegate.sql.functions.text import of_text

_function = partial(entry, "text")
_CHARACTER = "CASE WHEN {0} BETWEEN 1 AND 55295 OR {0} BETWEEN 57344 AND 1114111 THEN {0} END"

ENCODINGS = (
    _function(
        "octet_length",
        "How many bytes, of UTF-8 or BINARY.",
        "octet_length(name)",
        overload([VARCHAR], Scalar.BIGINT, "CAST(octet_length({0}) AS BIGINT)"),
        overload(
            [BINARY],
            Scalar.BIGINT,
            "CAST(octet_length(encode({0}, 'hex')) / 2 AS BIGINT)",
            spark="CAST(octet_length({0}) AS BIGINT)",
        ),
    ),
    of_text(
        "ascii",
        "The code point of the first character; 0 for the empty text.",
        Scalar.BIGINT,
        "CAST(ascii({0}) AS BIGINT)",
    ),
    _function(
        "chr",
        "The character with this code point; NULL if there is none.",
        "chr(65)",
        overload(
            [BIGINT],
            Scalar.VARCHAR,
            f"chr({_CHARACTER})",
            spark=f"decode(unhex(lpad(hex({_CHARACTER}), 8, '0')), 'UTF-32')",
        ),
        aliases=("char",),
    ),
    _function(
        "md5",
        "The MD5 hash, in small hexadecimal digits.",
        "md5(name)",
        overload([VARCHAR], Scalar.VARCHAR, "md5({0})", spark="md5(CAST({0} AS BINARY))"),
        overload([BINARY], Scalar.VARCHAR, "md5({0})"),
    ),
    _function(
        "sha256",
        "The SHA-256 hash, in small hexadecimal digits.",
        "sha256(name)",
        overload(
            [VARCHAR],
            Scalar.VARCHAR,
            "encode(sha256({0}), 'hex')",
            spark="sha2(CAST({0} AS BINARY), 256)",
        ),
        overload([BINARY], Scalar.VARCHAR, "encode(sha256({0}), 'hex')", spark="sha2({0}, 256)"),
    ),
    _function(
        "to_hex",
        "Small hexadecimal digits, of a number in two's complement, or of bytes.",
        "to_hex(255)",
        overload([BIGINT], Scalar.VARCHAR, "to_hex({0})", spark="lower(hex({0}))"),
        overload(
            [VARCHAR], Scalar.VARCHAR, "encode(CAST({0} AS BYTEA), 'hex')", spark="lower(hex({0}))"
        ),
        overload([BINARY], Scalar.VARCHAR, "encode({0}, 'hex')", spark="lower(hex({0}))"),
    ),
    _function(
        "hex",
        "As to_hex, in capital letters (as Spark, Flink and DuckDB have it).",
        "hex(255)",
        overload([BIGINT], Scalar.VARCHAR, "upper(to_hex({0}))", spark="hex({0})"),
        overload(
            [VARCHAR], Scalar.VARCHAR, "upper(encode(CAST({0} AS BYTEA), 'hex'))", spark="hex({0})"
        ),
        overload([BINARY], Scalar.VARCHAR, "upper(encode({0}, 'hex'))", spark="hex({0})"),
    ),
)
