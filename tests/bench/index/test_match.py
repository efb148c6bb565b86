"""`python -m bench match`: the fields, the caps, and what happens when engines disagree."""

import json
import shutil
from collections.abc import Sequence

import pytest

from bench import build
from bench.index import engines, measure
from bench.index.engines.engine import Engine, Item, Unavailable
from bench.index.engines.python import PythonEngine
from bench.index.match import FIELDS
from index.language import Schema
from testkit.progress import Progress
from testkit.workloads import make
from testkit.workloads.workload import Event
from tests.bench.conftest import Bench


@pytest.fixture
def flat() -> None:
    try:
        build.peers()
    except build.CannotBuild as e:
        if shutil.which("cargo"):
            raise
        pytest.skip(str(e))  # there is nothing to build it with


def run(bench: Bench, *arguments: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in bench("match", "--json", "--rounds", "2", *arguments)]


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize("workload", ["abe", "ads", "ads-conj", "be-dense", "be-sparse"])
def test_one_object_an_engine_with_all_fields(workload: str, bench: Bench) -> None:
    names = ["scan", "reference", "flat"]
    size = ["--workload", workload, "--n", "120", "--events", "5"]
    results = run(bench, *size, "--engines", ",".join(names))
    assert [result["engine"] for result in results] == names
    for result in results:
        assert tuple(result)[: len(FIELDS)] == FIELDS
        assert all(result[field] is not None for field in FIELDS)
        assert result["workload"] == workload
        assert result["n"] == 120
        assert result["capped"] is False
    assert len({result["matches_per_event"] for result in results}) == 1
    assert results[2]["ratio_to_flat"] == 1


@pytest.mark.usefixtures("flat")
def test_a_capped_engine_says_so_and_is_compared_with_a_flat_of_its_size(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PythonEngine, "cap", 40)
    size = ["--workload", "be-dense", "--n", "400", "--events", "5"]
    scan, whole = run(bench, *size, "--engines", "scan,flat")
    assert (scan["n"], scan["capped"]) == (40, True)
    assert (whole["n"], whole["capped"]) == (400, False)
    assert isinstance(scan["ratio_to_flat"], float)
    assert scan["ratio_to_flat"] < 1


@pytest.mark.usefixtures("flat")
def test_an_engine_that_cannot_take_part_says_why(bench: Bench) -> None:
    size = ["--workload", "ads", "--n", "1000", "--events", "3"]
    peer, _ = run(bench, *size, "--engines", "a-tree,flat")
    assert peer["engine"] == "a-tree"
    assert peer["match_us_median"] is None
    assert "starts with" in str(peer["skipped"])


_answers = PythonEngine.answers


def _without_the_last(engine: PythonEngine, events: Sequence[Event]) -> list[list[int]]:
    return [ids[:-1] for ids in _answers(engine, events)]


class _Wrong(PythonEngine):
    """Forgets the last id of every answer."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema, "scan")

    answers = _without_the_last


def make_wrong(name: str, schema: Schema, seen: Sequence[Event] = ()) -> Engine:
    return _Wrong(schema) if name == "wrong" else engines.make(name, schema, seen)


def test_a_disagreement_is_reported_with_the_first_difference() -> None:
    with pytest.raises(measure.Disagreement, match=r"matches for scan and not for wrong"):
        measure.measure(
            make("abe"), 300, 5, ["wrong", "scan"], progress=Progress(quiet=True), make=make_wrong
        )


@pytest.mark.usefixtures("flat")
def test_a_disagreement_is_a_failure(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PythonEngine, "answers", _without_the_last)
    with pytest.raises(SystemExit, match="the engines disagree: event 0") as stopped:
        run(bench, "--workload", "abe", "--n", "300", "--engines", "scan,flat")
    assert stopped.value.code not in (0, None)
    assert capsys.readouterr().out == ""


def test_an_engine_that_fails_while_building_is_skipped() -> None:
    class Failing(PythonEngine):
        def build(self, items: Sequence[Item]) -> None:
            raise Unavailable("no")

    results = measure.measure(
        make("abe"),
        50,
        3,
        ["failing", "scan"],
        progress=Progress(quiet=True),
        make=lambda name, schema, seen: (
            Failing(schema, "scan") if name == "failing" else make_wrong(name, schema)
        ),
    )
    assert results[0] == {"engine": "failing", "skipped": "no"}
    assert results[1]["n"] == 50


@pytest.mark.parametrize("arguments", [["--engines", "nobody"], ["--n", "0"], ["--events", "x"]])
def test_wrong_arguments_are_refused(arguments: list[str], bench: Bench) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(bench, *arguments)
