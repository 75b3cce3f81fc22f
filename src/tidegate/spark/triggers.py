"""When micro-batches come, in the words of Structured Streaming."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate import errors

Trigger = str | Mapping[str, Any]
_AVAILABLE_NOW = "availableNow"
_INTERVAL = "processingTime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggering:
    """`arguments` of Spark's `trigger`. `bounded`: the run ends with what is there now."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    bounded: bool = False


def triggering(trigger: Trigger | None) -> Triggering:
    """A word, a time between batches, or arguments as Spark's `trigger` takes them.

    >>> triggering("5 seconds").arguments, triggering("availableNow").bounded
    ({'processingTime': '5 seconds'}, True)
    """
    match trigger:
        case None:
            return Triggering()
        case str() if trigger.replace("_", "").lower() == _AVAILABLE_NOW.lower():
            return Triggering(arguments={_AVAILABLE_NOW: True}, bounded=True)
        case str() if trigger[:1].isdigit():
            return Triggering(arguments={_INTERVAL: trigger})
        case {"availableNow": True} if len(trigger) == 1:
            return Triggering(arguments={_AVAILABLE_NOW: True}, bounded=True)
        case {"processingTime": str(interval)} if len(trigger) == 1:
            return Triggering(arguments={_INTERVAL: interval})
        case _:
            raise errors.bad_trigger(trigger=repr(trigger))
