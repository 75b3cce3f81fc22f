"""kill -9 at random moments: what comes out is what an undisturbed run writes, to the byte, and so are the counts.

A process is killed while it starts, while it goes on with an earlier one's state, between any two system calls of an
epoch. Where chance ends a run before it is killed, another one begins in a fresh place.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.local.file_to_file import run
from tidegate.model.policies import AGGREGATED, DISPOSITION, FILTERED, Reason

pytestmark = pytest.mark.thorough

ROWS, FILES = 12_000, 3
ROOT = Path(__file__).parents[3]


def prepare(place: Path, *, rows: int = ROWS, files: int = FILES) -> Path:
    """Rows with disorder, late ones, some without a time, and lines that are no rows."""
    draw = random.Random(7)
    (place / "in").mkdir(parents=True)
    (place / "names.csv").write_text("k,name\na,Ann\nb,Bob\nc,Cid\n", encoding="utf-8")
    for number in range(files):
        lines = _lines(draw, number * rows // files, (number + 1) * rows // files)
        file = place / "in" / f"part-{number}.json"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.utime(file, (60, 60))  # the time of rows that have none
    return place


def _lines(draw: random.Random, first: int, last: int) -> Iterator[str]:
    for number in range(first, last):
        if number % 997 == 0:
            yield '{"k": "a", "v":'
            continue
        at_ms = number * 20 - draw.choice([0, 0, 0, 500, 1900, 6000, 40_000])
        stamp = f"1970-01-01T{at_ms // 3_600_000:02d}:{at_ms // 60_000 % 60:02d}:{at_ms // 1000 % 60:02d}"
        row = {
            "k": draw.choice("abcd"),
            "v": draw.randrange(10),
            "x": draw.randrange(8) / 4,
            "ts": None if number % 501 == 0 or at_ms < 0 else f"{stamp}.{at_ms % 1000:03d}",
        }
        yield json.dumps(row)


def written(place: Path) -> dict[str, bytes]:
    files = sorted((place / "out").glob("*/part-*"))
    return {str(file.relative_to(place)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = prepare(tmp_path_factory.mktemp("undisturbed"))
    run(place)
    return place


def killed_once(place: Path, draw: random.Random) -> bool:
    """Whether the run was killed before it came to its end."""
    command = [sys.executable, "-m", "tests.engines.local.file_to_file", str(place)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if draw.random() < 0.8:
            assert process.stdout.readline() in (b"running\n", b"")
            time.sleep(draw.expovariate(4))
        else:
            time.sleep(draw.uniform(0.2, 1.5))
        process.send_signal(signal.SIGKILL)
        code = process.wait()
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def finish(place: Path) -> None:
    command = [sys.executable, "-m", "tests.engines.local.file_to_file", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)


def check_kills(kills: int, *, seed: int, undisturbed: Path, tmp_path: Path) -> None:
    draw = random.Random(seed)
    done = attempt = 0
    while done < kills:
        attempt += 1
        place = prepare(tmp_path / str(attempt))
        while done < kills and killed_once(place, draw):
            done += 1
        if not (place / "totals.json").exists():
            finish(place)
        assert written(place) == written(undisturbed)
        totals = [(one / "totals.json").read_text("utf-8") for one in (place, undisturbed)]
        assert totals[0] == totals[1]


def test_the_pipeline_does_something(undisturbed: Path) -> None:
    """What is compared below is not nothing."""
    totals = json.loads((undisturbed / "totals.json").read_text("utf-8"))
    assert totals["read"] == {"ev": ROWS - totals["malformed"]["ev"]}
    assert totals["malformed"]["ev"] == 13
    assert min(totals["emitted"].values()) > 100, totals
    codes = {int(code) for code, rows in totals["rows_by_code"]["counted"].items() if rows}
    wrong = (Reason.ALLOWED_LATENESS_EXCEEDED, Reason.MISSING_EVENT_TIME)
    assert codes - {AGGREGATED, FILTERED} == {DISPOSITION[reason] for reason in wrong}


def test_eight_kills(undisturbed: Path, tmp_path: Path) -> None:
    check_kills(8, seed=1, undisturbed=undisturbed, tmp_path=tmp_path)


@pytest.mark.slow
def test_fifty_kills(undisturbed: Path, tmp_path: Path) -> None:
    check_kills(50, seed=2, undisturbed=undisturbed, tmp_path=tmp_path)
