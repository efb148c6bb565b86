"""JSON that is not quite JSON: a byte order mark, bytes that are not UTF-8, half a surrogate pair.

Each such place in a text becomes U+FFFD, the character for what could not be read. What the body
means otherwise is not guessed.
"""

import re

_REPLACEMENT = "\ufffd"
# Each alternative is one whole escape, so that the second half of an escaped backslash is not
# taken for the start of the next one.
_ESCAPE = re.compile(
    r"""\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
          |(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})
          |.)""",
    re.VERBOSE | re.DOTALL,
)


def repaired(body: bytes) -> str:
    """The text of a body that the parser has refused; it may still not be JSON."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    return _ESCAPE.sub(_whole, text)


def _whole(escape: re.Match[str]) -> str:
    return _REPLACEMENT if escape["half"] else escape[0]
