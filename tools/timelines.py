"""Timelines for the documentation, drawn from scenarios that are run.

In: a scenario with one source and one stream. Out: SVG: a lane for each epoch, its rows on the axis of event time, the
watermark behind it, and what it emitted or diverted. Decided here: nothing is drawn by hand; what a page shows is what
the engine did, and the same scenario's expectations are tests.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tidegate.engines.local.build import local_build
from tidegate.engines.subject import ScenarioSubject
from tidegate.model.grid import windows_at
from tidegate.model.time import FOREVER_US, NEVER_US, SECOND
from tidegate.model.windows import Cumulating, Hopping, Tumbling
from tidegate.plan.catalog import SourceDef
from tidegate.plan.planner import plan_query
from tidegate.plan.script import Program, plan_script
from tidegate.plan.settings import Settings
from tidegate.scenarios.loader import load
from tidegate.scenarios.steps import Insert, Scenario
from tidegate.scenarios.values import typed_row
from tidegate.sql.parser import parse_script
from tidegate.sql.source import SourceText

PLACE = Path(__file__).parents[1] / "docs" / "timelines"
_LEFT, _RIGHT, _WIDTH, _LANE, _TOP = 76, 300, 480, 46, 54
_INK, _FAINT, _ONE, _MARK, _LATE = "#33474f", "#5d6f78", "#0a6a8a", "#b3124f", "#a8480a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One epoch."""

    rows: tuple[tuple[int, str], ...]
    watermark_us: int
    emitted: tuple[str, ...]
    late: frozenset[str]


def timelines() -> dict[str, str]:
    """Every drawing by its file name."""
    return {f"{path.stem}.svg": drawing(load(path)) for path in sorted(PLACE.glob("*.yaml"))}


def drawing(scenario: Scenario) -> str:
    program = plan_script(parse_script(SourceText(scenario.sql)), Settings())
    assert not program.errors, program.errors
    lanes = list(_played(scenario, program))
    last_us = max([at for lane in lanes for at, _ in lane.rows]) + 2 * SECOND
    height = _TOP + len(lanes) * _LANE + 26
    parts = [*_windows(program, lanes, last_us, height), *_axis(last_us, height)]
    for number, lane in enumerate(lanes):
        parts += _lane(number, lane, last_us)
    width = _LEFT + _WIDTH + _RIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="13" role="img">\n<title>{escape(scenario.name)}</title>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _played(scenario: Scenario, program: Program) -> Iterator[Lane]:
    subject = ScenarioSubject(program, local_build())
    query = program.queries[-1]
    for step in scenario.steps:
        if not isinstance(step, Insert):
            continue
        source = program.catalog.find(step.source)
        assert isinstance(source, SourceDef)
        rows = [
            typed_row(row, source.physical, of=step.source, at=scenario.place(row.line), whole=True)
            for row in step.rows
        ]
        subject.insert(step.source, rows)
        yield Lane(
            rows=tuple((row["ts"], str(row["v"])) for row in rows),
            watermark_us=subject.engine.watermarks[query.name],
            emitted=tuple(_told(row) for row in subject.take(query.name)),
            late=frozenset(str(one["original_event"]["v"]) for one in subject.take_side("late")),
        )


def _told(row: Mapping[str, Any]) -> str:
    op = f"{row['_op']} " if "_op" in row else ""
    extent = f"[{_seconds(row['window_start'])}, {_seconds(row['window_end'])})"
    return f"{op}{extent} n={row['n']} s={row['s']}"


def _seconds(at_us: int) -> str:
    return f"{at_us / SECOND:g}"


def _x(at_us: int, last_us: int) -> float:
    return round(_LEFT + _WIDTH * max(at_us, 0) / last_us, 1)


def _windows(program: Program, lanes: list[Lane], last_us: int, height: int) -> Iterator[str]:
    """Bands for windows that lie side by side, brackets on top for those that overlap."""
    window = plan_query(program.queries[-1], program).last.window
    if not isinstance(window, (Tumbling, Hopping, Cumulating)):
        return
    every = {extent for lane in lanes for at, _ in lane.rows for extent in windows_at(window, at)}
    for number, (start_us, end_us) in enumerate(sorted(every)):
        left, right = _x(start_us, last_us), min(_x(end_us, last_us), _LEFT + _WIDTH)
        y = 18 + 9 * (number % 3) if isinstance(window, Hopping) else 30
        yield f'<path d="M{left + 2} {y + 5}v-5H{right - 2}v5" fill="none" stroke="{_ONE}" stroke-width="1.5"/>'
        if isinstance(window, Tumbling) and number % 2 == 0:
            yield (
                f'<rect x="{left}" y="{_TOP - 14}" width="{right - left:.1f}" height="{height - _TOP - 8}" '
                'fill="#eef4f6"/>'
            )


def _axis(last_us: int, height: int) -> Iterator[str]:
    y = height - 22
    yield f'<path d="M{_LEFT} {y}H{_LEFT + _WIDTH}" stroke="{_FAINT}"/>'
    for at_us in range(0, last_us + 1, 5 * SECOND):
        x = _x(at_us, last_us)
        yield f'<path d="M{x} {y}v5" stroke="{_FAINT}"/>'
        style = f'text-anchor="middle" fill="{_FAINT}" font-size="11"'
        yield f'<text x="{x}" y="{y + 18}" {style}>{_seconds(at_us)} s</text>'
    yield f'<text x="{_LEFT + _WIDTH + 14}" y="24" fill="{_FAINT}" font-size="11">emitted, or diverted</text>'
    yield f'<text x="8" y="24" fill="{_FAINT}" font-size="11">batch</text>'


def _lane(number: int, lane: Lane, last_us: int) -> Iterator[str]:
    y = _TOP + number * _LANE + 14
    yield f'<text x="14" y="{y + 5}" fill="{_INK}">{number}</text>'
    yield f'<path d="M{_LEFT} {y}H{_LEFT + _WIDTH}" stroke="#d4dadd"/>'
    if NEVER_US < lane.watermark_us < FOREVER_US:
        x = _x(lane.watermark_us, last_us)
        yield f'<path d="M{x} {y - 17}v34" stroke="{_MARK}" stroke-width="2.5"/>'
    for at_us, text in lane.rows:
        x, late = _x(at_us, last_us), text in lane.late
        colour = _LATE if late else _ONE
        fill = "#ffffff" if late else colour
        yield f'<circle cx="{x}" cy="{y}" r="10" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
        ink = colour if late else "#ffffff"
        yield f'<text x="{x}" y="{y + 4.5}" text-anchor="middle" fill="{ink}" font-size="12">{escape(text)}</text>'
    told = [*lane.emitted, *(f"{text} is late: diverted" for text in sorted(lane.late))]
    for place, text in enumerate(told):
        line = y + 5 + 16 * place - 8 * (len(told) - 1)
        yield f'<text x="{_LEFT + _WIDTH + 14}" y="{line}" fill="{_INK}">{escape(text)}</text>'
