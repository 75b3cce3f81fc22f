"""Write the pages that are generated from the code; with `--check`, only say which are out of date.

A page is a function from nothing to Markdown, listed in `PAGES`. Nothing else may write those files, and `make test`
fails when one differs from what the code says.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import click

from tidegate.cli.main import root
from tidegate.errors import CATALOGUE
from tidegate.model.connectors import CONNECTORS, ConnectorSpec
from tidegate.model.options import (
    OPTIONS,
    SPARK_OPTIONS,
    OptionSpec,
    describe_default,
)
from tidegate.plan.reference import Entry, entries

DOCS = Path(__file__).parents[1] / "docs"


def errors() -> str:
    rows = [
        (code, kind.sqlstate, str(kind.error.exit_code), cell(kind.sentence), cell(kind.hint))
        for code, kind in sorted(CATALOGUE.items())
    ]
    return page(
        "# Errors",
        "Every refusal has a stable code. `exit` is the exit code of the `tidegate` command.",
        table(("code", "SQLSTATE", "exit", "message", "hint"), rows),
    )


def functions() -> str:
    families: dict[str, list[Entry]] = {}
    for entry in entries():
        families.setdefault(entry.family, []).append(entry)
    sections = [
        part
        for family, listed in families.items()
        for part in (
            f"## {family.capitalize()}",
            table(("name", "calls", "does"), map(row, listed)),
        )
    ]
    return page(
        "# Functions",
        "What a query can call. Names are not case-sensitive. `T` is any one type whose values can be compared. A NULL "
        "argument makes the result NULL, and aggregates leave NULLs out, unless the description says otherwise.",
        "A row for which a function fails is diverted with the reason that is given here (`error` side output), and "
        "fails nothing else. `tidegate functions NAME` shows one function on the terminal.",
        *sections,
    )


def row(entry: Entry) -> tuple[str, ...]:
    name = code(entry.name) + "".join(f"<br>{code(alias)}" for alias in entry.aliases)
    does = cell(entry.doc)
    if entry.diverts:
        does += f"<br>Diverts: {', '.join(map(code, entry.diverts))}"
    if entry.example:
        does += f"<br>Example: {code(entry.example)}"
    return name, "<br>".join(map(code, entry.forms)), does


def options() -> str:
    shared = [
        (*described(spec)[:-1], ", ".join(sorted(spec.scopes)), described(spec)[-1])
        for spec in OPTIONS.values()
    ]
    connectors = [part for connector in CONNECTORS.values() for part in section(connector)]
    return page(
        "# Options",
        "Options are given in `tidegate.toml` (`[defaults]`, or `[transforms.<stream>]` for one stream), in "
        "`WITH (…)` behind what they are about, or with `SET name = value`. SET beats WITH, WITH beats the stream's "
        "section, that beats what its source declares, and `[defaults]` come last. A variable such as "
        "`TIDEGATE__DEFAULTS__WATERMARK_LAG=5s` beats the file.",
        "A duration is written `'5s'`, `'1 hour 30 minutes'`; a size `'512MB'`; a rate `'1000/s'`, `/min` or `/h`; a "
        "route `metrics_only`, `sink:<name>`, `dlq_<name>` or `reinject:<source>`.",
        "## Sources and streams",
        table(("name", "value", "default", "set for", "means"), shared),
        "In the file, the side outputs of a stream have a section of their own: `[transforms.<stream>.side_output]`.",
        "## Spark",
        "Under `[spark]`.",
        table(OPTION_HEAD, map(described, SPARK_OPTIONS.values())),
        "## Connectors",
        "Named by `connector = '…'`; `memory` if none is named.",
        *connectors,
    )


OPTION_HEAD = ("name", "value", "default", "means")


def described(spec: OptionSpec) -> tuple[str, ...]:
    value = ", ".join(map(code, spec.choices)) if spec.choices else spec.kind
    default = "required" if spec.required else code(describe_default(spec))
    doc = cell(spec.doc)
    if spec.aliases:
        doc += f"; also {', '.join(map(code, spec.aliases))}"
    return code(spec.name), value, default, doc


def section(connector: ConnectorSpec) -> list[str]:
    doc = connector.doc[0].upper() + connector.doc[1:]
    can = ", ".join(role.value for role in connector.roles)
    holds = f"; as a sink it takes {', '.join(connector.holds)} rows" if "sink" in can else ""
    begins = " or ".join(f"`{one}`" for one in connector.passes)
    passes = f" What begins with {begins} is passed on." if connector.passes else ""
    parts = [
        f"### {connector.name}",
        f"{doc}. Can be: {can}{holds}.{passes}",
    ]
    if connector.options:
        parts.append(table(OPTION_HEAD, map(described, connector.options)))
    return [*parts, *metadata(connector)]


def metadata(connector: ConnectorSpec) -> list[str]:
    """What a column may be METADATA FROM."""
    if not connector.metadata:
        return []
    rows = [
        (code(f"'{key}'"), " or ".join(map(str, types)).replace("<", "&lt;"))
        for key, types in connector.metadata.items()
    ]
    return ["Columns may be `METADATA FROM`:", table(("key", "type"), rows)]


def page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def code(text: str) -> str:
    """Text as it is typed; in a table even code must not hold a bar."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text.replace('|', BAR)}{fence}" if text else ""


BAR = "\\|"


def cell(text: str) -> str:
    """Text for a Markdown table: a bar would end the cell, an angle bracket would start HTML."""
    return text.replace("\\", "\\\\").replace("|", BAR).replace("<", "&lt;").replace("\n", "<br>")


def commands() -> str:
    """What `--help` says, as wide as a page."""
    told = click.Context(root, info_name="tidegate", terminal_width=100, max_content_width=100)
    sections = [
        part for path, one in walk(root, told) for part in (f"## {path}", f"```text\n{one}\n```")
    ]
    return page(
        "# Commands",
        "What `tidegate COMMAND --help` says. Results go to stdout, everything else to stderr. Exit codes: 0 done, "
        "1 failed, 2 usage or configuration, 3 SQL, 4 a source or sink, 5 scenarios that differ, 130 interrupted.",
        *sections,
    )


def walk(command: click.Command, told: click.Context) -> Iterator[tuple[str, str]]:
    """Commands that do something, with their help."""
    if not isinstance(command, click.Group):
        yield told.command_path, command.get_help(told)
        return
    for name in command.list_commands(told):
        inner = command.get_command(told, name)
        assert inner is not None
        yield from walk(inner, click.Context(inner, info_name=name, parent=told))


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "errors.md": errors,
    "functions.md": functions,
    "options.md": options,
}


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(DOCS.parent))  # for a script, only its own folder is there
    from tools.timelines import timelines

    check = arguments == ["--check"]
    stale = []
    head = "<!-- Generated by `make docs`; edit the code instead. -->\n\n"
    made = {name: head + page() for name, page in PAGES.items()}
    made |= {f"images/{name}": drawn for name, drawn in timelines().items()}
    for name, text in made.items():
        path = DOCS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(f"docs/{name}")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
