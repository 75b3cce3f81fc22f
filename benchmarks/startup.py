"""`tidegate --help` from nothing, compared with a Python that only imports click."""

import subprocess
import sys

from benchmarks.case import Case, Result, typical_ms

LIMIT_MS = 150


def measure(quick: bool) -> Result:
    repetitions = 3 if quick else 15
    return Result(
        case="startup",
        baseline="python -c 'import click'",
        ours=typical_ms(lambda: _run("-m", "tidegate", "--help"), repetitions),
        baseline_value=typical_ms(lambda: _run("-c", "import click"), repetitions),
        to_reach=LIMIT_MS,
        aim=f"--help in under {LIMIT_MS} ms",
        unit="ms",
    )


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)


CASE = Case("startup", measure)
