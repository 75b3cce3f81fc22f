"""Sources in tests: defined in SQL, read range by range; each offset goes through JSON, as in a checkpoint."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.planning import planned
from tidegate.connectors import open_source
from tidegate.connectors.protocols import Delivery, Malformed, Offset, SourceReader
from tidegate.plan.catalog import SinkDef, SourceDef, TableDef

SECOND = 1_000_000
LATER_US = 4_000_000_000 * SECOND  # by which every file that a test writes has settled


def options(given: dict[str, object]) -> str:
    """The inside of WITH."""
    return ", ".join(f"{name} = '{value!s}'" for name, value in given.items())


def source_def(columns: str, **given: object) -> SourceDef:
    text = f"CREATE SOURCE it ({columns}) WITH ({options(given)});"
    found = planned(text, prelude="").catalog.find("it")
    assert isinstance(found, SourceDef)
    return found


def table_def(columns: str, **given: object) -> TableDef:
    text = f"CREATE TABLE it ({columns}) WITH ({options(given)});"
    found = planned(text, prelude="").catalog.find("it")
    assert isinstance(found, TableDef)
    return found


def sink_def(connector: str, **given: object) -> SinkDef:
    return SinkDef(
        name="out", stream="s", connector=connector, options={n: str(v) for n, v in given.items()}
    )


def file_source(
    columns: str, path: Path, *, bounded: bool | None = None, **given: object
) -> SourceReader:
    definition = source_def(columns, connector="file", path=path, **given)
    return open_source(definition, bounded=bounded)


@dataclass(frozen=True)
class Drained:
    """All that a source gave until it had no more, or ended."""

    deliveries: tuple[Delivery, ...]
    at: Offset | None

    @property
    def table(self) -> pa.Table:
        return pa.concat_tables([delivery.rows for delivery in self.deliveries])

    @property
    def rows(self) -> list[dict[str, Any]]:
        if not self.deliveries:
            return []
        table = self.table
        hidden = [name for name in table.column_names if name.startswith("$")]
        return [dict(row) for row in table.drop_columns(hidden).to_pylist()]

    @property
    def malformed(self) -> list[Malformed]:
        return [record for delivery in self.deliveries for record in delivery.malformed]

    @property
    def sizes(self) -> list[int]:
        return [delivery.rows.num_rows for delivery in self.deliveries]


def stored(offset: Offset) -> Offset:
    loaded: Offset = json.loads(json.dumps(offset))
    return loaded


def ranges(
    reader: SourceReader, after: Offset | None, cuts: Iterator[int], now_us: int
) -> Iterator[tuple[Offset | None, Offset]]:
    while (until := reader.latest(after, max_rows=next(cuts), now_us=now_us)) is not None:
        until = stored(until)
        yield after, until
        after = until


def drain(
    reader: SourceReader,
    after: Offset | None = None,
    *,
    max_rows: int = 1_000,
    cuts: Sequence[int] = (),
    now_us: int = LATER_US,
) -> Drained:
    """Ranges of the sizes in `cuts`, then of `max_rows`."""

    def sizes() -> Iterator[int]:
        yield from cuts
        while True:
            yield max_rows

    deliveries = []
    for begin, until in ranges(reader, after, sizes(), now_us):
        deliveries.append(reader.read(begin, until))
        after = until
    return Drained(tuple(deliveries), after)
