"""Class-data archives and JVMs that start ahead: each makes a start faster, and neither can break one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.engines.spark import archives, jvm, session, warmup
from tidegate.engines.spark.java import Java
from tidegate.errors import ConfigRefused

JAVA = Java(path=Path("/jre/bin/java"), version=(21, 0, 8), origin="a test")

# Starts a session as `tidegate run` does, and tells with which flags.
SESSION = """
from tidegate.engines.spark.session import get_ready, session
get_ready("local[1]", profile="dev", conf={})
spark = session("local[1]")
assert spark.range(10).count() == 10
beans = spark._jvm.java.lang.management.ManagementFactory
print(*beans.getRuntimeMXBean().getInputArguments())
"""


def path(java: Java = JAVA, class_path: tuple[str, ...] = ("/a/*",), profile: str = "dev") -> Path:
    return archives.archive_stem(java, class_path, profile, {"XDG_CACHE_HOME": "/cache"})


def test_an_archive_belongs_to_java_class_path_and_profile() -> None:
    newer = Java(path=JAVA.path, version=(21, 0, 9), origin="a test")
    elsewhere = Java(path=Path("/other/java"), version=JAVA.version, origin="a test")
    different = {
        path(),
        path(newer),
        path(elsewhere),
        path(class_path=("/b/*",)),
        path(profile="prod"),
    }
    assert len(different) == 5
    assert path() == path()
    assert path().parent == Path("/cache/tidegate")


@pytest.mark.parametrize("given", [{}, {"XDG_CACHE_HOME": ""}, {"XDG_CACHE_HOME": "relative"}])
def test_without_a_cache_folder_of_its_own_it_is_below_home(given: dict[str, str]) -> None:
    made = archives.archive_stem(JAVA, (), "dev", {"HOME": "/home/somebody", **given})
    assert made.parent == Path("/home/somebody/.cache/tidegate")


def launch(folder: Path, **conf: str) -> jvm.Launch:
    return jvm.Launch(
        java=JAVA,
        spark_home=folder,
        profile=jvm.Profile.DEV,
        conf=conf,
        environ={"XDG_CACHE_HOME": str(folder)},
    )


def shared(one: jvm.Launch) -> list[str]:
    return [word for word in one.command(Path("p")) if "Archive" in word]


def kept(stem: Path, content: bytes) -> Path:
    stem.parent.mkdir(exist_ok=True)
    unfinished = stem.parent / "unfinished"
    unfinished.write_bytes(content)
    return archives.keep(unfinished, stem)


def test_an_archive_is_used_if_it_is_there_and_whole(tmp_path: Path) -> None:
    starting = launch(tmp_path)
    assert shared(starting) == []
    archive = kept(starting.archive_stem, b"0123456789")
    assert shared(starting) == [f"-XX:SharedArchiveFile={archive}"]
    archive.write_bytes(b"01234")
    assert shared(starting) == []


def test_a_new_archive_replaces_the_old_one(tmp_path: Path) -> None:
    stem = launch(tmp_path).archive_stem
    old, new = kept(stem, b"old"), kept(stem, b"newer")
    assert (old.exists(), archives.found(stem)) == (False, new)


def test_who_names_an_archive_gets_that_one(tmp_path: Path) -> None:
    own = "-XX:SharedArchiveFile=/mine.jsa"
    starting = launch(tmp_path, **{"spark.driver.extraJavaOptions": own})
    kept(starting.archive_stem, b"0123456789")
    assert shared(starting) == [own]


@pytest.fixture
def silent_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Java that says its version, and starts nothing."""
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.3.0.jar").touch()
    executable = tmp_path / "bin" / "java"
    executable.parent.mkdir()
    executable.write_text(
        '#!/bin/sh\n[ "$1" = -version ] && echo \'version "21"\' && exit\nexit 7\n'
    )
    executable.chmod(0o755)
    for name in ("SPARK_HOME", "JAVA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


def test_a_warm_up_that_fails_says_why_and_leaves_nothing(silent_java: Path) -> None:
    with pytest.raises(ConfigRefused, match="no class archive was made") as refused:
        warmup.warm_up("dev")
    assert refused.value.code == "TG-4906"
    assert "exit code 7" in str(refused.value)
    assert list((silent_java / "tidegate").iterdir()) == []


def test_a_cache_that_cannot_be_written(silent_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(silent_java / "bin" / "java"))
    with pytest.raises(ConfigRefused, match="Not a directory"):
        warmup.warm_up("dev")


def test_what_cannot_start_ahead_is_told_later(
    silent_java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_ahead", [])
    monkeypatch.setattr(session, "_has_jvm", lambda: False)
    monkeypatch.setattr(session, "_active", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(silent_java / "nowhere"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("tidegate.engines.spark.java.find_spec", lambda _: None)
    session.get_ready("local[1]", profile="dev", conf={})
    assert session._ahead == []


def test_a_jvm_that_nobody_wants_after_all_is_ended(
    silent_java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = silent_java / "bin" / "java"
    executable.write_text(executable.read_text().replace("exit 7", "exec sleep 60"))
    starting = jvm.begin(jvm.Profile.DEV, {})
    folder = Path(starting.folder.name)
    assert starting.process.poll() is None
    assert folder.exists()
    starting.end()
    assert starting.process.returncode is not None
    assert not folder.exists()


def flags_of_a_session(cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout


@pytest.mark.spark
@pytest.mark.slow
def test_an_archive_is_made_taken_and_harmless_when_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = warmup.warm_up("dev")
    assert [*made.parent.iterdir()] == [made]
    # A JVM that must have the archive, and cannot, does not start at all.
    started = jvm.start(
        jvm.Profile.DEV,
        {"spark.driver.extraJavaOptions": f"-XX:SharedArchiveFile={made} -Xshare:on"},
    )
    jvm.stop(started.process)
    assert started.process.returncode == 0
    assert f"-XX:SharedArchiveFile={made}" in flags_of_a_session(tmp_path)
    made.chmod(0o644)
    with made.open("r+b") as file:
        file.write(b"no archive")
    assert f"-XX:SharedArchiveFile={made}" in flags_of_a_session(tmp_path)
    with made.open("r+b") as file:
        file.truncate(made.stat().st_size // 2)
    assert "-XX:SharedArchiveFile" not in flags_of_a_session(tmp_path)
