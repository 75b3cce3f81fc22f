"""What a shard's task sends to the driver, as one row: facts as JSON, tables as Arrow streams.

Decided here: nothing is pickled on this way, so a driver never evaluates what came from elsewhere. What a task refuses
is sent, too, and raised on the driver under its own name: Spark would try the task again, with the same file and the
same disk, and then wrap its words in a trace of another process.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tidegate import errors
from tidegate.errors import TidegateError
from tidegate.kernel.changes import Broken, Emitted, together
from tidegate.kernel.finishing import WINDOW_TIME
from tidegate.kernel.panes import WINDOW_END
from tidegate.kernel.refusals import Refused
from tidegate.kernel.steps import Account, Outcome, Seen
from tidegate.state import Attempt, Entry, Part
from tidegate.state.parts import pack, unpack

SCHEMA = pa.schema([("shard", pa.int32()), ("facts", pa.string()), ("tables", pa.binary())])
_CODE, _START, _END = "$code", "$start", "$end"
_REFUSED, _UNSURE = "refused", "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A shard's outcome. `attempt` None: it had nothing to write. `seen` is by input, `next_end_us` of its windows."""

    shard: int
    outcome: Outcome
    attempt: Attempt | None
    seen: Sequence[Seen]
    next_end_us: int
    bytes: int
    windows: int


def sent(parcel: Parcel) -> pa.RecordBatch:
    """The row of a parcel."""
    outcome, emitted = parcel.outcome, parcel.outcome.emitted
    facts = {
        "rows_by_code": dict(outcome.account.rows_by_code),
        "stamped": outcome.account.stamped,
        "codes": emitted.broken.codes.tolist(),
        "details": emitted.broken.details,
        "upsert": emitted.upsert,
        "watermark_us": outcome.watermark_us,
        "behind_us": outcome.behind_us,
        "attempt": attempt_facts(parcel.attempt),
        "seen": [[one.rows, one.latest_us] for one in parcel.seen],
        "next_end_us": parcel.next_end_us,
        "bytes": parcel.bytes,
        "windows": parcel.windows,
        "inputs": len(outcome.refused),
    }
    tables = {"rows": emitted.rows, "units": _told(emitted), "broken": emitted.broken.units}
    if emitted.ops is not None:
        tables["ops"] = pa.record_batch({"op": pa.array(emitted.ops)})
    for place, refused in enumerate(outcome.refused):
        tables[f"refused.{place}"] = _refused_batch(refused)
    return row_of(parcel.shard, facts, {name: _table(it) for name, it in tables.items()})


def _told(emitted: Emitted) -> pa.RecordBatch:
    """What rows are of. Rows that nothing replaces need no identity, only their time, for a stage that reads them."""
    names = emitted.units.schema.names
    times = [name for name in (WINDOW_END, WINDOW_TIME) if name in names]
    return emitted.units.select(times) if emitted.ops is None and times else emitted.units


def row_of(shard: int, facts: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([shard], pa.int32()),
            pa.array([json.dumps(facts)]),
            pa.array([pack(tables)], pa.binary()),
        ],
        schema=SCHEMA,
    )


def refusal(shard: int, error: TidegateError) -> pa.RecordBatch:
    """The row of a task that could not do what it was to do."""
    told = {"code": error.code, "message": error.message, "hint": error.hint}
    return row_of(shard, {_REFUSED: told}, {})


def unsure(shard: int) -> pa.RecordBatch:
    """The row of a task that cannot judge what it got, and has done nothing."""
    return row_of(shard, {_UNSURE: True}, {})


def any_unsure(rows: pa.Table) -> bool:
    return any(_UNSURE in json.loads(facts) for facts in rows.column("facts").to_pylist())


def accepted(rows: pa.Table) -> pa.Table:
    """The rows of all shards; raises what one of them refused."""
    for facts in map(json.loads, rows.column("facts").to_pylist()):
        if _REFUSED in facts:
            raise errors.told(**facts[_REFUSED])
    return rows


def sent_attempts(rows: pa.Table) -> dict[int, Attempt]:
    """What each shard wrote, where that is all it sent."""
    shards, facts = (rows.column(name).to_pylist() for name in ("shard", "facts"))
    found = {}
    for shard, text in zip(shards, facts, strict=True):
        attempt = attempt_of(json.loads(text)["attempt"])
        assert attempt is not None
        found[shard] = attempt
    return found


def received(rows: pa.Table) -> list[Parcel]:
    """All parcels, by shard."""
    found = []
    for shard, facts, body in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        found.append(_parcel(shard, json.loads(facts), unpack(pa.py_buffer(body))))
    return sorted(found, key=lambda parcel: parcel.shard)


def _parcel(shard: int, facts: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Parcel:
    ops = tables.get("ops")
    broken = Broken(
        batch_of(tables["broken"]), np.array(facts["codes"], np.int64), tuple(facts["details"])
    )
    emitted = Emitted(
        batch_of(tables["rows"]),
        batch_of(tables["units"]),
        None if ops is None else ops.column("op").to_numpy(),
        broken,
        facts["upsert"],
    )
    counted = Counter({int(code): rows for code, rows in facts["rows_by_code"].items()})
    outcome = Outcome(
        emitted,
        [_refused(batch_of(tables[f"refused.{place}"])) for place in range(facts["inputs"])],
        Account(counted, facts["stamped"]),
        facts["watermark_us"],
        facts["behind_us"],
    )
    return Parcel(
        shard=shard,
        outcome=outcome,
        attempt=attempt_of(facts["attempt"]),
        seen=[Seen(rows=rows, latest_us=latest_us) for rows, latest_us in facts["seen"]],
        next_end_us=facts["next_end_us"],
        bytes=facts["bytes"],
        windows=facts["windows"],
    )


def seen_by_all(parcels: Sequence[Parcel]) -> tuple[Seen, ...]:
    """What each input has brought, over all shards."""
    found = []
    for of in zip(*(parcel.seen for parcel in parcels), strict=True):
        times = [one.latest_us for one in of if one.latest_us is not None]
        rows = sum(one.rows for one in of)
        found.append(Seen(rows=rows, latest_us=max(times, default=None)))
    return tuple(found)


def merged(outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome of all shards, in their order."""
    account = Account()
    for outcome in outcomes:
        account.merge(outcome.account)
    refused = [_all_refused(list(of)) for of in zip(*(it.refused for it in outcomes), strict=True)]
    first = outcomes[0]
    emitted = together([outcome.emitted for outcome in outcomes])
    return Outcome(emitted, refused, account, first.watermark_us, first.behind_us)


def _all_refused(parts: Sequence[Refused]) -> Refused:
    """Where nothing was refused, columns are those of the state, and not those of what has come."""
    some = [part for part in parts if len(part)]
    return _refused(pa.concat_batches([_refused_batch(part) for part in some or parts[:1]]))


def _refused_batch(refused: Refused) -> pa.RecordBatch:
    more = {_CODE: refused.codes, _START: refused.starts_us, _END: refused.ends_us}
    batch = refused.partials
    for name, values in more.items():
        batch = batch.append_column(name, pa.array(values, pa.int64()))
    return batch


def _refused(batch: pa.RecordBatch) -> Refused:
    own = batch.drop_columns([_CODE, _START, _END])
    return Refused(own, *(batch.column(name).to_numpy() for name in (_CODE, _START, _END)))


def attempt_facts(attempt: Attempt | None) -> Mapping[str, Any] | None:
    return None if attempt is None else {"file": attempt.file, "entry": asdict(attempt.entry)}


def attempt_of(facts: Mapping[str, Any] | None) -> Attempt | None:
    if facts is None:
        return None
    entry = facts["entry"]
    parts = tuple(Part(**part) for part in entry["parts"])
    return Attempt(facts["file"], Entry(**{**entry, "parts": parts}))


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def batch_of(table: pa.Table) -> pa.RecordBatch:
    found = table.combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], schema=table.schema)
