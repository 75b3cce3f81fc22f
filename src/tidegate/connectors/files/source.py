"""A source of files: one, those that match, or a directory that is being filled.

In: the definition of the source. Out: ranges, each naming its parts, and their rows. What has been read is said by
`progress`; how a part is read, by `formats`.

Decided here:
* A bounded source is what was there when it was first looked at. Only a directory goes on if nobody says otherwise.
* Lines are read as soon as they have a line break. A file that has not changed for `settle` is complete: then its last
  line counts without one. A file that cannot be read is given the same time, in case it is still being written.
* After that it is bad: with `on_bad_file = 'fail'` the source refuses to go on; with 'skip' it names the file once,
  as a malformed record, and goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from tidegate import errors
from tidegate.connectors.files.blocks import BadFile, Block
from tidegate.connectors.files.formats import (
    UNKNOWN_FORMAT,
    FileOptions,
    FileReader,
    format_of,
)
from tidegate.connectors.files.instants import INSTANT
from tidegate.connectors.files.places import FoundFile, Place, open_place
from tidegate.connectors.files.progress import (
    DONE,
    Key,
    Memory,
    Part,
    Progress,
    Unread,
    forget,
    progress_of,
    unread,
)
from tidegate.connectors.protocols import Delivery, Malformed, Offset
from tidegate.connectors.records import malformed
from tidegate.connectors.settings import Settings
from tidegate.kernel.arrow import arrow_type
from tidegate.model.options import OptionValue
from tidegate.model.schema import Schema
from tidegate.plan.catalog import SourceDef

SOURCE_TIME = "$source_time"
_MOST_PARTS = 256
_STRANGERS = (
    "{} files came while nothing was running, and look older than others that have been read, so they may be "
    "passed over; touch those that were not read"
)


@dataclass(slots=True)
class _Plan:
    """A range in the making. `first_left` is the first file of which something is left to read behind it."""

    rows_left: int
    parts: list[Part] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    known: dict[int, int] = field(default_factory=dict)
    first_left: Key | None = None

    @property
    def is_full(self) -> bool:
        return self.rows_left <= 0 or len(self.parts) >= _MOST_PARTS

    def add(self, file: FoundFile, start: int, block: Block) -> None:
        if block.stop > start:
            self.parts.append(Part(file.name, file.modified_us, start, block.stop))
            self.rows_left -= block.rows

    def leave(self, file: FoundFile) -> None:
        if self.first_left is None:
            self.first_left = (file.modified_us, file.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """What a source does with its files, besides reading them."""

    bounded: bool
    settle_us: int
    skip_bad: bool
    elsewhere: bool = False


class FileSource:
    """Reads ranges of what is at a place."""

    def __init__(
        self, schema: Schema, place: Place, options: FileOptions, settings: FileSettings
    ) -> None:
        self.schema = pa.schema(
            [*((column.name, arrow_type(column.type)) for column in schema), (SOURCE_TIME, INSTANT)]
        )
        self._place = place
        self._settings = settings
        self._reader = FileReader(schema, place, options)
        self.reading = Reading(schema, place, options, skip_bad=settings.skip_bad)
        self._memory = Memory()
        self._snapshot: list[FoundFile] | None = None

    def plan_for_others(self) -> None:
        """Ranges are read by other processes, many parts at once: plan them so, without reading much here."""
        self._settings = replace(self._settings, elsewhere=True)
        self._reader = replace(
            self.reading, options=replace(self.reading.options, elsewhere=True)
        ).build()

    def latest(self, after: Offset | None, *, max_rows: int, now_us: int) -> Offset | None:
        progress = progress_of(after)
        files = self._files()
        plan = _Plan(max(max_rows, 1), known=dict(progress.known))
        for more in self._unread(files, progress):
            if plan.is_full:
                plan.leave(more.file)
                break
            self._plan_file(more, plan, now_us)
        if strangers := self._memory.take_strangers():
            plan.notes.append((self._place.path, _STRANGERS.format(strangers)))
        if not plan.parts and not plan.notes and plan.known == progress.known:
            return None
        return self._progressed(progress, files, plan).offset()

    def _files(self) -> list[FoundFile]:
        if not self._settings.bounded:
            return self._place.files()
        if self._snapshot is None:
            self._snapshot = self._place.files()
        return self._snapshot

    def _unread(self, files: Sequence[FoundFile], progress: Progress) -> list[Unread]:
        self._memory.recall(progress, files)
        return unread(files, progress, self._memory, grows=self._reader.grows)

    def _plan_file(self, more: Unread, plan: _Plan, now_us: int) -> None:
        file = more.file
        young = now_us - file.modified_us < self._settings.settle_us
        complete = self._settings.bounded or not young
        position, block = more.position, None
        try:
            while block is None or self._goes_on(block, plan, complete=complete):
                block = self._reader.plan(
                    file, position, max_rows=plan.rows_left, complete=complete
                )
                plan.add(file, position, block)
                position = block.stop
        except BadFile as problem:
            self._plan_bad_file(more, plan, problem, complete=complete)
            return
        grows = self._reader.grows(file.name)
        finished = block.stop >= file.size if grows else block.at_end
        if not finished:
            plan.leave(file)
        if finished or block.stop > more.position:
            plan.known[more.key] = DONE if finished and not grows else block.stop

    def _goes_on(self, block: Block, plan: _Plan, *, complete: bool) -> bool:
        """Whether the next part of the same file belongs to the range, so that many can be read at once."""
        return self._settings.elsewhere and complete and not block.at_end and not plan.is_full

    def _plan_bad_file(
        self, more: Unread, plan: _Plan, problem: BadFile, *, complete: bool
    ) -> None:
        """Waits, refuses, or notes the file; one that is gone again is nobody's business."""
        name = more.file.name
        if not complete:
            plan.leave(more.file)
        elif self._settings.bounded or self._place.has(name):
            if not self._settings.skip_bad:
                raise errors.bad_source_file(file=name, path=self._place.path, problem=problem)
            plan.notes.append((name, f"the file cannot be read: {problem}"))
            plan.known[more.key] = DONE

    def _progressed(self, before: Progress, files: Sequence[FoundFile], plan: _Plan) -> Progress:
        step = before.step + 1
        known, mark, fell = forget(
            plan.known, files, mark=before.mark, before=plan.first_left, done=_is_done
        )
        self._memory.add(fell, step)
        after = Progress(
            step=step, parts=tuple(plan.parts), notes=tuple(plan.notes), mark=mark, known=known
        )
        return replace(after, behind=len(after.behind_names(files)))

    def read(self, after: Offset | None, until: Offset) -> Delivery:
        progress = progress_of(until)
        tables = [self.schema.empty_table()]
        wrong = noted(progress)
        for part in progress.parts:
            try:
                rows, refused = self.reading.read(self._reader, part)
            except BadFile as problem:
                raise self.reading.refusal(part.name, problem) from None
            tables.append(rows)
            wrong += refused
        return Delivery(rows=pa.concat_tables(tables), malformed=tuple(wrong))

    def footer(self, part: Part) -> Any:
        """What a Parquet file says of itself; None of other files, and of those that cannot be read."""
        if self._reader.format(part.name).name != "parquet":
            return None
        try:
            return self._reader.footer(part.name)
        except BadFile:
            return None

    def ended(self, at: Offset | None) -> bool:
        if not self._settings.bounded:
            return False
        return not self._unread(self._files(), progress_of(at))

    def close(self) -> None:
        self._reader.close()


@dataclass(frozen=True, slots=True)
class Reading:
    """What it takes to read a part, in this process or another one."""

    schema: Schema
    place: Place
    options: FileOptions
    skip_bad: bool

    def build(self) -> FileReader:
        return FileReader(self.schema, self.place, self.options)

    def read(self, reader: FileReader, part: Part) -> tuple[pa.Table, list[Malformed]]:
        """The part's rows, with the time of their file. Raises `BadFile` unless such files are skipped."""
        try:
            rows, wrong = reader.read(part)
        except BadFile as problem:
            if not self.skip_bad:
                raise
            detail = f"the file cannot be read any further: {problem}"
            rows = pa.schema(
                [(column.name, arrow_type(column.type)) for column in self.schema]
            ).empty_table()
            wrong = [malformed(part.name, detail)]
        time = pa.scalar(source_time_us(part), INSTANT)
        return rows.append_column(SOURCE_TIME, pa.repeat(time, rows.num_rows)), wrong

    def refusal(self, name: str, problem: BadFile) -> errors.TidegateError:
        changed = problem.changed or not self.place.has(name)
        refusal = errors.source_file_changed if changed else errors.bad_source_file
        return refusal(file=name, path=self.place.path, problem=problem)


def source_time_us(part: Part) -> int | None:
    """When the file was last changed, in whole milliseconds: file systems of clusters know no finer ones."""
    return part.modified_us // 1_000 * 1_000 or None


def noted(progress: Progress) -> list[Malformed]:
    """What a range has to report besides its rows."""
    return [malformed(name, detail) for name, detail in progress.notes]


def _is_done(file: FoundFile, position: int) -> bool:
    return position in (DONE, file.size)


def open_file_source(definition: SourceDef, bounded: bool | None) -> FileSource:
    """The source; refused if its path is nowhere, or what it names cannot be read."""
    return file_source(definition.physical, definition.options, bounded=bounded)


def file_source(
    schema: Schema, given: Mapping[str, OptionValue], *, bounded: bool | None
) -> FileSource:
    """Reads what the options name, as rows of the schema."""
    settings = Settings("file", given)
    declared = settings.flag("bounded") if bounded is None else bounded
    place = open_place(str(settings.get("path")), awaited=declared is False)
    ends = not place.is_directory if declared is None else declared
    options = file_options(settings)
    refuse_nothing(place, options, awaited=not ends)
    return FileSource(
        schema,
        place,
        options,
        FileSettings(
            bounded=ends,
            settle_us=settings.number("settle") or 0,
            skip_bad=settings.text("on_bad_file") == "skip",
        ),
    )


def file_options(settings: Settings) -> FileOptions:
    delimiter = settings.options.get("delimiter")
    made = None if delimiter is None else str(delimiter).replace("\\t", "\t")
    if made is not None and (len(made) != 1 or not made.isascii() or made in '\r\n"'):
        raise settings.refusal("delimiter", "expected one ASCII character, or \\t")
    return FileOptions(
        format=settings.text("format"), header=settings.flag("header") is not False, delimiter=made
    )


def refuse_nothing(place: Place, options: FileOptions, *, awaited: bool) -> None:
    """A glob that matches nothing is a mistake unless files are awaited, and so is a file of no known format."""
    if place.pattern is not None and not awaited and not place.files():
        raise errors.unreadable_path(path=place.path, problem="no file matches")
    if place.single is not None and format_of(place.single, options.format).name is None:
        raise errors.bad_source_file(file=place.single, path=place.base, problem=UNKNOWN_FORMAT)
