"""The requests of a run: those of the ads workload, seeded."""

from collections.abc import Sequence
from datetime import UTC, datetime

import orjson

from testkit.client import match_bodies
from testkit.workloads.ads import Ads
from testkit.workloads.ads_openrtb import AdsOpenRtb, bid_request
from testkit.workloads.workload import Event, Workload

TEXTS = 200
BODIES = 10_000


def workload_of(openrtb: bool, seed: int) -> Workload:
    """The workload that campaigns and requests come from."""
    return AdsOpenRtb(seed=seed) if openrtb else Ads(seed=seed)


def bodies_of(openrtb: bool, events: Sequence[Event]) -> list[bytes]:
    """The bodies of the requests for these events."""
    if not openrtb:
        return match_bodies(events)
    year = datetime.now(UTC).year
    return [orjson.dumps(bid_request(event, number, year)) for number, event in enumerate(events)]
