"""What a replica answers matches from: the index, and what stands beside the campaigns in it.

A view is written by one thread at a time, in the order of the log, and read by any number. Its
`place` moves on only after what leads there was applied; a reload makes another view, and the
follower's `current` is then that one, in one assignment.
"""

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from campaigns.campaign.categories import for_index
from campaigns.catalogue.model import schema_of
from campaigns.feed.advertiser_domains import AdvertiserDomains
from index import Index, Limits


class Place(NamedTuple):
    """Where a view is: everything up to `rev` of `epoch` is in it, since the moment `at`."""

    epoch: str
    rev: int
    nonce: str
    at: float


NOWHERE = Place("", 0, "", 0.0)


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A change that could not be applied: its object is out until a good change comes."""

    rev: int
    kind: str
    object_id: str
    reason: str


class KeyLimits(NamedTuple):
    """What a key may send: requests a second to a worker, bytes in a body. None: no limit of its
    own."""

    rate: int | None
    max_body: int | None

    @classmethod
    def of(cls, rate: int | None, max_body: int | None) -> "KeyLimits | None":
        """None for a key with no limits at all, so that there is one thing to ask."""
        return None if rate is None and max_body is None else cls(rate, max_body)


@dataclass(frozen=True, slots=True)
class ServedKey:
    """An API key that is not revoked; `expires_at` is in epoch seconds."""

    id: int
    prefix: str
    secret_hash: str
    scopes: frozenset[str]
    expires_at: float | None
    limits: KeyLimits | None = None

    @classmethod
    def of(cls, content: dict[str, Any]) -> "ServedKey":
        """From the payload of a change."""
        return cls(
            int(content["id"]),
            str(content["prefix"]),
            str(content["secret_hash"]),
            frozenset(content["scopes"]),
            content["expires_at"],
            # Changes that were written before there were limits have none.
            KeyLimits.of(content.get("rate"), content.get("max_body")),
        )


@dataclass(frozen=True, slots=True)
class NamedStatistics:
    """A version of the statistics, by its name; `window_from` and `window_to` are in epoch
    seconds."""

    id: int
    checksum: str
    window_from: float = field(compare=False)
    window_to: float = field(compare=False)


class Categories:
    """The categories of the campaigns that have some; equal ones are one tuple."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[str, ...]] = {}
        self._one: dict[tuple[str, ...], tuple[str, ...]] = {}

    def put(self, id: int, categories: list[str] | None) -> None:
        """Say which a campaign has."""
        if categories:
            some = tuple(categories)
            self._of[id] = self._one.setdefault(some, some)
        else:
            self._of.pop(id, None)

    def get(self, id: int) -> tuple[str, ...]:
        """Those of a campaign."""
        return self._of.get(id, ())

    def to_json(self) -> bytes:
        """`[[categories, [ids]]]`."""
        ids: dict[tuple[str, ...], list[int]] = {}
        for id, some in self._of.items():
            ids.setdefault(some, []).append(id)
        return orjson.dumps(list(ids.items()))

    def fill(self, groups: list[tuple[list[str], list[int]]]) -> None:
        """What `to_json` wrote."""
        for categories, ids in groups:
            some = tuple(categories)
            self._one[some] = some
            self._of.update(dict.fromkeys(ids, some))

    def __len__(self) -> int:
        return len(self._of)


@dataclass(slots=True)
class View:
    """Everything that a match or a check of a key needs, at one place of the log."""

    index: Index
    catalogue: dict[str, str]
    """The types of the declared attributes, without the built-in ones."""

    place: Place = NOWHERE
    domains: dict[int, str] = field(default_factory=dict)
    """The domain of each advertiser that has one."""

    advertisers_by_domain: AdvertiserDomains = field(default_factory=AdvertiserDomains)
    """The same the other way round."""

    categories: Categories = field(default_factory=Categories)
    keys: dict[str, ServedKey] = field(default_factory=dict)
    """By prefix."""

    statistics: NamedStatistics | None = None
    """Those that should steer the index."""

    arranged: NamedStatistics | None = None
    """Those that it is arranged by; `arranging.py` says how the one becomes the other."""

    settled: bool = True
    """Whether it is arranged by those alone: not while expressions are being planned anew."""

    poisoned: dict[tuple[str, str], Poisoned] = field(default_factory=dict)
    stalled: str = ""
    """Why nothing more can be applied here, and a fresh view is needed; mostly empty."""

    @classmethod
    def empty(cls, catalogue: dict[str, str], limits: Limits) -> "View":
        """With no campaigns yet."""
        index = Index(schema_of(catalogue.items()), limits=for_index(limits))
        return cls(index, catalogue)

    def arrive(self, epoch: str, rev: int, nonce: str) -> None:
        """Everything up to there is applied."""
        self.place = Place(epoch, rev, nonce, time.time())

    def put_advertiser(self, id: int, status: str, domain: str | None) -> None:
        """An advertiser that is not active has its campaigns muted, not removed."""
        if status == "active":
            self.index.unmute(id)
        else:
            self.index.mute(id)
        self.advertisers_by_domain.move(id, self.domains.get(id), domain)
        if domain:
            self.domains[id] = domain
        else:
            self.domains.pop(id, None)

    def drop_key(self, id: int) -> None:
        """A key is revoked or gone."""
        for prefix in [key.prefix for key in self.keys.values() if key.id == id]:
            del self.keys[prefix]

    def digest(self) -> int:
        """Of the ids and versions in the index; `digest_of` the active campaigns is the same."""
        return self.index.digest()
