"""Why a window has not fired: where a stream stands, in sentences.

Decided here: what is told first (does it wait at all), that every input which must still move is named with the event
that would move it, and that a stream which reads others is followed down to the sources.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidegate.engines.sides import Payload
from tidegate.model.grid import windows_at
from tidegate.model.policies import EmitMode, WatermarkOrigin
from tidegate.model.time import FOREVER_US, NEVER_US, format_duration, format_instant, parse_instant
from tidegate.model.windows import Calendar, Cumulating, Hopping, Session, Sliding, Tumbling
from tidegate.plan.display import window_facts
from tidegate.session.standing import InputStanding, OpenWindow, Standing

_SHOWN = 5
_WAITING = (EmitMode.ON_WINDOW_CLOSE, EmitMode.AFTER_WATERMARK, EmitMode.FINAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """About which window: the one that an instant is in. `group` has values of keys, as text."""

    at_us: int | None = None
    group: Mapping[str, str] | None = None
    late: Sequence[Payload] = ()


def reasons(standing: Standing, question: Question) -> Iterator[str]:
    """All there is to say, line by line."""
    yield f"{standing.name}: {_what(standing)}"
    if standing.window is None and not standing.inputs:
        yield "  rows are passed on at once; nothing is waited for"
        for upstream in standing.upstream.values():
            yield from reasons(upstream, question)
        return
    yield from _watermark(standing)
    if standing.window is None:
        yield "  without a window rows come out as groups change; no watermark is waited for"
        return
    yield from _window(standing, question) if question.at_us is not None else _all_windows(standing)
    yield from _diverted(standing, question)


def _what(standing: Standing) -> str:
    if standing.window is None:
        return f"no window, EMIT {standing.mode.sql}"
    facts = " ".join(f"{name}={value}" for name, value in window_facts(standing.window).items())
    lateness = f", lateness {format_duration(standing.lateness_us)}" if standing.lateness_us else ""
    return f"{facts}{lateness}, EMIT {standing.mode.sql}"


# The watermark, and who holds it


def _watermark(standing: Standing) -> Iterator[str]:
    several = len(standing.inputs) > 1
    yield f"  watermark {instant(standing.watermark_us)}{', the lowest of its inputs' if several else ''}:"
    for one in standing.inputs:
        holds = several and one in standing.holding
        yield f"    {one.name}: {_input(one)}{'  <- holds it back' if holds else ''}"
    for upstream in standing.upstream.values():
        for line in _watermark(upstream):
            yield f"  {upstream.name} {line.strip()}" if line.startswith("  w") else f"  {line}"


def _input(one: InputStanding) -> str:
    parts = [instant(one.watermark_us)]
    match one.origin:
        case WatermarkOrigin.ROWS:
            seen = (
                "no row yet"
                if one.latest_us <= NEVER_US
                else f"latest event {instant(one.latest_us)}"
            )
            parts.append(f"{seen}, less a lag of {format_duration(one.lag_us)}")
        case WatermarkOrigin.CLOCK:
            parts.append("the clock")
        case WatermarkOrigin.UPSTREAM:
            parts.append("as far as that stream says that nothing comes behind")
        case WatermarkOrigin.EXPLICIT | WatermarkOrigin.NONE:
            parts.append("rows do not move it; whoever feeds it must set it")
    if one.is_idle:
        parts.append(f"idle for {format_duration(one.silent_us)}, not waited for")
    return "; ".join(parts)


# Windows


def _all_windows(standing: Standing) -> Iterator[str]:
    if standing.mode not in _WAITING:
        yield f"  rows come out without waiting for the watermark: EMIT {standing.mode.sql}"
    if standing.unlisted:
        yield f"  {standing.unlisted:,} windows are open; their rows are not looked into from here"
        return
    if not standing.windows:
        yield f"  no window is open{_kept(standing)}"
        return
    count = len(standing.windows)
    yield f"  {count:,} window{'' if count == 1 else 's'} open, the first to fire first:"
    for window in standing.windows[:_SHOWN]:
        yield f"    {_extent(window)}: {_rows(window.rows)}{_groups(standing, window)}; {_fires(standing, window)}"
    if count > _SHOWN:
        yield f"    … and {count - _SHOWN:,} more"
    yield from _needed(standing, standing.windows[0].end_us)


def _groups(standing: Standing, window: OpenWindow) -> str:
    count = len(window.groups)
    return f" in {count:,} group{'' if count == 1 else 's'}" if standing.keys else ""


def _kept(standing: Standing) -> str:
    return f"; {_rows(standing.kept)} kept" if standing.kept else ""


def _window(standing: Standing, question: Question) -> Iterator[str]:
    assert question.at_us is not None
    found = [one for one in standing.windows if one.start_us <= question.at_us < one.end_us]
    extents = [(one.start_us, one.end_us) for one in found] or _possible(standing, question.at_us)
    if not extents:
        yield f"  {_no_such_window(standing, question.at_us)}"
    for start_us, end_us in extents:
        window = next(
            (one for one in found if (one.start_us, one.end_us) == (start_us, end_us)), None
        )
        yield f"  window [{instant(start_us)}, {instant(end_us)}):"
        yield f"    {_state(standing, window, end_us, question)}"
        if standing.watermark_us < end_us + standing.closes_after_us and standing.mode in _WAITING:
            for line in _needed(standing, end_us):
                yield f"  {line}"


def _possible(standing: Standing, at_us: int) -> list[tuple[int, int]]:
    if isinstance(standing.window, (Tumbling, Hopping, Cumulating, Calendar)):
        return windows_at(standing.window, at_us)
    return []


def _no_such_window(standing: Standing, at_us: int) -> str:
    if isinstance(standing.window, Session):
        return f"no open session holds {instant(at_us)}: it was closed, or it has had no row"
    if isinstance(standing.window, Sliding):
        ahead = standing.window.lookahead_us or 0
        fires = instant(at_us + ahead + standing.lateness_us)
        return f"a row at {instant(at_us)} fires when the watermark reaches {fires}"
    return "its windows are not on the time axis"


def _state(standing: Standing, window: OpenWindow | None, end_us: int, question: Question) -> str:
    if standing.watermark_us >= end_us + standing.lateness_us:
        return "closed: the watermark has passed it, and what it had was emitted"
    if window is None:
        return "open, and no row has come for it: a window without rows does not fire"
    rows = _of_group(window, question.group)
    whose = (
        ""
        if question.group is None
        else f" of {', '.join(f'{k}={v}' for k, v in question.group.items())}"
    )
    if not rows:
        return f"open, and no row{whose} has come for it: a group without rows has no result"
    due = standing.watermark_us >= end_us
    already = "due, waiting for late rows" if due else "open"
    return f"{already}: {_rows(rows)}{whose}; {_fires(standing, window)}"


def _of_group(window: OpenWindow, group: Mapping[str, str] | None) -> int:
    if group is None:
        return window.rows
    return sum(
        rows
        for own, rows in window.groups
        if all(own.get(name) == value for name, value in group.items())
    )


def _fires(standing: Standing, window: OpenWindow) -> str:
    if standing.mode not in _WAITING:
        return f"closes when the watermark reaches {instant(window.end_us + standing.lateness_us)}"
    at_us = window.end_us + standing.closes_after_us
    if standing.watermark_us <= NEVER_US:
        return f"fires when the watermark reaches {instant(at_us)}"
    away = format_duration(at_us - standing.watermark_us)
    return f"fires when the watermark reaches {instant(at_us)}, {away} on"


def _needed(standing: Standing, end_us: int) -> Iterator[str]:
    """What has to happen for a window with this end."""
    needs = list(needs_of(standing, end_us + standing.closes_after_us))
    if needs:
        yield "  for that, all of these must happen:" if len(needs) > 1 else "  for that:"
        for need in needs:
            yield f"    {need}"
        yield "    or the input ends"


def needs_of(standing: Standing, at_us: int) -> Iterator[str]:
    """What moves each input that is behind, down to sources."""
    for one in standing.inputs:
        if one.watermark_us >= at_us or one.is_idle:
            continue
        upstream = standing.upstream.get(one.name.lower())
        if upstream is not None:
            yield from needs_of(upstream, at_us + upstream.lateness_us)
        else:
            yield f"{_need(one, at_us)}{_or_silence(one, several=len(standing.inputs) > 1)}"


def _need(one: InputStanding, at_us: int) -> str:
    match one.origin:
        case WatermarkOrigin.ROWS:
            return f"a row of {one.name} with the event time {instant(at_us + one.lag_us)} or later"
        case WatermarkOrigin.CLOCK:
            return f"the clock reaches {instant(at_us)}"
        case _:
            return f"the watermark of {one.name} is set to {instant(at_us)} or later"


def _or_silence(one: InputStanding, *, several: bool) -> str:
    if one.idle_timeout_us is not None:
        left = format_duration(one.idle_timeout_us - one.silent_us)
        return f", or none at all for another {left} (idle_timeout)"
    if several:
        return "; with idle_timeout set, a silent input would not be waited for"
    return ""


# What was diverted


def _diverted(standing: Standing, question: Question) -> Iterator[str]:
    if standing.reasons:
        counts = ", ".join(f"{name} {count:,}" for name, count in standing.reasons.items())
        yield f"  diverted so far: {counts}"
    missed = [payload for payload in question.late if _misses(payload, question)]
    if missed:
        yield f"  late for {'this window' if question.at_us is not None else 'windows'}: {_rows(len(missed))}, such as"
        for payload in missed[:_SHOWN]:
            group = ", ".join(f"{k}={v}" for k, v in (payload["group_key"] or {}).items())
            yield (
                f"    {payload['event_time']}{f' of {group}' if group else ''}; "
                f"the watermark was {payload['watermark']}"
            )


def _misses(payload: Payload, question: Question) -> bool:
    window = payload["window"]
    if question.at_us is None or window is None:
        return question.at_us is None
    start = NEVER_US if window["start"] is None else parse_instant(window["start"])
    inside = start <= question.at_us < parse_instant(window["end"])
    group = payload["group_key"] or {}
    return inside and all(str(group.get(k)) == v for k, v in (question.group or {}).items())


def _extent(window: OpenWindow) -> str:
    return f"[{instant(window.start_us)}, {instant(window.end_us)})"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def instant(at_us: int) -> str:
    """As people read it; the ends of time have names."""
    if at_us <= NEVER_US:
        return "none yet"
    if at_us >= FOREVER_US:
        return "the end of the input"
    try:
        return format_instant(at_us)
    except OverflowError:
        return f"{at_us} µs"
