"""Nouns. Immutable descriptions that every other layer speaks in: times, types, windows, expressions, policies.

Nothing here does I/O, reads a clock, or knows SQL text or an engine.
"""
