"""The requests and targetings of a run: those of the ads workload, seeded, with its skew."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import orjson

from index.language import from_json
from testkit.bodies import body_of
from testkit.workloads.ads import Ads
from testkit.workloads.ads_openrtb import AdsOpenRtb, bid_request
from testkit.workloads.workload import Event, Workload

TEXTS = 200
BODIES = 10_000


def workload_of(openrtb: bool, seed: int) -> Workload:
    """What campaigns and requests are drawn from."""
    return AdsOpenRtb(seed=seed) if openrtb else Ads(seed=seed)


def bodies_of(openrtb: bool, events: Sequence[Event]) -> list[bytes]:
    """The bodies that ask for the matches of events."""
    if not openrtb:
        return [body_of(event) for event in events]
    year = datetime.now(UTC).year
    return [orjson.dumps(bid_request(event, number, year)) for number, event in enumerate(events)]


def texts_of(workload: Workload, count: int = TEXTS) -> list[str]:
    """Targetings as people write them."""
    schema = workload.schema
    return [str(from_json(tree, schema)) for tree in islice(workload.expressions(), count)]


def lines_in(path: Path) -> list[str]:
    """Bodies or targetings that were written to a file, one a line."""
    return path.read_text().splitlines()
