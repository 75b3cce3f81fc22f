"""`python -m benchmarks [--quick] [--only CASE] [--json FILE]`: exits with 1 if a target is missed."""

import argparse
import json
import sys
from pathlib import Path

from benchmarks import (
    closing,
    memory,
    planning,
    sessions,
    sliding,
    small_batches,
    spark_epochs,
    spark_start,
    spark_windows,
    startup,
    state,
    throughput,
    updates,
)
from benchmarks.case import FULL, QUICK, Case, Result

_MODULES = (
    throughput,
    sessions,
    sliding,
    closing,
    small_batches,
    updates,
    memory,
    state,
    planning,
    startup,
    spark_windows,
    spark_epochs,
    spark_start,
)
CASES: tuple[Case, ...] = tuple(case for module in _MODULES for case in module.CASES)
_HEAD = ("case", "ours", "baseline", "ratio", "to reach", "aim", "holds")


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    chosen = [case for case in CASES if not given.only or case.name in given.only]
    results = []
    for case in chosen:
        print(f"{case.name}: {case.about}", file=sys.stderr, flush=True)
        results.append(case.run(QUICK if given.quick else FULL))
    print(table([_HEAD, *map(_row, results)]))
    if given.json:
        shown = [result.as_object() for result in results]
        given.json.write_text(json.dumps(shown, indent=2) + "\n", encoding="utf-8")
    return 0 if all(result.holds for result in results) else 1


def _parser() -> argparse.ArgumentParser:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure, and print one table."
    )
    parser.add_argument("--quick", action="store_true", help="a third of the rows, few repetitions")
    parser.add_argument(
        "--only", action="append", choices=names, metavar="CASE", help=", ".join(names)
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    return parser


def _row(result: Result) -> tuple[str, ...]:
    sign = "≥" if result.more_is_better else "≤"
    return (
        result.case,
        f"{result.ours:.3g} {result.unit}",
        f"{result.baseline_value:.3g} {result.unit} ({result.baseline})",
        f"{result.ratio:.3g}",
        f"{sign} {result.to_reach:.3g}",
        f"{sign} {result.aim:.3g}",
        _verdict(result),
    )


def _verdict(result: Result) -> str:
    if not result.holds:
        return "NO"
    return "yes, and the aim" if result.meets_aim else "yes"


def table(rows: list[tuple[str, ...]]) -> str:
    """Columns as wide as their longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
