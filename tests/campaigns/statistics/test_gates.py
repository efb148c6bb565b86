"""The gates: what they look at, and where they close."""

from typing import Any

import pytest

from campaigns.statistics.gates import Finding, Rules, judge, passed
from campaigns.statistics.replay import replay
from campaigns.statistics.sample import unpack
from index import Attribute, Index, Schema
from tests.campaigns.statistics.traffic import request, statistics

SCHEMA = Schema([Attribute("country", "string"), Attribute("device.type", "string")])
RARE_PHONES = [
    request(country="US", device_type="phone" if n % 10 == 0 else "tv") for n in range(200)
]
RARE_US = [request(country="US" if n % 10 == 0 else "DE", device_type="phone") for n in range(200)]
FEW = Rules(least_rows=100)


def index() -> Index:
    made = Index(SCHEMA, engine="native")
    made.insert_many((id, "country = 'US' and device.type = 'phone'") for id in range(5))
    made.insert_many((id, f"device.type = 'tv' and country = 'c{id}'") for id in range(5, 30))
    return made


def failed(findings: list[Finding]) -> list[tuple[str, str | None]]:
    return [(each.gate, each.attribute) for each in findings if not each.passed]


def judged(rows: list[dict[str, Any]], active: object = None, rules: Rules = FEW) -> list[Finding]:
    document, sample = statistics(rows)
    return judge(document, unpack(sample), active, rules)  # type: ignore[arg-type]


def test_enough_rows_and_few_malformed() -> None:
    document, _ = statistics(RARE_US)
    assert passed(judge(document, [], None, Rules(least_rows=200)))
    assert failed(judge(document, [], None, Rules(least_rows=201))) == [("rows", None)]
    # 11 of 211 are 5.2%, 10 of 210 are 4.8%.
    assert passed(judge({**document, "quarantined": 10}, [], None, FEW))
    assert failed(judge({**document, "quarantined": 11}, [], None, FEW)) == [("quarantine", None)]


def test_a_sample_that_lacks_rows_is_refused() -> None:
    """As where many rows have one request id, which is sampled once."""
    document, _ = statistics(RARE_US)
    few = {**document, "sample": {**document["sample"], "rows": 0}}
    findings = judge(few, [], None, FEW)
    assert failed(findings) == [("sample", None)]
    assert "0 sampled requests, of at least 100; are the request ids" in findings[1].detail
    assert passed(judge({**few, "sample": {"rows": 100}}, [], None, FEW))
    assert passed(judge({**few, "sample": {"rows": 50}}, [], None, Rules(100, least_sample=50)))


def test_drift_is_reported_for_each_attribute() -> None:
    before, _ = statistics(RARE_PHONES)
    findings = judged(RARE_US, before)
    assert failed(findings) == [("drift", "country"), ("drift", "device.type")]
    [country] = [each for each in findings if each.attribute == "country"]
    # US from 1 to 0.1; DE and what was not there from nearly none to 0.9.
    assert country.value == pytest.approx(-0.9 * -2.302585 + 0.8999 * 9.10498, rel=1e-3)
    # 0.25, and what chance explains with 200 rows in two bins: 18.89 · (1 / 200 + 1 / 200).
    assert country.limit == pytest.approx(0.25 + 0.1889, abs=1e-3)
    assert "it was in 100.0% of the requests" in country.detail
    same = judged(RARE_PHONES, before)
    assert passed(same)
    assert [each.attribute for each in same if each.gate == "drift"] == ["country", "device.type"]


def test_a_new_attribute_is_no_reason_and_one_that_is_gone_is() -> None:
    without, _ = statistics([request(country="US")] * 200)
    findings = judged([request(country="US", age=30)] * 200, without)
    assert passed(findings)
    assert "age is new" in [each.detail for each in findings]
    with_age, _ = statistics([request(country="US", age=30)] * 200)
    findings = judged([request(country="US")] * 200, with_age)
    assert failed(findings) == [("drift", "age")]
    assert "is gone" in findings[3].detail


def test_a_replay_has_the_same_matches_at_no_more_cost() -> None:
    before, _ = statistics(RARE_PHONES)
    document, sample = statistics(RARE_US)
    rows = unpack(sample)
    better = judge(document, rows, before, Rules(least_rows=1, most_drift=99), index())
    assert passed(better)
    assert [each.gate for each in better][-2:] == ["replay.matches", "replay.cost"]
    assert better[-1].value is not None
    assert better[-1].value < 1
    # Statistics of other traffic make the same requests dearer.
    worse = judge(before, rows, document, Rules(least_rows=1, most_drift=99), index())
    assert failed(worse) == [("replay.cost", None)]
    assert "times, of at most 1.05" in worse[-1].detail


def test_an_answer_that_differs_closes_the_gate() -> None:
    class Forgetful(Index):
        """Loses an expression when it is planned anew, as no index should."""

        def use_statistics(self, statistics: Any) -> None:
            super().use_statistics(statistics)
            if statistics is not None:
                self.remove(0)

    made = Forgetful(SCHEMA, engine="native")
    made.insert(0, "country = 'US'")
    document, sample = statistics(RARE_US)
    findings = judge(document, unpack(sample), None, FEW, made)
    assert failed(findings) == [("replay.matches", None)]
    assert "20 of 200 requests had other matches" in [each.detail for each in findings]


def test_an_engine_without_postings_has_no_cost() -> None:
    document, sample = statistics(RARE_US)
    made = Index(SCHEMA, engine="scan")
    made.insert(1, "country = 'US'")
    found = replay(made, unpack(sample), None, document)
    assert (found.requests, found.different) == (200, 0)
    assert (found.cost_before, found.cost_after) == (None, None)


def test_requests_that_the_schema_refuses_are_passed_over() -> None:
    document, sample = statistics([*RARE_US, request(country=7)])
    assert replay(index(), unpack(sample), None, document).requests == 200
