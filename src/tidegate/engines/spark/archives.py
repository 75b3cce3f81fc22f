"""Class-data archives: Spark's classes as the JVM keeps them in memory, so that a start maps them instead of loading.

Decided here: where archives are, and which one belongs to a start. The JVM takes an archive only for the Java and the
class path that it was made with, so both are in its name, with the profile; that the jars are still the same it checks
by itself, and goes on without the archive if they are not. What it does not survive is an archive that lost its end, so
the size is in the name, too. An archive makes a start faster or does nothing, and no run ever fails for it.
`tidegate warmup` makes them (`warmup.py`).
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from tidegate.engines.spark.java import Java

# It warns of an archive that it does not take, on stdout; there is nothing to do about it but another warm-up.
_SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


def archive_stem(
    java: Java, class_path: Sequence[str], profile: str, environ: Mapping[str, str]
) -> Path:
    """How the name of the archive of such a start begins."""
    version = ".".join(map(str, java.version))
    told = "\n".join([str(java.path), version, profile, *class_path])
    digest = blake2b(told.encode(), digest_size=8).hexdigest()
    return _cache_folder(environ) / f"spark-java{version}-{profile}-{digest}"


def found(stem: Path) -> Path | None:
    """The archive, if there is a whole one."""
    return next((path for path in _archives(stem) if path == _named(stem, path)), None)


def keep(unfinished: Path, stem: Path) -> Path:
    """Give a new archive its name, in the place of older ones."""
    kept = _named(stem, unfinished)
    os.replace(unfinished, kept)
    for path in _archives(stem):
        if path != kept:
            path.unlink(missing_ok=True)
    return kept


def _archives(stem: Path) -> list[Path]:
    return sorted(stem.parent.glob(f"{stem.name}-*.jsa"))


def _named(stem: Path, archive: Path) -> Path:
    return stem.with_name(f"{stem.name}-{archive.stat().st_size}.jsa")


def use(archive: Path) -> tuple[str, ...]:
    """The flags of a start with this archive."""
    return (f"-XX:SharedArchiveFile={archive}", *_SILENT)


def make(archive: Path) -> str:
    """The flag of a start that writes this archive when the JVM ends."""
    return f"-XX:ArchiveClassesAtExit={archive}"


def _cache_folder(environ: Mapping[str, str]) -> Path:
    """As the XDG specification has it: a relative path does not count."""
    given = Path(environ.get("XDG_CACHE_HOME", ""))
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    return (given if given.is_absolute() else home / ".cache") / "tidegate"
