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
from tidegate.model.options import (
    CONNECTORS,
    OPTIONS,
    SPARK_OPTIONS,
    BadValue,
    OptionSpec,
    OptionValue,
    Scope,
)
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
    _override(document, environment)
    reader = _Reader(str(chosen))
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
        text = path.read_text(encoding="utf-8")
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


def _override(document: dict[str, object], environment: Mapping[str, str]) -> None:
    """`TIDEGATE__TRANSFORMS__VWAP__MAX_GROUPS=5` sets `transforms.vwap.max_groups`."""
    for name in sorted(environment):
        if not name.startswith(_PREFIX):
            continue
        *sections, key = name.removeprefix(_PREFIX).lower().split("__")
        table = document
        for section in sections:
            inner = table.setdefault(section, {})
            if not isinstance(inner, dict):
                break
            table = inner
        table[key] = environment[name]


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

    def __init__(self, file: str) -> None:
        self.file = file
        self.errors: list[TidegateError] = []

    def refuse_unknown(self, document: Mapping[str, object]) -> None:
        for section in document:
            if section not in _SECTIONS:
                self._refuse_key(section, _SECTIONS)

    def _refuse_key(self, path: str, known: Iterable[str]) -> None:
        hint = errors.nearest(path.rsplit(".", 1)[-1], known)
        self.errors.append(errors.unknown_config_key(path=f"{self.file}: {path}", hint=hint))

    def table(self, path: str, value: object) -> Mapping[str, object]:
        if isinstance(value, dict):
            return value
        self.errors.append(
            errors.bad_option_value(
                name=path, value=repr(value), problem=f"expected a table: [{path}]"
            )
        )
        return {}

    def options(
        self, path: str, value: object, specs: Mapping[str, OptionSpec]
    ) -> dict[str, OptionValue]:
        read: dict[str, OptionValue] = {}
        for key, given in _flat(self.table(path, value)):
            name = key.removeprefix("side_output.")
            spec = specs.get(name)
            if spec is None:
                self._refuse_key(f"{path}.{key}", specs)
                continue
            try:
                read[name] = spec.read(_scalar(given))
            except BadValue as problem:
                self.errors.append(
                    errors.bad_option_value(
                        name=f"{path}.{key}", value=repr(given), problem=problem
                    )
                )
        return read

    def transforms(self, value: object) -> dict[str, dict[str, OptionValue]]:
        table = self.table("transforms", value)
        return {
            name: self.options(f"transforms.{name}", given, OPTIONS)
            for name, given in table.items()
        }

    def sinks(self, value: object) -> frozenset[str]:
        """Sinks that side outputs can name; each needs a connector that can write."""
        table = self.table("sinks", value)
        for name, given in table.items():
            self._sink(f"sinks.{name}", self.table(f"sinks.{name}", given))
        return frozenset(table)

    def _sink(self, path: str, table: Mapping[str, object]) -> None:
        name = str(table.get("connector", ""))
        connector = CONNECTORS.get(name)
        if connector is None or Scope.SINK not in connector.roles:
            able = ", ".join(spec.name for spec in CONNECTORS.values() if Scope.SINK in spec.roles)
            self.errors.append(
                errors.bad_option_value(
                    name=f"{path}.connector", value=repr(name), problem=f"expected one of {able}"
                )
            )
            return
        specs = {spec.name: spec for spec in connector.options}
        passed = {
            key: value
            for key, value in _flat(table)
            if connector.passes and key.startswith(connector.passes)
        }
        own = {
            key: value for key, value in _flat(table) if key != "connector" and key not in passed
        }
        self.options(path, own, specs)
        for spec in connector.options:
            if spec.required and spec.name not in own:
                self.errors.append(
                    errors.missing_option(connector=connector.name, option=f"{path}.{spec.name}")
                )


def _scalar(value: object) -> OptionValue:
    if isinstance(value, (str, int, float, bool)):
        return value
    raise BadValue("expected a string, a number, true or false")
