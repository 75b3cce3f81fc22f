"""Functions of text, in plain Python."""

import hashlib
import operator
import re
from collections.abc import Callable
from typing import Any

Oracle = Callable[..., Any]
_LONGEST = 1_000_000


def _like(value: str, pattern: str) -> bool:
    tokens = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    parts = [wild.get(token) or re.escape(token[-1]) for token in tokens]
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None


def _substring(value: str, start: int, length: int | None = None) -> str:
    limit = 2**31 - 1
    start = min(max(start, -limit), limit)
    length = None if length is None else min(length, limit)
    begin = start - 1 if start > 0 else len(value) + start if start < 0 else 0
    end = len(value) if length is None else begin + max(length, 0)
    return value[max(begin, 0) : max(end, 0)]


def _pad(value: str, size: int, fill: str = " ", *, left: bool) -> str | None:
    if size > _LONGEST:
        return None
    size = max(size, 0)
    missing = (fill * size)[: max(size - len(value), 0)]
    return missing + value[:size] if left else value[:size] + missing


def _repeat(value: str, times: int) -> str | None:
    return None if len(value.encode()) * max(times, 0) > _LONGEST else value * times


def _translate(value: str, source: str, target: str) -> str:
    table: dict[int, str | None] = {}
    for place, letter in enumerate(source):
        table.setdefault(ord(letter), target[place] if place < len(target) else None)
    return value.translate(table)


def _split_part(value: str, delimiter: str, number: int) -> str | None:
    pieces = value.split(delimiter) if delimiter else [value]
    if number == 0:
        return None
    place = number - 1 if number > 0 else len(pieces) + number
    return pieces[place] if 0 <= place < len(pieces) else ""


def _split_index(value: str, delimiter: str, number: int) -> str | None:
    pieces = value.split(delimiter) if delimiter else []
    return pieces[number] if 0 <= number < len(pieces) else None


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _hex(value: Any) -> str:
    return f"{value & (2**64 - 1):x}" if isinstance(value, int) else _bytes(value).hex()


def _chr(code: int) -> str | None:
    return chr(code) if 1 <= code < 0xD800 or 0xE000 <= code < 0x110000 else None


def _python(pattern: str) -> str:
    return re.sub(r"(?<!\\)\$", r"\\Z", pattern)


def _extract(value: str, pattern: str, group: int = 0) -> str | None:
    found = re.search(_python(pattern), value)
    if found is None or group > (found.re.groups):
        return None
    return found[group] or ""


def _replace(value: str, pattern: str, replacement: str) -> str:
    groups = re.compile(pattern).groups

    def one(found: re.Match[str]) -> str:
        def part(reference: re.Match[str]) -> str:
            if reference[0] == r"\$":
                return "$"
            number = int(reference[0][1])
            return (found[number] or "") if number <= groups else ""

        return re.sub(r"\\\$|[\\$][0-9]", part, replacement)

    return re.sub(pattern, one, value)


TEXT: dict[str, Oracle] = {
    "||": operator.add,
    "like": _like,
    "ilike": lambda value, pattern: _like(value.lower(), pattern.lower()),
    "upper": str.upper,
    "lower": str.lower,
    "length": len,
    "reverse": lambda value: value[::-1],
    "ascii": lambda value: ord(value[0]) if value else 0,
    "btrim": lambda value, chars=" ": value.strip(chars) if chars else value,
    "ltrim": lambda value, chars=" ": value.lstrip(chars) if chars else value,
    "rtrim": lambda value, chars=" ": value.rstrip(chars) if chars else value,
    "octet_length": lambda value: len(_bytes(value)),
    "substring": _substring,
    "left": lambda value, size: value[: max(size, 0)],
    "right": lambda value, size: value[max(len(value) - max(size, 0), 0) :],
    "lpad": lambda *args: _pad(*args, left=True),
    "rpad": lambda *args: _pad(*args, left=False),
    "repeat": _repeat,
    "replace": lambda value, old, new="": value.replace(old, new) if old else value,
    "translate": _translate,
    "concat": lambda *args: "".join(arg for arg in args if arg is not None),
    "concat_ws": lambda sep, *args: (
        None if sep is None else sep.join(arg for arg in args if arg is not None)
    ),
    "strpos": lambda value, part: value.find(part) + 1,
    "locate": lambda part, value: value.find(part) + 1,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda value, part: part in value,
    "split_part": _split_part,
    "split_index": _split_index,
    "chr": _chr,
    "md5": lambda value: hashlib.md5(_bytes(value)).hexdigest(),
    "sha256": lambda value: hashlib.sha256(_bytes(value)).hexdigest(),
    "to_hex": _hex,
    "hex": lambda value: _hex(value).upper(),
    "rlike": lambda value, pattern: re.search(_python(pattern), value) is not None,
    "regexp_replace": _replace,
    "regexp_extract": _extract,
    "regexp_count": lambda value, pattern: len(re.findall(pattern, value)),
}
