"""Every connector that SQL can name: what it can be, and its own options, in the terms of `model/options.py`.

Decided here: what a definition may say is known without loading what carries it out, so that `tidegate check` needs no
library of a connector. Those of other packages are found by the entry points of the group `tidegate.connectors`, and
loaded when a definition names them: the object has a `spec`, which stands here, and openers, which are the business of
`connectors/registry.py`. A name that is built in cannot be taken over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from tidegate import errors
from tidegate.model.options import OptionSpec, OptionValue, Scope
from tidegate.model.types import DataType, Map, Scalar

ENTRY_POINTS = "tidegate.connectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorSpec:
    """What a connector can be, and its own options.

    `holds` are the stream kinds that its sink can take; options that begin with one of `passes` go to its library.
    `metadata` is what a column may be `METADATA FROM`, with the types it can have. `partitioned`: rows say by which
    partition they came (`$partition`), and each of them holds the watermark back.
    """

    name: str
    doc: str
    roles: tuple[Scope, ...]
    holds: tuple[str, ...] = ("append",)
    options: tuple[OptionSpec, ...] = ()
    passes: tuple[str, ...] = ()
    metadata: Mapping[str, tuple[DataType, ...]] = field(default_factory=dict)
    partitioned: bool = False

    def option(self, name: str) -> OptionSpec | None:
        """The option of that name, or that others call so."""
        return next(
            (spec for spec in self.options if name == spec.name or name in spec.aliases), None
        )

    def passes_on(self, name: str) -> bool:
        """Whether the option is handed to the connector's own library as it is."""
        return bool(self.passes) and name.startswith(self.passes)


def _own(
    name: str,
    kind: str,
    doc: str,
    default: OptionValue | None = None,
    *,
    choices: tuple[str, ...] = (),
    required: bool = False,
    aliases: tuple[str, ...] = (),
    of: Scope | None = None,
) -> OptionSpec:
    return OptionSpec(
        name=name,
        kind=kind,
        doc=doc,
        default=default,
        choices=choices,
        required=required,
        aliases=aliases,
        scopes=frozenset() if of is None else frozenset({of}),
    )


_ALL_KINDS = ("append", "upsert", "changelog")
_SOURCE_AND_SINK = (Scope.SOURCE, Scope.SINK)
_LINES = (
    _own(
        "format",
        "choice",
        "what a line is: JSON, or the text of one column",
        "json",
        choices=("json", "raw"),
        of=Scope.SOURCE,
    ),
    _own(
        "spool",
        "text",
        "the directory where lines are kept until their epoch is real; .tidegate/<source> if not given",
        of=Scope.SOURCE,
    ),
)

_KAFKA = ConnectorSpec(
    name="kafka",
    doc="an Apache Kafka topic",
    roles=_SOURCE_AND_SINK,
    holds=_ALL_KINDS,
    partitioned=True,
    passes=("properties.", "kafka."),
    metadata={
        "topic": (Scalar.VARCHAR,),
        "partition": (Scalar.INTEGER, Scalar.BIGINT),
        "offset": (Scalar.BIGINT,),
        "timestamp": (Scalar.TIMESTAMP,),
        "timestamp-type": (Scalar.VARCHAR,),
        "key": (Scalar.VARCHAR, Scalar.BINARY),
        "headers": (Map(Scalar.VARCHAR, Scalar.BINARY), Map(Scalar.VARCHAR, Scalar.VARCHAR)),
    },
    options=(
        _own("topic", "text", "the topic", required=True, aliases=("subscribe",)),
        _own(
            "bootstrap.servers",
            "text",
            "brokers to start from, comma-separated",
            "localhost:9092",
            aliases=("properties.bootstrap.servers", "kafka.bootstrap.servers"),
        ),
        _own(
            "group.id",
            "text",
            "the name by which brokers know the reader; where it stands is in the checkpoint",
            aliases=("properties.group.id", "kafka.group.id"),
            of=Scope.SOURCE,
        ),
        _own(
            "scan.startup.mode",
            "choice",
            "where a run without a checkpoint starts",
            "earliest-offset",
            choices=("earliest-offset", "latest-offset", "timestamp", "specific-offsets"),
            of=Scope.SOURCE,
        ),
        _own(
            "scan.startup.timestamp-millis",
            "count",
            "for timestamp: records of that time or later",
            aliases=("startingTimestamp",),
            of=Scope.SOURCE,
        ),
        _own(
            "scan.startup.specific-offsets",
            "text",
            "for specific-offsets: `partition:0,offset:42;partition:1,offset:300`",
            of=Scope.SOURCE,
        ),
        _own(
            "startingOffsets",
            "text",
            'the same in Spark\'s words: earliest, latest, or `{"trades": {"0": 42, "1": -2}}`',
            of=Scope.SOURCE,
        ),
        _own(
            "scan.bounded.mode",
            "choice",
            "whether reading ends with what is there at the start",
            "unbounded",
            choices=("unbounded", "latest-offset"),
            of=Scope.SOURCE,
        ),
        _own(
            "scan.topic-partition-discovery.interval",
            "duration",
            "how often partitions that were added are looked for",
            "30s",
            of=Scope.SOURCE,
        ),
        _own(
            "format",
            "choice",
            "how values are written",
            "json",
            choices=("json", "csv", "raw"),
            aliases=("value.format",),
        ),
        _own(
            "delimiter",
            "text",
            "what separates the fields of csv",
            ",",
            aliases=("csv.field-delimiter",),
        ),
        _own(
            "key.fields",
            "text",
            "columns that make the key of a record, comma-separated; upsert rows need them",
            aliases=("key",),
            of=Scope.SINK,
        ),
        _own(
            "key.format",
            "choice",
            "how keys are written; raw is the text of one column",
            "json",
            choices=("json", "raw"),
            of=Scope.SINK,
        ),
        _own(
            "sink.delivery-guarantee",
            "choice",
            "exactly-once writes transactions, if the run has a checkpoint",
            "exactly-once",
            choices=("exactly-once", "at-least-once"),
            of=Scope.SINK,
        ),
        _own(
            "sink.transactional-id-prefix",
            "text",
            "what transactions of the sink are called; needed where brokers restrict it",
            "tidegate",
            of=Scope.SINK,
        ),
        _own(
            "connection.timeout",
            "duration",
            "how long brokers may stay away before a run gives up",
            "60s",
        ),
    ),
)

CONNECTORS: Mapping[str, ConnectorSpec] = {
    spec.name: spec
    for spec in (
        ConnectorSpec(
            name="memory",
            doc="rows that are inserted by hand; the default",
            roles=(Scope.SOURCE, Scope.TABLE, Scope.SINK),
            holds=_ALL_KINDS,
        ),
        ConnectorSpec(
            name="file",
            doc="a file, or a directory that is being filled",
            roles=(Scope.SOURCE, Scope.TABLE, Scope.SINK),
            options=(
                _own("path", "text", "file, glob, directory or URL", required=True),
                _own(
                    "format",
                    "choice",
                    "how records are written; by the file's name if not given, sinks write parquet",
                    choices=("json", "csv", "parquet"),
                ),
                _own("header", "flag", "whether csv begins with column names", default=True),
                _own("delimiter", "text", "what separates the fields of csv", ","),
                _own(
                    "bounded", "flag", "whether reading ends; only a directory goes on if not given"
                ),
                _own(
                    "settle",
                    "duration",
                    "how long after its last change a file counts as complete",
                    "10s",
                ),
                _own(
                    "on_bad_file",
                    "choice",
                    "what happens when a whole file cannot be read",
                    "fail",
                    choices=("fail", "skip"),
                ),
            ),
        ),
        _KAFKA,
        ConnectorSpec(
            name="generator",
            doc="made-up rows at a steady rate",
            roles=(Scope.SOURCE,),
            options=(
                _own("rate", "rate", "rows per second", "1000/s"),
                _own("rows", "count", "stop after so many"),
                _own("seed", "count", "the same seed makes the same rows"),
                _own("disorder", "duration", "how far rows are out of order", "0s"),
                _own("start", "text", "event time of the first row; the clock, or 2026 with rows"),
                _own("keys", "count", "how many values a VARCHAR column has", 26),
                _own("late_every", "count", "one row in so many is late"),
                _own("late_by", "duration", "how far beyond disorder late rows are", "1m"),
            ),
        ),
        ConnectorSpec(name="console", doc="the terminal", roles=(Scope.SINK,), holds=_ALL_KINDS),
        ConnectorSpec(
            name="callback", doc="a Python function", roles=(Scope.SINK,), holds=_ALL_KINDS
        ),
        ConnectorSpec(
            name="socket",
            doc="lines from a TCP server",
            roles=(Scope.SOURCE,),
            options=(
                _own("hostname", "text", "the server", required=True),
                _own("port", "count", "its port", required=True),
                *_LINES,
                _own(
                    "connection.timeout",
                    "duration",
                    "how long the server may stay away before a run gives up",
                    "60s",
                ),
            ),
        ),
        ConnectorSpec(
            name="http",
            doc="JSON lines POSTed to us, or POSTed by us",
            roles=_SOURCE_AND_SINK,
            holds=_ALL_KINDS,
            passes=("header.",),
            options=(
                _own("url", "text", "where to listen or to post", required=True),
                *_LINES,
                _own(
                    "max_waiting",
                    "bytes",
                    "how much may wait before requests are turned away with 429",
                    "256MB",
                    of=Scope.SOURCE,
                ),
                _own(
                    "connection.timeout",
                    "duration",
                    "how long a server may refuse before a run gives up",
                    "60s",
                    of=Scope.SINK,
                ),
            ),
        ),
        ConnectorSpec(
            name="postgres",
            doc="a PostgreSQL table",
            roles=(Scope.TABLE, Scope.SINK),
            holds=_ALL_KINDS,
            options=(
                _own("url", "text", "`postgresql://user@host:port/database`", required=True),
                _own("table", "text", "the table, or schema.table", required=True),
                _own(
                    "key.fields",
                    "text",
                    "columns by which rows replace each other, comma-separated; the table's primary key if not given",
                    aliases=("key",),
                    of=Scope.SINK,
                ),
                _own(
                    "connection.timeout",
                    "duration",
                    "how long the database may stay away before a run gives up",
                    "60s",
                ),
            ),
        ),
    )
}


class _Known:
    """Those of other packages, once they were asked for."""

    loaded: dict[str, ConnectorSpec] = {}  # noqa: RUF012  # one per process


def find_connector(name: str) -> ConnectorSpec | None:
    """The connector that a definition names; None if there is none."""
    if name in CONNECTORS:
        return CONNECTORS[name]
    if name not in _Known.loaded:
        for point in entry_points(group=ENTRY_POINTS, name=name):
            _Known.loaded[name] = _spec(point)
    return _Known.loaded.get(name)


def _spec(point: EntryPoint) -> ConnectorSpec:
    try:
        spec = getattr(point.load(), "spec", None)
    except Exception as problem:
        raise errors.unloadable_connector(
            name=point.name, where=point.value, problem=f"{type(problem).__name__}: {problem}"
        ) from problem
    if not isinstance(spec, ConnectorSpec) or spec.name != point.name:
        missing = f"it has no spec of the name {point.name}"
        raise errors.unloadable_connector(name=point.name, where=point.value, problem=missing)
    return spec


def known_connectors() -> list[str]:
    """Names, of other packages' connectors, too; nothing is loaded."""
    others = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return [*CONNECTORS, *sorted(others - CONNECTORS.keys())]
