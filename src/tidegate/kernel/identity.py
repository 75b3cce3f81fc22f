"""`window_id`: 16 hexadecimal digits that a window has on every run, engine and machine.

Decided here: the hash. It is MurmurHash3's finaliser (Appleby 2011) over the plan's id and both edges in nanoseconds,
one after the other, all modulo 2^64; an edge that does not exist counts as a number that no edge has. Changing
anything of this changes the ids of all windows that were ever emitted.

>>> edges = pa.array([0, None], pa.int64()), pa.array([60_000_000, 60_000_000], pa.int64())
>>> window_ids("0123456789abcdef", *edges).to_pylist()
['8f3bf46571300f39', 'da6d13ec8e0bb010']
"""

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Words, numbers

_NANOSECONDS = np.uint64(1000)
_NO_EDGE = (1 << 64) - 1  # odd, and so no multiple of 1000
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(33)


def window_ids(plan_id: str, starts_us: pa.Array, ends_us: pa.Array) -> pa.Array:
    """One id per window."""
    state = np.full(len(starts_us), int(plan_id, 16), np.uint64)
    with np.errstate(over="ignore"):
        for edges in (starts_us, ends_us):
            found = numbers(edges)
            nanoseconds = found.values.astype(np.int64).view(np.uint64) * _NANOSECONDS
            if found.valid is not None:
                nanoseconds = np.where(found.valid, nanoseconds, np.uint64(_NO_EDGE))
            state = _mixed(_mixed(state) + nanoseconds)
    return _hexadecimal(state)


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> _HALF)) * _FIRST
    words = (words ^ (words >> _HALF)) * _SECOND
    mixed: Words = words ^ (words >> _HALF)
    return mixed


def _hexadecimal(words: Words) -> pa.Array:
    shifts = np.arange(60, -4, -4, dtype=np.uint64)
    digits = _DIGITS[(words[:, None] >> shifts) & np.uint64(15)]
    offsets = np.arange(len(words) + 1, dtype=np.int32) * 16
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(digits))]
    return pa.Array.from_buffers(pa.string(), len(words), buffers)
