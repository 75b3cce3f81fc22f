"""From the pieces that row SQL cuts time into to panes.

Row SQL can divide; it knows no months and no zones. Where panes go by a calendar, its `$pane` is the first instant of
a piece that no mark stands within (`Ruler.cuts_us`), in microseconds from `PIECES_FROM_US`. Decided here: such pieces
get the numbers of their panes when they come in, so that a pane is one table of groups, however many pieces it has.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, array_of
from tidegate.kernel.panes import PANE, by_pane
from tidegate.model.calendar import PIECES_FROM_US, Ruler
from tidegate.model.grid import Marks, pane_shift_us


def numbered(batch: pa.RecordBatch, marks: Marks) -> Iterator[pa.RecordBatch]:
    """The partials under the numbers of panes, those of each piece for themselves: no group is in a batch twice.

    What is negative tells something else, and stays.
    """
    if not isinstance(marks, Ruler):
        yield batch
        return
    for piece, rows in by_pane(batch):
        pane = marks.number(piece + PIECES_FROM_US) if piece >= 0 else piece
        column = array_of(np.full(rows.num_rows, pane), None, pa.int64())
        yield rows.set_column(rows.schema.get_field_index(PANE), PANE, column)


def panes_of(instants_us: Integers, marks: Marks) -> Integers:
    """The number of the pane of each instant."""
    if isinstance(marks, Ruler):
        different, places = np.unique(_pieces(instants_us, marks), return_inverse=True)
        found = [marks.number(instant_us) for instant_us in different.tolist()]
        panes: Integers = np.array(found, np.int64)[places]
        return panes
    shift_us = pane_shift_us(marks.width_us, marks.offset_us)
    even: Integers = (instants_us + shift_us) // marks.width_us
    return even


def _pieces(instants_us: Integers, marks: Ruler) -> Integers:
    """Where the piece begins that holds each instant."""
    first, *others = marks.cuts_us()
    cuts = np.array([0, *(cut - first for cut in others)], np.int64)
    into = (instants_us - first) % marks.grid_us
    pieces: Integers = instants_us - into + cuts[np.searchsorted(cuts, into, side="right") - 1]
    return pieces
