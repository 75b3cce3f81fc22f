"""Names of files: one spelling each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.state import layout

epochs = st.integers(0, 10**15)
shards = st.integers(0, 10_000)


@given(epochs, shards)
def test_names_are_read_as_they_are_written(epoch: int, shard: int) -> None:
    assert layout.in_root(layout.manifest(epoch)) == ("manifest", epoch)
    assert layout.in_root(layout.intent(epoch)) == ("intent", epoch)
    for kind, file in (
        ("epoch", layout.delta(epoch, shard)),
        ("snapshot", layout.snapshot(epoch, shard)),
    ):
        directory, _, name = file.partition("/")
        assert layout.directory(file) == directory
        assert layout.shard_of(directory) == shard
        assert layout.in_shard(name) == (kind, epoch)


@given(epochs, epochs)
def test_names_sort_as_epochs_do_as_far_as_they_are_padded(one: int, other: int) -> None:
    one, other = one % 10**12, other % 10**12
    assert (layout.manifest(one) < layout.manifest(other)) == (one < other)


@pytest.mark.parametrize(
    "name",
    [
        "manifest=5.json",
        "manifest=0000000000005.json",
        "manifest=00000000000\u0665.json",
        "manifest=-00000000005.json",
        "manifest=000000000005.json\n",
        "manifest=000000000005.arrow",
        "xmanifest=000000000005.json",
        "epoch=000000000005.json",
        "",
    ],
)
def test_there_is_no_other_spelling(name: str) -> None:
    assert layout.in_root(name) is None
    assert layout.in_shard(name) is None
    assert layout.shard_of(name) is None


@pytest.mark.parametrize("name", ["shard=0", "shard=007", "shard=", "shard=-1", "shards=00"])
def test_other_directories_are_no_shards(name: str) -> None:
    assert layout.shard_of(name) is None


def test_every_attempt_has_a_name_of_its_own() -> None:
    file = layout.delta(7, 0)
    names = {layout.temporary(file) for _ in range(50)}
    assert len(names) == 50
    assert {layout.final(name) for name in names} == {file}
    assert layout.final(file) is None
