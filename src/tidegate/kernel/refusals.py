"""Partials that an operator did not take in: which, why, and which window their rows have missed."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tidegate.kernel.arrow import Integers


@dataclass(frozen=True, slots=True)
class Refused:
    """`codes` are those of `model/policies.py`, one per partial."""

    partials: pa.RecordBatch
    codes: Integers
    starts_us: Integers
    ends_us: Integers

    @classmethod
    def nothing(cls, like: pa.RecordBatch) -> "Refused":
        none = np.zeros(0, np.int64)
        return cls(like.slice(0, 0), none, none, none)

    def __len__(self) -> int:
        return len(self.codes)
