"""`python -m bench http --route openrtb`: what it reports."""

import json

from bench.service import openrtb
from testkit.progress import Progress


def test_the_no_op_and_the_service_are_measured() -> None:
    empty, serving = openrtb.measure(1000, 1, 4, Progress(quiet=True), rounds=1)
    assert (empty["server"], serving["server"]) == ("noop", "service")
    for each in (empty, serving):
        assert each["requests_per_s"] > 0
        assert each["refused"] == 0
    assert serving["cpu_us"] > empty["cpu_us"] > 0
    assert serving["match_alone_us"] > 0


def test_the_requests_have_one_imp_one_format_and_no_deal() -> None:
    (body,) = openrtb.bodies_of([{"country": "US", "imp.deals": ["deal-1"], "imp.position": 1}])
    (imp,) = json.loads(body)["imp"]
    assert imp == {"id": "1", "banner": {"w": 300, "h": 250, "pos": 1}}
