"""What a run did with every row, in lines: rows read = aggregated + filtered + diverted, by stream (semantics §8)."""

from collections.abc import Iterator, Mapping

from tidegate.session.accounts import Account, StageAccount


def lines(account: Account, *, seconds: float, how: str, earlier: int = 0) -> Iterator[str]:
    """The summary of a run that `how`: ended, or was stopped. `earlier` epochs are of runs that it goes on from."""
    epochs = account.epoch + 1
    yield f"{how} after {seconds:.1f} s, {_epochs(epochs - earlier)}"
    if earlier:
        yield f"  with {_epochs(earlier)} of earlier runs, {epochs:,} in all, there were:"
    for name, rows in account.read.items():
        yield f"  source {name}: {_rows(rows)} read{_malformed(account.malformed.get(name, 0))}"
    for stage in account.stages:
        yield f"  stream {stage.name}: {_stage(stage)}"
    diverted = sum(account.diverted.values())
    if diverted:
        yield f"  side outputs: {_sides(account, diverted)}"
    yield from (_why_late(stage) for stage in account.stages if _mostly_late(stage))


def _epochs(count: int) -> str:
    return f"{count:,} epoch{'' if count == 1 else 's'}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _malformed(count: int) -> str:
    return f", {count:,} malformed record{'' if count == 1 else 's'} diverted" if count else ""


def _stage(stage: StageAccount) -> str:
    told = (
        f"{_rows(stage.rows)} = {stage.aggregated:,} {'passed on' if stage.stateless else 'aggregated'}"
        f" + {stage.filtered:,} filtered"
        f" + {stage.diverted:,} diverted{_reasons(stage.reasons)}; {stage.emitted:,} emitted"
    )
    if stage.broken:
        told += f"; {sum(stage.broken.values()):,} groups without a value{_reasons(stage.broken)}"
    if stage.stamped:
        told += f"; stamped by the clock: {stage.stamped:,}"
    if stage.open_windows:
        told += f"; open windows: {stage.open_windows:,}"
    return told


def _reasons(reasons: Mapping[str, int]) -> str:
    return (
        f" ({', '.join(f'{name} {count:,}' for name, count in reasons.items())})" if reasons else ""
    )


def _sides(account: Account, diverted: int) -> str:
    delivered, dropped = sum(account.delivered.values()), sum(account.dropped.values())
    counted = diverted - delivered - dropped
    return (
        f"{diverted:,} = {delivered:,} delivered + {counted:,} counted only + {dropped:,} dropped"
    )


def _mostly_late(stage: StageAccount) -> bool:
    late = sum(count for name, count in stage.reasons.items() if name.startswith("late/"))
    return late > stage.aggregated


def _why_late(stage: StageAccount) -> str:
    """Late rows that outnumber the others are seldom what was meant."""
    why = "a longer lag in WATERMARK FOR, or ALLOWED LATENESS, waits for them"
    if stage.falls_back:
        why = (
            "a row without event time takes that of its file or record and moves the watermark, unless "
            f"on_missing_event_time = 'divert'; {why}"
        )
    return f"hint: most rows of {stage.name} were late: {why}"
