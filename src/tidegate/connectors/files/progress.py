"""How far a directory has been read, in a record that stays small however many files there are.

In: a listing, and the record of the range before. Out: which files are still to be read and from where; the record of
the next range, which is the source's offset.

Decided here:
* A range names its own parts: files, and from where to where in each. So it gives the same rows whenever it is read,
  whatever has arrived since.
* Files are told apart by name; a file that is written anew under an old name is not read again. Their order is that of
  their last change, then of their names.
* The `KEPT` newest files are remembered one by one (16 bytes each: a hash of the name, and how far it has been read).
  All others are behind the `mark`: they are done. A file that arrives with a time before the mark (moved, or copied
  with its times) is new to the reader that is running, which remembers every name. It is new after a restart too,
  unless it is older than the `KEPT` newest; then it cannot be told from one that is done, but files behind the mark
  are counted, and their growing in number is reported. Touching such a file has it read.
"""

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from tidegate import errors
from tidegate.connectors.files.places import FoundFile
from tidegate.connectors.protocols import Offset

KEPT = 1_000
DONE = -1  # for files that do not grow; others are done when they have been read up to their size
_ENTRY = np.dtype([("name", "<u8"), ("position", "<i8")])

Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file of lines, or rows of another one."""

    name: str
    modified_us: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The offset. `notes` are what a range has to report besides its rows: a name, and what about it."""

    step: int = 0
    parts: tuple[Part, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    mark: Key | None = None
    behind: int = 0
    known: Mapping[int, int] = field(default_factory=dict)

    def is_behind(self, file: FoundFile) -> bool:
        return self.mark is not None and (file.modified_us, file.name) <= self.mark

    def behind_names(self, files: Iterable[FoundFile]) -> list[str]:
        """Files that are done because they are behind the mark."""
        return [
            file.name
            for file in files
            if self.is_behind(file) and fingerprint(file.name) not in self.known
        ]

    def offset(self) -> Offset:
        return {
            "step": self.step,
            "parts": [[part.name, part.modified_us, part.start, part.stop] for part in self.parts],
            "notes": [list(note) for note in self.notes],
            "mark": None if self.mark is None else list(self.mark),
            "behind": self.behind,
            "known": _packed(self.known),
        }


def progress_of(offset: Offset | None) -> Progress:
    """What `Progress.offset` made."""
    if offset is None:
        return Progress()
    try:
        mark = offset["mark"]
        return Progress(
            step=offset["step"],
            parts=tuple(Part(*part) for part in offset["parts"]),
            notes=tuple((name, detail) for name, detail in offset["notes"]),
            mark=None if mark is None else (mark[0], mark[1]),
            behind=offset["behind"],
            known=_unpacked(offset["known"]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise errors.foreign_offset(name="file", problem=repr(problem)) from None


def _packed(known: Mapping[int, int]) -> str:
    entries = np.array(sorted(known.items()), dtype=_ENTRY)
    return base64.b64encode(entries.tobytes()).decode("ascii")


def _unpacked(text: str) -> dict[int, int]:
    entries: Any = np.frombuffer(base64.b64decode(text, validate=True), _ENTRY)
    return dict(zip(entries["name"].tolist(), entries["position"].tolist(), strict=True))


def fingerprint(name: str) -> int:
    """64 bits of a hash of the name: among a thousand names, no two meet in practice."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest())


class Memory:
    """Names behind the mark, each with the step in which it fell behind: what tells a late file from one that is done.

    It belongs to one running reader. Asked about a step that it knows nothing of (a restart), it takes all that the
    listing has behind the mark for done.
    """

    def __init__(self) -> None:
        self._steps: dict[str, int] = {}
        self._since: int | None = None
        self._strangers = 0

    def recall(self, progress: Progress, files: Iterable[FoundFile]) -> None:
        """Gets ready for questions about `progress`."""
        if self._since is not None and self._since <= progress.step:
            return
        names = progress.behind_names(files)
        self._steps = dict.fromkeys(names, progress.step)
        self._since = progress.step
        self._strangers = max(len(names) - progress.behind, 0)

    def take_strangers(self) -> int:
        """How many files more than there should be were taken for done; said once."""
        strangers, self._strangers = self._strangers, 0
        return strangers

    def has(self, name: str, step: int) -> bool:
        return self._steps.get(name, step + 1) <= step

    def add(self, names: Iterable[str], step: int) -> None:
        for name in names:
            self._steps.setdefault(name, step)


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of which there is more, from `position` on."""

    file: FoundFile
    key: int
    position: int


def unread(
    files: Iterable[FoundFile],
    progress: Progress,
    memory: Memory,
    *,
    grows: Callable[[str], bool],
) -> list[Unread]:
    """What is still to be read, in order. A file that grows is read up to its size, any other one until it is done."""
    found = []
    for file in files:
        key = fingerprint(file.name)
        position = progress.known.get(key)
        if position is None:
            if progress.is_behind(file) and memory.has(file.name, progress.step):
                continue
            position = 0
        if position == DONE or (position == file.size and grows(file.name)):
            continue
        found.append(Unread(file, key, position))
    return found


def forget(
    known: Mapping[int, int],
    files: Collection[FoundFile],
    *,
    mark: Key | None,
    before: Key | None,
    done: Callable[[FoundFile, int], bool],
) -> tuple[dict[int, int], Key | None, list[str]]:
    """Keeps the newest: what is left of `known`, the new mark, and the names that fell behind it.

    Files that are gone are forgotten first. The mark stays below `before`, the first file that is still unread, since
    whatever is behind it counts as done.
    """
    listed = {fingerprint(file.name): file for file in files}
    kept = {key: position for key, position in known.items() if key in listed}
    excess = len(kept) - KEPT
    if excess <= 0:
        return kept, mark, []
    fell: list[str] = []
    for file in sorted(
        listed[key] for key, position in kept.items() if done(listed[key], position)
    ):
        at = (file.modified_us, file.name)
        if len(fell) == excess or (before is not None and at >= before):
            break
        del kept[fingerprint(file.name)]
        fell.append(file.name)
        mark = at if mark is None else max(mark, at)
    return kept, mark, fell
