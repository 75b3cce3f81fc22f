"""Files: a source of them, a table in one, a directory of them as a sink.

`places` finds files, `progress` knows how far they are read, `formats` reads parts of them (`json_lines`, `csv_lines`,
`parquet`), and `source` makes ranges of that. `sink` writes one file per epoch.
"""

from tidegate.connectors.files.sink import open_file_sink
from tidegate.connectors.files.source import open_file_source
from tidegate.connectors.files.table import read_file_table
from tidegate.connectors.registry import Connector

CONNECTOR = Connector(source=open_file_source, sink=open_file_sink, table=read_file_table)
