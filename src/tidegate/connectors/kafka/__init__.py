"""Apache Kafka: topics as sources and sinks.

`client` knows the library and what its failures are called; `places` where reading starts and how far it is; `source`
makes ranges of that, `fetching` reads one, `records` makes rows of its messages. `sink` writes epochs as transactions.
"""

from tidegate.connectors.kafka.sink import open_kafka_sink
from tidegate.connectors.kafka.source import open_kafka_source
from tidegate.connectors.registry import Connector

CONNECTOR = Connector(source=open_kafka_source, sink=open_kafka_sink)
