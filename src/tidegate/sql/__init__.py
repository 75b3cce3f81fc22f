"""Text in, text out: the dialect, the syntax tree, the parser; the function catalogue and its rendering to engines.

In: SQL text (source.py). Out: statements (statements.py) for `plan/`, and SQL text for DataFusion and Spark
(render.py) from the bound expressions that `plan/` makes. Next: plan/.
"""
