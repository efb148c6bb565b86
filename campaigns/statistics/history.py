"""What a forecast is made from: the sampled requests of the last days.

    version 12 (active)   2026-11-16   20,000 requests ─┐  2,857 of each: the first ones, since a
    version 11            2026-11-15   20,000 requests ─┤  sample is ordered by hash, and any prefix
    …                                                   │  of it is a sample too
    version 6             2026-11-10   20,000 requests ─┘

One day says nothing about how days differ. So the active version is joined by the latest versions
of the days before it that passed the gates and still have their samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from campaigns.errors import SampleGone
from campaigns.statistics import service
from campaigns.statistics.sample import Sampled, unpack
from campaigns.statistics.versions import PASSED, StatisticsVersion
from campaigns.store import Store

DAYS = 7


@dataclass(frozen=True, slots=True)
class History:
    """Versions with the requests of their days and their samples, the active version first."""

    versions: Sequence[StatisticsVersion]
    requests_by_day: dict[str, float]
    samples: Sequence[bytes]

    @property
    def document(self) -> dict[str, Any]:
        """The window, the requests of each day and the sample rate, as of one version."""
        days = sorted(self.requests_by_day)
        rows = sum(version.sample_rows for version in self.versions) / len(self.versions)
        window = self.versions[0].to_dict()["window"]
        oldest = min(self.versions, key=lambda version: version.window_from).to_dict()["window"]
        return {
            "requests_by_day": self.requests_by_day,
            "window": {"from": oldest["from"], "to": window["to"], "days": days},
            "sample": {"rate": min(1.0, rows / max(1.0, sum(self.requests_by_day.values())))},
        }

    def sample(self) -> list[Sampled]:
        """As many requests as one version has, an equal part of each."""
        parts = [unpack(sample) for sample in self.samples]
        return [each for part in parts for each in part[: -(-len(part) // len(parts))]]


async def load_history(store: Store, days: int = DAYS) -> History | None:
    """The history of the active version; None without one, `SampleGone` without its sample."""
    active = await service.active(store)
    if active is None:
        return None
    versions = [active, *_before(active, (await service.page(store, 200)).items, days)]
    kept, samples, requests = [], [], {}
    for version in versions:
        try:
            samples.append(await service.sample(store, version.id))
        except SampleGone:
            if version is active:
                raise
            continue
        kept.append(version)
        requests.update((await service.document(store, version.id))["requests_by_day"])
    return History(kept, requests, samples)


def _before(
    active: StatisticsVersion, versions: Sequence[StatisticsVersion], days: int
) -> list[StatisticsVersion]:
    """The newest versions that passed, of days before those of the active one and of each other."""
    first = str(date.fromisoformat(max(active.days)) - timedelta(days=days - 1))
    found, taken = [], set(active.days)
    for version in versions:
        wanted = version.gates == PASSED and first <= min(version.days)
        if wanted and max(version.days) < min(active.days) and taken.isdisjoint(version.days):
            found.append(version)
            taken.update(version.days)
    return found
