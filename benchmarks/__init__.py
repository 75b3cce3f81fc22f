"""Benchmarks: `python -m benchmarks` measures and prints one table; `case.py` says what a case is.

One module per case, and one line in `CASES` of `__main__.py`. A case is compared with a baseline measured in the same
run, because ratios travel between machines and absolute times do not; where the aim is an absolute time, it says so.
"""
