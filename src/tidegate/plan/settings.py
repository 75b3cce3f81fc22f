"""Option values in force: where each may come from, and which one wins.

Decided here, for a stream: SET beats WITH, WITH beats `[transforms.<stream>]`, that beats what its source declares,
and `[defaults]` come last. Values are in normal form (durations in µs) from here on.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidegate import errors
from tidegate.model.connectors import (
    CONNECTORS,
    ConnectorSpec,
    find_connector,
    known_connectors,
)
from tidegate.model.options import (
    OPTIONS,
    BadValue,
    OptionSpec,
    OptionValue,
    Scope,
)
from tidegate.model.user_aggregates import UserAggregate
from tidegate.plan.aggregates import UserAggregates
from tidegate.plan.catalog import SinkDef
from tidegate.sql.source import SourceText
from tidegate.sql.statements import Option

Values = Mapping[str, OptionValue]
_SIDE_PREFIX = "side_output."


@dataclass(frozen=True, slots=True)
class Settings:
    """What `tidegate.toml` and SET say. `transforms` and `sinks`, those that the file defines, go by lower-case name.

    `aggregates` are those in Python that queries may call, by lower-case name (`user_aggregates.py`).
    """

    defaults: Values = field(default_factory=dict)
    transforms: Mapping[str, Values] = field(default_factory=dict)
    sinks: Mapping[str, SinkDef] = field(default_factory=dict)
    session: Values = field(default_factory=dict)
    spark: Values = field(default_factory=dict)
    aggregates: UserAggregates = field(default_factory=dict)

    def with_session(self, name: str, value: OptionValue) -> "Settings":
        return replace(self, session={**self.session, name: value})

    def with_aggregate(self, aggregate: UserAggregate) -> "Settings":
        """Those of packages stay where they are, and are loaded when a query asks."""
        known: MutableMapping[str, UserAggregate] = {aggregate.name: aggregate}
        others: Any = self.aggregates
        return replace(self, aggregates=ChainMap(known, others))

    def of_query(self, name: str, own: Values) -> Values:
        """What is set for this query alone; `own` is its WITH."""
        return {**self.transforms.get(name.lower(), {}), **own, **self.session}

    def in_force(self, own: Values, sources: Iterable[Values]) -> dict[str, OptionValue]:
        """All that counts for a query with its own options, over sources with theirs."""
        merged = dict(self.defaults)
        for given in (*sources, own):
            merged.update(given)
        return merged


def read_option(
    option: Option, *, scope: Scope, source: SourceText, connector: ConnectorSpec | None = None
) -> tuple[str, OptionValue]:
    """Name and normal value of one option, refused at its place in the text."""
    at = source.location(option.key.span)
    name = option.key.text.removeprefix(_SIDE_PREFIX)
    spec = connector.option(name) if connector else None
    if spec is None and connector and connector.passes_on(name):
        return name, option.value
    spec = spec or OPTIONS.get(name.lower())
    if spec is None:
        known = [*OPTIONS, *((own.name for own in connector.options) if connector else ())]
        where = (
            f"connector {connector.name}"
            if connector and scope is not Scope.STREAM
            else f"a {scope}"
        )
        owners = [other.name for other in CONNECTORS.values() if other.option(name)]
        if connector and connector.name == "memory" and owners:
            hint = f"name the connector: connector = '{owners[0]}'"
            raise errors.unknown_option(at, where=where, name=option.key.text, hint=hint)
        if connector:
            known.append("connector")
        raise errors.unknown_option(
            at, where=where, name=option.key.text, hint=errors.nearest(name, known)
        )
    _refuse_scope(spec, scope, at)
    try:
        return spec.name, spec.read(option.value)
    except BadValue as problem:
        place = source.location(option.span)
        hint = errors.nearest(str(option.value), spec.choices)
        raise errors.bad_option_value(
            place, name=spec.name, value=repr(option.value), problem=problem, hint=hint
        ) from None


def _refuse_scope(spec: OptionSpec, scope: Scope, at: errors.Location) -> None:
    if spec.scopes and scope not in spec.scopes:
        scopes = ", ".join(sorted(spec.scopes))
        raise errors.misplaced_option(at, name=spec.name, scope=scope, scopes=scopes)


def read_options(
    options: Iterable[Option],
    *,
    scope: Scope,
    source: SourceText,
    connector: ConnectorSpec | None = None,
) -> dict[str, OptionValue]:
    return dict(
        read_option(option, scope=scope, source=source, connector=connector) for option in options
    )


def read_connector(
    options: Iterable[Option], *, scope: Scope, source: SourceText, place: errors.Location
) -> tuple[ConnectorSpec, dict[str, OptionValue]]:
    """The connector that `connector = '…'` names (memory if none), and all other options."""
    given = list(options)
    named = next((option for option in given if option.key.text.lower() == "connector"), None)
    connector = CONNECTORS["memory"] if named is None else _connector(named, scope, source)
    rest = [option for option in given if option is not named]
    values = read_options(rest, scope=scope, source=source, connector=connector)
    for spec in connector.options:
        if spec.required and spec.name not in values:
            raise errors.missing_option(
                place,
                name=connector.name,
                option=spec.name,
                hint=f"add '{spec.name}' = '…' to WITH: {spec.doc}",
            )
    return connector, values


_FOREIGN_CONNECTORS = {
    "filesystem": "file",
    "datagen": "generator",
    "rate": "generator",
    "print": "console",
    "upsert-kafka": "kafka",
    "jdbc": "postgres",
}
"""What others call ours."""


def _connector(option: Option, scope: Scope, source: SourceText) -> ConnectorSpec:
    at = source.location(option.span)
    try:
        connector = find_connector(str(option.value).lower())
    except errors.TidegateError as refused:
        raise refused.located(at) from None
    if connector is None:
        known = known_connectors()
        foreign = _FOREIGN_CONNECTORS.get(str(option.value).lower())
        hint = (
            f"did you mean {foreign}?"
            if foreign
            else errors.nearest(
                str(option.value), known, otherwise=f"connectors are {', '.join(known)}"
            )
        )
        raise errors.unknown_connector(at, name=option.value, hint=hint)
    if scope not in connector.roles:
        able = ", ".join(spec.name for spec in CONNECTORS.values() if scope in spec.roles)
        raise errors.connector_cannot(
            at, name=connector.name, role=scope, able=f"these can: {able}"
        )
    return connector
