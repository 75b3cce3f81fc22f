"""Fuzzing guided by coverage, with libFuzzer's mutations and its own corpus.

By hand: `.venv/bin/python tests/fuzz/atheris_sql.py -max_total_time=600 [more options of libFuzzer] [corpus folder]`;
`--few` leaves most seeds out, for a short run.
A text that breaks the rule is written to `crash-…`, and its traceback is shown. Bytes that are no UTF-8 become lone
surrogates, which are refused like any other character that is not SQL.
"""

import sys
import tempfile
from pathlib import Path

import atheris
import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(include=["tidegate.sql", "tidegate.plan"]):
    from tests.fuzz.verdict import judge

LONGEST = 2_000


def one_input(raw: bytes) -> None:
    judge(raw.decode("utf-8", errors="surrogateescape"))


def seeds(folder: Path, *, every: int) -> None:
    """The corpus is where mutations start."""
    paths = sorted((ROOT / "tests" / "corpus").glob("*/*.yaml"))
    for place, path in enumerate(paths[::every]):
        sql = yaml.safe_load(path.read_text(encoding="utf-8"))["sql"]
        (folder / str(place)).write_text(sql, encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder), every=12 if "--few" in sys.argv else 1)
        options = [
            option for option in sys.argv[1:] if option.startswith("-") and option != "--few"
        ]
        folders = [folder for folder in sys.argv[1:] if not folder.startswith("-")]
        arguments = [sys.argv[0], f"-max_len={LONGEST}", *options, *folders, folder]
        atheris.Setup(arguments, one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
