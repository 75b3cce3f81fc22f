"""Scenarios whose outcome depends on how rows are batched or in which order they arrive, with the regimes left out."""

_BATCHES = ("rows",)  # what is emitted after each batch, or judged as one
_ARRIVAL = ("backwards",)  # rows that count in the order in which they come

SENSITIVE: dict[str, tuple[str, ...]] = {
    "cascades/upsert-input": _BATCHES,
    "emit/default-without-a-window": _BATCHES,
    "emit/on-update": _BATCHES,
    "emit/one-global-row": _BATCHES,
    "emit/top-n-upsert": _BATCHES,
    "lateness/closed-session-stays-closed": _BATCHES,
    "lateness/session-of-one-batch": _BATCHES,
    "others/arroyo-every-aggregate": _BATCHES,
    "others/ekuiper-count-overlap": _ARRIVAL,
    "others/materialize-date-trunc": _BATCHES,
    "others/newest-row-per-key": _BATCHES,
    "others/nexmark-q15-bidding-statistics": _BATCHES,
    "others/nexmark-q17-auction-statistics": _BATCHES,
    "others/risingwave-now-and-then": _BATCHES,
    "others/spark-update-mode": _BATCHES,
    "sliding/on-update-equal-times": _ARRIVAL,
    "time/a-batch-is-judged-as-it-began": _BATCHES,
    "time/before-1970": _BATCHES,
    "windows/counting": _ARRIVAL,
    "windows/counting-at-the-end": _ARRIVAL,
    "windows/counting-raw-rows": _ARRIVAL,
    "windows/counting-step": _ARRIVAL,
    "windows/counting-with-groups": _ARRIVAL,
    "windows/state": _ARRIVAL,
    "windows/state-at-the-end": _ARRIVAL,
    "windows/state-by-partition": _ARRIVAL,
    "windows/state-null-conditions": _ARRIVAL,
}
