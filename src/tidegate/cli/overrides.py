"""`-D key=value`: settings for one run. They beat the file and WITH, as SET does; a path goes into its section.

`-D watermark_lag=5s` is what SET would say, `-D transforms.vwap.max_groups=1000` what the file would.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from tidegate import config, errors
from tidegate.cli.scripts import ConfigProblems
from tidegate.model.options import OPTIONS, BadValue
from tidegate.plan.settings import Settings

_SECTIONS = ("defaults", "transforms", "sinks", "spark")

define_option = click.option(
    "-D",
    "defined",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting for this run: an option, as SET, or a path of tidegate.toml.",
)


@dataclass(slots=True)
class Defined:
    """Options for the session, and paths as the variables that stand for them."""

    session: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """`key=value`, several times."""
    split = [text.partition("=") for text in given]
    for (key, equals, _), text in zip(split, given, strict=True):
        if not key.strip() or not equals:
            raise click.UsageError(f"{option} {text}: write it as key=value")
    return {key.strip(): value.strip() for key, _, value in split}


def settings_with(file: Path | None, defined: Iterable[str]) -> Settings:
    """The project's settings with what was defined on the command line."""
    told = _split(pairs(defined, "-D"))
    loaded = config.load(file, {**os.environ, **told.variables})
    if loaded.errors:
        raise ConfigProblems(loaded.errors)
    settings = loaded.settings
    for name, value in told.session.items():
        settings = settings.with_session(name, _read(name, value))
    return settings


def _split(given: Mapping[str, str]) -> Defined:
    told = Defined()
    for key, value in given.items():
        section, dot, _ = key.partition(".")
        if dot and section in _SECTIONS:
            told.variables["TIDEGATE__" + key.replace(".", "__").upper()] = value
        else:
            told.session[key.lower()] = value
    return told


def _read(name: str, value: str) -> str | int | float | bool:
    spec = OPTIONS.get(name)
    if spec is None:
        raise errors.unknown_option(where="-D", name=name, hint=errors.nearest(name, OPTIONS))
    try:
        return spec.read(value)
    except BadValue as problem:
        raise errors.bad_option_value(
            name=f"-D {name}", value=repr(value), problem=problem
        ) from None
