"""The connector that docs/connectors.md shows, installed as a package would be, and run."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.model.connectors import _Known

PAGE = Path(__file__).parents[2] / "docs" / "connectors.md"
SQL = """\
CREATE SOURCE ev (n BIGINT) WITH (connector = 'numbers', count = '7');
CREATE STREAM doubled AS SELECT 2 * n AS n FROM ev;
CREATE SINK total FROM doubled WITH (connector = 'numbers');
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    (points,) = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    group, name, place = re.fullmatch(r'\[.*"(.*)"\]\n(\w+) = "(.*)"\n', points).groups()  # type: ignore[union-attr]
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "numbers.py").write_text(code)
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {place}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    _Known.loaded.clear()
    for module in ("my_package", "my_package.numbers"):
        sys.modules.pop(module, None)


@pytest.mark.usefixtures("installed")
def test_it_runs(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(SQL)
    from tidegate.cli.main import root

    with pytest.raises(SystemExit) as done:
        root.main(["run", str(tmp_path / "q.sql"), "-q", "--batch-rows", "3"])
    assert done.value.code == 0
    sums = sys.modules["my_package.numbers"].Sum.by_epoch
    assert [total for total in sums.values() if total] == [6, 24, 12]
