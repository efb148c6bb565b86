"""What killed workers left behind."""

import os
from pathlib import Path

import pytest

from app.observability.impressions.leftovers import adopt, whole_lines
from app.observability.impressions.part import Part
from tests.app.observability.impressions.rows import HOUR

GOOD = b'{"a":1}\n'


@pytest.fixture
def hour(tmp_path: Path) -> Path:
    directory = tmp_path / HOUR
    directory.mkdir(parents=True)
    return directory


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (GOOD, GOOD),
        (GOOD + b'{"a":', GOOD),
        (GOOD + b"\0" * 100, GOOD),
        (GOOD + b"\0" * 100 + b"\n", GOOD),
        (GOOD + b"\n\nx\n", GOOD),
        (GOOD * 30_000 + b"x" * 200_000, GOOD * 30_000),
        (GOOD + b'{"b":"' + b"x" * 200_000 + b'"}\n{', GOOD + b'{"b":"' + b"x" * 200_000 + b'"}\n'),
    ],
)
def test_it_is_cut_to_whole_lines(hour: Path, content: bytes, kept: bytes) -> None:
    (hour / "_part-w1-5.jsonl").write_bytes(content)
    assert adopt(hour.parent.parent) == 1
    assert [path.name for path in hour.iterdir()] == ["part-w1-5.jsonl"]
    assert (hour / "part-w1-5.jsonl").read_bytes() == kept


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 10, b"\n\n"])
def test_what_has_no_row_is_removed(hour: Path, content: bytes) -> None:
    (hour / "_part-w1-5.jsonl").write_bytes(content)
    assert adopt(hour.parent.parent) == 0
    assert list(hour.iterdir()) == []


def test_what_is_being_written_is_left_alone(hour: Path) -> None:
    part = Part(hour, "part-w1-5.jsonl", 0)
    part.append(GOOD, 1)
    assert adopt(hour.parent.parent) == 0
    assert part.path.exists()
    part.complete()
    assert adopt(hour.parent.parent) == 0
    assert part.complete_path.read_bytes() == GOOD


def test_other_files_are_left_alone(hour: Path) -> None:
    for name in ("_SUCCESS", "part-w1-4.jsonl", "_temporary.jsonl"):
        (hour / name).write_bytes(b"{")
    assert adopt(hour.parent.parent) == 0
    assert len(list(hour.iterdir())) == 3


def test_there_may_be_nothing_yet(tmp_path: Path) -> None:
    assert adopt(tmp_path / "nowhere") == 0


def test_whole_lines_of_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    fd = os.open(tmp_path / "f", os.O_RDONLY)
    try:
        assert whole_lines(fd, 0) == 0
    finally:
        os.close(fd)
