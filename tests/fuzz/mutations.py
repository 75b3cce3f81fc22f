"""Texts with a few tokens wrong: what a person mistypes, and what no person would."""

import re
from collections.abc import Callable

from hypothesis import strategies as st

from tidegate.sql.dialect import Tidegate

TOKEN = re.compile(r"\s+|\w+|'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|[^\w\s]")
KEYWORDS = sorted(
    {word for phrase in Tidegate.Tokenizer.KEYWORDS for word in phrase.split() if word.isalpha()}
    | set(
        "EMIT LATENESS ALLOWED LATE DATA WATERMARK TUMBLE HOP SESSION DESCRIPTOR SIZE SLIDE GAP SOURCE SINK".split()
    )
)
ODD = [
    *("(", ")", "[", "]", "{", "}", ",", ".", ";", ":", "::", "=>", "=", "<", ">", "||", "+", "-"),
    *("*", "/", "%", "'", '"', "`", "/*", "*/", "--", "\n", "\r", "\r\n", "\t", "\0", "\ufeff"),
    *("\u2028", "\u200b", "e\u0301", "😀", "\ud800", "$", "1e999", "0x", "1__0", "9" * 40, "9" * 5000),
    *(".5", "1.", "''", "{{", "@x", "?", ":p", "\\", "#", "!", '""'),
]  # fmt: skip
PIECES = st.one_of(st.sampled_from(KEYWORDS), st.sampled_from(ODD), st.text(max_size=3))

Edit = Callable[[list[str], int, int, str], list[str]]
EDITS: dict[str, Edit] = {
    "delete": lambda tokens, at, to, piece: tokens[:at] + tokens[at + 1 :],
    "delete many": lambda tokens, at, to, piece: tokens[: min(at, to)] + tokens[max(at, to) :],
    "duplicate": lambda tokens, at, to, piece: tokens[: at + 1] + tokens[at:],
    "repeat": lambda tokens, at, to, piece: (
        tokens[:at] + tokens[at : at + 3] * 12 + tokens[at + 3 :]
    ),
    "swap": lambda tokens, at, to, piece: _swapped(tokens, at, to),
    "insert": lambda tokens, at, to, piece: [*tokens[:at], f" {piece} ", *tokens[at:]],
    "glue": lambda tokens, at, to, piece: [*tokens[:at], piece, *tokens[at:]],
    "replace": lambda tokens, at, to, piece: [*tokens[:at], f" {piece} ", *tokens[at + 1 :]],
    "cut": lambda tokens, at, to, piece: tokens[:at],
    "move": lambda tokens, at, to, piece: [*tokens[:at], *tokens[to : to + 5], *tokens[at:]],
}


def _swapped(tokens: list[str], at: int, to: int) -> list[str]:
    swapped = list(tokens)
    if tokens:
        swapped[at % len(tokens)], swapped[to % len(tokens)] = (
            tokens[to % len(tokens)],
            tokens[at % len(tokens)],
        )
    return swapped


@st.composite
def mutated(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """One of the texts, or two spliced, with up to five edits."""
    text = draw(texts)
    if draw(st.integers(0, 9)) == 0:
        other = draw(texts)
        text = text[: draw(st.integers(0, len(text)))] + other[draw(st.integers(0, len(other))) :]
    tokens = TOKEN.findall(text)
    for _ in range(draw(st.integers(1, 5))):
        places = st.integers(0, len(tokens))
        edit = EDITS[draw(st.sampled_from(sorted(EDITS)))]
        tokens = edit(tokens, draw(places), draw(places), draw(PIECES))
    return "".join(tokens)
