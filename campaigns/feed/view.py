"""The view: what a replica answers matches from. The index, and the data beside it.

One thread at a time writes a view, in log order; any number of threads read it. Its `place` moves
only after the changes up to there were applied. A reload makes another view, and replaces the
follower's `current` in one assignment.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from campaigns.campaign.statuses import ACTIVE
from campaigns.catalogue.model import schema_of
from campaigns.feed.advertiser_domains import AdvertiserDomains, AdvertisersBy
from campaigns.operators.model import OperatorRecord
from index import Index, Limits


class Place(NamedTuple):
    """The position of a view in the log: it has everything up to `rev` of `epoch`, since `at`."""

    epoch: str
    rev: int
    nonce: str
    at: float


NOWHERE = Place("", 0, "", 0.0)


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A change that could not be applied: its object is not served until a good change comes."""

    rev: int
    kind: str
    object_id: str
    reason: str


class KeyLimits(NamedTuple):
    """The limits of a key: requests a second to each worker, bytes in a body. None: the setting
    applies."""

    rate: int | None
    max_body: int | None

    @classmethod
    def of(cls, rate: int | None, max_body: int | None) -> "KeyLimits | None":
        """None for a key without limits of its own."""
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
            # Changes from before keys had limits lack them.
            KeyLimits.of(content.get("rate"), content.get("max_body")),
        )


@dataclass(frozen=True, slots=True)
class NamedStatistics:
    """A version of the statistics; `window_from` and `window_to` are in epoch seconds."""

    id: int
    checksum: str
    window_from: float = field(compare=False)
    window_to: float = field(compare=False)


@dataclass(slots=True)
class View:
    """All that a match or the check of a key needs, at one position of the log."""

    index: Index
    catalogue: dict[str, str]
    """The types of the declared attributes, without the built-in ones."""

    place: Place = NOWHERE
    domains: dict[int, str] = field(default_factory=dict)
    """The domain of each advertiser that has one."""

    advertisers_by_domain: AdvertiserDomains = field(default_factory=AdvertiserDomains)
    """The advertisers that a blocked domain excludes."""

    seats: dict[int, str] = field(default_factory=dict)
    """The seat of each advertiser that has one."""

    advertisers_by_seat: AdvertisersBy = field(default_factory=AdvertisersBy)
    advertisers_by_app: AdvertisersBy = field(default_factory=AdvertisersBy)
    keys: dict[str, ServedKey] = field(default_factory=dict)
    """By prefix."""

    statistics: NamedStatistics | None = None
    """The active statistics, which the index should use."""

    arranged: NamedStatistics | None = None
    """The statistics that the index uses; `statistics/apply.py` makes them the active ones."""

    settled: bool = True
    """Whether all expressions use these statistics; False while they are planned again."""

    operators: dict[str, OperatorRecord] = field(default_factory=dict)
    """What expressions can call, by name."""

    poisoned: dict[tuple[str, str], Poisoned] = field(default_factory=dict)
    stalled: str = ""
    """Why a fresh view is needed before more changes can be applied; usually empty."""

    @classmethod
    def empty(cls, catalogue: dict[str, str], limits: Limits) -> "View":
        """A view without campaigns."""
        return cls(Index(schema_of(catalogue.items()), limits=limits), catalogue)

    def arrive(self, epoch: str, rev: int, nonce: str) -> None:
        """Record that everything up to this rev is applied."""
        self.place = Place(epoch, rev, nonce, time.time())

    def put_advertiser(
        self,
        id: int,
        status: str,
        domain: str | None,
        seat: str | None = None,
        apps: Sequence[str] = (),
    ) -> None:
        """Add or change an advertiser. While it is not active, its campaigns are muted."""
        if status == ACTIVE:
            self.index.unmute(id)
        else:
            self.index.mute(id)
        self.advertisers_by_domain.move(id, self.domains.get(id), domain)
        if domain:
            self.domains[id] = domain
        else:
            self.domains.pop(id, None)
        self.advertisers_by_seat.put(id, (seat,) if seat else ())
        self.advertisers_by_app.put(id, apps)
        if seat:
            self.seats[id] = seat
        else:
            self.seats.pop(id, None)

    def use_operators(self, operators: Iterable[OperatorRecord]) -> None:
        """Replace all operators."""
        self.operators = {each.name: each for each in operators}
        self.index.use_operators(each.signature for each in self.operators.values())

    def drop_key(self, id: int) -> None:
        """Remove a key that was revoked."""
        for prefix in [key.prefix for key in self.keys.values() if key.id == id]:
            del self.keys[prefix]

    def digest(self) -> int:
        """The digest of the ids and versions in the index, to compare with the database's."""
        return self.index.digest()
