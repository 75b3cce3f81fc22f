"""What files a path means, and where they are.

In: a local path or a URL that pyarrow knows, naming a file, a directory or a glob. Out: a `Place` that lists its files
under names relative to it, so that a checkpoint survives a move of the whole directory. Next: `progress` decides which
of them are still to be read.

Decided here: directories are looked through to the bottom; `**` in a glob stands for any number of directories. Names
that begin with `.` or `_`, or end like a download under way, belong to whoever is writing them and are left alone.
"""

import os
import re
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import fs

from tidegate import errors

_UNFINISHED = (".tmp", ".crdownload", "._COPYING_")
_MAGIC = re.compile(r"[*?\[]")
_SHOWN = 8  # names in a hint


@dataclass(frozen=True, slots=True, order=True)
class FoundFile:
    """A file as a listing saw it. Files are in the order of their last change, then of their names."""

    modified_us: int
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One file of `base`, all below it that match, or all. `path` is what the user wrote."""

    path: str
    filesystem: fs.FileSystem
    base: str
    single: str | None = None
    pattern: re.Pattern[str] | None = None
    recursive: bool = True

    @property
    def is_directory(self) -> bool:
        return self.single is None and self.pattern is None

    def full(self, name: str) -> str:
        return f"{self.base.rstrip('/')}/{name}"

    def files(self) -> list[FoundFile]:
        """What is there now, in order."""
        wanted = (
            [self.full(self.single)]
            if self.single is not None
            else fs.FileSelector(self.base, recursive=self.recursive, allow_not_found=True)
        )
        try:
            infos = self.filesystem.get_file_info(wanted)
        except (OSError, pa.ArrowException) as problem:
            raise errors.unreadable_path(path=self.path, problem=reason(problem)) from None
        found = (self._found(info) for info in infos if info.type is fs.FileType.File)
        return sorted(file for file in found if file is not None)

    def has(self, name: str) -> bool:
        """Whether the file is there, as far as one can see."""
        try:
            return bool(
                self.filesystem.get_file_info(self.full(name)).type is not fs.FileType.NotFound
            )
        except (OSError, pa.ArrowException):
            return True

    def _found(self, info: fs.FileInfo) -> FoundFile | None:
        name = info.path[len(self.base.rstrip("/")) + 1 :]
        if self.single is None and (
            is_unfinished(name) or (self.pattern and not self.pattern.fullmatch(name))
        ):
            return None
        return FoundFile((info.mtime_ns or 0) // 1_000, name, info.size or 0)


def is_unfinished(name: str) -> bool:
    """Whether somebody is still writing the file, as its name says.

    >>> is_unfinished("2026/_temporary/a.json"), is_unfinished("a.json.tmp"), is_unfinished("a_b.json")
    (True, True, False)
    """
    hidden = any(part.startswith((".", "_")) for part in name.split("/"))
    return hidden or name.endswith(_UNFINISHED)


def reason(problem: BaseException) -> str:
    """The system's own words about what went wrong, on one line."""
    number = getattr(problem, "errno", None)
    return os.strerror(number) if number else (str(problem).splitlines() or ["unknown reason"])[0]


def locate(path: str) -> tuple[fs.FileSystem, str]:
    """The filesystem of a path or URL, and the path on it."""
    try:
        if "://" in path:
            filesystem, found = fs.FileSystem.from_uri(path)
            return filesystem, found
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise errors.unreadable_path(path=path, problem=reason(problem)) from None
    return fs.LocalFileSystem(), os.path.abspath(path)


def open_place(path: str, *, awaited: bool = False) -> Place:
    """The files that a path means; one that is nowhere is refused, unless it is awaited."""
    filesystem, full = locate(path)
    if _MAGIC.search(full):
        return _glob(path, filesystem, full)
    try:
        kind = filesystem.get_file_info(full).type
    except (OSError, pa.ArrowException) as problem:
        raise errors.unreadable_path(path=path, problem=reason(problem)) from None
    if kind is fs.FileType.Directory:
        return Place(path=path, filesystem=filesystem, base=full)
    if kind is fs.FileType.NotFound and not awaited:
        missing, hint = "there is no such file or directory", _beside(filesystem, full)
        raise errors.unreadable_path(path=path, problem=missing, hint=hint)
    base, _, name = full.rpartition("/")
    return Place(path=path, filesystem=filesystem, base=base or "/", single=name)


def _beside(filesystem: fs.FileSystem, full: str) -> str:
    """What is there instead: the first step of the path that is missing, and what its folder has."""
    folder, _, missing = full.rstrip("/").rpartition("/")
    try:
        while folder and filesystem.get_file_info(folder).type is fs.FileType.NotFound:
            folder, _, missing = folder.rpartition("/")
        there = [
            info.base_name for info in filesystem.get_file_info(fs.FileSelector(folder or "/"))
        ]
    except (OSError, pa.ArrowException):
        return ""
    shown = ", ".join(sorted(there)[:_SHOWN]) + (" …" if len(there) > _SHOWN else "")
    otherwise = f"{folder or '/'} has {shown}" if there else f"{folder or '/'} is empty"
    return errors.nearest(missing, there, otherwise=otherwise)


def _glob(path: str, filesystem: fs.FileSystem, full: str) -> Place:
    parts = full.split("/")
    first = next(place for place, part in enumerate(parts) if _MAGIC.search(part))
    base = "/".join(parts[:first]) or "/"
    pattern = re.compile(glob_pattern(parts[first:]))
    recursive = len(parts) > first + 1 or "**" in parts
    return Place(path=path, filesystem=filesystem, base=base, pattern=pattern, recursive=recursive)


def glob_pattern(parts: list[str]) -> str:
    """A regular expression for the parts of a glob; `*` stays within one directory.

    >>> pattern = re.compile(glob_pattern(["**", "[ab]*.json"]))
    >>> [bool(pattern.fullmatch(name)) for name in ("a.json", "x/y/b1.json", "c.json", "a.csv")]
    [True, True, False, False]
    """
    *directories, last = parts
    above = "".join("(?:[^/]+/)*" if part == "**" else f"{_segment(part)}/" for part in directories)
    return above + (".*" if last == "**" else _segment(last))


_TOKEN = re.compile(r"\*+|\?|\[(!?)([^]]+)\]|[^*?\[]+|\[")


def _segment(part: str) -> str:
    made = ""
    for token in _TOKEN.finditer(part):
        text = token[0]
        if text[0] == "*":
            made += "[^/]*"
        elif text == "?":
            made += "[^/]"
        elif token[2]:
            inside = token[2].replace("\\", r"\\").replace("^", r"\^")
            made += f"[{'^/' if token[1] else ''}{inside}]"
        else:
            made += re.escape(text)
    return made
