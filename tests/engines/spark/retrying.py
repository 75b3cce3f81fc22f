"""A run on `local[2,3]` in which every task dies once, behind what it has written; in a process of its own.

`python -m tests.engines.spark.retrying PLACE` prints what the run has shown. `local[2]` never tries a task again.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines.spark.test_files import drain, inputs
from tests.engines.spark.test_shards import Seen, log_in, rows_of_a_file, told
from tidegate.engines.spark.build import spark_build
from tidegate.state.local import LocalStore
from tidegate.state.parts import Sink


class Dying(LocalStore):
    """Of a task's first attempt, nobody hears what it wrote."""

    @contextmanager
    def create(self, file: str) -> Iterator[Sink]:
        from pyspark import TaskContext

        with super().create(file) as sink:
            yield sink
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            Path(self.root, f".died-{context.taskAttemptId()}").touch()
            raise RuntimeError("the task dies")


def shown(place: Path) -> dict[str, object]:
    """What the run shows, and how many tasks have died."""
    made, seen = told(place / "in", state="executors"), Seen.nothing()
    log = log_in(Dying(str(place / "state"), "state"))
    build = spark_build("local[2,3]", inputs=inputs(made, rows_of_a_file(made)))
    engine = build(made, seen.surroundings(log))
    drain(engine)
    engine.close()
    died = len(list((place / "state").glob(".died-*")))
    return {"rows": seen.rows, "diverted": seen.diverted, "died": died}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(shown(Path(sys.argv[1]))))
