"""Scenario files: read, checked key by key, and turned into steps.

In: a file. Out: `Scenario`, or a refusal that names file and line. What values mean is not known before the SQL is
planned; `values` says it then. `sql_file` names a pipeline as it runs, from where the scenario is: what is tested need
not be a copy.
"""

from collections.abc import Callable
from pathlib import Path

from tidegate import errors
from tidegate.model.policies import SideKind
from tidegate.model.time import MILLISECOND, parse_instant
from tidegate.scenarios.nodes import Node, read_document
from tidegate.scenarios.steps import (
    Checkpoint,
    Clock,
    End,
    Expect,
    ExpectCount,
    ExpectedError,
    ExpectSide,
    ExpectTable,
    Insert,
    Raw,
    RawRow,
    Restart,
    Scenario,
    Step,
    Watermark,
)

ENGINES = ("local", "spark")
_KEYS = ("name", "engines", "config", "sql", "sql_file", "steps", "error")


def load(path: Path) -> Scenario:
    """The scenario in a file."""
    return read(_text(path), file=str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8"
        raise errors.unreadable_file(path=path, problem=reason) from None


def read(text: str, *, file: str) -> Scenario:
    """The scenario in a text."""
    document = read_document(text, file=file)
    entries = document.known(_KEYS, required=("name",))
    if ("sql" in entries) == ("sql_file" in entries):
        raise document.bad("a scenario has either sql or sql_file")
    sql_file = Path(file).parent / entries["sql_file"].text() if "sql_file" in entries else None
    if ("steps" in entries) == ("error" in entries):
        raise document.bad("a scenario has either steps or error")
    config = entries["config"].value() if "config" in entries else {}
    if not isinstance(config, dict):
        raise entries["config"].bad("config must be a mapping, as in tidegate.toml")
    steps = entries["steps"].items() if "steps" in entries else []
    return Scenario(
        name=entries["name"].text(),
        file=file,
        text=text,
        engines=_engines(entries["engines"]) if "engines" in entries else ENGINES,
        config=config,
        sql=entries["sql"].text() if sql_file is None else _text(sql_file),
        sql_name=f"{file}, sql" if sql_file is None else str(sql_file),
        steps=tuple(_step(step) for step in steps),
        error=_error(entries["error"]) if "error" in entries else None,
    )


def _engines(node: Node) -> tuple[str, ...]:
    found = node.each(lambda item: _one_of(item, ENGINES))
    if not found:
        raise node.bad("engines names at least one engine")
    return found


def _one_of(node: Node, known: tuple[str, ...]) -> str:
    found = node.text()
    if found not in known:
        hint = errors.nearest(found, known, otherwise=f"there are {', '.join(known)}")
        raise node.bad(f"{node.what}: there is no {found}", hint=hint)
    return found


def _error(node: Node) -> ExpectedError:
    found = node.known(("code", "contains", "line", "column"))
    if not found:
        raise node.bad("error needs at least one of code, contains, line, column")
    return ExpectedError(
        code=found["code"].text() if "code" in found else None,
        contains=found["contains"].text() if "contains" in found else None,
        line=found["line"].whole() if "line" in found else None,
        column=found["column"].whole() if "column" in found else None,
    )


# Steps


def _step(node: Node) -> Step:
    """A word, or a mapping whose keys say which step it is."""
    written = node.value()
    if isinstance(written, str):
        return _word(node, written)
    found = node.entries()
    kinds = [name for name in found if name in _STEPS]
    if not kinds:
        given = next(iter(found), "")
        otherwise = f"steps are {', '.join((*_STEPS, *_WORDS))}"
        hint = errors.nearest(given, (*_STEPS, *_WORDS), otherwise=otherwise)
        raise node.bad(f"there is no step {given}" if given else "an empty step", hint=hint)
    if len(kinds) > 1:
        raise node.bad(f"one step at a time: {kinds[0]} and {kinds[1]} are two")
    return _STEPS[kinds[0]](Node(node.source, node.yaml, kinds[0]))


def _word(node: Node, word: str) -> Step:
    if word not in _WORDS:
        known = (*_WORDS, *_STEPS)
        hint = errors.nearest(word, known, otherwise=f"steps are {', '.join(known)}")
        raise node.bad(f"there is no step {word}", hint=hint)
    return _WORDS[word](node.line)


def _insert(node: Node) -> Step:
    found = node.known(("insert", "rows", "columns"), required=("rows",))
    return Insert(source=found["insert"].text(), rows=_rows(found), line=node.line)


def _watermark(node: Node) -> Step:
    found = node.known(("watermark",))["watermark"].entries()
    if not found:
        raise node.bad("watermark names a source: {source: milliseconds}")
    return Watermark(
        sources={name: instant_us(item) for name, item in found.items()}, line=node.line
    )


def _clock(node: Node) -> Step:
    return Clock(at_us=instant_us(node.known(("clock",))["clock"]), line=node.line)


def _expect(node: Node) -> Step:
    keys = ("expect", "rows", "columns", "ordered", "unordered", "ignore")
    found = node.known(keys)
    ignored = "ignore" in found and found["ignore"].flag()
    if ignored == ("rows" in found):
        raise node.bad("expect has either rows or ignore: true")
    if ignored and len(found) > 2:
        raise node.bad("expect with ignore: true has no other keys")
    return Expect(
        stream=found["expect"].text(),
        rows=None if ignored else _rows(found),
        ordered="ordered" in found and found["ordered"].flag(),
        unordered=found["unordered"].each(Node.text) if "unordered" in found else (),
        line=node.line,
    )


def _expect_table(node: Node) -> Step:
    found = node.known(("expect_table", "rows", "columns", "unordered"), required=("rows",))
    return ExpectTable(
        stream=found["expect_table"].text(),
        rows=_rows(found),
        unordered=found["unordered"].each(Node.text) if "unordered" in found else (),
        line=node.line,
    )


def _expect_count(node: Node) -> Step:
    found = node.known(("expect_count",))["expect_count"].entries()
    if not found:
        raise node.bad("expect_count names a stream: {stream: rows}")
    return ExpectCount(counts={name: item.whole() for name, item in found.items()}, line=node.line)


def _expect_side(node: Node) -> Step:
    found = node.known(("expect_side", "rows", "columns"), required=("rows",))
    kind = _one_of(found["expect_side"], tuple(SideKind))
    return ExpectSide(kind=kind, rows=_rows(found), line=node.line)


_STEPS: dict[str, Callable[[Node], Step]] = {
    "insert": _insert,
    "watermark": _watermark,
    "clock": _clock,
    "expect": _expect,
    "expect_table": _expect_table,
    "expect_count": _expect_count,
    "expect_side": _expect_side,
}
_WORDS: dict[str, Callable[[int], Step]] = {
    "checkpoint": lambda line: Checkpoint(line=line),
    "restart": lambda line: Restart(line=line),
    "end": lambda line: End(line=line),
}


# Parts of steps


def _rows(found: dict[str, Node]) -> tuple[RawRow, ...]:
    """Mappings; or lists, where `columns` names their places once."""
    items = found["rows"].items()
    if "columns" not in found:
        return tuple(RawRow(_mapping(item), item.line) for item in items)
    names = found["columns"].each(Node.text)
    if len(set(names)) < len(names):
        raise found["columns"].bad("columns names a column twice")
    return tuple(_listed(item, names) for item in items)


def _mapping(item: Node) -> dict[str, Raw]:
    if not isinstance(item.value(), dict):
        raise item.bad("a row is a mapping, unless columns are named", hint="add columns: [a, b]")
    return {name: part.value() for name, part in item.entries().items()}


def _listed(item: Node, names: tuple[str, ...]) -> RawRow:
    values = [part.value() for part in item.items()]
    if len(values) != len(names):
        raise item.bad(f"{len(values)} values for {len(names)} columns")
    return RawRow(dict(zip(names, values, strict=True)), item.line)


def instant_us(node: Node) -> int:
    """Milliseconds since the epoch, or ISO 8601."""
    found = node.value()
    if isinstance(found, int) and not isinstance(found, bool):
        return found * MILLISECOND
    try:
        return parse_instant(found if isinstance(found, str) else "")
    except (ValueError, OverflowError):
        problem = f"{node.what} must be milliseconds since the epoch, or an ISO 8601 string"
        raise node.bad(problem) from None
