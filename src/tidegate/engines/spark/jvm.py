"""Start Spark's JVM ourselves, and hand it to PySpark.

PySpark would run `spark-submit`: bash, a first JVM that only computes a command line, then the JVM with Spark. That
takes longer, and always asks for the module jdk.incubator.vector, which JREs from PyPI leave out, so that they die at
once. Here the last step is done alone, with flags that are ours. The protocol is PySpark's own: the JVM writes port and
secret to the file named by _PYSPARK_DRIVER_CONN_INFO_PATH, and PySpark connects to what PYSPARK_GATEWAY_PORT and
PYSPARK_GATEWAY_SECRET say.

The JVM lives no longer than this process, however that ends: it reads its stdin and exits at the end of it, and the
other end of that pipe is open here only.

A start takes seconds in which this process has other things to do: `begin` starts the JVM, `ready` waits for it.

What differs from spark-submit: conf/spark-env.sh is not read, and the settings that shape the JVM itself
(spark.driver.memory, .extraJavaOptions, .extraClassPath) are taken from `conf`, not from spark-defaults.conf.
"""

import atexit
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from tidegate import errors
from tidegate.engines.spark import archives
from tidegate.engines.spark.java import Java, find_java

# org.apache.spark.launcher.JavaModuleOptions without --add-modules=jdk.incubator.vector (a test compares the two).
MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(
        f"--add-opens={package}=ALL-UNNAMED"
        for package in (
            "java.base/java.lang",
            "java.base/java.lang.invoke",
            "java.base/java.lang.reflect",
            "java.base/java.io",
            "java.base/java.net",
            "java.base/java.nio",
            "java.base/java.util",
            "java.base/java.util.concurrent",
            "java.base/java.util.concurrent.atomic",
            "java.base/jdk.internal.ref",
            "java.base/sun.nio.ch",
            "java.base/sun.nio.cs",
            "java.base/sun.security.action",
            "java.base/sun.util.calendar",
            "java.security.jgss/sun.security.krb5",
        )
    ),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)

STOP_WITHIN_S = 10.0


class Profile(StrEnum):
    """What the JVM is tuned for: to be there soon, or to be fast for long."""

    DEV = "dev"
    PROD = "prod"

    @property
    def flags(self) -> tuple[str, ...]:
        """C1 alone starts sooner and costs 30 to 50 % of throughput; G1, the default, loses a quarter on few cores."""
        match self:
            case Profile.DEV:
                return ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
            case Profile.PROD:
                return ("-XX:+UseParallelGC",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start a JVM with Spark in it: all that decides its command line and its environment."""

    java: Java
    spark_home: Path
    profile: Profile
    conf: Mapping[str, str]
    environ: Mapping[str, str]

    def command(self, properties: Path) -> list[str]:
        extra = shlex.split(self.conf.get("spark.driver.extraJavaOptions", ""))
        submit = shlex.split(self.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        return [
            str(self.java.path),
            *("-cp", os.pathsep.join(self._class_path())),
            f"-Xmx{heap(self._memory())}",
            *self.profile.flags,
            *MODULE_OPTIONS,
            *self._logging(),
            *self._class_data(extra),
            *extra,
            "org.apache.spark.deploy.SparkSubmit",
            *("--properties-file", str(properties), "--load-spark-defaults"),
            *submit,
        ]

    def environment(self, connection_info: Path) -> dict[str, str]:
        return {
            **self.environ,
            "SPARK_HOME": str(self.spark_home),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection_info),
        }

    @property
    def archive_stem(self) -> Path:
        """Where a class-data archive for this launch would be."""
        return archives.archive_stem(self.java, self._class_path(), self.profile, self.environ)

    def _class_data(self, extra: list[str]) -> tuple[str, ...]:
        """Whoever has something to say about archives knows better."""
        said = any("Archive" in word or "-Xshare" in word for word in extra)
        archive = None if said else archives.found(self.archive_stem)
        return archives.use(archive) if archive else ()

    def _memory(self) -> str:
        return self.conf.get("spark.driver.memory") or self.environ.get("SPARK_DRIVER_MEMORY", "1g")

    def _conf_dir(self) -> Path:
        return Path(self.environ.get("SPARK_CONF_DIR") or self.spark_home / "conf")

    def _logging(self) -> list[str]:
        if any(self._conf_dir().glob("log4j2.*")):
            return []
        return [f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}"]

    def _class_path(self) -> list[str]:
        """In the order of Spark's own launcher: the user's classes, settings, Spark, Hadoop's settings."""
        entries = [self.conf.get("spark.driver.extraClassPath", ""), str(self._conf_dir())]
        entries.append(str(self.spark_home / "jars" / "*"))
        for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH"):
            entries.append(self.environ.get(name, ""))
        return [entry for entry in entries if entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jvm:
    """A running JVM that waits for PySpark."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str

    @contextmanager
    def offered(self) -> Iterator[None]:
        """Within, a SparkContext that is made connects to this JVM. Afterwards, no child process learns the secret."""
        os.environ["PYSPARK_GATEWAY_PORT"] = str(self.port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = self.secret
        try:
            yield
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """A JVM that is on its way."""

    process: subprocess.Popen[bytes]
    command: list[str]
    folder: tempfile.TemporaryDirectory[str]

    def ready(self, *, timeout_s: float = 300.0) -> Jvm:
        """Wait until it is there. `timeout_s` has to include the download of spark.jars.packages."""
        with self.folder as folder:
            info = _connection_info(folder)
            _wait_for(info, self.process, timeout_s=timeout_s, command=self.command)
            port, secret = read_connection(info.read_bytes())
        return Jvm(process=self.process, port=port, secret=secret)

    def abandon(self) -> None:
        """Nobody will connect to it."""
        self.process.kill()
        stop(self.process)
        with suppress(OSError):
            self.folder.cleanup()

    def end(self) -> None:
        """When this process ends: in peace, if anybody has connected."""
        if Path(self.folder.name).exists():
            self.abandon()
        else:
            stop(self.process)


def launch_for(profile: Profile, conf: Mapping[str, str]) -> Launch:
    """How a JVM for this process is started."""
    return Launch(
        java=find_java(),
        spark_home=spark_home(os.environ),
        profile=profile,
        conf=conf,
        environ=os.environ,
    )


def begin(profile: Profile, conf: Mapping[str, str]) -> Starting:
    """Start a JVM for this process."""
    launch = launch_for(profile, conf)
    folder = tempfile.TemporaryDirectory(prefix="tidegate-jvm-")
    properties = Path(folder.name, "spark.properties")
    properties.write_text(properties_text(conf), encoding="utf-8")
    command = launch.command(properties)
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=2,  # our stdout is for rows
        env=launch.environment(_connection_info(folder.name)),
        process_group=0,  # Ctrl-C is for us: the JVM has to outlive it, for a query to drain
    )
    starting = Starting(process=process, command=command, folder=folder)
    atexit.register(starting.end)
    return starting


def start(profile: Profile, conf: Mapping[str, str], *, timeout_s: float = 300.0) -> Jvm:
    """Start a JVM for this process, and wait for it."""
    return begin(profile, conf).ready(timeout_s=timeout_s)


def _connection_info(folder: str) -> Path:
    return Path(folder, "connection")


def stop(process: subprocess.Popen[bytes], *, within_s: float = STOP_WITHIN_S) -> None:
    """End the JVM the way that the end of this process does, and see it gone."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def spark_home(environ: Mapping[str, str]) -> Path:
    """SPARK_HOME, or else the Spark inside the installed pyspark."""
    if "SPARK_HOME" in environ:
        home = Path(environ["SPARK_HOME"])
    else:
        spec = find_spec("pyspark")
        if spec is None or spec.origin is None:
            raise errors.no_pyspark()
        home = Path(spec.origin).parent
    if not any(home.glob("jars/spark-core_*.jar")):
        raise errors.no_spark_jars(home=home)
    return home


def heap(memory: str) -> str:
    """Spark's way to write an amount of memory (MiB unless it says otherwise) as the JVM takes it.

    >>> heap("2g"), heap("512MB"), heap("900")
    ('2g', '512m', '900m')
    """
    parts = re.fullmatch(r"(\d+)(?:([kmgt])b?)?", memory.strip().lower())
    if parts is None:
        raise errors.bad_memory(text=repr(memory))
    return parts[1] + (parts[2] or "m")


def properties_text(conf: Mapping[str, str]) -> str:
    r"""Settings as a Java properties file: unlike the command line, it cannot be read by every user of the machine.

    >>> print(properties_text({"spark.a b": r" c:\d"}), end="")
    spark.a\ b=\ c:\\d
    """
    return "".join(f"{_escaped_key(key)}={_escaped_value(value)}\n" for key, value in conf.items())


def _escaped_key(key: str) -> str:
    return re.sub(r"[\s:=#!\\]", lambda found: "\\" + found[0], key)


def _escaped_value(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return re.sub(r"^(?=\s)", r"\\", escaped)


def read_connection(info: bytes) -> tuple[int, str]:
    """Port and secret as Spark's PythonGatewayServer writes them: int32, int32 length, UTF-8, all big-endian.

    >>> read_connection(bytes([0, 0, 31, 144, 0, 0, 0, 2]) + b"ok")
    (8080, 'ok')
    """
    port, length = int.from_bytes(info[:4], "big"), int.from_bytes(info[4:8], "big")
    return port, info[8 : 8 + length].decode()


def _wait_for(
    connection_info: Path, process: subprocess.Popen[bytes], *, timeout_s: float, command: list[str]
) -> None:
    """Until the file is there: it appears whole, by rename. Otherwise the JVM is gone when this raises."""
    deadline = time.monotonic() + timeout_s
    while not connection_info.exists():
        if process.poll() is not None:
            how = f"it ended with exit code {process.returncode}"
        elif time.monotonic() > deadline:
            how = f"no word from it for {timeout_s:g} s"
        else:
            time.sleep(0.02)
            continue
        process.kill()
        stop(process)
        raise errors.jvm_not_started(how=how, command=shlex.join(command))
