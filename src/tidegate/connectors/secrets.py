"""Values of options that stand elsewhere: `${env:NAME}` and `${file:path}`.

Decided here: a definition keeps the reference, and so do EXPLAIN, SHOW and checkpoints; the value is put in where a
connector opens, and nowhere else.

>>> os.environ["A_PASSWORD"] = "hidden"
>>> resolved("properties.sasl.password", "${env:A_PASSWORD}")
'hidden'
"""

import os
import re
from pathlib import Path

from tidegate import errors

_REFERENCE = re.compile(r"\$\{(env|file):([^}]+)\}")


def resolved(option: str, value: str) -> str:
    """The value with all references followed; a file's last line break is not part of it."""

    def follow(match: re.Match[str]) -> str:
        kind, name = match.groups()
        try:
            if kind == "env":
                return os.environ[name]
            return Path(name).read_text().rstrip("\n")
        except KeyError:
            raise errors.no_secret(option=option, what=f"variable {name}") from None
        except OSError as problem:
            what = f"file {name}: {problem.strerror}"
            raise errors.no_secret(option=option, what=what) from None

    return _REFERENCE.sub(follow, value)
