"""Whatever Tidegate plans, DuckDB is asked in SQL that it understands, or the query is refused by name."""

from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from tidegate.kernel.arrow import arrow_type
from tidegate.plan.batch.query import batches_of
from tidegate.plan.catalog import SourceDef, TableDef
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.session.duck import Judge
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

TESTS = Path(__file__).parents[1]
FILES = [
    *sorted((TESTS / "corpus").rglob("*.yaml")),
    *sorted((TESTS / "scenarios").rglob("*.yaml")),
]


def judge_of(program: Program) -> Judge:
    """Every source and table, without rows."""
    tables = {}
    for kind in ("source", "table"):
        for each in program.catalog.all_of(kind):
            assert isinstance(each, (SourceDef, TableDef))
            columns = [(column.name, arrow_type(column.type)) for column in each.physical]
            beside = [("$source_time", pa.timestamp("us", tz="UTC"))] if kind == "source" else []
            tables[each.name] = pa.schema([*columns, *beside]).empty_table()
    return Judge(tables)


@pytest.mark.thorough
@pytest.mark.parametrize("folder", sorted({path.parent.name for path in FILES}))
def test_duckdb_understands_what_it_is_asked(folder: str) -> None:
    wrong = []
    for path in (path for path in FILES if path.parent.name == folder):
        sql = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader).get("sql", "")
        program = plan_script(parse_script(SourceText(sql, str(path))), Settings())
        if program.errors:
            continue
        for name, batch in batches_of(program):
            if isinstance(batch, str):
                assert batch.endswith("cannot be verified"), (path, name)
                continue
            try:
                found = judge_of(program).answer(batch.sql)
            except Exception as problem:
                wrong.append(f"{path.name}, {name}: {problem}")
                continue
            assert found.column_names == [column.name for column in batch.compared]
            assert found.num_rows == 0, (path, batch.sql)
    assert wrong == []
