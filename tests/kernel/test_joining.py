"""Joined rows are those of two loops, whatever the groups hold."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kernel.joining import JoinShape, joined

Row = tuple[int, int, int]  # side, arrival, value
ROW = pa.struct(
    [("$side", pa.int64()), ("$arrival", pa.int64()), ("l", pa.int64()), ("r", pa.string())]
)
groups = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.lists(st.sampled_from([0, 1]), max_size=5)),
    max_size=4,
)


def contents(drawn: list[tuple[int | None, list[int]]]) -> pa.RecordBatch:
    """Each group's key, and its rows, which come group by group but are numbered from the last to the first."""
    number = sum(len(sides) for _, sides in drawn)
    lists = []
    for _, sides in drawn:
        rows = []
        for side in sides:
            number -= 1
            own = {"l": number} if side == 0 else {"r": str(number)}
            rows.append({"$side": side, "$arrival": number, **own})
        lists.append(rows or None)
    keys = pa.array([key for key, _ in drawn], pa.int64())
    return pa.RecordBatch.from_arrays([keys, pa.array(lists, pa.list_(ROW))], names=["$k0", "$p0"])


def naive(
    batch: pa.RecordBatch, *, keeps_left: bool, keeps_right: bool
) -> list[tuple[int, int | None, str | None]]:
    found: list[tuple[int, int | None, str | None]] = []
    for owner, group in enumerate(batch.to_pylist()):
        rows = sorted(group["$p0"] or [], key=lambda row: row["$arrival"])
        left = [row["l"] for row in rows if row["$side"] == 0]
        right = [row["r"] for row in rows if row["$side"] == 1]
        if group["$k0"] is not None and left and right:
            found += [(owner, one, other) for one in left for other in right]
            continue
        found += [(owner, one, None) for one in left if keeps_left]
        found += [(owner, None, other) for other in right if keeps_right]
    return found


@given(drawn=groups, keeps_left=st.booleans(), keeps_right=st.booleans())
def test_every_left_row_meets_every_right_row_of_its_group(
    drawn: list[tuple[int | None, list[int]]], keeps_left: bool, keeps_right: bool
) -> None:
    batch = contents(drawn)
    shape = JoinShape(
        side="$side",
        left=("l",),
        right=("r",),
        keys=("$k0",),
        keeps_left=keeps_left,
        keeps_right=keeps_right,
    )
    made = joined(batch, "$p0", shape, arrival="$arrival")
    columns = [made.owners.tolist(), *(made.columns[name].to_pylist() for name in ("l", "r"))]
    assert list(zip(*columns, strict=True)) == naive(
        batch, keeps_left=keeps_left, keeps_right=keeps_right
    )
