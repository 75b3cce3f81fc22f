"""Tidegate: event-time window SQL for streams, in one process or on Spark.

Importing this package is cheap: no engine, no SQL parser and no Arrow is loaded until one is needed.
"""

from tidegate.errors import TidegateError

__version__ = "0.1.0"
__all__ = ["TidegateError", "__version__"]
