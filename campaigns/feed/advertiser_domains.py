"""Which advertisers a blocked domain, app or seat excludes. A domain: also its subdomains.

    shop.ford.example of advertiser 7     is found by shop.ford.example and by ford.example

An advertiser is stored under each of these suffixes, so a request that blocks a thousand domains
takes a thousand lookups, however many advertisers there are. A top-level domain alone (`com`)
blocks nothing.
"""

from collections.abc import Iterable, Iterator, Sequence


class AdvertiserDomains:
    """One thread writes, any number read: readers only ever copy a whole set."""

    def __init__(self) -> None:
        self._below: dict[str, set[int]] = {}

    def move(self, id: int, old: str | None, new: str | None) -> None:
        """Change the domain of an advertiser."""
        if old == new:
            return
        for suffix in _suffixes(old):
            ids = self._below[suffix]
            ids.discard(id)
            if not ids:
                del self._below[suffix]
        for suffix in _suffixes(new):
            self._below.setdefault(suffix, set()).add(id)

    def blocked_by(self, domains: Iterable[str]) -> tuple[int, ...]:
        """The advertisers of these domains and of their subdomains."""
        found = [tuple(self._below.get(domain, ())) for domain in domains]
        return tuple({id for ids in found for id in ids})

    def __len__(self) -> int:
        return len(self._below)


class AdvertisersBy:
    """Advertisers by something that they have several of, or share: their apps, their seat."""

    def __init__(self) -> None:
        self._ids: dict[str, tuple[int, ...]] = {}
        self._of: dict[int, tuple[str, ...]] = {}

    def put(self, id: int, names: Sequence[str]) -> None:
        """Replace what an advertiser has."""
        for name in self._of.pop(id, ()):
            left = tuple(other for other in self._ids[name] if other != id)
            if left:
                self._ids[name] = left
            else:
                del self._ids[name]
        if names:
            self._of[id] = tuple(dict.fromkeys(names))
            for name in self._of[id]:
                self._ids[name] = (*self._ids.get(name, ()), id)

    def of(self, names: Iterable[str]) -> tuple[int, ...]:
        """The advertisers that have one of these."""
        return tuple({id for name in names for id in self._ids.get(name, ())})


def _suffixes(domain: str | None) -> Iterator[str]:
    while domain and "." in domain:
        yield domain
        domain = domain.partition(".")[2]
