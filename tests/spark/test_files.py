"""Files that workers open themselves: how they are divided, and lines at the borders of parts."""

from pathlib import Path

import pytest

from spark.errors import FileError
from spark.files import Part, divided
from spark.line_files import is_plain, line_parts, lines_of
from tests.spark.conftest import DAY


def test_tasks_have_parts_of_about_equal_size() -> None:
    parts = [Part(DAY, f"{size}", 0, size * 2**20) for size in (50, 10, 40, 20, 30)]
    tasks = divided(parts, 2, 64 * 2**20)
    assert sorted(part.path for task in tasks for part in task) == sorted(p.path for p in parts)
    assert [sum(part.size for part in task) // 2**20 for task in tasks] == [80, 70]
    assert len(divided(parts * 3, 2, 64 * 2**20)) == 7
    assert [len(task) for task in divided(parts, 100, 64 * 2**20)] == [1] * 5
    assert divided([], 2, 1) == []


@pytest.mark.parametrize("text", [b"", b"\n", b"one", b"one\n\n22\r\n", b"\n\n333\nend"])
def test_a_line_belongs_to_the_part_in_which_it_starts(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a space, 100%, #1.jsonl"
    path.write_bytes(text)
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    for size in range(1, len(text) + 2):
        parts = line_parts(DAY, str(path), size)
        assert sum(part.size for part in parts) == len(text)
        assert [line for part in parts for some in lines_of(part) for line in some] == lines


def test_lines_that_are_written_meanwhile_wait_for_the_next_night(tmp_path: Path) -> None:
    path = tmp_path / "part.jsonl"
    path.write_bytes(b"one\ntw")
    (part,) = line_parts(DAY, str(path))
    path.write_bytes(b"one\ntwo\nthree\n")
    assert list(lines_of(part)) == [[b"one", b"two"]]


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"gone\.jsonl: "):
        line_parts(DAY, str(tmp_path / "gone.jsonl"))
    with pytest.raises(FileError, match=r"gone\.jsonl: "):
        list(lines_of(Part(DAY, str(tmp_path / "gone.jsonl"), 0, 1)))


def test_compressed_files_are_left_to_spark() -> None:
    assert is_plain("part-w1-1-0.jsonl")
    assert not is_plain("part-w1-1-0.jsonl.gz")
