"""Secrets in SQL, hidden where text is shown.

Decided here: what a secret is goes by the name of the option, and by its place in an address. Asterisks take its place,
as many as it is long, so that a caret still stands where it should. References (`${env:…}`, `${file:…}`) are none.

>>> masked("WITH ('properties.sasl.password' = 'abc', url = 'postgresql://me:pw@host/db')")
"WITH ('properties.sasl.password' = '***', url = 'postgresql://me:**@host/db')"
>>> masked("'ssl.key.password' = '${env:PASSWORD}'")
"'ssl.key.password' = '${env:PASSWORD}'"
"""

import re
from functools import lru_cache

_OPTION = re.compile(
    r"""((?:password|passwd|secret|token|credential|authorization|jaas\.config|api[._-]?key|key\.pem)"""
    r"""[\w.\-]{0,80}['"`]?\s*=\s*')([^']*(?:''[^']*)*)""",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(\w://[^\s:/@']*:)([^\s/@']+)(?=@)")
_REFERENCE = re.compile(r"(?:\w+ )?\$\{(?:env|file):[^}]+\}")


@lru_cache(maxsize=64)
def masked(text: str) -> str:
    """The text without its secrets."""
    if "'" not in text and "@" not in text:
        return text
    for pattern in (_OPTION, _ADDRESS):
        text = pattern.sub(_hidden, text)
    return text


def masked_value(name: str, value: str) -> str:
    """
    >>> masked_value("header.authorization", "Bearer abc"), masked_value("topic", "t")
    ('**********', 't')
    """
    before = f"{name} = '"
    quoted = value.replace("'", "''")
    return masked(f"{before}{quoted}")[len(before) :].replace("''", "'")


def _hidden(match: re.Match[str]) -> str:
    before, secret = match.groups()
    return before + (secret if _REFERENCE.fullmatch(secret) else "*" * len(secret))
