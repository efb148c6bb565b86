"""The names of attributes: which ones need backticks, and how they are written.

device.type    `Content-Language`    `my ``best`` name`
"""

import re

KEYWORDS = frozenset(
    {"and", "or", "not", "xor", "xnor", "true", "false"}
    | {"in", "between", "starts", "ends", "with", "contains"}
    | {"any", "none", "all", "of", "is", "empty", "null"}
)
"""Words that are no names. The words of younger operators may be names: an operator stands behind
a name, where no other name can stand."""

PLAIN = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
"""The pattern of names that need no backticks."""

MAX_NAME = 128

CALL = "call "
"""How the name of a call begins (`calls.py`)."""

_PLAIN = re.compile(PLAIN)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_name(name: str) -> bool:
    """Whether an attribute may have this name: any characters but control ones. One that begins
    like a call would be taken for one."""
    return 0 < len(name) <= MAX_NAME and not _CONTROL.search(name) and not name.startswith(CALL)


def written_name(name: str) -> str:
    """The name as it stands in an expression."""
    is_plain = _PLAIN.fullmatch(name) or name.startswith(CALL)
    return name if is_plain else f"`{name.replace('`', '``')}`"
