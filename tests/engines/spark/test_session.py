"""Settings of a session that is ours, and restraint towards one that is not."""

from typing import TYPE_CHECKING

import pytest

from tidegate.engines.spark.session import (
    CHECKPOINT_MANAGER,
    checkpoint_settings,
    local_cores,
    session,
    settings,
    usable_cores,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[2]", 2),
        ("local[8, 3]", 8),
        ("local[*]", usable_cores()),
        ("local[*,2]", usable_cores()),
        ("local-cluster[2, 2, 1024]", 4),
        ("spark://local:7077", None),
        ("yarn", None),
        ("k8s://https://local[2]", None),
    ],
)
def test_cores_of_a_master(master: str, cores: int | None) -> None:
    assert local_cores(master) == cores


def test_a_cluster_gets_no_settings_of_a_single_machine() -> None:
    chosen = settings("yarn", {})
    assert chosen["spark.sql.session.timeZone"] == "UTC"
    assert "spark.driver.host" not in chosen
    assert "spark.sql.shuffle.partitions" not in chosen


def test_the_callers_settings_win() -> None:
    mine = {"spark.sql.shuffle.partitions": "7", "spark.driver.host": "10.0.0.1"}
    assert mine.items() <= settings("local[2]", mine).items()


@pytest.mark.spark
def test_the_settings_arrive(spark: "SparkSession") -> None:
    chosen = settings("local[2]", {})
    arrived = {key: spark.conf.get(key) for key in chosen}
    assert arrived == chosen
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"


@pytest.mark.spark
def test_a_session_that_exists_is_used_as_it_is(spark: "SparkSession") -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    same = session("local[1]", conf={"spark.sql.shuffle.partitions": "99"})
    assert same is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


@pytest.mark.parametrize("location", ["s3a://bucket/x", "hdfs:///x", "/x", "", "memory:x"])
def test_only_file_checkpoints_are_written_by_renaming(location: str) -> None:
    assert checkpoint_settings(location) == {}
    assert CHECKPOINT_MANAGER in checkpoint_settings("file:///x")


@pytest.mark.spark
def test_a_stream_keeps_its_checkpoint_by_renaming(spark: "SparkSession", tmp_path: "Path") -> None:
    checkpoint = (tmp_path / "checkpoint").as_uri()
    spark.range(10).write.parquet((tmp_path / "in").as_uri())
    for key, value in checkpoint_settings(checkpoint).items():
        spark.conf.set(key, value)
    rows = spark.readStream.schema("id BIGINT").parquet((tmp_path / "in").as_uri())
    writer = rows.writeStream.format("memory").queryName("renaming").trigger(availableNow=True)
    query = writer.option("checkpointLocation", checkpoint).start()
    assert query.awaitTermination(60)
    spark.conf.unset(CHECKPOINT_MANAGER)
    assert spark.table("renaming").count() == 10
