"""Notebooks: how rows and plans are shown, `%%tidegate`, and the example, cell by cell."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import tidegate
from tidegate.session import html
from tidegate.session.answers import Result, Subscription

EXAMPLE = Path(__file__).parents[1] / "examples" / "windows.ipynb"
DEFINED = """\
CREATE SOURCE ev (k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM sums AS SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
"""
ROWS = "INSERT INTO ev VALUES ('<a>', 1, TIMESTAMP '1970-01-01 00:00:01'), ('b', 2, TIMESTAMP '1970-01-01 00:00:12');"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """IPython, as a notebook's kernel has it, with the extension loaded."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    made: Any = InteractiveShell.instance()
    made.history_manager.enabled = False
    made.extension_manager.load_extension("tidegate")
    yield made
    session = made.user_ns.get("tidegate_session")
    if session is not None:
        session.close()
    made.history_manager.end_session()
    InteractiveShell.clear_instance()


def run(shell: Any, cell: str) -> Any:
    """What a cell gives; what it raises is raised."""
    with capture_output():
        done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_cells_share_a_session(shell: Any) -> None:
    assert run(shell, f"%%tidegate\n{DEFINED}") is None
    assert run(shell, f"%%tidegate\n{ROWS}") is None
    found = run(shell, "tidegate_session.table('sums')")
    assert found.fetchall() == [("<a>", 1)]
    assert '<td style="text-align:left">&lt;a&gt;</td>' in found._repr_html_()


def test_a_line_is_sql_too(shell: Any) -> None:
    run(shell, f"%%tidegate\n{DEFINED}")
    assert run(shell, "%tidegate SHOW STREAMS").fetchall()[0][0] == "sums"
    plan = run(shell, "%tidegate EXPLAIN LOGICAL sums")
    assert plan._repr_html_().startswith('<pre style="line-height:1.3">Emit mode=on_window_close')


def test_an_answer_can_be_kept(shell: Any) -> None:
    run(shell, f"%%tidegate\n{DEFINED}")
    assert isinstance(run(shell, "%%tidegate -o live\nSELECT k FROM ev"), Subscription)
    run(shell, f"%%tidegate\n{ROWS}")
    live = shell.user_ns["live"]
    assert "live; 2 rows wait to be read" in live._repr_html_()
    assert live.arrow().num_rows == 2
    assert "live; 0 rows wait to be read" in live._repr_html_()


def test_a_session_of_ones_own_is_used(shell: Any) -> None:
    with tidegate.connect() as own:
        shell.user_ns["tidegate_session"] = own
        run(shell, f"%%tidegate\n{DEFINED}")
        assert own.program.query("sums") is not None


def test_a_stream_is_watched_until_its_sources_end(shell: Any) -> None:
    source = "CREATE SOURCE g (k VARCHAR, ts TIMESTAMP) WITH (connector = 'generator', rows = 70);"
    with capture_output() as seen:
        shell.run_cell(
            f"%%tidegate --watch rows\n{source} CREATE STREAM rows AS SELECT k, ts FROM g;"
        ).raise_error()
    assert seen.outputs
    assert "70 rows, the newest last" in seen.outputs[-1].data["text/html"]


def test_mistakes_are_those_of_sql(shell: Any) -> None:
    with pytest.raises(tidegate.TidegateError, match="did you mean ev"):
        run(shell, f"%%tidegate\n{DEFINED}SELECT k FROM evv")


def test_long_tables_are_cut() -> None:
    shown = Result(pa.table({"n": list(range(120))}))._repr_html_()
    assert shown.count("<tr>") == html.MOST_ROWS + 1
    assert "the first 50 of 120 rows" in shown
    assert "no rows" in Result(pa.table({"n": []}))._repr_html_()


def test_the_example_runs(shell: Any) -> None:
    cells = [
        cell for cell in json.loads(EXAMPLE.read_text())["cells"] if cell["cell_type"] == "code"
    ]
    found = [run(shell, "".join(cell["source"])) for cell in cells]
    assert len(found) == 7
    first, why, window, last = found[3:7]
    assert len(first.fetchall()) == 4
    assert "a row of trades with the event time 2026-01-05T09:03:05Z or later" in str(why)
    assert window["end"] == "2026-01-05T09:01:00Z"
    assert len(last) == 6


def test_the_example_is_kept_without_outputs() -> None:
    cells = json.loads(EXAMPLE.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)
