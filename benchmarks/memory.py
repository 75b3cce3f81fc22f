"""Memory of a process that runs a query over 1 M, then 10 M events of a one-hour window with 100 groups.

It is the resident set of a process of its own, which makes its rows batch by batch; the log is on disk.
"""

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.case import Bound, Case, Measured, Scale, Target
from benchmarks.events import FIVE, events
from benchmarks.running import NOBODY, engine
from tidegate.state import open_log

_ROWS, _BATCH = 10_000_000, 100_000
_SQL = f"SELECT key, window_end, {FIVE} FROM events GROUP BY key, TUMBLE(ts, INTERVAL '1' HOUR)"


def _measure(scale: Scale) -> Measured:
    batches = scale.of(_ROWS // _BATCH)
    command = [sys.executable, "-m", "benchmarks.memory", str(batches)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after_a_tenth, after_all = json.loads(done.stdout)
    return Measured(
        ours=after_all,
        baseline="after a tenth of the rows",
        baseline_value=after_a_tenth,
    )


def _main(count: int) -> None:
    found = []
    with tempfile.TemporaryDirectory(prefix="tidegate-") as place:
        running = engine(_SQL, log=open_log(place, identity=NOBODY))
        for number in range(count):
            batch = events(rows=_BATCH, keys=100, per_second=10_000, seed=number)
            running.insert("events", [batch])
            if number + 1 in (max(1, count // 10), count):
                found.append(_resident_mb())
        running.close()
    print(json.dumps([found[0], found[-1]]))


def _resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


CASES = (
    Case(
        name="memory",
        about="resident memory after 10 M events, one-hour window, 100 groups",
        unit="MB",
        target=Target(Bound.AT_MOST_ABOVE, 30, 5),
        measure=_measure,
    ),
)

if __name__ == "__main__":
    _main(int(sys.argv[1]))
