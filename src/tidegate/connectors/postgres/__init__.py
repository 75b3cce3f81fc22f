"""PostgreSQL: a table as a sink, and as a static table.

`client` connects and says which type of PostgreSQL a type of ours is; `sink` writes epochs as transactions; `table`
reads a table once.
"""

from tidegate.connectors.postgres.sink import open_postgres_sink
from tidegate.connectors.postgres.table import read_postgres_table
from tidegate.connectors.registry import Connector

CONNECTOR = Connector(sink=open_postgres_sink, table=read_postgres_table)
