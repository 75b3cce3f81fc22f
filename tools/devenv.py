"""Bring `.venv` in line with `pyproject.toml`, and make sure that it can start a Java for Spark.

Quick when nothing changed: a stamp in `.venv` holds a digest of pyproject.toml, the Python version and the place. Which
Java will do is decided in `tidegate.engines.spark.java` alone; here it is asked, and answered with the `jre` extra.

A moved or copied working tree keeps its `.venv`: the few text files with the old path in them are rewritten.
Runs on any python3, so that an old one gets a sentence instead of a SyntaxError.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "tidegate-setup.json")
EXTRAS = "local,spark,kafka,postgres,dev"
OLDEST = (3, 11)
MANY_MB = 5
REFUSED = 2  # the exit code of a configuration error: no Java fits


def main() -> None:
    if sys.version_info < OLDEST:
        needed = ".".join(map(str, OLDEST))
        sys.exit(
            f"Tidegate needs Python {needed} or newer, this is {sys.version.split()[0]}.\n"
            f"Say which to use: make PYTHON=/path/to/python3.12 ..."
        )
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    os.environ.setdefault("PIP_NO_INPUT", "1")
    os.environ.setdefault("PIP_RETRIES", "2")
    wanted = {
        "pyproject": digest("pyproject.toml"),
        "python": list(sys.version_info[:2]),
        "root": ROOT,
    }
    stamp = read_stamp()
    if stamp.get("root", ROOT) != ROOT:
        relocate(stamp["root"])
        stamp["root"] = ROOT
        write_stamp(stamp)
    if stamp != wanted or not works(VENV_PYTHON):
        install(wanted, fresh=stamp.get("python", wanted["python"]) != wanted["python"])
        write_stamp(wanted)
    ensure_java()


def digest(name: str) -> str:
    with open(os.path.join(ROOT, name), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def read_stamp() -> dict[str, Any]:
    try:
        with open(STAMP) as file:
            stamp: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return {}
    return stamp


def write_stamp(stamp: dict[str, Any]) -> None:
    with open(STAMP + ".new", "w") as file:
        json.dump(stamp, file)
    os.replace(STAMP + ".new", STAMP)


def works(python: str) -> bool:
    try:
        return (
            subprocess.run([python, "-c", ""], check=False, stderr=subprocess.DEVNULL).returncode
            == 0
        )
    except OSError:
        return False


def install(wanted: dict[str, Any], *, fresh: bool) -> None:
    started = time.monotonic()
    if fresh or not works(VENV_PYTHON):
        version = ".".join(map(str, wanted["python"]))
        say(f"creating .venv with Python {version}")
        run(sys.executable, "-m", "venv", "--clear", VENV)
    say("installing Tidegate and its tools into .venv (about a minute the first time)")
    pip("-e", f"{ROOT}[{EXTRAS}]")
    say(f"installed in {time.monotonic() - started:.0f} s")


def ensure_java() -> None:
    probe = [VENV_PYTHON, "-m", "tidegate.engines.spark.java"]
    asked = subprocess.run(probe, check=False, capture_output=True, text=True)
    if asked.returncode == 0:
        return
    if asked.returncode != REFUSED:
        sys.exit(f"set-up failed while it looked for a Java:\n{asked.stderr}")
    say("no Java that Spark accepts on this machine: installing one from PyPI into .venv")
    pip(*jre_requirements())
    run(*probe)


def jre_requirements() -> list[str]:
    import tomllib

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        extras: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    return extras["jre"]


def relocate(old_root: str) -> None:
    """Scripts name their interpreter, and the editable install its source, by absolute path."""
    say(f"the working tree moved here from {old_root}: correcting the paths in .venv")
    old, new = old_root.encode(), ROOT.encode()
    for path in texts_with_paths():
        with open(path, "rb") as file:
            text = file.read()
        if old in text and b"\0" not in text:
            with open(path, "wb") as file:
                file.write(text.replace(old, new))


def texts_with_paths() -> Iterator[str]:
    yield os.path.join(VENV, "pyvenv.cfg")
    for folder, folders, files in os.walk(VENV):
        at_scripts = os.path.basename(folder) == "bin" and os.path.dirname(folder) == VENV
        if os.path.basename(folder) == "site-packages":
            folders[:] = [name for name in folders if name.startswith("tidegate-")]
        for name in files:
            path = os.path.join(folder, name)
            if (
                (at_scripts and not os.path.islink(path))
                or name.endswith(".pth")
                or name == "direct_url.json"
            ):
                yield path


def pip(*arguments: str) -> None:
    """Says what takes long: what is large and fetched, what is built, and when all is there and unpacked."""
    command = (VENV_PYTHON, "-m", "pip", "install", "--progress-bar", "off", *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if news := worth_saying(line.strip()):
                say(news)
    if process.returncode != 0:
        sys.exit(f"set-up failed: {' '.join(command)} (exit code {process.returncode})")


def worth_saying(line: str) -> str:
    """What one line of pip's means for somebody who waits; "" for nearly all of them.

    >>> worth_saying("Downloading pyspark-4.3.0.tar.gz (434.5 MB)")
    'downloading pyspark-4.3.0.tar.gz (434.5 MB)'
    >>> worth_saying("  Downloading six-1.17.0-py2.py3-none-any.whl (11 kB)")
    ''
    >>> worth_saying("Installing collected packages: six, click")
    'unpacking 2 packages'
    """
    first, _, rest = line.strip().partition(" ")
    megabytes = re.search(r"\(([\d.]+) MB\)$", line)
    if first == "Downloading" and megabytes and float(megabytes[1]) >= MANY_MB:
        return f"downloading {rest.rpartition('/')[2]}"
    if line.startswith("Building wheel for ") and "pyspark" in line and "finished" not in line:
        return "preparing pyspark"
    if line.startswith("Installing collected packages: ") and "," in line:
        return f"unpacking {line.count(',') + 1} packages"
    return ""


def run(*command: str) -> None:
    code = subprocess.run(command, check=False).returncode
    if code != 0:
        sys.exit(f"set-up failed: {' '.join(command)} (exit code {code})")


def say(line: str) -> None:
    print(f"setup: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
