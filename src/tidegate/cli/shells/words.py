"""What can stand in a statement: words of the language, functions, options, and what the session has defined.

The one list behind completion and colours.
"""

from collections.abc import Iterator

from tidegate.model.connectors import CONNECTORS
from tidegate.model.options import OPTIONS
from tidegate.plan.catalog import Definition, SinkDef, StreamDef
from tidegate.plan.reference import entries
from tidegate.plan.script import Program

KEYWORDS = tuple(
    """
    ALLOWED ANALYZE AND AS ASC BETWEEN BY CASE CAST CHANGES CLOSE CREATE CURRENT DAY DESC DESCRIBE
    DISTINCT DROP ELSE EMIT END EVERY EXISTS EXPLAIN FILTER FINAL FOR FROM FULL GROUP HAVING HOUR IF IN
    INNER INSERT INTERVAL INTO IS JOIN LATE LATENESS LEFT LIKE LIMIT LOGICAL MINUTE NOT NULL ON OR ORDER
    OUTER OVER PARTITION PHYSICAL PRECEDING RANGE REPLACE RIGHT ROW SECOND SELECT SET SHOW SINK SINKS
    SOURCE SOURCES STREAM STREAMS TABLE TABLES THEN TO UNION UPDATE USING VALUES WATERMARK WHEN WHERE
    WHY WINDOW WITH
    """.split()
)
WINDOWS = ("TUMBLE", "HOP", "CUMULATE", "SESSION", "slidingwindow", "countwindow", "statewindow")
TYPES = tuple(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT REAL DOUBLE DECIMAL VARCHAR BINARY DATE TIMESTAMP ARRAY MAP STRUCT".split()
)
WINDOW_COLUMNS = ("window_start", "window_end", "window_time", "window_id")


def functions() -> tuple[str, ...]:
    """Names that can be called, as people write them."""
    names = {name for entry in entries() for name in (entry.name, *entry.aliases)}
    return tuple(sorted({name.upper() for name in names if name.isidentifier()} | {*WINDOWS}))


def options() -> tuple[str, ...]:
    """What may stand in WITH and SET; which connector it is comes before what that one can do."""
    own = (option.name for connector in CONNECTORS.values() for option in connector.options)
    return ("connector", *sorted({*OPTIONS, *own}))


def names(program: Program) -> Iterator[tuple[str, str]]:
    """What is defined, and the columns of it; each with what it is."""
    for kind in ("source", "table", "stream", "sink"):
        for definition in program.catalog.all_of(kind):
            yield definition.name, kind
            for column in _columns(definition):
                yield column, f"column of {definition.name}"


def _columns(definition: Definition) -> tuple[str, ...]:
    if isinstance(definition, SinkDef):
        return ()
    if isinstance(definition, StreamDef):
        return tuple(definition.output.names)
    return tuple(named.name for named in definition.columns)
