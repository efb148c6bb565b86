"""What a sample of the live traffic says about a campaign: counts by the hour, the first reason of
each miss, and one word for its state.

    considered   sampled requests while the campaign was in the index
    matched      those that its targeting matches and that nothing excludes
    answered     those that had it in their answer
    explained    those that it missed and of which the reason was looked up
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE
from campaigns.campaign.targeting import fingerprint_of
from campaigns.timestamps import written
from index.language import normalize
from index.language.tree import Constant

HOUR = 3600

TARGETING = "targeting"
REASONS = {
    TARGETING: "a predicate of its targeting is not true",
    "flight": "the request was outside its flight",
    "advertiser_paused": "its advertiser was paused",
    "excluded": "the request excludes the campaign or its advertiser",
    "floor": "its bid is below the floor",
    "blocked": "the request does not allow its categories",
    "restricted": "only some deals may bid",
    "outranked": "it matched, and others were better",
}
"""The codes of the reasons."""

MOST_PREDICATES = 8
"""Predicates that are counted by themselves, for each campaign and hour; the rest is `OTHER`."""

OTHER = "…"
LONGEST_PREDICATE = 200

NEVER = fingerprint_of(normalize(Constant(False)))
"""The fingerprint of a targeting that can never be true."""

Reason = tuple[str, str]
"""A code, and the predicate if the code is `TARGETING`."""


@dataclass(slots=True)
class Counts:
    """The counts of one hour by campaign. `reasons` has the first reason of each explained miss.

    Nearly every sampled request considers the same campaigns. So that they are not all counted each
    time, `latest` are those that the last requests considered, and `times` is the number of these
    requests; `settle` adds both to `considered`.
    """

    considered: Counter[int] = field(default_factory=Counter)
    matched: Counter[int] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)
    reasons: dict[int, Counter[Reason]] = field(default_factory=dict)
    latest: frozenset[int] = frozenset()
    times: int = 0

    def consider(self, campaign_ids: frozenset[int]) -> None:
        """Count a request that considered these; fast if it is the same set as the last time."""
        if campaign_ids is not self.latest:
            self.settle()
            self.latest = campaign_ids
        self.times += 1

    def settle(self) -> None:
        """Bring `considered` up to date."""
        if self.times:
            self.considered.update(dict.fromkeys(self.latest, self.times))
            self.times = 0

    @property
    def rows(self) -> int:
        """The number of rows in the database."""
        return len(self.considered) + sum(map(len, self.reasons.values()))

    def explain(self, campaign_id: int, code: str, predicate: str = "") -> None:
        """Count the reason of a miss."""
        counted = self.reasons.setdefault(campaign_id, Counter())
        reason = (code, predicate[:LONGEST_PREDICATE])
        if reason not in counted and len(counted) >= MOST_PREDICATES:
            reason = (code, OTHER if predicate else "")
        counted[reason] += 1

    def add(self, other: "Counts") -> None:
        """Add the counts of the same hour."""
        other.settle()
        self.considered.update(other.considered)
        self.matched.update(other.matched)
        self.answered.update(other.answered)
        for campaign_id, counted in other.reasons.items():
            self.reasons.setdefault(campaign_id, Counter()).update(counted)


@dataclass(frozen=True, slots=True)
class HourOfDelivery:
    """One campaign in one hour."""

    hour: int
    considered: int
    matched: int
    answered: int
    reasons: Mapping[Reason, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The hour as clients see it."""
        shown = {"hour": written(datetime.fromtimestamp(self.hour * HOUR, UTC))}
        return shown | totals([self])


def totals(hours: Iterable[HourOfDelivery]) -> dict[str, Any]:
    """The sums over some hours; the reasons from the most frequent to the rarest."""
    considered = matched = answered = 0
    reasons: Counter[Reason] = Counter()
    for each in hours:
        considered += each.considered
        matched += each.matched
        answered += each.answered
        reasons.update(each.reasons)
    return {
        "considered": considered,
        "matched": matched,
        "answered": answered,
        "outranked": reasons.pop(("outranked", ""), 0),
        "explained": sum(reasons.values()),
        "reasons": [
            {"code": code, "predicate": predicate or None, "count": count}
            for (code, predicate), count in sorted(reasons.items(), key=lambda r: (-r[1], r[0]))
        ],
    }


@dataclass(frozen=True, slots=True)
class State:
    """One word for why a campaign delivers or not, and a sentence."""

    code: str
    detail: str


def state_of(
    campaign: Campaign, advertiser_status: str, day: Mapping[str, Any], now: datetime
) -> State:
    """The state of a campaign; `day` are its totals of the last day."""
    if campaign.status != ACTIVE:
        return State(campaign.status, f"The campaign is {campaign.status}.")
    if campaign.ends_at is not None and campaign.ends_at <= now:
        return State("ended", f"Its flight ended at {written(campaign.ends_at)}.")
    if advertiser_status != ACTIVE:
        return State("advertiser_paused", "Its advertiser is paused.")
    if campaign.fingerprint == NEVER:
        return State("never_matches", "No request can make its targeting true.")
    if campaign.starts_at is not None and campaign.starts_at > now:
        return State("scheduled", f"Its flight starts at {written(campaign.starts_at)}.")
    if not day["considered"]:
        return State("no_traffic", "No request was sampled since it became active.")
    of = f"of {day['considered']:,} sampled requests in the last day"
    if not day["matched"]:
        return State("unmatched", f"It matched none {of}.")
    if not day["answered"]:
        return State("outranked", f"It matched {day['matched']:,} {of}, and others were better.")
    return State("live", f"It was in {day['answered']:,} answers {of}.")
