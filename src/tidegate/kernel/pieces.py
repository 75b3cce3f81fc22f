"""From the pieces that row SQL cuts time into to panes.

Row SQL can divide; it knows no months and no zones. Where panes go by a calendar, its `$pane` is the first instant of
a piece that no mark stands within (`Ruler.cuts_us`), in microseconds from `PIECES_FROM_US`. Decided here: such pieces
get the numbers of their panes when they come in, so that a pane is one table of groups, however many pieces it has.
"""

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers, array_of, conform, numbers
from tidegate.kernel.panes import PANE
from tidegate.model.calendar import PIECES_FROM_US, Ruler
from tidegate.model.grid import Marks, pane_shift_us
from tidegate.model.types import Scalar


def numbered(batch: pa.RecordBatch, marks: Marks) -> pa.RecordBatch:
    """The partials of a batch under the numbers of panes; what is negative tells something else, and stays."""
    if not isinstance(marks, Ruler) or not batch.num_rows:
        return batch
    pieces = numbers(conform(batch.column(PANE), Scalar.BIGINT)).values
    panes = np.where(pieces >= 0, _numbers(pieces + PIECES_FROM_US, marks), pieces)
    column = array_of(panes, None, pa.int64())
    return batch.set_column(batch.schema.get_field_index(PANE), PANE, column)


def panes_of(instants_us: Integers, marks: Marks) -> Integers:
    """The number of the pane of each instant."""
    if isinstance(marks, Ruler):
        return _numbers(_pieces(instants_us, marks), marks)
    panes: Integers = (
        instants_us + pane_shift_us(marks.width_us, marks.offset_us)
    ) // marks.width_us
    return panes


def _pieces(instants_us: Integers, marks: Ruler) -> Integers:
    """Where the piece begins that holds each instant."""
    first, *others = marks.cuts_us()
    cuts = np.array([0, *(cut - first for cut in others)], np.int64)
    into = (instants_us - first) % marks.grid_us
    pieces: Integers = instants_us - into + cuts[np.searchsorted(cuts, into, side="right") - 1]
    return pieces


def _numbers(instants_us: Integers, marks: Ruler) -> Integers:
    """Few instants are different ones."""
    different, places = np.unique(instants_us, return_inverse=True)
    found = [marks.number(instant_us) for instant_us in different.tolist()]
    panes: Integers = np.array(found, np.int64)[places]
    return panes
