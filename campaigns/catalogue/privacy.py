"""What is never logged: some attributes, by name.

The caller has already removed what the user's consent does not allow; this is a second check.
"""

import re
from collections.abc import Iterable
from fnmatch import translate

from index.language import Tree, attributes_of, calls_of

DENIED = (
    "ip",
    "ipv6",
    "*.ip",
    "*.ipv6",
    "*ip_address",
    "user.id",
    "user_id",
    "userid",
    "*.user_id",
    "*buyeruid",
    "user.eids*",
    "*ifa",
    "*idfa",
    "*gaid",
    "*device_id",
    "device.id",
    "*didsha1",
    "*didmd5",
    "*dpidsha1",
    "*dpidmd5",
    "*macsha1",
    "*macmd5",
    "*cookie*",
    "*email*",
    "*phone_number",
)
"""The default: names that usually identify a person or a device. `*` matches anything, and case is
ignored."""

_REMEMBERED = 4096


class Denylist:
    """Decides which attributes may be logged, and caches its decisions."""

    def __init__(self, patterns: Iterable[str] = DENIED) -> None:
        self.patterns = tuple(patterns)
        joined = "|".join(translate(pattern) for pattern in self.patterns)
        self._denied = re.compile(joined or r"(?!)", re.IGNORECASE)
        self._known: dict[str, bool] = {}

    def permits(self, name: str) -> bool:
        """Whether an attribute with this name may be logged."""
        known = self._known.get(name)
        if known is None:
            known = self._denied.match(name) is None
            if len(self._known) < _REMEMBERED:  # clients may send any number of names
                self._known[name] = known
        return known


def not_logged(tree: Tree) -> list[str]:
    """The attributes of a tree that are never logged, so that no statistics can say anything about
    them; and its calls, whose results are not logged."""
    permits = Denylist().permits
    return sorted({name for name in attributes_of(tree) if not permits(name)} | {*calls_of(tree)})
