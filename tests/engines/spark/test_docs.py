"""What docs/spark.md shows is run, block after block, as a reader would."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[3] / "docs" / "spark.md"
START = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trades").mkdir()
    rows = [("ACME", 10.0 + n, n + 1, START + timedelta(seconds=30 * n)) for n in range(4)]
    names = ("symbol", "price", "qty", "ts")
    trades = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    parquet.write_table(trades, tmp_path / "trades" / "0.parquet")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 4
    names_there: dict[str, Any] = {"spark": spark}
    for block in blocks:
        exec(block.replace("/data", str(tmp_path)), names_there)
    expected = [32 / 3, 88 / 7]
    answer = names_there["answer"].orderBy("window_end").collect()
    assert [row.vwap for row in answer] == pytest.approx(expected)
    written = spark.read.parquet(str(tmp_path / "vwap")).orderBy("window_end").collect()
    assert [row.vwap for row in written] == pytest.approx(expected)
    shown = capsys.readouterr().out
    assert "{'trades': {'read': 4, 'malformed': 0}}" in shown
    assert "Stage highest" in names_there["by_name"].explain("highest")
    run = names_there["by_name"].start(trigger="availableNow")
    assert run.awaitTermination(60)
    (highest,) = names_there["by_name"].table("highest").collect()
    assert highest[:2] == ("Acme Corporation", 13.0)
