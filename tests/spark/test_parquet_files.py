"""Parquet files that workers open themselves. No Spark is needed for it."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from index import Schema
from spark.columns import DAY as DAY_COLUMN
from spark.columns import LINE, counted_attributes
from spark.errors import FileError
from spark.files import FileReader, Part
from spark.parquet_files import ParquetFile, ParquetReader
from spark.transforms.lines import LineReader
from spark.transforms.rows import Request
from tests.spark.conftest import DAY, NOON


def write(path: Path, rows: list[dict[str, Any]], **types: pa.DataType) -> list[Part]:
    """A file with a row group for every two rows; `types` are those of columns."""
    table = pa.Table.from_pylist(rows)
    for name, type in types.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table.column(name).cast(type))
    pq.write_table(table, path, row_group_size=2)
    return ParquetFile(str(path)).parts(DAY)


def row(number: int, attributes: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {
        "time": NOON + number,
        "request_id": str(number),
        "sample_rate": 1.0,
        "attributes": attributes,
        **more,
    }


def read(tasks: list[list[Part]], schema: Schema) -> list[tuple[str | None, str, Request]]:
    """The id, the time and the request of each row, in the order of the tasks."""
    reader = FileReader(tasks, ParquetReader(counted_attributes(schema)))
    numbers = pa.RecordBatch.from_pydict({"id": list(range(len(tasks)))})
    return [
        (id, problem or "", request)
        for rows in reader.rows(iter([numbers]))
        for id, problem, request in zip(
            rows.ids, rows.problems, rows.content.requests(), strict=True
        )
    ]


def test_files_need_not_have_the_same_columns(schema: Schema, tmp_path: Path) -> None:
    first = [row(n, {"age": n, "user.id": "somebody", "new": 1}) for n in range(3)]
    second = [row(3, {"country": "US"}, builtins={"now.hour": 7}), row(4, None, builtins=None)]
    third = [row(5, {"unknown": 1}), row(6, None)]
    folder = tmp_path / "a space, 100%, #1"
    folder.mkdir()
    tasks = [
        write(folder / "1.parquet", first),
        write(folder / "2.parquet", second),
        write(folder / "3.parquet", third),
    ]
    assert [len(parts) for parts in tasks] == [2, 1, 1]
    assert read(tasks, schema) == [
        ("0", "", ({"age": 0}, {})),
        ("1", "", ({"age": 1}, {})),
        ("2", "", ({"age": 2}, {})),
        ("3", "", ({"country": "US"}, {"now.hour": 7})),
        ("4", "no_attributes", ({}, {})),
        ("5", "", ({}, {})),
        ("6", "no_attributes", ({}, {})),
    ]


@pytest.mark.parametrize(
    "type", [pa.timestamp("ms", "UTC"), pa.timestamp("ns"), pa.int64(), pa.string()]
)
def test_times_are_numbers_or_timestamps(schema: Schema, tmp_path: Path, type: pa.DataType) -> None:
    scale = {"timestamp[ms, tz=UTC]": 1000, "timestamp[ns]": 10**9}.get(str(type), 1)
    rows = [row(n, {"age": n}) | {"time": int(NOON) * scale} for n in range(2)]
    rows.append(row(2, {"age": 2}) | {"time": int(NOON + 86400) * scale})
    found = read([write(tmp_path / "file", rows, time=type)], schema)
    assert [problem for _, problem, _ in found] == ["", "", "other_day"]


def test_built_in_attributes_out_of_range_are_refused(schema: Schema, tmp_path: Path) -> None:
    """As in JSON lines."""
    said: list[dict[str, int | None] | None] = [
        {"now.hour": 0, "now.weekday": 1},
        {"now.hour": 23, "now.weekday": 7},
        {"now.hour": 24, "now.weekday": 7},
        {"now.hour": -1, "now.weekday": 7},
        {"now.hour": 7, "now.weekday": 8},
        {"now.hour": 7, "now.weekday": 0},
        {"now.hour": None, "now.weekday": 8},
        {"now.hour": None, "now.weekday": None},
        None,
    ]
    rows = [row(n, {"age": n}, builtins=some) for n, some in enumerate(said)]
    typed = [problem for _, problem, _ in read([write(tmp_path / "file", rows)], schema)]
    assert typed == ["", "", *["wrong_type"] * 5, "", ""]
    lines = [
        orjson.dumps(each | {"builtins": some and {k: v for k, v in some.items() if v is not None}})
        for each, some in zip(rows, said, strict=True)
    ]
    batch = pa.RecordBatch.from_pydict({DAY_COLUMN: [DAY] * len(lines), LINE: lines})
    found = LineReader(counted_attributes(schema)).read(batch)
    assert [problem or "" for problem in found.problems] == typed


def test_columns_that_are_not_read_may_be_of_any_type(schema: Schema, tmp_path: Path) -> None:
    more = pa.array([1], pa.uint32())
    attributes = pa.StructArray.from_arrays([more, pa.array([2])], names=["unknown", "age"])
    table = pa.table({"attributes": attributes, "more": more})
    pq.write_table(table, tmp_path / "file")
    types = ParquetFile(str(tmp_path / "file")).types(counted_attributes(schema))
    assert types.simpleString() == "struct<attributes:struct<age:bigint>>"


def test_an_error_names_the_file(schema: Schema, tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    parts = write(path, [row(n, {"age": n}) for n in range(3)])
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    with pytest.raises(FileError, match=r"file\.parquet: "):
        read([parts], schema)
    path.write_bytes(whole[:-10])
    with pytest.raises(FileError, match=r"file\.parquet: "):
        ParquetFile(str(path))
