"""Domains as exchanges write them, and as advertisers are stored: lower case, punycode, no `www.`.

https://WWW.Shop.example:443/x?y     shop.example
*.shop.example, .shop.example        shop.example
münchen.example                      xn--mnchen-3ya.example
"""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs

_PLAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")


def host(text: str) -> str:
    """The host of a domain or a URL; empty if there is none."""
    if _PLAIN.fullmatch(text):
        return text
    found = text.strip().lower()
    found = found.partition("://")[2] or found.removeprefix("//")
    for end in "/?#\\":
        found = found.partition(end)[0]
    found = found.rpartition("@")[2].partition(":")[0].strip().removesuffix(".")
    return found if found.isascii() else _punycode(found)


def registered(text: str) -> str:
    """The domain that an entry of `badv` or `wadomain` means; empty if it means none."""
    return host(text).removeprefix("*").lstrip(".").removeprefix("www.")


def suffixes(domain: str) -> Iterator[str]:
    """The domain and those above it, without the top-level domain alone."""
    while "." in domain:
        yield domain
        domain = domain.partition(".")[2]


def app(text: str) -> str:
    """The store id that an entry of `bapp` means, in lower case: from `id628677149`, from the URL
    of a store, or as it is."""
    found = text.strip().lower()
    if "/" in found:
        path, _, query = found.partition("#")[0].partition("?")
        last = path.rstrip("/").rpartition("/")[2]
        found = parse_qs(query).get("id", [last])[0]
    digits = found.removeprefix("id")
    return digits if digits.isdigit() else found


def _punycode(name: str) -> str:
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name
