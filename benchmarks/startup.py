"""`tidegate --help` from nothing, compared with a Python that only imports click."""

import subprocess
import sys

from benchmarks.case import Bound, Case, Measured, Scale, Target, in_turn, seconds


def _measure(scale: Scale) -> Measured:
    found = in_turn(
        {
            "ours": seconds(lambda: _run("-m", "tidegate", "--help")),
            "theirs": seconds(lambda: _run("-c", "import click")),
        },
        scale.repeats,
    )
    return Measured(
        ours=found["ours"] * 1_000,
        baseline="python -c 'import click'",
        baseline_value=found["theirs"] * 1_000,
    )


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)


CASES = (
    Case(
        name="startup",
        about="tidegate --help",
        unit="ms",
        target=Target(Bound.AT_MOST, 150, 100),
        measure=_measure,
    ),
)
