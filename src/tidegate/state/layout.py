"""What lies where in a checkpoint.

    identity.json                        whose checkpoint this is: format, plans of its streams
    writer.lock                          held by the one process that writes
    intent=000000000042.json             what epoch 42 is going to read; written before it reads
    manifest=000000000042.json           epoch 42 is real; written after all that it names
    shard=00/epoch=000000000042.arrow    the parts that shard 0 made in epoch 42
    shard=00/snapshot=000000000040.arrow the parts of shard 0 after epoch 40

Decided here: a name has exactly one spelling, so that no epoch has two manifests. Names are padded so that they sort
as their epochs do; longer numbers stay readable. A file is written under a temporary name first, which belongs to one
attempt. What has another name is foreign: it is never touched, and it keeps a directory that is no checkpoint yet
from becoming one. Hidden files and `lost+found` come with file systems and are not looked at.
"""

import re
from secrets import token_hex

IDENTITY = "identity.json"
LOCK = "writer.lock"
_SEED = ".seed."

_IN_ROOT = re.compile(r"(manifest|intent)=([0-9]{12,})\.json")
_IN_SHARD = re.compile(r"(epoch|snapshot)=([0-9]{12,})\.arrow")
_SHARD = re.compile(r"shard=([0-9]{2,})")
_TEMPORARY = re.compile(r"(.+)\.[0-9a-f]{8}\.tmp")


def manifest(epoch: int) -> str:
    return f"manifest={epoch:012}.json"


def intent(epoch: int) -> str:
    return f"intent={epoch:012}.json"


def shard_directory(shard: int) -> str:
    return f"shard={shard:02}"


def delta(epoch: int, shard: int) -> str:
    return f"{shard_directory(shard)}/epoch={epoch:012}.arrow"


def snapshot(epoch: int, shard: int) -> str:
    return f"{shard_directory(shard)}/snapshot={epoch:012}.arrow"


def seed(run: str, shard: int) -> str:
    """What a shard begins with in one run; hidden, as it is no part of the log."""
    return f"{shard_directory(shard)}/{_SEED}{run}.arrow"


def is_seed(name: str) -> bool:
    return name.startswith(_SEED)


def directory(file: str) -> str:
    """Where a file is; the root is the empty text."""
    return file.rpartition("/")[0]


def temporary(file: str) -> str:
    """A name of this attempt's own, beside the file."""
    return f"{file}.{token_hex(4)}.tmp"


def final(name: str) -> str | None:
    """What a temporary name would have become; None for any other name."""
    found = _TEMPORARY.fullmatch(name)
    return found[1] if found else None


def ignored(name: str) -> bool:
    return name.startswith(".") or name == "lost+found"


def in_root(name: str) -> tuple[str, int] | None:
    """`manifest` or `intent`, and its epoch."""
    return _numbered(_IN_ROOT, name, 12)


def in_shard(name: str) -> tuple[str, int] | None:
    """`epoch` or `snapshot`, and its epoch."""
    return _numbered(_IN_SHARD, name, 12)


def shard_of(name: str) -> int | None:
    """The number of a shard's directory."""
    found = _SHARD.fullmatch(name)
    return int(found[1]) if found and name == shard_directory(int(found[1])) else None


def _numbered(pattern: re.Pattern[str], name: str, width: int) -> tuple[str, int] | None:
    found = pattern.fullmatch(name)
    if found is None or found[2] != f"{int(found[2]):0{width}}":
        return None
    return found[1], int(found[2])
