"""The league of the papers' engines, in small."""

from typing import Any

import pytest

from bench.papers import false_positives as false_positives_module
from bench.papers import league, parameters
from bench.papers.claims.claim import Evidence, change, growth, points, times
from bench.papers.claims.page import PAPERS, claims_page
from bench.papers.drift import STEPS, drift_page, drifts, recoveries, recovery_page
from bench.papers.false_positives import Setting, false_positives, false_positives_page
from bench.papers.java_peers import Peers, peers
from bench.papers.league import ROWS, league_page
from bench.papers.parameters import Swept
from testkit.progress import Progress


@pytest.fixture(autouse=True)
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are not taken from earlier runs."""
    monkeypatch.setattr(league, "kept", lambda key: None)
    monkeypatch.setattr(league, "keep", lambda key, results: None)
    monkeypatch.setattr(league, "_SECONDS", 0.01)
    monkeypatch.setattr(parameters, "kept", lambda key: None)
    monkeypatch.setattr(parameters, "keep", lambda key, results: None)
    monkeypatch.setattr(parameters, "_SECONDS", 0.01)


def test_engines_agree_and_the_page_shows_all_that_can_hold_a_workload() -> None:
    rows = [row for row in ROWS if row.name in ("w0", "ads")]
    found = league.league(300, Progress(quiet=True), rows)
    skipped = {name for name, result in found["ads"].items() if "skipped" in result}
    assert "be-tree" in skipped
    assert "native" not in skipped
    assert not any("skipped" in result for result in found["w0"].values())
    slow = {"engine": "event-ruler", "n": 50, "match_us_median": 9.0, "capped": True}
    page = league_page(found, Peers({"w0": [slow]}, "no mvn found"), rows)
    assert "### w0: Propagation, W0" in page
    assert "holds conjunctions only" in page
    assert page.count("| be-tree ") == 1
    assert "event-ruler (50 only)" in page
    assert "skipped: no mvn found." in page


def test_a_row_that_our_core_loses_says_why() -> None:
    def result(name: str, us: float) -> dict[str, object]:
        return {
            "engine": name,
            "n": 9,
            "match_us_median": us,
            "match_us_p99": us,
            "ratio_to_flat": 1.0,
            "build_s": 0.1,
            "bytes_per_expression": 1.0,
            "matches_per_event": 1.0,
            "capped": False,
        }

    row = next(row for row in ROWS if row.name == "be-tree 10 %")
    for us, is_first in ((4.0, True), (6.0, False)):
        found = {row.name: {name: result(name, t) for name, t in (("native", us), ("be-tree", 5))}}
        page = league_page(found, Peers({}), [row])
        assert ("Where our core is not first:" in page) != is_first
        assert (league.WHY_NOT_FIRST[row.name] in page) != is_first


def test_claims_compare_times_as_the_papers_do() -> None:
    runs = {
        "w": {"fast": {"match_us_median": 25.0}, "slow": {"match_us_median": 100.0}},
        "v": {"slow": {"match_us_median": 150.0}},
    }
    evidence = Evidence(runs)
    assert change("w", "fast", "slow")(evidence) == -75.0
    assert times("w", "fast", "slow")(evidence) == 4.0
    assert growth("slow", "w", "v")(evidence) == 50.0
    with pytest.raises(KeyError):
        change("v", "fast", "slow")(evidence)


def test_every_claim_without_evidence_says_that_it_was_not_measured() -> None:
    page = claims_page(Evidence())
    assert page.count("not measured") == sum(map(len, PAPERS.values()))
    assert "Why not" not in page


def test_every_claim_has_its_evidence_and_a_reason_for_failing() -> None:
    names = {row.name for row in ROWS}
    swept: Swept = [(figure, [[] for _ in figure.points]) for figure in parameters.figures(12_500)]
    names |= set(points(swept))
    for claim in (claim for claims in PAPERS.values() for claim in claims):
        assert claim.why, claim.claim
        missing = _Missing()
        with pytest.raises(KeyError):
            claim.ours(Evidence(missing))
        assert missing.asked <= names, claim.claim


class _Missing(dict[str, Any]):
    """No runs, but what was asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        raise KeyError(name)


def test_tama_has_no_false_negatives_and_cuts_skewed_values_at_their_medians(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(false_positives_module, "_EVENTS", 100)
    monkeypatch.setattr(false_positives_module, "_SEEN", 200)
    rates = false_positives(400, Progress(quiet=True))
    assert all(rate.rate < 0.01 for rate in rates if not rate.skewed)
    by_separation = [
        sum(r.false for r in rates if r.separation == s) for s in ("uniform", "optimal")
    ]
    assert by_separation[1] < by_separation[0]
    assert false_positives_page(rates, 400).count("| skewed") == 4
    one, two = (Setting(constraints=count, width=0.1).bound for count in (1, 2))
    assert one < two < 1e-3


def test_drift_has_a_time_for_every_step_and_strategy() -> None:
    found = drifts(200, Progress(quiet=True))
    assert all(len(times) == STEPS + 1 for drift in found for times in drift.us.values())
    assert drift_page(found, 200).count("| dynamic ") == 2


def test_without_java_its_peers_are_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None)
    assert peers(10, Progress(quiet=True)) == Peers({}, "no java found")


def test_a_tree_under_churn_has_a_time_for_every_fifth_there_and_back() -> None:
    found = recoveries(100, Progress(quiet=True))
    assert [len(each.us) for each in found] == [11, 11]
    assert recovery_page(found, 100).count("| Zipf, uniform, Zipf") == 1


def test_every_parameter_of_the_tables_is_varied_and_the_engines_agree() -> None:
    figures = parameters.figures(100)
    titles = {figure.title for figure in figures}
    assert {"be-tree: width of a range", "be-dense: attributes", "abe: repeat times"} <= titles
    assert len(figures) == len(titles) == 28
    some = next(figure for figure in figures if "equalities only" in figure.title)
    for point in some.points:
        results = parameters.measured(point, Progress(quiet=True))
        assert not any("skipped" in result for result in results)
