"""Executors that lack something are found out before a query depends on them."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import py4j
import pyspark
import pytest
from pyspark import cloudpickle

from tidegate import errors
from tidegate.engines.spark.cluster import (
    _question,
    check_executors,
    here,
    runs_python,
    what_is_lacking,
)
from tidegate.errors import TidegateError
from tidegate.plan.script import plan_script
from tidegate.plan.settings import Settings
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

HERE = {"tidegate": "0.1.0", "numpy": "2.3.0", "pyarrow": "26.0.1"}


def test_the_drivers_own_versions_fit() -> None:
    assert what_is_lacking([("a", here())], here()) == []


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ({}, ["numpy is missing on a", "pyarrow is missing on a", "tidegate is missing on a"]),
        ({**HERE, "numpy": "2.0.9", "pyarrow": "26.1"}, []),
        ({**HERE, "numpy": "1.26.4"}, ["numpy is 1.26.4 on a, and 2.3.0 here"]),
        ({**HERE, "tidegate": "0.1.1"}, ["tidegate is 0.1.1 on a, and 0.1.0 here"]),
    ],
)
def test_what_is_told(there: dict[str, str], told: list[str]) -> None:
    assert what_is_lacking([("a", there)], HERE) == told


class Far:
    """A cluster of other Pythons: what is sent there arrives as bytes, and runs where Tidegate is not."""

    def __init__(self, python: list[str]) -> None:
        self.master, self.defaultParallelism, self._python = "spark://far:7077", 2, python
        self.sparkContext = self

    def parallelize(self, numbers: range, _tasks: int) -> "Far":
        assert len(numbers) == 2
        return self

    def map(self, function: Any) -> "Far":
        self._sent = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
        return self

    def collect(self) -> list[Any]:
        code = "import sys, pickle; print(repr(pickle.loads(bytes.fromhex(sys.argv[1]))(0)))"
        ran = subprocess.run(
            [*self._python, "-c", code, self._sent.hex()],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        found: list[Any] = [ast.literal_eval(ran.stdout)]
        return found


def test_the_question_needs_nothing_of_ours(tmp_path: Path) -> None:
    """Only Spark's own Python is there, which brings what reads the question."""
    for package in (pyspark, py4j):
        (tmp_path / package.__name__).symlink_to(Path(str(package.__file__)).parent)
    far: Any = Far(["env", f"PYTHONPATH={tmp_path}", sys.executable, "-S"])
    with pytest.raises(TidegateError) as raised:
        check_executors(far)
    assert raised.value.code == errors.executors_lack.code
    host = os.uname().nodename
    assert f"tidegate is missing on {host}" in raised.value.message
    assert "--archives" in raised.value.hint


FILES = " WITH (connector = 'file', path = 'in')"


@pytest.mark.parametrize(
    ("source", "state", "on_executors", "asked"),
    [
        ("", "auto", True, True),
        ("", "executors", True, True),
        ("", "auto", False, False),
        ("", "driver", True, False),
        (FILES, "driver", False, True),
    ],
)
def test_who_is_asked(source: str, state: str, on_executors: bool, asked: bool) -> None:
    """Executors that run nothing of ours need nothing of ours."""
    sql = f"CREATE SOURCE ev (v BIGINT){source}; CREATE STREAM n AS SELECT v FROM ev"
    program = plan_script(parse_script(SourceText(sql)), Settings(spark={"state": state}))
    assert not program.errors
    assert runs_python(program, on_executors=on_executors) == asked


def test_a_cluster_that_has_all_of_it() -> None:
    near: Any = Far([sys.executable])
    check_executors(near)
    assert _question(("numpy",))(0)[1] == {"numpy": here()["numpy"]}
