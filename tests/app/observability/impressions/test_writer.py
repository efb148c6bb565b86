"""Lines to files: when a part is complete, and what a failing disk does to it."""

import shutil
from pathlib import Path

import pytest

from app.observability.impressions.options import Options
from app.observability.impressions.writer import Writer
from campaigns.catalogue.privacy import Denylist
from tests.app.observability.impressions.rows import HOUR, NOON, files, logged, numbers, row


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def writer(directory: Path, clock: Clock, options: Options | None = None) -> Writer:
    return Writer(directory, "w1", options or Options(), Denylist().permits, clock)


def test_a_part_has_a_name_that_spark_passes_over_until_it_is_complete(
    tmp_path: Path, clock: Clock
) -> None:
    one = writer(tmp_path, clock)
    one.take([row(1), row(2)])
    assert list(files(tmp_path)) == []
    one.flush()
    (name,) = files(tmp_path)
    assert name.startswith(f"{HOUR}/_part-w1-1763640000250-")
    one.finish()
    assert list(files(tmp_path)) == [name.replace("_part", "part")]
    assert numbers(tmp_path) == [1, 2]
    assert one.written == 2


def test_a_new_hour_completes_the_part_of_the_last_one(tmp_path: Path, clock: Clock) -> None:
    one = writer(tmp_path, clock)
    one.take([row(1), row(2, time=NOON + 3600), row(3)])
    one.flush()
    assert [name.split("-w1")[0] for name in files(tmp_path)] == [
        f"{HOUR}/_part",
        "dt=2025-11-20/hour=13/part",  # not the clock's hour, so there is no more to come
    ]
    clock.now += 3600
    one.flush()
    assert numbers(tmp_path) == [1, 2, 3]


def test_a_late_row_gets_a_part_of_its_own(tmp_path: Path, clock: Clock) -> None:
    one = writer(tmp_path, clock)
    one.take([row(1)])
    one.flush()
    clock.now += 3600
    one.flush()
    one.take([row(2)])
    one.flush()
    assert numbers(tmp_path) == [1, 2]
    assert len(list(files(tmp_path))) == 2


def test_a_part_is_complete_by_size_and_by_age(tmp_path: Path, clock: Clock) -> None:
    one = writer(tmp_path, clock, Options(part_bytes=500, part_seconds=60))
    one.take([row(1)])
    one.flush()
    assert numbers(tmp_path) == []
    one.take([row(2), row(3)])
    one.flush()
    assert numbers(tmp_path) == [1, 2, 3]
    one.take([row(4)])
    one.flush()
    clock.now += 61
    one.flush()
    assert numbers(tmp_path) == [1, 2, 3, 4]


def test_a_row_that_cannot_be_written_is_counted(tmp_path: Path, clock: Clock) -> None:
    one = writer(tmp_path, clock, Options(row_bytes=400))
    one.take([row(1), row(answer=b"{"), row(attributes={"a": "x" * 400}), row(time=1e30)])
    one.flush()
    one.finish()
    assert numbers(tmp_path) == [1]
    assert one.lost == {"unencodable": 2, "too_large": 1}


def test_a_directory_that_cannot_be_made_is_tried_again(tmp_path: Path, clock: Clock) -> None:
    blocked = tmp_path / "log"
    blocked.write_text("a file where the directory should be")
    one = writer(blocked, clock)
    one.take([row(1)])
    for _ in range(2):
        with pytest.raises(OSError, match="log"):
            one.flush()
    assert (one.written, one.rows) == (0, 1)
    blocked.unlink()
    one.flush()
    one.finish()
    assert numbers(blocked) == [1]


def test_a_file_that_is_removed_is_noticed(tmp_path: Path, clock: Clock) -> None:
    root = tmp_path / "log"
    one = writer(root, clock)
    one.take([row(1)])
    one.flush()
    shutil.rmtree(root)
    one.take([row(2)])
    with pytest.raises(OSError, match="removed"):
        one.flush()
    one.flush()
    one.finish()
    assert numbers(root) == [2]
    assert one.lost == {"removed": 1}


def test_who_gives_up_leaves_what_is_written(tmp_path: Path, clock: Clock) -> None:
    one = writer(tmp_path, clock)
    one.take([row(1)])
    one.flush()
    one.take([row(2)])
    one.abandon()
    assert one.lost == {"disk_error": 1}
    assert (one.rows, one.size) == (0, 0)
    assert logged(tmp_path) == []
    assert [name.split("-w1")[0] for name in files(tmp_path)] == [f"{HOUR}/_part"]
