"""Scenarios whose outcome depends on how rows are batched or in which order they arrive, with the regimes left out."""

SENSITIVE: dict[str, tuple[str, ...]] = {}
