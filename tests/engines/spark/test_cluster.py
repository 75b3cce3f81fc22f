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


# A cluster of processes of their own

JOB = """
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from tidegate.engines.spark.session import session
from tidegate.spark import attach

place = Path(sys.argv[1])
(place / "in").mkdir()
times = pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 2, pa.timestamp("us", tz="UTC"))
parquet.write_table(pa.table({"k": ["a", "b"], "v": [1, 2], "at": times}), place / "in" / "0.parquet")
spark = session("local-cluster[1,1,1024]", conf={"spark.executor.memory": "512m"})
tide = attach(spark, config={"spark": {"state": "executors"}})
frame = spark.readStream.schema("k string, v bigint, at timestamp").parquet(str(place / "in"))
tide.register("ev", frame, event_time="at")
tide.sql("CREATE STREAM s AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(at, INTERVAL '10' SECOND)")
tide.start(checkpoint=place / "state", trigger="availableNow").awaitTermination()
print("rows:", sorted(map(tuple, tide.table("s").collect())))
"""


def job_on_executors(place: Path, python: str) -> subprocess.CompletedProcess[str]:
    home = str(Path(str(pyspark.__file__)).parent)
    around = {"SPARK_HOME": home, "SPARK_SCALA_VERSION": "2.13", "PYSPARK_PYTHON": python}
    return subprocess.run(
        [sys.executable, "-c", JOB, str(place)],
        env={**os.environ, **around},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.spark
@pytest.mark.slow
def test_executors_that_have_it(tmp_path: Path) -> None:
    assert "rows: [('a', 1), ('b', 2)]" in job_on_executors(tmp_path, sys.executable).stdout


@pytest.mark.spark
@pytest.mark.slow
def test_executors_that_lack_it(tmp_path: Path) -> None:
    """Their Python sees Spark's own packages, and no others."""
    for package in (pyspark, py4j):
        (tmp_path / package.__name__).symlink_to(Path(str(package.__file__)).parent)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    told = job_on_executors(tmp_path, str(bare)).stderr
    assert f"{errors.executors_lack.code}: executors cannot run Tidegate: numpy is missing" in told
