"""Where rows come from and go to. Shared by the engines; each connector is a module of its own."""

from tidegate.connectors.registry import Connector, open_sink, open_source, read_table

__all__ = ["Connector", "open_sink", "open_source", "read_table"]
