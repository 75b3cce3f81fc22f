"""kill -9 on a cluster of two workers: of executors, of the driver. What comes out is what an undisturbed run writes.

Files are compared by name, which is that of their epoch, and by their rows: an epoch that was repeated has replaced its
file, and nothing is there twice. The order of rows in a file is that of shards, and means nothing.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from tests.engines.local.test_killed import prepare
from tests.engines.spark.cluster import Cluster, cluster
from tests.engines.spark.on_cluster import ROOT, run

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS, FILES = 1_500, 3


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """On the driver, in this process."""
    place = new(tmp_path_factory.mktemp("undisturbed"))
    run(place, "local[2]", state="driver")
    return place


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def new(place: Path) -> Path:
    return prepare(place, rows=ROWS, files=FILES)


def written(place: Path) -> dict[str, list[str]]:
    return {
        str(file.relative_to(place)): rows(file)
        for file in sorted((place / "out").glob("*/part-*"))
    }


def rows(file: Path) -> list[str]:
    if file.suffix == ".parquet":
        return sorted(map(repr, parquet.read_table(file).to_pylist()))
    return sorted(file.read_text("utf-8").splitlines())


def begun(place: Path, master: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.engines.spark.on_cluster", str(place), master]
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    environ = {**os.environ, "PYTHONPATH": path}
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        environ.pop(name, None)
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=environ)


def check(place: Path, undisturbed: Path) -> None:
    assert written(place) == written(undisturbed)
    totals = [json.loads((one / "totals.json").read_text("utf-8")) for one in (place, undisturbed)]
    assert totals[0] == totals[1]


def check_executors(
    kills: int, *, seed: int, on: Cluster, undisturbed: Path, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    done = attempt = 0
    while done < kills:
        attempt += 1
        place = new(tmp_path / str(attempt))
        with begun(place, on.url) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"running\n"
            while process.poll() is None:
                time.sleep(draw.uniform(0.5, 6))
                there = on.executors
                if there and done < kills and process.poll() is None:
                    on.kill(draw.choice(there))
                    done += 1
            assert process.returncode == 0
        check(place, undisturbed)


def check_drivers(kills: int, *, seed: int, on: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    draw = random.Random(seed)
    done = attempt = 0
    while done < kills:
        attempt += 1
        place = new(tmp_path / str(attempt))
        while not (place / "totals.json").exists():
            with begun(place, on.url) as process:
                assert process.stdout is not None
                if done < kills:
                    stopper = threading.Thread(target=process.stdout.readline)
                    stopper.start()
                    stopper.join(draw.uniform(1, 60))
                    time.sleep(draw.uniform(0, 8))
                    process.send_signal(signal.SIGKILL)
                    stopper.join()
                code = process.wait()
                assert code in (0, -signal.SIGKILL), code
                done += code != 0
        check(place, undisturbed)


def test_two_executors_die(two_workers: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    check_executors(2, seed=1, on=two_workers, undisturbed=undisturbed, tmp_path=tmp_path)


def test_two_drivers_die(two_workers: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    check_drivers(2, seed=2, on=two_workers, undisturbed=undisturbed, tmp_path=tmp_path)


def test_thirty_executors_die(two_workers: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    check_executors(30, seed=3, on=two_workers, undisturbed=undisturbed, tmp_path=tmp_path)


def test_thirty_drivers_die(two_workers: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    check_drivers(30, seed=4, on=two_workers, undisturbed=undisturbed, tmp_path=tmp_path)
