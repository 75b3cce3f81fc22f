"""Makes a class-data archive: a process runs what queries usually do, and its JVM writes down the classes that it used.

Decided here: the training runs in a process of its own, since a JVM writes its archive when it ends; and the archive
gets its name only when it is whole, so nobody ever starts with half of one.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tidegate import errors
from tidegate.engines.spark import archives, jvm, session
from tidegate.engines.spark.java import Java

_TRAINING = "tidegate.engines.spark.training"
_WITHIN_S = 600.0
_MOST_TOLD = 2_000


def warm_up(profile: str) -> Path:
    """Make the archive, anew if there is one."""
    launch = jvm.launch_for(jvm.Profile(profile), session.settings("local[*]", {}))
    stem = launch.archive_stem
    unfinished = stem.with_name(f"{stem.name}.{os.getpid()}.new")
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        _make_base_archive(launch.java)
        _train(profile, unfinished)
        return archives.keep(unfinished, stem)
    except OSError as problem:
        raise errors.no_warmup(problem=problem) from problem
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _make_base_archive(java: Java) -> None:
    """A trimmed JRE comes without the archive of Java's own classes, on which every other one builds."""
    home = java.path.resolve().parents[1]
    if not any(home.glob("lib/*/classes*.jsa")):
        subprocess.run(
            [java.path, "-Xshare:dump"], check=False, capture_output=True, stdin=subprocess.DEVNULL
        )


def _train(profile: str, unfinished: Path) -> None:
    command = [sys.executable, "-m", _TRAINING, profile, str(unfinished)]
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_WITHIN_S,
        )
    except subprocess.TimeoutExpired:
        raise errors.no_warmup(problem=f"training took longer than {_WITHIN_S:g} s") from None
    if not unfinished.exists():
        told = (done.stderr + done.stdout).strip()[-_MOST_TOLD:]
        raise errors.no_warmup(problem=told or f"training ended with exit code {done.returncode}")
