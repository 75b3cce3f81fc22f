"""Outcomes as JUnit XML, which CI servers read: one suite per engine."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from tidegate import errors
from tidegate.session.trials import Outcome, Trial

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {Outcome.FAILED: "failure", Outcome.ERROR: "error", Outcome.SKIPPED: "skipped"}


def write_junit(path: Path, trials: Sequence[Trial]) -> None:
    """The whole report; refused if it cannot be written."""
    root = Xml.Element("testsuites", {"name": "tidegate", **_counts(trials)})
    for engine in dict.fromkeys(trial.engine for trial in trials):
        own = [trial for trial in trials if trial.engine == engine]
        suite = Xml.SubElement(root, "testsuite", {"name": engine, **_counts(own)})
        for trial in own:
            suite.append(_case(trial))
    try:
        Xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as problem:
        raise errors.unwritable_report(path=path, problem=problem.strerror or problem) from None


def _counts(trials: Sequence[Trial]) -> dict[str, str]:
    outcomes = [trial.outcome for trial in trials]
    return {
        "tests": str(len(trials)),
        "failures": str(outcomes.count(Outcome.FAILED)),
        "errors": str(outcomes.count(Outcome.ERROR)),
        "skipped": str(outcomes.count(Outcome.SKIPPED)),
        "time": f"{sum(trial.seconds for trial in trials):.3f}",
    }


def _case(trial: Trial) -> Xml.Element:
    case = Xml.Element(
        "testcase",
        classname=_clean(trial.file),
        name=_clean(trial.name or trial.file),
        file=_clean(trial.file),
        time=f"{trial.seconds:.3f}",
    )
    if trial.outcome in _ELEMENTS:
        text = _clean(trial.message)
        told = Xml.SubElement(case, _ELEMENTS[trial.outcome], message=text.partition("\n")[0])
        told.text = text
    return case


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
