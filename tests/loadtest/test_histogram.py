"""Histograms: percentiles from buckets, and lines that are read back."""

from pathlib import Path
from random import Random

import pytest

from loadtest.histogram import Histogram, Recorder, bucket_of, middle_of, read, total


def test_a_bucket_stands_for_its_times_to_about_one_in_a_hundred() -> None:
    for seconds in (2e-6, 1e-4, 0.0123, 0.9, 31.0):
        assert middle_of(bucket_of(seconds)) == pytest.approx(seconds, rel=0.012)
    assert bucket_of(0.0) == bucket_of(1e-6) == 0


def test_percentiles_are_those_of_the_times(tmp_path: Path) -> None:
    rng = Random(1)
    times = [rng.lognormvariate(-6, 1) for _ in range(10_000)]
    recorder = Recorder()
    for seconds in times:
        recorder.record("match", 100.5, seconds)
    with (tmp_path / "latencies").open("w") as file:
        recorder.write(file, 101.0)
    histogram = read([tmp_path / "latencies"])[100]["match"]
    ordered = sorted(times)
    for share in (0.5, 0.95, 0.99):
        exact = ordered[int(share * len(ordered))]
        assert histogram.percentile(share) == pytest.approx(exact, rel=0.02)
    assert histogram.percentile(1.0) == max(times)
    assert histogram.count == len(times)


def test_a_second_is_written_when_it_is_over(tmp_path: Path) -> None:
    recorder, path = Recorder(), tmp_path / "latencies"
    recorder.record("match", 100.9, 0.001)
    recorder.record("match", 101.1, 0.001, error="503")
    with path.open("w") as file:
        recorder.write(file, 101.5)
        assert list(read([path])) == [100]
        recorder.write(file, 102.0)
    seconds = read([path])
    assert {at: kinds["match"].wrong for at, kinds in seconds.items()} == {100: 0, 101: 1}


def test_files_of_several_processes_add_up(tmp_path: Path) -> None:
    for process in range(2):
        recorder = Recorder()
        recorder.record("match", 100.0, 0.001 * (process + 1))
        recorder.record("pause", 100.0, 0.5, error="409")
        with (tmp_path / f"latencies-{process}").open("w") as file:
            recorder.write(file, 101.0)
            file.write('{"at": 101, "kin')  # in the middle of being written
    kinds = read(tmp_path.iterdir())[100]
    assert kinds["match"].count == 2
    assert kinds["match"].longest == 0.002
    assert kinds["pause"].errors == {"409": 2}
    assert total(kinds.values()).count == 4


def test_nothing_has_no_percentiles() -> None:
    assert Histogram().percentile(0.5) is None
