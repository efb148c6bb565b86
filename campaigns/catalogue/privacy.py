"""What is never logged: some attributes, by name, and the last bits of an IP address.

The caller has already removed what the user's consent does not allow; this is a second check.
"""

import re
from collections.abc import Iterable
from fnmatch import translate
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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

IPV4_BITS = 24
IPV6_BITS = 56

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


def truncate_ip(text: str) -> str | None:
    """The first 24 bits of an IPv4 address or 56 of an IPv6 address; None if it is not an address.

    >>> truncate_ip("203.0.113.77"), truncate_ip("2001:db8:1:2ff::1"), truncate_ip("::ffff:1.2.3.4")
    ('203.0.113.0', '2001:db8:1:200::', '1.2.3.0')
    """
    try:
        address = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    bits = IPV4_BITS if isinstance(address, IPv4Address) else IPV6_BITS
    return str(ip_network((address, bits), strict=False).network_address)
