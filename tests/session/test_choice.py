"""Which engines there are."""

import pytest

from tidegate.errors import TidegateError
from tidegate.session.choice import build_of


def test_an_engine_that_nobody_knows() -> None:
    with pytest.raises(TidegateError) as refused:
        build_of("sparc")
    assert (refused.value.code, refused.value.hint) == ("TG-4012", "did you mean spark?")
