r"""A line editor for statements: history, completion, colours, several lines until a semicolon.

Decided here: without prompt_toolkit (the extra `shell`) the same shell reads plain lines; nothing but comfort is lost.
Enter ends what is complete and begins a new line in what is not. History is kept where the system keeps state of
programs, and nowhere else.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tidegate.cli.shells import words
from tidegate.cli.shells.statements import Typed
from tidegate.plan.script import Program

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings

PROMPT, MORE = "tidegate> ", "     ...> "
_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>'(?:[^']|'')*'?)|(?P<name>\"[^\"]*\"?|`[^`]*`?)"
    r"|(?P<command>\\\w*)|(?P<number>\b\d+(?:\.\d+)?\b)|(?P<word>[A-Za-z_]\w*)|.",
    re.DOTALL,
)
_STYLES = {
    "keyword": "bold ansiblue",
    "function": "ansicyan",
    "string": "ansigreen",
    "number": "ansimagenta",
    "comment": "ansibrightblack italic",
    "command": "bold ansiyellow",
    "name": "",
}


class Reader(Protocol):
    """Gives what a person types, one input at a time; EOFError at the end, KeyboardInterrupt on Ctrl-C."""

    def read(self) -> str: ...


def reader(program: Callable[[], Program], commands: Iterable[str]) -> Reader:
    """The best there is on this machine."""
    if find_spec("prompt_toolkit") is None or os.environ.get("TERM") == "dumb":
        return PlainReader()
    return Editor(program, tuple(commands))


class PlainReader:
    """Lines, until they end a statement."""

    def read(self) -> str:
        lines = [input(PROMPT)]
        while not Typed.of("\n".join(lines)).is_complete:
            lines.append(input(MORE))
        return "\n".join(lines)


class Editor:
    """prompt_toolkit's, with what it needs to know of the language."""

    def __init__(self, program: Callable[[], Program], commands: tuple[str, ...]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.document import Document
        from prompt_toolkit.history import FileHistory, InMemoryHistory
        from prompt_toolkit.lexers import Lexer
        from prompt_toolkit.styles import Style

        class Completing(Completer):
            def get_completions(
                self, document: Document, _event: "CompleteEvent"
            ) -> Iterator["Completion"]:
                start = word_before(document.text_before_cursor)
                for text, what in suggestions(document.text_before_cursor, program(), commands):
                    yield Completion(text, start_position=-len(start), display_meta=what)

        class Colouring(Lexer):
            def lex_document(self, document: Document) -> Callable[[int], "StyleAndTextTuples"]:
                lines = coloured(document.text)
                return lambda number: lines[number] if number < len(lines) else []

        place = history_file()
        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory() if place is None else FileHistory(str(place)),
            completer=Completing(),
            complete_while_typing=False,
            lexer=Colouring(),
            style=Style.from_dict(_STYLES) if not os.environ.get("NO_COLOR") else None,
            multiline=True,
            key_bindings=_bindings(),
            prompt_continuation=MORE,
            enable_open_in_editor=True,
        )

    def read(self) -> str:
        return self._session.prompt(PROMPT)


def _bindings() -> "KeyBindings":
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    bindings = KeyBindings()

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer: Buffer = event.current_buffer
        at_end = not buffer.document.text_after_cursor.strip()
        if at_end and Typed.of(buffer.text).is_complete:
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


def history_file() -> Path | None:
    """None where no file can be kept."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    place = Path(home) / "tidegate" / "history"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return place


# Completion


def word_before(text: str) -> str:
    r"""What is being typed: a name, an option with points in it, or a command.

    >>> word_before("SELECT pri"), word_before("WITH (late.si"), word_before("\\wa"), word_before("a ")
    ('pri', 'late.si', '\\wa', '')
    """
    found = re.search(r"\\?[\w.]*\Z", text)
    return found[0] if found else ""


def suggestions(text: str, program: Program, commands: Iterable[str]) -> list[tuple[str, str]]:
    """What the word before the cursor may become, and what that is; what is nearest at hand comes first."""
    word = word_before(text).lower()
    if word.startswith("\\"):
        return [(command, "command") for command in commands if command.startswith(word)]
    if _within_options(text):
        return [(name, "option") for name in words.options() if name.startswith(word)]
    known = dict(reversed([*words.names(program)]))
    every = [
        *reversed(known.items()),
        *((name, "window") for name in words.WINDOW_COLUMNS),
        *((name, "") for name in (*words.KEYWORDS, *words.TYPES)),
        *((name, "function") for name in words.functions()),
    ]
    last = word.rpartition(".")[2]
    found = {name: what for name, what in reversed(every) if last and name.lower().startswith(last)}
    prefix = word_before(text)[: len(word) - len(last)]
    lower = last and word_before(text)[-1].islower()
    return [
        (prefix + (name.lower() if lower and what in ("", "function") else name), what)
        for name, what in reversed(found.items())
    ]


def _within_options(text: str) -> bool:
    """Whether the last parenthesis that is open is that of WITH, or SET has just begun."""
    statement = Typed.of(text).rest.text
    if re.fullmatch(r"\s*SET\s+'?[\w.]*", statement, re.IGNORECASE):
        return True
    opened = re.search(r"\bWITH\s*\((?P<inside>[^()]*)\Z", statement, re.IGNORECASE)
    if opened is None:
        return False
    item = opened["inside"].rpartition(",")[2]
    return "=" not in item


# Colours


def coloured(text: str) -> list["StyleAndTextTuples"]:
    """Each line as pieces with their styles."""
    lines: list[StyleAndTextTuples] = [[]]
    for found in _TOKEN.finditer(text):
        style = _style(found.lastgroup or "", found[0], text[found.end() : found.end() + 1])
        for number, part in enumerate(found[0].split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((style, part))
    return lines


_FUNCTIONS = frozenset(map(str.lower, words.functions()))
_KEYWORDS = frozenset(map(str.lower, (*words.KEYWORDS, *words.TYPES)))


def _style(kind: str, text: str, following: str) -> str:
    if kind != "word":
        return f"class:{kind}" if kind else ""
    lowered = text.lower()
    if lowered in _FUNCTIONS and following == "(":
        return "class:function"
    return "class:keyword" if lowered in _KEYWORDS else ""
