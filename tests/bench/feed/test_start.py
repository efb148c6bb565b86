"""`python -m bench start`, small: its fields, and that both starts load what the database has."""

import json

import pytest

from bench.feed import start
from tests.bench.conftest import Bench


def test_both_starts_are_reported_and_load_what_the_database_has(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "CHANGES", 60)
    (line,) = bench("start", "--json", "--campaigns", "2000")
    result = json.loads(line)
    assert result["campaigns"] == 2000
    assert result["digests_equal"] is True
    assert result["changes"] == 60
    for name in ("bare_s", "cold_s", "cold_cpu_s", "kept_s", "kept_cpu_s", "file_mb", "index_mb"):
        assert result[name] > 0, name
    assert result["cold_peak_mb"] > result["index_mb"]
    assert result["targets"]["cold_s"] == pytest.approx(15 + 2 * result["bare_s"], abs=0.02)
    assert isinstance(result["met"], bool)


def test_a_view_that_is_not_the_database_s_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "rev_and_digest", lambda url: (7, 1234))
    view = {"rev": 7, "digest": 1234, "poisoned": 0, "from_file": True}
    start._compare("", view, from_file=True)
    with pytest.raises(start.WrongView):
        start._compare("", view, from_file=False)
    with pytest.raises(start.WrongView):
        start._compare("", view | {"digest": 4321}, from_file=True)
