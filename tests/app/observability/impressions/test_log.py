"""The log as a whole: what is added is written, or counted."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.observability.impressions.log import ImpressionLog
from app.observability.impressions.options import Options
from campaigns.backoff import Backoff
from tests.app.answers import eventually
from tests.app.observability.impressions.process import QUICK
from tests.app.observability.impressions.rows import HOUR, files, logged, numbers, row

ROOT = Path(__file__).parents[4]


@contextmanager
def logging_to(directory: Path, options: Options = QUICK) -> Iterator[ImpressionLog]:
    log = ImpressionLog(directory, "w1", options)
    log.start()
    try:
        yield log
    finally:
        log.close(5)


@contextmanager
def worker(directory: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    module = "tests.app.observability.impressions.process"
    command = [sys.executable, "-m", module, str(directory), *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: "subprocess.Popen[str]", until: Callable[[Any], bool]) -> Any:
    """What the worker says, once it says that."""
    assert process.stdout is not None
    for line in process.stdout:
        if until(told := json.loads(line)):
            return told
    raise AssertionError("the worker has ended")


def test_closing_loses_nothing(tmp_path: Path) -> None:
    with logging_to(tmp_path, Options(flush_every=60)) as log:
        assert all(log.add(row(number)) for number in range(5_000))
        assert log.close(10)
        counts = log.counts()
    assert (counts.written, counts.lost, counts.waiting) == (5_000, {}, 0)
    assert numbers(tmp_path) == list(range(5_000))
    assert not log.add(row())
    assert log.counts().lost == {"closed": 1}


def test_a_log_that_never_started_can_be_closed(tmp_path: Path) -> None:
    log = ImpressionLog(tmp_path, "w1")
    assert log.close(1)
    log = ImpressionLog(tmp_path, "w1")
    log.add(row())
    assert not log.close(1)
    assert log.counts().lost == {"timeout": 1}


def test_denied_attributes_are_not_logged(tmp_path: Path) -> None:
    with logging_to(tmp_path) as log:
        log.add(row(attributes={"country": "US", "device.ip": "203.0.113.77"}))
    assert [found["attributes"] for found in logged(tmp_path)] == [{"country": "US"}]


def test_rows_are_written_without_closing(tmp_path: Path) -> None:
    with logging_to(tmp_path) as log:
        log.add(row(1))
        eventually(lambda: log.counts().written == 1)
        assert log.counts().waiting == 0


@pytest.mark.parametrize(
    "options",
    [Options(queue_rows=10, flush_every=60), Options(queue_bytes=12_000, flush_every=60)],
    ids=["rows", "bytes"],
)
def test_a_full_queue_loses_what_is_new_and_counts_it(tmp_path: Path, options: Options) -> None:
    log = ImpressionLog(tmp_path, "w1", options)  # nobody writes yet
    taken = sum(log.add(row(number)) for number in range(100))
    assert 5 <= taken <= 15
    assert log.counts().lost == {"queue_full": 100 - taken}
    log.start()
    assert log.close(5)
    assert numbers(tmp_path) == list(range(taken))


def test_room_comes_back_when_rows_are_written(tmp_path: Path) -> None:
    with logging_to(tmp_path, Options(queue_bytes=20_000, flush_every=0.01)) as log:
        for number in range(200):
            eventually(lambda number=number: log.add(row(number)))  # type: ignore[misc]
    assert numbers(tmp_path) == list(range(200))


def test_sigterm_loses_nothing(tmp_path: Path) -> None:
    with worker(tmp_path) as process:
        said(process, lambda told: told["written"] > 0)
        process.terminate()
        last = said(process, lambda told: told["closed"] is not None)
    assert last["closed"]
    assert last["written"] == last["added"]
    assert numbers(tmp_path) == list(range(last["added"]))


def test_what_a_killed_worker_wrote_is_adopted_by_the_next(tmp_path: Path) -> None:
    with worker(tmp_path) as process:
        with logging_to(tmp_path) as neighbour:
            told = said(process, lambda told: told["written"] > 500)
            neighbour.add(row(0))
            eventually(lambda: neighbour.counts().written == 1)
            assert neighbour.counts().adopted == 0  # it is being written
        process.kill()
        process.wait()
    before = set(numbers(tmp_path))
    assert before <= {0}
    with logging_to(tmp_path) as log:
        eventually(lambda: log.counts().adopted == 1)
    found = numbers(tmp_path)
    assert set(range(told["written"])) <= set(found)
    assert not any("/_" in name for name in files(tmp_path))


def test_a_file_that_may_not_grow_is_survived(tmp_path: Path) -> None:
    with worker(tmp_path, "--rows", "1000", "--limit", "65536") as process:
        told = said(process, lambda told: told["failing"] and told["added"] == 1000)
        assert told["lost"] == {}
        assert process.stdin is not None
        process.stdin.write("there is space again\n")
        process.stdin.flush()
        said(process, lambda told: told["written"] == 1000)
        process.terminate()
        assert said(process, lambda told: told["closed"] is not None)["closed"]
    assert numbers(tmp_path) == list(range(1000))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount; the test with the file-size limit runs anywhere")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_survived(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 4_100_000)
    options = Options(flush_every=0.02, retry=Backoff(0.02, 0.05), queue_rows=700)
    with logging_to(small_disk, options) as log:
        taken = 0
        while "disk_error" not in log.counts().lost:
            taken += log.add(row(taken))
            if taken % 50 == 0:
                time.sleep(0.001)
        assert log.counts().failing
        ballast.unlink()
        eventually(lambda: log.counts().waiting == 0)
        assert not log.counts().failing
        assert log.add(row(taken))
        assert log.close(5)
        counts = log.counts()
    assert numbers(small_disk) == list(range(taken + 1))
    assert counts.written == taken + 1
    assert set(counts.lost) <= {"disk_error", "queue_full"}
    said = [record.message for record in caplog.records]
    assert len([text for text in said if "cannot write impressions" in text]) == 1
    assert len([text for text in said if "works again" in text]) == 1


def test_a_disk_that_stays_full_ends_in_time_and_is_counted(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 4_160_000)
    log = ImpressionLog(small_disk, "w1", QUICK)
    log.start()
    assert all(log.add(row(number)) for number in range(1_000))
    started = time.monotonic()
    assert not log.close(0.3)
    assert time.monotonic() - started < 2
    counts = log.counts()
    assert counts.lost == {"disk_error": 1_000 - counts.written}


def test_what_a_worker_leaves_later_is_completed_too(tmp_path: Path) -> None:
    hour = tmp_path / HOUR
    with logging_to(tmp_path, replace(QUICK, adopt_every=0.02)) as log:
        eventually(log._thread.is_alive)
        hour.mkdir(parents=True)
        (hour / "_part-w7-5.jsonl").write_bytes(b'{"a":1}\n{"a":')
        eventually(lambda: log.counts().adopted == 1)
    assert (hour / "part-w7-5.jsonl").read_bytes() == b'{"a":1}\n'
