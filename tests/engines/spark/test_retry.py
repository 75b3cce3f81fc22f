"""Tasks that Spark has to try again have written twice, and count once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.spark.on_cluster import ROOT
from tests.engines.spark.test_shards import FILES, run, told, write_rows

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_every_task_dies_once(tmp_path: Path) -> None:
    place = write_rows(tmp_path / "in", rows=600, keys=50)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        environ.pop(name, None)
    command = [sys.executable, "-m", "tests.engines.spark.retrying", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4_000:]
    found = json.loads(done.stdout)
    seen, _ = run(told(place), local=True)
    assert found["rows"] == seen.rows
    assert found["diverted"] == seen.diverted
    assert found["died"] >= FILES, "a shard of every stage has rows in every file"
