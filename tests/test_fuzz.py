"""The fuzzer itself: it runs, it repeats itself, and it finds what is wrong."""

from random import Random

import pytest

from index.language import children_of
from tests import fuzz
from tests.random_histories import Cases, Insert, Match, Step


def test_it_runs_for_its_time_and_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--minutes", str(2 / 60), "--first-seed", "1"]) == 0
    assert "events compared" in capsys.readouterr().err


def test_the_same_seed_is_the_same_round() -> None:
    first, second = Cases(Random(5)), Cases(Random(5))
    assert list(first.schema) == list(second.schema)
    assert first.history(200) == second.history(200)
    assert Cases(Random(6)).history(200) != first.history(200)


def test_a_disagreement_is_cut_down_and_printed_as_a_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(self: fuzz.Round, step: Match) -> None:
        if len(self.scan) >= 2:
            raise fuzz.Disagreement("two are too many")

    monkeypatch.setattr(fuzz.Round, "match", wrong)
    assert fuzz.main(["--first-seed", "3"]) == 1
    told = capsys.readouterr().err
    assert "Disagreement: two are too many" in told
    assert "with 3 of 250 steps" in told
    script = told[told.index("from index import") :]
    compile(script, "reproduction", "exec")
    assert script.count("index.insert") == 2


def test_shrinking_leaves_out_steps_and_parts_of_trees() -> None:
    steps = Cases(Random(1)).history(200)
    inserts = [step for step in steps if isinstance(step, Insert)]

    def fails(some: list[Step]) -> bool:
        return sum(isinstance(step, Insert) for step in some) >= 2

    shorter = fuzz.shrink([*steps], fails)
    assert len(inserts) > 2
    assert len(shorter) == 2
    assert all(isinstance(step, Insert) and not children_of(step.tree) for step in shorter)
