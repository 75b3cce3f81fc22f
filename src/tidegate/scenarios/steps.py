"""What a scenario says, as frozen descriptions. Values are as they were written; columns give them types later."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate.errors import Location

Raw = None | bool | int | float | str | bytes | tuple["Raw", ...] | Mapping[str, "Raw"]


@dataclass(frozen=True, slots=True)
class RawRow:
    """Columns that were given, and the line they stand on."""

    values: Mapping[str, Raw]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """Exactly one micro-batch."""

    source: str
    rows: tuple[RawRow, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """Raises the watermarks of sources, in µs; an epoch of its own."""

    sources: Mapping[str, int]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    at_us: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The bounded input ends."""

    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """Rows emitted since the previous `expect` of the stream. `rows` None forgets them."""

    stream: str
    rows: tuple[RawRow, ...] | None
    ordered: bool = False
    unordered: tuple[str, ...] = ()
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectTable:
    """The newest row per (window, group). Columns in `unordered` are compared as multisets."""

    stream: str
    rows: tuple[RawRow, ...]
    unordered: tuple[str, ...] = ()
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectCount:
    """How many rows were emitted since the previous `expect`."""

    counts: Mapping[str, int]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectSide:
    """Diverted rows of a kind since its previous `expect_side`."""

    kind: str
    rows: tuple[RawRow, ...]
    line: int


Step = (
    Insert
    | Watermark
    | Clock
    | Checkpoint
    | Restart
    | End
    | Expect
    | ExpectTable
    | ExpectCount
    | ExpectSide
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedError:
    """The refusal of a query; what is None is not compared. Lines and columns are those of `sql`."""

    code: str | None = None
    contains: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One file, with its text. Either `steps` or `error`. `sql_name` is what messages call the SQL."""

    name: str
    file: str
    text: str
    engines: tuple[str, ...]
    config: Mapping[str, Raw]
    sql: str
    sql_name: str
    steps: tuple[Step, ...] = ()
    error: ExpectedError | None = None

    def place(self, line: int) -> Location:
        """The line, for a message."""
        lines = self.text.splitlines()
        written = lines[line - 1] if line <= len(lines) else ""
        indent = len(written) - len(written.lstrip())
        return Location(
            self.file, line, indent + 1, written, max(1, len(written.rstrip()) - indent)
        )
