"""What never leaves a request: attributes by name, and the last bits of an address.

The caller hands over attributes from which consent has already taken what it must; this is the
second lock on the same door.
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
"""The default: what usually names a person or a device. `*` is anything, case is ignored."""

IPV4_BITS = 24
IPV6_BITS = 56

_REMEMBERED = 4096


class Denylist:
    """Tells which names of attributes may be logged; remembers what it has told."""

    def __init__(self, patterns: Iterable[str] = DENIED) -> None:
        self.patterns = tuple(patterns)
        joined = "|".join(translate(pattern) for pattern in self.patterns)
        self._denied = re.compile(joined or r"(?!)", re.IGNORECASE)
        self._known: dict[str, bool] = {}

    def permits(self, name: str) -> bool:
        """Whether an attribute of this name may be logged."""
        known = self._known.get(name)
        if known is None:
            known = self._denied.match(name) is None
            if len(self._known) < _REMEMBERED:  # clients may send any number of names
                self._known[name] = known
        return known


def truncate_ip(text: str) -> str | None:
    """An address without its last bits, 24 of IPv4 and 56 of IPv6 are kept; None if it is none.

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
