"""Quotas: `max_groups`, `max_open_windows`, `max_state_bytes`, and which windows can be held to them.

Decided here: a quota turns groups and windows away, which is an answer only where state is groups in windows that time
opens. Sliding, counting and state windows, and joins within an interval, keep rows: each is part of windows to come, so
turning one away would make those windows wrong instead of fewer. Such a query refuses a quota wherever it comes from,
`[defaults]` too: a limit that somebody relies on and that nobody keeps is worse than none.
"""

from collections.abc import Mapping

from tidegate import errors
from tidegate.model.options import OptionValue
from tidegate.model.windows import Conditional, Counting, Interval, Sliding, Window
from tidegate.sql.source import SourceText, Span
from tidegate.sql.statements import Clauses

QUOTAS = ("max_groups", "max_open_windows", "max_state_bytes")


def refuse_quotas(
    window: Window | None,
    clauses: Clauses,
    options: Mapping[str, OptionValue],
    *,
    source: SourceText,
    fallback: Span,
) -> None:
    """`options` are all in force; the error points at the option if the query says it, else at the query."""
    if not isinstance(window, (Sliding, Counting, Conditional, Interval)):
        return
    given = next((name for name in QUOTAS if name in options), None)
    if given is None:
        return
    written = (option.key for option in clauses.options if option.key.text.lower() == given)
    span = next((key.span for key in written), fallback)
    kind = "join's" if isinstance(window, Interval) else window.kind
    raise errors.quota_not_for_window(source.location(span), option=given, window=kind)
