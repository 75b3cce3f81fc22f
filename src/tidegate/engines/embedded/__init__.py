"""SQL in this process, on DataFusion.

In process it runs everything that is SQL. On Spark it runs what is not worth a job: expressions over finished groups,
rows that one stage hands to the next, constants. The same relations are rendered for both, and tests hold them to the
same values; so where a statement runs is a matter of cost alone.
"""
