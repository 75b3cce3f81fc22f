"""Records that are no rows, cut to what a side output can carry."""

from tidegate.connectors.protocols import Malformed

MOST_CHARACTERS = 1_000


def malformed(record: bytes | str, detail: str) -> Malformed:
    """The record as text; bytes that are none are shown as such.

    >>> malformed(b'{"a": \\xff', "not UTF-8").text
    '{"a": \\\\xff'
    """
    kept = record[: 4 * MOST_CHARACTERS]
    text = kept.decode("utf-8", "backslashreplace") if isinstance(kept, bytes) else kept
    return Malformed(text=text[:MOST_CHARACTERS], detail=detail[:MOST_CHARACTERS])
