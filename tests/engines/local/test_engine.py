"""What an engine refuses while it runs."""

import pytest

from tests.engines.local.ways import on_lanes
from tests.planning import program
from tidegate import errors
from tidegate.engines.subject import ScenarioSubject

SQL = "CREATE STREAM counted AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol"


def test_nothing_comes_behind_the_end() -> None:
    subject = ScenarioSubject(program(SQL), on_lanes(1))
    subject.end()
    with pytest.raises(errors.TidegateError) as refused:
        subject.watermark("trades", 0)
    assert refused.value.code == errors.input_has_ended().code
