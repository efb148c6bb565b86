"""Addresses and networks of the Internet protocol, versions 4 and 6.

An address is a string that sorts like the addresses: the version, then all bits in hexadecimal. A
network has its prefix length behind it; a network of one address is that address.

    10.0.0.1         40a000001              2001:db8::1     620010db8000000000000000000000001
    10.0.0.0/8       40a000000/08           2001:db8::/32   620010db8000000000000000000000000/032

These strings are in the JSON form of a tree. An IPv4 address inside IPv6 (`::ffff:10.0.0.1`) is the
IPv4 address.
"""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

_STORED = re.compile(r"4[0-9a-f]{8}(?:/[0-9]{2})?|6[0-9a-f]{32}(?:/[0-9]{3})?")
_MAPPED = 96
"""Bits before an IPv4 address inside IPv6."""


class Network(str):
    """A network, or a single address, in the form that sorts; `readable` is the usual form."""

    __slots__ = ()

    @property
    def bits(self) -> int:
        """32 or 128."""
        return 32 if self[0] == "4" else 128

    @property
    def prefix(self) -> int:
        """The number of bits that are fixed."""
        _, slash, prefix = self.partition("/")
        return int(prefix) if slash else self.bits

    @property
    def low(self) -> "Network":
        """Its first address."""
        return Network(self.partition("/")[0])

    @property
    def high(self) -> "Network":
        """Its last address."""
        return _stored(self[0], int(self.low[1:], 16) | ((1 << (self.bits - self.prefix)) - 1))

    @property
    def readable(self) -> str:
        """`10.0.0.0/8`, `2001:db8::1`."""
        number = int(self.low[1:], 16)
        cls = ipaddress.IPv4Address if self[0] == "4" else ipaddress.IPv6Address
        return f"{cls(number)}" + (f"/{self.prefix}" if "/" in self else "")

    def cut(self, prefix: int) -> "Network":
        """The network of this many fixed bits around its first address."""
        return _cut(self.low, prefix)

    def has(self, address: str) -> bool:
        """Whether an address is in the network."""
        low, high = _ends(self)
        return low <= address <= high


@lru_cache(maxsize=16_384)
def _ends(network: Network) -> tuple[Network, Network]:
    """The first and the last address; each is asked for many times."""
    return network.low, network.high


def address_of(text: str) -> Network | None:
    """The address that a text says, if it says one."""
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.scope_id is not None:
            return None
        parsed = parsed.ipv4_mapped or parsed
    return _stored(str(parsed.version), int(parsed))


def network_of(text: str) -> Network | None:
    """The network or address that a text says, with the bits beyond its prefix cut off."""
    start, slash, length = text.partition("/")
    address = address_of(start)
    if address is None or not slash:
        return address
    if not re.fullmatch("[0-9]{1,3}", length, re.ASCII):
        return None
    prefix = int(length) - (_MAPPED if address[0] == "4" and ":" in start else 0)
    return _cut(address, prefix) if 0 <= prefix <= address.bits else None


def from_stored(text: object) -> Network | None:
    """The network or address of a JSON form, if it is one."""
    if not isinstance(text, str) or not _STORED.fullmatch(text):
        return None
    network = Network(text)
    if "/" in text and network.prefix >= network.bits:
        return None
    return network if _cut(network.low, network.prefix) == network else None


def largest(networks: Iterable[Network]) -> tuple[Network, ...]:
    """The networks that are in no other one, ascending."""
    kept: list[Network] = []
    for network in sorted(set(networks), key=lambda n: (n.low, n.prefix)):
        if not kept or not kept[-1].has(network.low):
            kept.append(network)
    return tuple(kept)


def _cut(address: Network, prefix: int) -> Network:
    free = address.bits - prefix
    low = _stored(address[0], int(address[1:], 16) >> free << free)
    if not free:
        return low
    return Network(f"{low}/{prefix:0{2 if address[0] == '4' else 3}d}")


def _stored(version: str, number: int) -> Network:
    return Network(f"{version}{number:0{8 if version == '4' else 32}x}")
