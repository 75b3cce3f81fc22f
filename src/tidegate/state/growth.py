"""When deltas have outgrown the snapshot that they build on.

Decided here: an epoch weighs its bytes and `EPOCH_BYTES` more, for opening and checking two files takes as long as
reading that many. A snapshot is due when the deltas weigh more than it, or than `LEAST_BYTES`. So a restart reads at
most twice the last snapshot, or `LEAST_BYTES` and it, and one epoch more: in proportion to the state, not to the
history. And snapshots write at most as much as the deltas weigh, or less than `LEAST_BYTES`.
"""

from dataclasses import dataclass

EPOCH_BYTES = 256 * 1024
LEAST_BYTES = 256 * EPOCH_BYTES


@dataclass(slots=True)
class Growth:
    snapshot_bytes: int = 0
    delta_bytes: int = 0

    def add(self, size: int) -> None:
        """An epoch's delta."""
        self.delta_bytes += size + EPOCH_BYTES

    def restart(self, snapshot_bytes: int) -> None:
        self.snapshot_bytes, self.delta_bytes = snapshot_bytes, 0

    @property
    def wants_snapshot(self) -> bool:
        return self.delta_bytes > max(self.snapshot_bytes, LEAST_BYTES)
