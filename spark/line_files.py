"""Files of JSON lines on a disk."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from index import Attribute
from spark.files import Part, named
from spark.transforms.lines import LineReader
from spark.transforms.rows import Rows

TASK_SIZE = 256 * 2**20
_PART = 16 * 2**20
_BATCH = 8 * 2**20

_COMPRESSED = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst")


def is_plain(path: str) -> bool:
    """Whether a file is not compressed, as Hadoop sees it: by its name."""
    return not path.endswith(_COMPRESSED)


def line_parts(day: str, path: str, part: int = _PART) -> list[Part]:
    """The parts of a file, of this number of bytes each."""
    with named(path):
        size = Path(path).stat().st_size
    return [Part(day, path, start, min(part, size - start)) for start in range(0, size, part)]


class LineFileReader:
    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._reader = LineReader(attributes)

    def rows(self, part: Part) -> Iterator[Rows]:
        for lines in lines_of(part):
            yield self._reader.judged(lines, [part.day] * len(lines))


def lines_of(part: Part) -> Iterator[list[bytes]]:
    """The lines that start in a part, some thousand at a time."""
    with named(part.path), Path(part.path).open("rb") as file:
        if part.start:
            file.seek(part.start - 1)
            file.readline()
        left = part.start + part.size - file.tell()
        while left > 0:
            # `readlines` ends when it has more bytes than asked for; 0 means all lines.
            lines = file.readlines(min(left, _BATCH) - 1) if left > 1 else [file.readline()]
            if not lines:  # somebody cut the file
                break
            left -= sum(map(len, lines))
            yield [line.removesuffix(b"\n") for line in lines]
