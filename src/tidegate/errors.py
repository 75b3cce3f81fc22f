"""The one tree of errors, and the catalogue of everything that Tidegate can refuse.

Decided here: each refusal is an `ErrorKind` with a stable code, a sentence and a hint, and calling the kind makes the
exception. No other module words an error, so that a message is reviewed, tested and documented in one place
(`docs/errors.md` is generated from `CATALOGUE`). Codes go by stage: 1 syntax, 2 names and types, 3 plans,
4 configuration, 5 state, 6 sources and sinks, 7 running. A code is never reused for something else.

Errors are plain data (they survive pickling between processes): `code`, `sqlstate`, `message`, `hint`, `location`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice


@dataclass(frozen=True, slots=True)
class Location:
    """Where in which text; self-contained, so that an error can be shown without the text at hand."""

    file: str
    line: int
    column: int
    line_text: str
    width: int = 1


class TidegateError(Exception):
    """Whatever Tidegate refuses. Catch this one, or a stage's subclass."""

    exit_code = 1

    def __init__(
        self, kind: "ErrorKind", message: str, *, hint: str = "", location: Location | None = None
    ) -> None:
        super().__init__(kind, message, hint, location)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.location = location

    @property
    def code(self) -> str:
        return self.kind.code

    @property
    def sqlstate(self) -> str:
        return self.kind.sqlstate

    @property
    def line(self) -> int | None:
        return self.location.line if self.location else None

    @property
    def column(self) -> int | None:
        return self.location.column if self.location else None

    def located(self, location: Location | None) -> "TidegateError":
        """The same error with a place, unless it already has a closer one."""
        if self.location is not None or location is None:
            return self
        return type(self)(self.kind, self.message, hint=self.hint, location=location)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.kind.code, self.message, self.hint, self.location)

    def __str__(self) -> str:
        at = (
            f" ({self.location.file}:{self.location.line}:{self.location.column})"
            if self.location
            else ""
        )
        hint = f"\nhint: {self.hint}" if self.hint else ""
        return f"{self.code}: {self.message}{at}{hint}"


class SqlError(TidegateError):
    """Something about the text of a query."""

    exit_code = 3


class SyntaxRefused(SqlError):
    """The text is no Tidegate SQL."""


class BindRefused(SqlError):
    """A name, a type or an argument does not fit."""


class PlanRefused(SqlError):
    """Every part is sound, but the query as a whole has no meaning, or none yet."""


class ConfigRefused(TidegateError):
    """A setting, an option or a command line."""

    exit_code = 2


class StateRefused(TidegateError):
    """What a checkpoint holds cannot be trusted, or belongs to something else."""


class EdgeRefused(TidegateError):
    """A source or a sink cannot be reached, read or written."""

    exit_code = 4


class RunRefused(TidegateError):
    """A running query is asked for something that it cannot do."""


def told(*, code: str, message: str, hint: str) -> TidegateError:
    """An error that another process has put into words."""
    kind = CATALOGUE[code]
    return kind.error(kind, message, hint=hint)


def _restore(
    error: type[TidegateError], code: str, message: str, hint: str, location: Location | None
) -> TidegateError:
    return error(CATALOGUE[code], message, hint=hint, location=location)


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One entry of the catalogue. Calling it makes the exception: the facts fill the sentence and the hint."""

    code: str
    error: type[TidegateError]
    sqlstate: str
    sentence: str
    hint: str = ""

    def __call__(
        self, location: Location | None = None, *, hint: str = "", **facts: object
    ) -> TidegateError:
        message = self.sentence.format(**facts)
        return self.error(self, message, hint=hint or self.hint.format(**facts), location=location)


# Comparing a name takes microseconds per candidate and letter; nobody means one of ten thousand names.
_LONGEST_NAME = 100
_MOST_CANDIDATES = 1_000


def nearest(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """A hint that suggests the known name that looks most like `name`."""
    if len(name) > _LONGEST_NAME:
        return otherwise
    by_lower = {candidate.lower(): candidate for candidate in islice(known, _MOST_CANDIDATES)}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f"did you mean {by_lower[found[0]]}?" if found else otherwise


CATALOGUE: dict[str, ErrorKind] = {}


def _kind(
    code: str, error: type[TidegateError], sqlstate: str, sentence: str, *, hint: str = ""
) -> ErrorKind:
    assert code not in CATALOGUE, code
    CATALOGUE[code] = ErrorKind(code, error, sqlstate, sentence, hint)
    return CATALOGUE[code]


def _syntax(number: int, sentence: str, *, hint: str = "") -> ErrorKind:
    return _kind(f"TG-1{number:03}", SyntaxRefused, "42601", sentence, hint=hint)


def _bind(number: int, sqlstate: str, sentence: str, *, hint: str = "") -> ErrorKind:
    return _kind(f"TG-2{number:03}", BindRefused, sqlstate, sentence, hint=hint)


def _plan(number: int, sentence: str, *, sqlstate: str = "42P20", hint: str = "") -> ErrorKind:
    return _kind(f"TG-3{number:03}", PlanRefused, sqlstate, sentence, hint=hint)


def _config(number: int, sentence: str, *, hint: str = "") -> ErrorKind:
    return _kind(f"TG-4{number:03}", ConfigRefused, "F0000", sentence, hint=hint)


def _state(number: int, sentence: str, *, hint: str = "") -> ErrorKind:
    return _kind(f"TG-5{number:03}", StateRefused, "58030", sentence, hint=hint)


def _edge(number: int, sentence: str, *, hint: str = "") -> ErrorKind:
    return _kind(f"TG-6{number:03}", EdgeRefused, "58030", sentence, hint=hint)


def _run(number: int, sentence: str, *, hint: str = "") -> ErrorKind:
    return _kind(f"TG-7{number:03}", RunRefused, "55000", sentence, hint=hint)


# TG-1nnn · syntax
unexpected_token = _syntax(1, "expected {expected}, got {got}")
unreadable_text = _syntax(2, "{problem}")
unknown_statement = _syntax(
    3,
    "{got} does not start a statement",
    hint="statements are CREATE SOURCE | TABLE | STREAM | SINK, INSERT, SELECT, DROP, SHOW, DESCRIBE, EXPLAIN, SET",
)
nested_too_deep = _syntax(
    4,
    "the text is nested more than {limit} levels deep",
    hint="split it with WITH, or simplify the expression",
)
query_syntax = _syntax(5, "{problem}")
misplaced_clause = _syntax(6, "{clause} cannot stand here", hint="{where}")
repeated_clause = _syntax(7, "{clause} is given twice", hint="keep one of them")
unknown_emit = _syntax(
    8,
    "unknown EMIT mode {got}",
    hint="EMIT takes ON WINDOW CLOSE, AFTER WATERMARK, ON UPDATE, EVERY <interval>, CHANGES or FINAL",
)
foreign_clause = _syntax(9, "{clause} is not part of Tidegate SQL", hint="{instead}")
bad_interval = _syntax(
    10,
    "{text} is not an interval{problem}",
    hint="write it as INTERVAL '5' SECOND, or INTERVAL '1 hour 30 minutes'",
)
unknown_unit = _syntax(11, "unknown time unit {unit}", hint="{known}")
bad_literal = _syntax(12, "{text} is not a valid {type} literal", hint="{form}")
text_too_long = _syntax(13, "the text is {size} characters long; the limit is {limit}")

# TG-2nnn · names and types
unknown_relation = _bind(1, "42P01", "there is no source, table or stream named {name}")
unknown_column = _bind(2, "42703", "there is no column named {name}")
ambiguous_column = _bind(
    3, "42702", "column {name} is ambiguous: it is in {inputs}", hint="write it as {example}"
)
unknown_function = _bind(4, "42883", "there is no function named {name}")
wrong_arity = _bind(5, "42883", "{function} takes {expected}, not {got}", hint="{form}")
wrong_argument_type = _bind(
    6, "42804", "{function} does not take {got}; it takes {expected}", hint="{cast}"
)
wrong_operand_types = _bind(7, "42883", "{left} {operator} {right} has no meaning", hint="{cast}")
not_boolean = _bind(8, "42804", "{clause} needs a condition (BOOLEAN), this is {got}")
no_common_type = _bind(
    9, "42804", "{what} must have one type; these are {types}", hint="convert them with CAST"
)
impossible_cast = _bind(10, "42846", "{source} cannot be converted to {target}")
unknown_type = _bind(11, "42704", "there is no type named {name}")
bad_type_parameters = _bind(12, "22023", "{type}: {problem}")
unknown_field = _bind(13, "42703", "{type} has no field named {name}")
not_comparable = _bind(14, "42883", "{use} needs values that can be compared, {type} cannot")
duplicate_name = _bind(15, "42701", "{what} {name} is defined twice")
name_in_use = _bind(
    16,
    "42P07",
    "there is already a {kind} named {name}",
    hint="use CREATE OR REPLACE, or DROP it first",
)
not_a_literal = _bind(17, "42P20", "{argument} of {function} must be {expected}", hint="{form}")
unsupported_expression = _bind(18, "0A000", "{what} is not supported", hint="{instead}")
reserved_name = _bind(19, "42939", "{name}: names that begin with $ belong to Tidegate")
bad_values = _bind(20, "42601", "{problem}")
wrong_kind_of_relation = _bind(21, "42809", "{name} is a {kind}; {statement} needs a {expected}")
interval_column = _bind(
    22,
    "42P16",
    "a column cannot have type INTERVAL",
    hint="turn it into a number: TIMESTAMPDIFF(SECOND, a, b)",
)
literal_out_of_range = _bind(23, "22003", "{text} does not fit into {type}")
columns_differ = _bind(24, "42601", "{what} have {left} and {right} columns")

# TG-3nnn · plans
aggregate_not_allowed = _plan(
    1, "an aggregate ({function}) cannot stand in {clause}", sqlstate="42803", hint="{instead}"
)
nested_aggregate = _plan(
    2,
    "{function} is an aggregate inside an aggregate",
    sqlstate="42803",
    hint="compute the inner one in a subquery",
)
not_grouped = _plan(
    3,
    "column {name} is neither grouped nor aggregated",
    sqlstate="42803",
    hint="add it to GROUP BY, or aggregate it, for example MAX({name})",
)
two_windows = _plan(
    4,
    "a query has one window; here are two windows: {first} and {second}",
    hint="put one of them into a subquery",
)
window_misplaced = _plan(
    5, "{function} is a window: it stands in GROUP BY by itself, not {place}", hint="{instead}"
)
length_not_positive = _plan(6, "{argument} of {window} must be positive, it is {value}")
length_negative = _plan(7, "{argument} of {window} must not be negative, it is {value}")
slide_too_large = _plan(8, "slide {slide} is larger than size {size}", hint="arguments are {order}")
step_not_divisor = _plan(
    9, "size {size} is not a multiple of step {step}", hint="arguments are {order}"
)
length_too_large = _plan(10, "{argument} of {window} is too large: the limit is {limit}")
calendar_length = _plan(
    11,
    "a length in units of the calendar ({unit}) is not fixed, and only TUMBLE, HOP and CUMULATE take one",
    sqlstate="0A000",
    hint="give a fixed length, such as INTERVAL '30' DAY",
)
emit_needs_window = _plan(
    12,
    "EMIT {mode} needs a window",
    hint="add a window to GROUP BY, for example TUMBLE({time}, INTERVAL '1' MINUTE), or use EMIT ON UPDATE",
)
emit_needs_watermark = _plan(
    13,
    "EMIT {mode} needs a watermark, and {source} has none",
    hint="declare it in CREATE SOURCE: WATERMARK FOR {time} AS {time} - INTERVAL '5' SECOND",
)
emit_not_for_window = _plan(14, "EMIT {mode} is not possible with {window}", hint="{instead}")
clause_needs_window = _plan(
    15,
    "{clause} needs a window",
    hint="add one to GROUP BY, for example TUMBLE(ts, INTERVAL '1' MINUTE)",
)
clause_needs_event_time = _plan(
    16,
    "{clause} needs event time, and this window runs in processing time",
    hint="drop the clause, or window over an event-time column",
)
sink_cannot_hold = _plan(
    17,
    "{connector} appends rows only, and {stream} is {kind} ({why})",
    hint="use EMIT ON WINDOW CLOSE, or a sink that can hold {kind} rows: {able}",
)
cascade_cannot_retract = _plan(
    18, "{stream} is {kind}, and {what} cannot take rows back", hint="{instead}"
)
join_not_supported = _plan(19, "{what} is not supported yet", sqlstate="0A000", hint="{instead}")
top_n_incomplete = _plan(
    20, "{clause} without {missing} has no meaning on a stream", hint="{instead}"
)
having_without_aggregate = _plan(
    21, "HAVING needs GROUP BY or an aggregate", sqlstate="42803", hint="use WHERE"
)
not_supported = _plan(22, "{what} is not supported yet", sqlstate="0A000", hint="{instead}")
time_argument = _plan(
    23,
    "the time argument of {window} must be a TIMESTAMP, {name} is {type}",
    sqlstate="42804",
    hint="{instead}",
)
no_stream = _plan(24, "a query needs FROM with a source or stream", hint="{instead}")
circular = _plan(25, "{name} would read itself: {path}")
frame = _plan(
    26,
    "this OVER frame is not supported: {problem}",
    sqlstate="42P20",
    hint="write OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW)",
)
over_mixed = _plan(
    27,
    "an OVER aggregate and {other} cannot stand in one query",
    hint="put one of them into a subquery",
)
argument_not_constant = _plan(28, "{argument} of {function} must be a constant {expected}")
watermark_target = _plan(
    30, "WATERMARK FOR {name}: {problem}", hint="write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
)
in_use = _plan(31, "{name} is still read by {readers}", sqlstate="2BP01", hint="drop them first")
condition_on_own_rows = _plan(
    32,
    "the {argument} condition of {window} must be a condition on the row (BOOLEAN), this is {got}",
    sqlstate="42804",
)
quota_not_for_window = _plan(
    33,
    "{option} cannot be kept by a {window} window: it holds rows, each of them for windows to come",
    sqlstate="0A000",
    hint="leave it out here, and set it for the streams that keep groups: in their WITH or [transforms.<stream>]",
)
unknown_time_zone = _plan(34, "there is no time zone {name}", sqlstate="22023")
calendar_length_refused = _plan(
    35, "{argument} of {window} cannot be {value}: {problem}", hint="{instead}"
)
no_interval = _plan(
    36,
    "no two rows meet: the right one would have to be at least {lower} and at most {upper} later than the left one",
    hint="look at the signs of the intervals, and at which of the two bounds comes first",
)

# TG-4nnn · configuration
unknown_option = _config(1, "{where} has no option {name}")
bad_option_value = _config(2, "{name} = {value}: {problem}")
unknown_connector = _config(3, "there is no connector {name}")
connector_cannot = _config(4, "connector {name} cannot be a {role}", hint="{able}")
missing_option = _config(5, "connector {name} needs the option {option}")
unreadable_file = _config(6, "{path} cannot be read: {problem}")
bad_config_file = _config(7, "{path} is not valid TOML: {problem}")
unknown_config_key = _config(8, "{path} is not a setting")
no_such_stream = _config(9, "{file} has no stream named {name}")
misplaced_option = _config(10, "{name} cannot be set for a {scope}", hint="set it for: {scopes}")

missing_library = _config(11, "{name} is not installed", hint="pip install 'tidegate[{extra}]'")
unknown_engine = _config(12, "there is no engine {name}")
unwritable_report = _config(
    13, "{path} cannot be written: {problem}", hint="name a file in a directory that exists"
)

bad_address = _config(
    301, "{text} is no address", hint="write PORT or HOST:PORT, such as 8080 or 0.0.0.0:8080"
)
option_of_other_engine = _config(
    14, "{name}: this is for the engine {engine}", hint="add --engine {engine}, or leave it out"
)
no_side_sink = _config(
    15,
    "{name} cannot take side outputs: {problem}",
    hint="give them a sink of their own: CREATE SINK late_rows WITH (connector = 'file', path = 'late_rows')",
)

bad_metadata = _config(
    16,
    "METADATA FROM '{key}': {problem}",
    hint="metadata is what comes beside a record: ts TIMESTAMP METADATA FROM 'timestamp'",
)
unloadable_connector = _config(
    17,
    "connector {name} cannot be loaded from {where}: {problem}",
    hint="the package that brings it is broken, or lacks something: uninstall it, or install what it needs",
)
no_secret = _config(
    18, "option {option}: there is no {what}", hint="set it, or write the value itself"
)

# TG-41nn · scenario files
unknown_scenario_key = _config(101, "{where} has no key {name}")
bad_scenario = _config(102, "{problem}")

# TG-42nn · Python aggregates
bad_aggregate = _config(
    201,
    "aggregate {name}: {problem}",
    hint="an aggregate is a class with arguments, returns, init(self), accumulate(self, state, …), "
    "merge(self, one, other) and finish(self, state)",
)
aggregate_name_taken = _config(
    202, "{name} is a function of Tidegate SQL already", hint="choose another name"
)
bad_aggregate_name = _config(
    203,
    "{name} is no name that a query can call",
    hint="use letters, digits and _, do not begin with a digit, and avoid words of SQL",
)
unloadable_aggregate = _config(
    204,
    "aggregate {name} cannot be loaded from {where}: {problem}",
    hint="the package that brings it is broken, or lacks something: uninstall it, or install what it needs",
)

# TG-49nn · starting Spark
no_java = _config(
    901,
    "Spark needs Java {accepted}, and none was found: {tried}",
    hint="point JAVA_HOME at one, or let pip bring one: pip install 'tidegate[jre]'",
)
no_pyspark = _config(902, "PySpark is not installed", hint="pip install 'tidegate[spark]'")
no_spark_jars = _config(
    903,
    "there is no Spark in {home}: jars/spark-core_*.jar is missing",
    hint="unset SPARK_HOME to use the Spark that pip installed",
)
jvm_not_started = _config(
    904,
    "Spark's Java process did not start: {how}",
    hint="its own words are above, on stderr; the command was: {command}",
)
bad_memory = _config(
    905, "spark.driver.memory: {text} is no amount of memory", hint="write it like 512m or 2g"
)
no_warmup = _config(
    906,
    "no class archive was made: {problem}",
    hint="Spark starts without one, only later; XDG_CACHE_HOME says where archives are kept",
)

# TG-5nnn · state
not_a_checkpoint = _state(
    1,
    "{path} is not a checkpoint: it holds {other}",
    hint="name a directory that is new or empty; nothing in this one was touched",
)
no_checkpoint = _state(
    2, "there is no checkpoint in {path}", hint="name the directory that holds identity.json"
)
other_plan = _state(
    3,
    "{path} holds the state of another plan:\n{difference}",
    hint="lines after - are the checkpoint's, after + the query's; --reset-state starts over without the old state",
)
checkpoint_in_use = _state(
    4, "{path} is being written by {owner}", hint="stop it first, or use another checkpoint"
)
missing_state = _state(
    5,
    "{file} is missing: {needed_by}",
    hint="bring it back from a copy of the checkpoint, or start over with --reset-state",
)
torn_state = _state(
    6,
    "{file} is torn: {problem}",
    hint="bring it back from a copy of the checkpoint, or start over with --reset-state",
)
damaged_state = _state(
    7,
    "{file} is damaged: {problem}",
    hint="bring it back from a copy of the checkpoint, or start over with --reset-state",
)
foreign_state = _state(
    8,
    "{file} does not belong here: {problem}",
    hint="bring the checkpoint back from a copy, whole; or start over with --reset-state",
)
newer_state = _state(
    9,
    "{file} has format {found}, which is newer than this Tidegate's ({known})",
    hint="use the version that wrote it, or a later one",
)
older_state = _state(
    10,
    "{file} has format {found}, which this Tidegate no longer reads (its own is {known})",
    hint="use the version that wrote it, or start over with --reset-state",
)
state_not_written = _state(
    11,
    "{file} cannot be written: {problem}",
    hint="epochs that were committed are intact; once that is put right, start again",
)
state_not_read = _state(
    12,
    "{file} cannot be read: {problem}",
    hint="nothing was changed; put that right and start again",
)
bad_checkpoint_location = _state(
    13,
    "{place} is no place for a checkpoint: {problem}",
    hint="give a path, or a URI such as file:///var/lib/tidegate/vwap or s3://bucket/vwap",
)

# TG-6nnn · sources and sinks
connector_not_in_process = _edge(
    1, "connector {name} cannot run in process yet as a {role}", hint="these can: {able}"
)
unreadable_path = _edge(
    2, "{path} cannot be read: {problem}", hint="look at the option path and at who may read it"
)
unwritable_path = _edge(
    3,
    "{path} cannot be written: {problem}",
    hint="name a directory that exists or can be made, on a disk with space",
)
bad_source_file = _edge(
    4,
    "{file} in {path} cannot be read: {problem}",
    hint="on_bad_file = 'skip' leaves such files out and names them in the error side output",
)
source_file_changed = _edge(
    5,
    "{file} in {path} is not what it was when it was first read: {problem}",
    hint="put it back, or start over without the checkpoint",
)
no_page = _edge(
    301,
    "the page cannot be served at {address}: {problem}",
    hint="another port may be free: --ui 0",
)
endless_source = _edge(
    6,
    "{name} never ends, and the run was asked to read what is there and end",
    hint="give the generator an end: rows = 1000000",
)
callback_without_function = _edge(
    7,
    "sink {name} has no function to call",
    hint="connector callback is for programs: they hand the function over",
)
foreign_offset = _edge(
    8,
    "the place that the checkpoint names is none of connector {name}: {problem}",
    hint="the source was another one when the checkpoint was made; start over without it",
)
bad_table_record = _edge(
    9,
    "table {name} has a record that is no row: {problem}",
    hint="mend it, or take it out: {record}",
)

unreachable = _edge(
    10,
    "{connector} at {place} cannot be reached: {problem}",
    hint="is it running, and is that its address? a run goes on where it was when it is started again with its "
    "checkpoint",
)
no_topic = _edge(11, "there is no topic {topic} at {place}", hint="create it first: {instead}")
records_gone = _edge(
    12,
    "records {start} to {stop} of {topic} [{partition}] are gone: the topic begins at {first}",
    hint="they were deleted before they were read: give the topic a longer retention; --reset-state begins with "
    "what is there",
)
edge_refused = _edge(
    13, "{connector} {place} refuses: {problem}", hint="it says why; credentials are options, too"
)
sink_is_ahead = _edge(
    14,
    "sink {name} has epoch {found}, and the checkpoint ends with {known}",
    hint="the checkpoint is an old copy: bring back the newest one, or write to a new topic",
)
key_needed = _edge(
    15,
    "sink {name} takes {kind} rows and has no key",
    hint="name the columns that tell rows apart: 'key.fields' = '{example}'",
)
bad_sink_row = _edge(16, "sink {name} cannot write {what}", hint="{instead}")

# TG-7nnn · running
input_has_ended = _run(2, "the input has ended", hint="start a new run for more rows")
session_closed = _run(3, "the session is closed", hint="open another one: tidegate.connect()")
bad_rows = _run(
    4,
    "{source} cannot take these rows: {problem}",
    hint="nothing of them was inserted; mend them and insert them again",
)
unknown_side = _run(5, "there is no side output {name}")
clock_not_settable = _run(
    6,
    "the session runs on the machine's clock, which cannot be set",
    hint="give it one that can: tidegate.connect(clock=ManualClock())",
)
state_needs_checkpoint = _run(
    7,
    "the state of {name} is to be on executors, and there is no checkpoint",
    hint="give the run a place that all executors can reach: --checkpoint DIR",
)
bad_instant = _run(
    8,
    "{value} is no instant",
    hint="give a datetime, ISO 8601 such as '2026-01-05T14:30:00Z', or milliseconds since the epoch",
)
bad_argument = _run(9, "{argument} cannot be {value}", hint="it is one of {known}")
not_verifiable = _run(
    10,
    "{what} cannot be verified",
    hint="DuckDB has no counterpart for it that was compared with ours",
)
cannot_run = _run(1, "{what} cannot be run yet", hint="{instead}")

# TG-71nn · attached to a Spark job
not_a_frame = _run(
    101,
    "{name} cannot be registered: {problem}",
    hint="register a DataFrame of the session that was attached: register('trades', df)",
)
frame_column = _run(
    102,
    "frame {frame}: column {column} is {type}, which Tidegate SQL does not have",
    hint="leave it out or turn it into something else first: df.drop('{column}')",
)
frame_columns = _run(103, "frame {frame}: {problem}", hint="rename one: df.withColumnRenamed(…)")
frame_time = _run(
    104,
    "frame {frame}: event_time = {column}: {problem}",
    hint="it is the name of a TIMESTAMP column; make one first: df.withColumn('ts', …)",
)
run_is_active = _run(
    105, "a run of this program is active", hint="stop() it first, or attach to the session again"
)
bad_trigger = _run(
    106,
    "there is no trigger {trigger} here",
    hint="give 'availableNow', a time between batches such as '5 seconds', or nothing",
)
no_spark_connect = _run(
    107,
    "{what} does not work over Spark Connect",
    hint="run it where the driver is: in a session of spark-submit, pyspark or SparkSession.builder.master(…)",
)
spark_checkpoint_differs = _run(
    108,
    "frame {frame}: {problem}",
    hint="Spark's checkpoint and Tidegate's belong together: bring both back from one copy, or start with "
    "reset_state=True",
)
frame_failed = _run(109, "frame {frame} failed: {problem}", hint="{where}")
nothing_to_run = _run(
    110,
    "no stream reads a streaming DataFrame",
    hint="register one, then sql('CREATE STREAM … FROM …'); static ones go through batch()",
)
frame_stopped = _run(
    111,
    "the query that reads frame {frame} was stopped by somebody else",
    hint="stop the run by its own handle: start() gave it",
)
executors_lack = _run(
    112,
    "executors cannot run Tidegate: {what}",
    hint="give them what the driver has: pack it with venv-pack and submit with --archives env.tar.gz#env and "
    "spark.pyspark.python=env/bin/python; where only tidegate is missing, --py-files with its wheel does; a program "
    "without sources of its own needs nothing there with state = 'driver' in [spark]",
)
no_result = _run(
    113,
    "the statements define no stream whose rows could be returned",
    hint="end them with a SELECT",
)
