"""Connectors by name: lazily loaded, others' own found, and those that cannot run yet refused."""

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.connectors.reading import sink_def, source_def, table_def
from tests.planning import planned, refusal
from tidegate.connectors import Connector, open_sink, open_source, read_table
from tidegate.connectors.memory import MemorySink
from tidegate.errors import TidegateError
from tidegate.model.connectors import _Known
from tidegate.model.policies import StreamKind
from tidegate.plan.catalog import SinkDef

SCHEMA = source_def("n BIGINT", connector="memory").physical


@pytest.mark.parametrize(
    "options",
    [
        {"connector": "memory"},
    ],
)
def test_sources_that_cannot_run_yet(options: dict[str, object]) -> None:
    with pytest.raises(TidegateError) as caught:
        open_source(source_def("n BIGINT", **options))
    assert str(caught.value) == (
        f"TG-6001: connector {options['connector']} cannot run in process yet as a source\n"
        "hint: these can: file, kafka, http, socket, generator"
    )


def test_sinks_and_tables_that_cannot_run_yet() -> None:
    for name in ("generator", "nosuch"):
        with pytest.raises(TidegateError, match=f"TG-6001: connector {name} .* as a sink"):
            open_sink(sink_def(name), SCHEMA, StreamKind.APPEND)
    with pytest.raises(TidegateError, match=r"TG-6001: connector memory .* as a table"):
        read_table(table_def("n BIGINT", connector="memory"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution with a connector of its own, and one that claims a name that is taken."""
    info = tmp_path / "others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tidegate.connectors]\nmine = others_connector:CONNECTOR\nfile = others_connector:CONNECTOR\n"
        "broken = broken_connector:CONNECTOR\nnameless = others_connector:CONNECTOR\n"
    )
    (tmp_path / "others_connector.py").write_text(
        "from tests.connectors.test_registry import a_sink\n"
        "from tidegate.connectors import Connector\n"
        "from tidegate.model.connectors import ConnectorSpec\n"
        "from tidegate.model.options import OptionSpec, Scope\n"
        "size = OptionSpec(name='size', kind='count', doc='how large')\n"
        "spec = ConnectorSpec(name='mine', doc='mine', roles=(Scope.SINK,), options=(size,))\n"
        "CONNECTOR = Connector(spec=spec, sink=a_sink)\n"
    )
    (tmp_path / "broken_connector.py").write_text("import nothing_of_that_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    _Known.loaded.clear()
    sys.modules.pop("others_connector", None)


def a_sink(definition: SinkDef, schema: object, kind: StreamKind) -> MemorySink:
    return MemorySink(pa.schema([(definition.name, pa.int64())]))


@pytest.mark.usefixtures("installed")
def test_a_connector_of_others() -> None:
    writer = open_sink(sink_def("mine"), SCHEMA, StreamKind.APPEND)
    assert isinstance(writer, MemorySink)
    assert writer.schema.names == ["out"]
    with pytest.raises(TidegateError, match=r"TG-6001: connector mine .* as a source"):
        open_source(replace(source_def("n BIGINT", connector="memory"), connector="mine"))


STREAM = "CREATE SOURCE s (n BIGINT); CREATE STREAM t AS SELECT n FROM s;"


@pytest.mark.usefixtures("installed")
def test_statements_know_the_connector_of_others() -> None:
    text = f"{STREAM} CREATE SINK out FROM t WITH (connector = 'mine', size = '3')"
    definition = planned(text, prelude="").catalog.find("out")
    assert isinstance(definition, SinkDef)
    assert (definition.connector, definition.options) == ("mine", {"size": 3})


@pytest.mark.usefixtures("installed")
def test_statements_are_held_to_what_it_says() -> None:
    for clause, code, message in (
        ("connector = 'mine', «sise» = '3'", "TG-4001", "connector mine has no option sise"),
        ("connector = «'mind'»", "TG-4003", "there is no connector mind"),
        ("connector = «'broken'»", "TG-4017", "connector broken cannot be loaded from broken_conn"),
        ("connector = «'nameless'»", "TG-4017", "it has no spec of the name nameless"),
    ):
        error = refusal(f"{STREAM} CREATE SINK out FROM t WITH ({clause})", prelude="")
        assert error.code == code
        assert message in error.message
    error = refusal("CREATE SOURCE x (n BIGINT) WITH (connector = «'mine'»)", prelude="")
    assert error.code == "TG-4004"


@pytest.mark.usefixtures("installed")
def test_a_name_that_is_built_in_cannot_be_taken_over(tmp_path: Path) -> None:
    writer = open_sink(sink_def("file", path=tmp_path / "out"), SCHEMA, StreamKind.APPEND)
    assert not isinstance(writer, MemorySink)


def test_a_connector_is_loaded_when_it_is_named() -> None:
    code = (
        "import sys, tidegate.connectors\n"
        "print(*(name for name in sys.modules if name.startswith('tidegate.connectors.')))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {
        "tidegate.connectors.protocols",
        "tidegate.connectors.registry",
    }


def test_nothing_is_a_connector_by_itself() -> None:
    empty = Connector()
    assert (empty.source, empty.sink, empty.table) == (None, None, None)
