"""Formats of instants: between notations, and as something that reads them."""

import re

_READ = {
    "yyyy": ("year", "([0-9]{4})"),
    "MM": ("month", "([0-9]{2})"),
    "dd": ("day", "([0-9]{2})"),
    "HH": ("hour", "([0-9]{2})"),
    "mm": ("minute", "([0-9]{2})"),
    "ss": ("second", "([0-9]{2})"),
    "SSS": ("fraction", "([0-9]{3})"),
    "SSSSSS": ("fraction", "([0-9]{6})"),
}
_DEFAULTS = {
    "year": "1970",
    "month": "01",
    "day": "01",
    "hour": "00",
    "minute": "00",
    "second": "00",
}
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", re.DOTALL)
_STRFTIME = {
    "Y": "yyyy", "m": "MM", "d": "dd", "H": "HH", "M": "mm", "S": "ss", "I": "hh", "p": "a", "j": "DDD",
    "b": "MMM", "B": "MMMM", "a": "EEE", "A": "EEEE", "f": "SSSSSS", "g": "SSS", "F": "yyyy-MM-dd", "T": "HH:mm:ss",
}  # fmt: skip
_ORACLE = {
    "YYYY": "yyyy", "MM": "MM", "DD": "dd", "HH24": "HH", "HH12": "hh", "HH": "hh", "MI": "mm", "SS": "ss",
    "MS": "SSS", "US": "SSSSSS", "DDD": "DDD", "AM": "a", "PM": "a",
}  # fmt: skip
_ORACLE_TOKEN = re.compile("|".join(sorted(_ORACLE, key=len, reverse=True)), re.IGNORECASE)


class FormatProblem(ValueError):
    """A format that cannot be read with."""


def reader_of(pattern: str) -> tuple[str, str]:
    """A regular expression for texts in the format, and the replacement that makes them ISO 8601.

    >>> reader_of("dd.MM.yyyy")
    ('^([0-9]{2})\\\\.([0-9]{2})\\\\.([0-9]{4})$', '$3-$2-$1T00:00:00')
    """
    regex, places = [], dict[str, str]()
    for found in _TOKEN.finditer(pattern):
        if found[2] is not None:
            if found[0] not in _READ:
                known = ", ".join(_READ)
                raise FormatProblem(
                    f"{found[0]} is no field that can be read; fields are {known}, other letters stand in quotes"
                )
            name, part = _READ[found[0]]
            if name in places:
                raise FormatProblem(f"{found[0]}: the {name} is there twice")
            places[name] = f"${len(places) + 1}"
            regex.append(part)
        else:
            plain = found[3] if found[1] is None else found[1].replace("''", "'") or "'"
            regex.append(re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", plain))
    if not places:
        raise FormatProblem(f"there is no field in it; fields are {', '.join(_READ)}")
    at = {name: places.get(name, default) for name, default in _DEFAULTS.items()}
    fraction = f".{places['fraction']}" if "fraction" in places else ""
    iso = "{year}-{month}-{day}T{hour}:{minute}:{second}".format(**at)
    return f"^{''.join(regex)}$", iso + fraction


def from_strftime(pattern: str) -> str:
    """The format in the notation of DATE_FORMAT; an unknown field stays, to be refused there.

    >>> from_strftime("%d.%m.%Y, %H o'clock")
    "dd.MM.yyyy, HH' o''clock'"
    """
    parts = re.split(r"%(.)", pattern)
    made = [_quoted(parts[0])]
    for field, text in zip(parts[1::2], parts[2::2], strict=True):
        made.append(_quoted("%") if field == "%" else _STRFTIME.get(field, f"%{field}"))
        made.append(_quoted(text))
    return "".join(made)


def from_oracle(pattern: str) -> str:
    """The format of TO_CHAR in the notation of DATE_FORMAT.

    >>> from_oracle("YYYY-MM-DD HH24:MI")
    'yyyy-MM-dd HH:mm'
    """
    made, end = [], 0
    for found in _ORACLE_TOKEN.finditer(pattern):
        made += [_quoted(pattern[end : found.start()].replace('"', "")), _ORACLE[found[0].upper()]]
        end = found.end()
    return "".join([*made, _quoted(pattern[end:].replace('"', ""))])


def _quoted(text: str) -> str:
    """Letters stand for themselves only in quotes."""
    if not re.search("[A-Za-z']", text):
        return text
    return "'" + text.replace("'", "''") + "'"
