"""Errors as a person reads them: the place, the line, a caret under the token, and what to write instead.

In: any `TidegateError`. Out: lines of text. The first is `file:line:column: code: message`, which editors and terminals
turn into a link. Long lines are cut around the caret, and the caret stands right under wide and combining characters.
"""

from collections.abc import Callable
from unicodedata import category, combining, east_asian_width

from tidegate.errors import Location, TidegateError

Paint = Callable[[str, str], str]
_BEFORE, _AROUND = 60, 100


def plain(text: str, _role: str) -> str:
    """No colours."""
    return text


def describe(error: TidegateError, paint: Paint = plain) -> str:
    """The error in full; `paint` colours its parts (`code`, `message`, `caret`, `hint`)."""
    place = error.location
    # What is about a text quotes it, line breaks and all; what is not may be long, and have lines of its own.
    sentence, *details = [error.message] if place else error.message.split("\n")
    head = f"{paint(error.code, 'code')}: {paint(_harmless(sentence), 'message')}"
    lines = [f"{_harmless(place.file)}:{place.line}:{place.column}: {head}" if place else head]
    lines += [f"  {_harmless(detail)}" for detail in details]
    if place is not None:
        lines += _excerpt(place, paint)
    if error.hint:
        lines.append(f"{paint('hint', 'hint')}: {_harmless(error.hint)}")
    return "\n".join(lines)


def _excerpt(place: Location, paint: Paint) -> list[str]:
    """The line and the caret, both indented by two."""
    start = place.column - 1
    first = max(0, start - _BEFORE) if len(place.line_text) > _AROUND else 0
    shown = place.line_text[first : first + _AROUND]
    cut_left, cut_right = (
        ("…" if first else ""),
        ("…" if first + _AROUND < len(place.line_text) else ""),
    )
    line = cut_left + "".join(map(_visible, shown)) + cut_right
    before = cut_left + shown[: start - first]
    token = shown[start - first : start - first + place.width]
    caret = "^" * max(1, _columns(token))
    return [f"  {line}", f"  {' ' * _columns(before)}{paint(caret, 'caret')}"]


def _harmless(text: str) -> str:
    """Messages quote what people wrote, and that must not command the terminal."""
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    """Tabs and control characters take one column, so that nothing moves the caret."""
    return (
        " " if character == "\t" or category(character) in ("Cc", "Cs", "Zl", "Zp") else character
    )


def _columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if combining(character) or category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
