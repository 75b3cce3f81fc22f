"""EXPLAIN: plans as trees, in text and JSON, stable to the byte.

In: a logical or physical plan. `tree.py` is the one shape of what is shown; `logical.py` and `physical.py`, with
`state.py` and `rows.py`, make it; `text.py` and `json.py` write it.
"""
