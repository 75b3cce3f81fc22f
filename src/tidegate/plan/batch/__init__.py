"""A query as one SELECT over all rows there are, in the SQL of DuckDB: what `tidegate verify` judges streams by.

Decided here: the text is made of the *logical* plan. Lowering, rules, panes, partials, watermarks and emission have no
part in it, so that none of them can be wrong on both sides. What has no counterpart is refused by name; nothing is left
out in silence. Rows that a stream would divert because an expression has no value for them are left out by a condition
that says so.
"""
