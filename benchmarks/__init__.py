"""Benchmarks: `python -m benchmarks` measures and prints one table; `case.py` says what a case is.

One module for a case, or for a few that differ in a number, and one word in `_MODULES` of `__main__.py`. A case is
compared with a baseline measured in the same run and in turn with it, because ratios travel between machines and
absolute times do not; where the target is an absolute time, it says so.
"""
