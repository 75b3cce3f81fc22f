"""Any text gives statements or TG errors with a place in it: grammar, mutations of it and of the corpus, noise."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.grammar import scripts
from tests.fuzz.mutations import KEYWORDS, ODD, mutated
from tests.fuzz.verdict import judge

pytestmark = pytest.mark.thorough

CORPUS = [
    yaml.safe_load(path.read_text(encoding="utf-8"))["sql"]
    for path in sorted((Path(__file__).parents[1] / "corpus").glob("*/*.yaml"))
]
NOISE = st.text() | st.lists(st.sampled_from([*KEYWORDS, *ODD, " "]), max_size=60).map(" ".join)
BYTES = st.binary(max_size=400).map(lambda raw: raw.decode("utf-8", errors="surrogateescape"))
TEXTS = {
    "grammar": scripts(),
    "mutated grammar": mutated(scripts()),
    "mutated corpus": mutated(st.sampled_from(CORPUS)),
    "noise": NOISE,
    "bytes": BYTES
    | BYTES.map(lambda text: text.encode("utf-8", errors="replace").decode("latin-1")),
}


def fuzz(texts: st.SearchStrategy[str], examples: int) -> Callable[[], None]:
    @settings(max_examples=examples)
    @given(texts)
    def run(text: str) -> None:
        judge(text)

    return run


@pytest.mark.parametrize("kind", TEXTS)
def test_any_text(kind: str) -> None:
    fuzz(TEXTS[kind], settings.default.max_examples if settings.default else 100)()


@pytest.mark.slow
@pytest.mark.parametrize("kind", TEXTS)
def test_much_more_text(kind: str) -> None:
    fuzz(TEXTS[kind], 5_000)()


def test_the_grammar_is_mostly_valid() -> None:
    """Otherwise mutations would only ever test the first check that fails."""
    read: Counter[bool] = Counter()

    @settings(max_examples=50, database=None, derandomize=True)
    @given(scripts())
    def count(text: str) -> None:
        read[not any(error.code.startswith("TG-1") for error in judge(text).errors)] += 1

    count()
    assert read[True] > read[False]
