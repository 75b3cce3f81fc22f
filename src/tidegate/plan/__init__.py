"""From syntax trees to an explained plan.

In: statements (`sql/`). The way through the folder: catalog (what exists) · scope, expressions, calls (names and
types) · aggregates, windows, emission (what streams) · select, script (whole queries, whole files) → logical.py; then
lower.py, rules/, row_sql.py → physical.py; fingerprint.py and explain/ read the result. Next: `engines/`.
"""
