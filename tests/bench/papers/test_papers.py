"""The league of the papers' engines, in small."""

import pytest

from bench.papers import false_positives as false_positives_module
from bench.papers import league, parameters
from bench.papers.claims import CLAIMS, Claim, change, claims_page
from bench.papers.drift import STEPS, drift_page, drifts, recoveries, recovery_page
from bench.papers.false_positives import bound, false_positives
from bench.papers.java_peers import peers_page
from bench.papers.league import ROWS, league_page
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
    page = league_page(found, rows)
    assert "### w0: Propagation, W0" in page
    assert "holds conjunctions only" in page
    assert page.count("| be-tree ") == 1


def test_claims_compare_times_as_the_papers_do() -> None:
    times = {"fast": {"match_us_median": 25.0}, "slow": {"match_us_median": 100.0}}
    assert change("w", "fast", "slow")({"w": times}) == -75.0
    assert all(isinstance(claim, Claim) for claim in CLAIMS)
    assert "Why not" not in claims_page({})


def test_tama_has_no_false_negatives_and_stays_within_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(false_positives_module, "_EVENTS", 100)
    monkeypatch.setattr(false_positives_module, "_SEEN", 200)
    for rate in false_positives(400, widths=(0.1,)):
        assert rate.matches + rate.false == 0 or rate.false / (rate.matches + rate.false) < 0.01
    assert bound(1, 0.1) < bound(2, 0.1) < 1e-3


def test_drift_has_a_time_for_every_step_and_strategy() -> None:
    found = drifts(200, Progress(quiet=True))
    assert all(len(times) == STEPS + 1 for drift in found for times in drift.us.values())
    assert drift_page(found, 200).count("| dynamic ") == 2


def test_without_java_its_peers_are_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None)
    assert peers_page(10, Progress(quiet=True)).endswith("Skipped: no java found.")


def test_a_tree_under_churn_has_a_time_for_every_fifth_there_and_back() -> None:
    found = recoveries(100, Progress(quiet=True))
    assert [len(each.us) for each in found] == [11, 11]
    assert recovery_page(found, 100).count("| Zipf, uniform, Zipf") == 1


def test_every_parameter_of_the_tables_is_varied_and_the_engines_agree() -> None:
    figures = parameters.figures(100)
    titles = {figure.title for figure in figures}
    assert {"be-tree: width of a range", "be-dense: attributes", "abe: repeat times"} <= titles
    assert len(figures) == len(titles) == 25
    some = next(figure for figure in figures if "equalities only" in figure.title)
    for point in some.points:
        results = parameters.measured(point, Progress(quiet=True))
        assert not any("skipped" in result for result in results)
