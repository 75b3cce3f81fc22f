"""Whose line it is: of pages that Spark tells, the one that the user wrote."""

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tidegate import errors
from tidegate.engines.spark.blame import blamed
from tidegate.errors import TidegateError

TASK = """
An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1830, in main
    process()
  File "job.py", line 12, in parse
    return helper(text)
  File "job.py", line 30, in helper
    return int(text)
  File "<frozen site>", line 1, in nothing
ValueError: invalid literal for int() with base 10: 'x'

\tat org.apache.spark.api.python.BasePythonRunner (PythonRunner.scala:600)
Driver stacktrace: ConnectionError was not it
"""


def told(text: str) -> TidegateError:
    cause = PySparkException(text)
    made = blamed(cause, frame="ev")
    assert isinstance(made, TidegateError)
    assert made.code == errors.frame_failed.code
    assert made.__cause__ is cause
    return made


def test_the_users_innermost_line() -> None:
    made = told(TASK)
    assert (
        made.message == "frame ev failed: ValueError: invalid literal for int() with base 10: 'x'"
    )
    assert made.hint == "job.py, line 30, in helper: return int(text)"


def test_without_any_python() -> None:
    made = told("\n[UNKNOWN_TOPIC] there is no topic trades\n\tat org.apache…")
    assert made.message == "frame ev failed: [UNKNOWN_TOPIC] there is no topic trades"
    assert made.hint == "the cause has all of it"


def test_of_several_tracebacks_the_last_is_the_cause() -> None:
    made = told("Traceback (most recent call last):\nKeyError: 'a'\n" + TASK)
    assert "ValueError" in made.message


@pytest.mark.parametrize(
    "failure", [ValueError("mine"), errors.input_has_ended(), KeyboardInterrupt()]
)
def test_others_pass_unchanged(failure: BaseException) -> None:
    assert blamed(failure, frame="ev") is failure


def test_the_gateway_is_sparks() -> None:
    assert "gone" in str(blamed(Py4JError("gone"), frame="ev"))
