"""`python -m bench ablation` and `growth`; and no answer depends on a choice of the core."""

import json
from pathlib import Path

import pytest

from bench.index import growth
from bench.index.ablation import VARIANTS
from bench.index.engines import make as make_engine
from bench.index.engines.native import Knows, Native
from bench.papers import results
from index import Index
from index.backends.native import NativeBackend
from testkit.progress import Progress
from testkit.workloads import make
from tests.bench.conftest import Bench

KNOWN: tuple[Knows, ...] = ("statistics", "counting")
OFF = ("guards", "tiny_sets", "prefetch", "huge_pages", "counting", "access")
CHOICES = [
    ("guards", 1),
    ("access", 1),
    *((name, 0) for name in OFF),
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)


@pytest.mark.parametrize("name", ["ads", "abe", "be-dense"])
def test_no_answer_depends_on_a_choice(name: str) -> None:
    workload = make(name, seed=7)
    events = workload.events(60)
    items = list(zip(range(400), workload.expressions(), strict=False))
    oracle = make_engine("scan", workload.schema)
    oracle.build(items)
    expected = oracle.answers(events[:20])
    assert any(expected)
    one_by_one = [{choice: value} for choice, value in CHOICES]
    for tuning in [*one_by_one, dict(CHOICES)]:
        for knows in KNOWN:
            engine = Native(workload.schema, events[20:], knows, tuning)
            engine.build(items[:300])
            engine.match_ns(events[:5])
            for item in items[300:]:
                engine.insert(item)
            assert engine.answers(events[:20]) == expected, (tuning, knows)
            engine._index.check_invariants()


def test_an_index_is_tuned_while_it_is_empty() -> None:
    index = Index(make("ads").schema, engine="native")
    backend = index._backend
    assert isinstance(backend, NativeBackend)
    with pytest.raises(ValueError, match="no switch named luck"):
        backend.core.tune("luck", 1)
    with pytest.raises(ValueError, match="guards is at most 2, not 3"):
        backend.core.tune("guards", 3)
    index.insert(1, "true")
    with pytest.raises(ValueError, match="before the first expression"):
        backend.core.tune("prefetch", 0)


def test_an_ablation_tells_what_each_choice_brings(bench: Bench) -> None:
    size = ["--workload", "ads", "--n", "300", "--events", "5"]
    found = [json.loads(line) for line in bench("ablation", "--json", *size)]
    assert [result["engine"] for result in found] == list(VARIANTS)
    assert found[0]["ratio_to_all_on"] == 1
    for result in found:
        assert result["match_us_median"] > 0
        assert result["postings_per_event"] > 0
    table = bench("ablation", *size)  # from what was kept
    assert table[0] == "ads, 300 expressions"
    assert len(table) == 4 + len(VARIANTS)


def test_growth_has_all_sizes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "SIZES", (50, 100, 200, 5000))
    monkeypatch.setattr(growth, "ENGINES", ("native", "scan"))
    found = [json.loads(line) for line in bench("growth", "--to", "200", "--json")]
    assert [(result["engine"], result["n"]) for result in found] == [
        (engine, n) for n in (50, 100, 200) for engine in ("native", "scan")
    ]
    monkeypatch.delattr(results, "measure")  # what was measured is not measured again
    assert sorted(growth.growth(100, Progress(quiet=True))) == [50, 100, 200]
    text = "\n".join(bench("growth", "--to", "100"))
    assert "From 50 to 100 expressions the matches of an event grow" in text
