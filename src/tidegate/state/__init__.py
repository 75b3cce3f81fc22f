"""The partial log: what makes an epoch real, and what a restart begins with.

In: per epoch what it will read, the partials that each shard made of it, and facts about where it left the inputs and
the watermarks. Out: after a restart, the last epoch that is real, a snapshot, and the deltas behind it. Next: the
engines.

The protocol is in `protocol.py`, the log on a file system in `log.py`, one for tests and short runs in `memory.py`.
What lies where is `layout.py`, what files hold is `documents.py` (JSON) and `parts.py` (Arrow), how a file becomes
durable is `store.py`. Facts and partials are the engine's; the log only keeps them. Nothing is pickled, nothing is
evaluated.
"""

from tidegate.state.log import PartialLog, open_log
from tidegate.state.memory import MemoryLog
from tidegate.state.protocol import Delta, Log, Recovered, Snapshot
from tidegate.state.records import Entry, Facts, Identity, Part, Parts
from tidegate.state.shards import Attempt, ShardFiles

__all__ = [
    "Attempt",
    "Delta",
    "Entry",
    "Facts",
    "Identity",
    "Log",
    "MemoryLog",
    "Part",
    "PartialLog",
    "Parts",
    "Recovered",
    "ShardFiles",
    "Snapshot",
    "open_log",
]
