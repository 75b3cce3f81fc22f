"""`tidegate.toml`: settings of a project, read once and checked as a whole.

In: a file, and environment variables named `TIDEGATE__SECTION__KEY`. Out: `Settings` for the planner. Every key and
value is checked against the same table of options that WITH and SET use; all that is wrong is reported at once, with
the path of each key.
"""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidegate import errors
from tidegate.errors import TidegateError
from tidegate.model.connectors import CONNECTORS, find_connector
from tidegate.model.options import (
    OPTIONS,
    SPARK_OPTIONS,
    BadValue,
    OptionSpec,
    OptionValue,
    Scope,
)
from tidegate.plan.catalog import SinkDef
from tidegate.plan.settings import Settings

DEFAULT_FILE = "tidegate.toml"
_PREFIX = "TIDEGATE__"
_SECTIONS = ("defaults", "transforms", "sinks", "spark")


@dataclass(slots=True)
class Loaded:
    """What was read, and everything that was wrong with it."""

    settings: Settings
    errors: list[TidegateError] = field(default_factory=list)


def load(path: Path | None, environment: Mapping[str, str] | None = None) -> Loaded:
    """Settings from the file (by default `tidegate.toml` here, if it exists) and the environment."""
    environment = os.environ if environment is None else environment
    chosen = path or Path(DEFAULT_FILE)
    try:
        document = _read(chosen) if path is not None or chosen.exists() else {}
    except TidegateError as refusal:
        return Loaded(Settings(), [refusal])
    variables = _override(document, environment)
    return checked(document, file=str(chosen), variables=variables)


def checked(
    document: Mapping[str, object], *, file: str, variables: Mapping[str, str] | None = None
) -> Loaded:
    """Settings from a document that has been read. In messages `file` names it, and `variables` what they set."""
    reader = _Reader(file, variables or {})
    settings = Settings(
        defaults=reader.options("defaults", document.get("defaults", {}), OPTIONS),
        transforms=reader.transforms(document.get("transforms", {})),
        sinks=reader.sinks(document.get("sinks", {})),
        spark=reader.options("spark", document.get("spark", {}), SPARK_OPTIONS),
    )
    reader.refuse_unknown(document)
    return Loaded(settings, reader.errors)


def _read(path: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        reason = (
            problem.strerror
            if isinstance(problem, OSError) and problem.strerror
            else "it is not UTF-8"
        )
        raise errors.unreadable_file(path=path, problem=reason) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise errors.bad_config_file(path=path, problem=problem) from None
    except RecursionError:
        raise errors.bad_config_file(path=path, problem="it is nested too deep") from None


def _override(document: dict[str, object], environment: Mapping[str, str]) -> dict[str, str]:
    """`TIDEGATE__TRANSFORMS__VWAP__MAX_GROUPS=5` sets `transforms.vwap.max_groups`. Returns path → variable."""
    variables: dict[str, str] = {}
    for variable in sorted(name for name in environment if name.startswith(_PREFIX)):
        path: list[str] = []
        table: object = document
        *sections, last = variable.removeprefix(_PREFIX).split("__")
        for section in sections:
            if not isinstance(table, dict):
                break
            path.append(_spelled(section, table))
            table = table.setdefault(path[-1], {})
        if isinstance(table, dict):  # else the section itself is refused
            path.append(_spelled(last, table))
            table[path[-1]] = environment[variable]
            variables[".".join(path)] = variable
    return variables


def _spelled(name: str, table: Mapping[str, object]) -> str:
    """The name as the file spells it: variables are in capitals, whatever they stand for."""
    lowered = name.lower()
    return next((key for key in table if key.lower() == lowered), lowered)


def _flat(table: Mapping[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    """`late = {sink = "x"}` is `late.sink = "x"`."""
    for key, value in table.items():
        name = f"{path}{key}"
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


class _Reader:
    """Checks one section after the other, and remembers what was wrong."""

    def __init__(self, file: str, variables: Mapping[str, str]) -> None:
        self.file = file
        self.variables = variables
        self.errors: list[TidegateError] = []

    def refuse_unknown(self, document: Mapping[str, object]) -> None:
        for section in document:
            if section not in _SECTIONS:
                self._refuse_key(section, section, _SECTIONS)

    def _refuse_key(self, path: str, name: str, known: Iterable[str]) -> None:
        hint = errors.nearest(name, known)
        self.errors.append(errors.unknown_config_key(path=self._place(path), hint=hint))

    def _refuse_value(self, path: str, value: object, problem: object) -> None:
        self.errors.append(
            errors.bad_option_value(name=self._place(path), value=repr(value), problem=problem)
        )

    def _place(self, path: str) -> str:
        """Where the setting was made: a variable, or a key of the file."""
        return self.variables.get(path, f"{self.file}: {path}")

    def table(self, path: str, value: object) -> Mapping[str, object]:
        if isinstance(value, dict):
            return value
        self._refuse_value(path, value, f"expected a table: [{path}]")
        return {}

    def options(
        self, path: str, value: object, specs: Mapping[str, OptionSpec]
    ) -> dict[str, OptionValue]:
        read: dict[str, OptionValue] = {}
        for key, given in _flat(self.table(path, value)):
            name = key.removeprefix("side_output.")
            spec = specs.get(name)
            if spec is None:
                self._refuse_key(f"{path}.{key}", name, specs)
                continue
            try:
                read[name] = spec.read(_scalar(given))
            except BadValue as problem:
                self._refuse_value(f"{path}.{key}", given, problem)
        return read

    def transforms(self, value: object) -> dict[str, dict[str, OptionValue]]:
        """By lower-case name, as SQL does not tell them apart."""
        read: dict[str, dict[str, OptionValue]] = {}
        for name, given in self.table("transforms", value).items():
            options = self.options(f"transforms.{name}", given, OPTIONS)
            read.setdefault(name.lower(), {}).update(options)
        return read

    def sinks(self, value: object) -> dict[str, SinkDef]:
        """Sinks that side outputs can name; each needs a connector that can write."""
        read: dict[str, SinkDef] = {}
        for name, given in self.table("sinks", value).items():
            if isinstance(given, dict):
                found = self._sink(name, given)
                if found is not None:
                    read[name.lower()] = found
            else:
                self.table(f"sinks.{name}", given)
        return read

    def _sink(self, sink: str, table: Mapping[str, object]) -> SinkDef | None:
        path = f"sinks.{sink}"
        name = str(table.get("connector", ""))
        connector = find_connector(name)
        if connector is None or Scope.SINK not in connector.roles:
            able = ", ".join(spec.name for spec in CONNECTORS.values() if Scope.SINK in spec.roles)
            self._refuse_value(f"{path}.connector", name, f"expected one of {able}")
            return None
        specs = {name: spec for spec in connector.options for name in (spec.name, *spec.aliases)}
        passed = {
            key: value
            for key, value in _flat(table)
            if connector.option(key) is None and connector.passes_on(key)
        }
        own = {
            key: value for key, value in _flat(table) if key != "connector" and key not in passed
        }
        options = self.options(path, own, specs)
        for spec in connector.options:
            if spec.required and spec.name not in options:
                self.errors.append(
                    errors.missing_option(name=connector.name, option=f"{path}.{spec.name}")
                )
        kept = {key: value for key, value in passed.items() if isinstance(value, OptionValue)}
        return SinkDef(name=sink, stream=None, connector=name, options={**options, **kept})


def _scalar(value: object) -> OptionValue:
    if isinstance(value, (str, int, float, bool)):
        return value
    raise BadValue("expected a string, a number, true or false")
