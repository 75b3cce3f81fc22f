"""HTTP: lines that are POSTed to us, and rows that we POST."""

from tidegate.connectors.http.sink import open_http_sink
from tidegate.connectors.http.source import open_http_source
from tidegate.connectors.registry import Connector

CONNECTOR = Connector(source=open_http_source, sink=open_http_sink)
