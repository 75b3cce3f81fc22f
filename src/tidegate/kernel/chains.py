"""Chains of rows: each row knows the next one, and which rows a chain reaches is asked.

Decided here: chains are followed by doubling (pointer jumping, Wyllie 1979). In each round all rows know the row twice
as far ahead, so a chain of a thousand rows takes ten rounds, however many chains there are.

>>> chain(np.array([0]), np.array([2, 3, 3, 4, 4])).tolist()
[0, 2, 3]
"""

import numpy as np

from tidegate.kernel.arrow import Integers


def chain(begins: Integers, following: Integers) -> Integers:
    """All rows that are reached from `begins`, ascending; behind the last row nothing follows."""
    count = len(following) - 1
    reached = np.zeros(count + 1, bool)
    reached[begins] = True
    reached[count] = False
    while True:
        more = following[reached]
        more = more[more < count]
        if len(more) == 0:
            return np.flatnonzero(reached)
        reached[more] = True
        following = following[following]
