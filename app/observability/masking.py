"""Cuts secrets out of text: tokens of API keys, and passwords in every form that a setting or the
message of an error may have.

    copse_1f6c2a9b04d7_KfP0b8…                   copse_1f6c2a9b04d7_***
    postgresql://me:p@ss/word@host/db            postgresql://me:***@host/db
    redis://host/0?password=p%40ss&db=1          redis://host/0?password=***&db=1
    host=db user=me password='my secret'         host=db user=me password=***
"""

import re

_SECRET = re.compile(
    r"""
    (copse_[0-9a-f]{12}_) [\w-]+                            # a token; its prefix is public
    | (://[^/\s:@]*:) \S+ (?=@)                             # up to the last @, whatever is inside
    | (\w*(?:password|passwd|pwd|passphrase)["']?\s*[=:]\s*) # of a query, a DSN, a dictionary
      (?: '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | [^\s&;,]+ )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def without_secrets(text: str) -> str:
    """The text with stars for its secrets."""
    return _SECRET.sub(lambda found: f"{found[1] or found[2] or found[3]}***", text)
