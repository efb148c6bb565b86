"""The traffic is seeded, and a bid request contains what its event has."""

import time

from app.openrtb import ask, parse
from campaigns.feed.view import View
from index import Limits
from index import parse as parse_expression
from loadtest.traffic import bodies_of, workload_of
from testkit.workloads.ads_openrtb import AdsOpenRtb

SEEDED = (False, True)
_OF_EVERY_IMP = {"imp.floor_micros", "imp.private_auction", "imp.media", "imp.sizes"}


def test_the_service_reads_out_of_a_bid_request_what_its_event_has() -> None:
    workload = AdsOpenRtb()
    view = View.empty({each.name: each.type.value for each in workload.schema}, Limits())
    events = workload.events(300)
    for event, body in zip(events, bodies_of(True, events), strict=True):
        request = parse(body)
        (imp,) = ask(request, view, time.time()).imps
        assert request.ignored == {}
        assert {k: v for k, v in imp.event.items() if k not in _OF_EVERY_IMP} == event
    assert {name for event in events for name in event} > {"country", "age", "imp.deals"}


def test_traffic_is_seeded() -> None:
    for openrtb in SEEDED:
        one, same, other = (
            bodies_of(openrtb, workload_of(openrtb, seed).events(20)) for seed in (1, 1, 2)
        )
        assert one == same != other


def test_targetings_can_be_read_by_the_service() -> None:
    for openrtb in SEEDED:
        workload = workload_of(openrtb, 1)
        for text in workload.texts(30):
            parse_expression(text, workload.schema)
