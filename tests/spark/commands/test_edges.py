"""What a night may bring: rows of other shapes, disks that are full, arguments that are wrong."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.sql import SparkSession

from campaigns.catalogue import service as attribute
from campaigns.statistics import service as statistics
from campaigns.statistics.versions import StatisticsVersion
from migrations.run import upgrade
from spark.commands import main
from spark.directory import Directory
from spark.errors import JobError
from spark.session import _names_java_options, _names_master, _quiet
from tests.app.conftest import on_store
from tests.spark.conftest import DAY, NOON, line, write_log

ROOT = Path(__file__).parents[3]
Job = Callable[..., int]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with the first attributes, of which `age` is one, and another."""
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    upgrade(url)
    fields = {"name": "user.id", "type": "string"}
    on_store(url, lambda store: attribute.create(store, "test", fields))
    return url


@pytest.fixture
def job(spark: SparkSession, url: str, tmp_path: Path) -> Job:
    """Runs a job on the log in `tmp_path` and returns its exit code."""

    def run(command: str, *more: str, log: Path | str | None = tmp_path / "log") -> int:
        where = () if log is None else ("--impressions", str(log), "--date", DAY)
        gates = ("--least-rows", "10") if command == "selectivity" else ()
        return main([command, *where, "--database-url", url, *gates, *more])

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def versions(url: str) -> list[StatisticsVersion]:
    return list(on_store(url, statistics.page).items)


def rows(count: int = 40, **fields: Any) -> list[dict[str, Any]]:
    return [line({"age": n % 7}, id=f"r{n}", **fields) for n in range(count)]


def without_builtins(count: int) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "builtins"} for row in rows(count)]


def test_rows_without_built_in_attributes(job: Job, url: str, log: Path, tmp_path: Path) -> None:
    """Of a day that has files in its hours and beside them."""
    *most, last = without_builtins(40)
    write_log(log, most)
    (log / f"dt={DAY}" / "more.jsonl").write_text(json.dumps(last) + "\n")
    assert job("selectivity") == 0
    (version,) = versions(url)
    assert version.rows == 40
    sample = on_store(url, lambda store: statistics.sample(store, version.id))
    sampled = [json.loads(row) for row in gzip.decompress(sample).splitlines()]
    assert [row["builtins"] for row in sampled] == [{}] * 40
    proposed = tmp_path / "proposed.jsonl"
    proposed.write_text('{"targeting": "age = 3"}\n{"targeting": "user.id is null"}\n')
    out = tmp_path / "out"
    assert job("forecast", "--campaigns", str(proposed), "--out", str(out)) == 0
    found = [
        json.loads(row) for part in out.glob("part-*") for row in part.read_text().splitlines()
    ]
    young, private = sorted(found, key=lambda row: row["id"])
    assert young["hits"] == 6
    # What is never logged is null in every row, and says nothing.
    assert (private["insufficient_data"], private["not_logged"]) == (True, ["user.id"])
    assert private["hits"] == 0


def test_a_quarantine_that_cannot_be_written_does_not_cost_the_version(
    job: Job, url: str, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(log, [*rows(), b"{"])
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert job("selectivity", "--quarantine", f"{in_the_way}/below") == 5
    (version,) = versions(url)
    assert (version.active, version.quarantined) == (True, 1)
    printed = capsys.readouterr()
    assert "malformed rows: 1 not_json" in printed.err
    assert "the malformed rows were not written to" in printed.err
    assert "version 1 is active" in printed.out


def test_one_request_id_in_all_rows_closes_a_gate(
    job: Job, url: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(log, [line({"age": n % 7}, id="same") for n in range(400)])
    assert job("selectivity", "--sample", "20") == 4
    assert "1 sampled requests, of at least 20" in capsys.readouterr().err


def test_the_log_as_parquet_and_as_a_table_gives_the_same_version(
    spark: SparkSession, job: Job, url: str, log: Path, tmp_path: Path
) -> None:
    write_log(log, [*rows(), b"{"])
    parquet = tmp_path / "parquet"
    assert job("compact", "--out", str(parquet)) == 0
    assert job("selectivity", "--format", "parquet", log=parquet) == 0
    spark.read.parquet(str(parquet)).createOrReplaceTempView("impressions")
    aside = ("--table", "impressions", "--date", DAY, "--quarantine", str(tmp_path / "aside"))
    assert job("selectivity", *aside, log=None) == 0
    write_log(tmp_path / "good", rows())
    assert job("selectivity", log=tmp_path / "good") == 0
    assert [version.rows for version in versions(url)] == [40]


def test_compact_keeps_a_day_until_the_new_one_is_in_its_place(
    spark: SparkSession,
    job: Job,
    log: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    day, aside = out / f"dt={DAY}", out / f"_replaced-dt={DAY}"
    write_log(log, rows())
    assert job("compact", "--out", str(out)) == 0
    before = sorted(path.name for path in day.iterdir())
    move = Directory._move

    def failing(self: Directory, to: Directory) -> None:
        if "_unfinished" in self.path:
            assert aside.is_dir()
            raise JobError("the disk is gone")
        move(self, to)

    with monkeypatch.context() as patched:
        patched.setattr(Directory, "_move", failing)
        assert job("compact", "--out", str(out)) == 1
    assert "the disk is gone" in capsys.readouterr().err
    assert sorted(path.name for path in day.iterdir()) == before
    assert [path.name for path in out.iterdir()] == [day.name]
    assert job("compact", "--out", str(out)) == 0
    assert [path.name for path in out.iterdir()] == [day.name]
    assert sorted(path.name for path in day.iterdir()) != before


@pytest.mark.parametrize("is_new_there", [False, True])
def test_compact_ends_what_a_crash_interrupted(
    spark: SparkSession, tmp_path: Path, is_new_there: bool
) -> None:
    out = Directory(spark, str(tmp_path / "out"))
    out.recover()  # nothing is there yet
    day, aside = tmp_path / "out" / f"dt={DAY}", tmp_path / "out" / f"_replaced-dt={DAY}"
    aside.mkdir(parents=True)
    (aside / "file").write_text("old")
    if is_new_there:
        day.mkdir()
        (day / "file").write_text("new")
    out.recover()
    assert [path.name for path in day.parent.iterdir()] == [day.name]
    assert (day / "file").read_text() == ("new" if is_new_there else "old")


def test_compact_recovers_before_it_reads(job: Job, log: Path, tmp_path: Path) -> None:
    """The day comes back even if this run writes nothing."""
    out = tmp_path / "out"
    write_log(log, [b"{"])
    (out / "_replaced-dt=2026-11-15").mkdir(parents=True)
    assert job("compact", "--out", str(out)) == 3
    assert [path.name for path in out.iterdir()] == ["dt=2026-11-15"]


def test_columns_of_a_log_from_elsewhere(
    spark: SparkSession, job: Job, url: str, tmp_path: Path
) -> None:
    """Narrow numbers, one of the built-in attributes, none of the service's other columns."""
    spark.sql(
        f"SELECT {NOON}D + id AS time, string(id) AS request_id, 1.0F AS sample_rate, "
        "named_struct('age', int(id % 7)) AS attributes, named_struct('now.hour', 12) AS builtins "
        "FROM range(40)"
    ).write.parquet(str(tmp_path / "other" / f"dt={DAY}"))
    assert job("selectivity", "--format", "parquet", log=tmp_path / "other") == 0
    (version,) = versions(url)
    sample = on_store(url, lambda store: statistics.sample(store, version.id))
    row = json.loads(gzip.decompress(sample).splitlines()[0])
    assert (version.rows, row["builtins"]) == (40, {"now.hour": 12})


def test_unsigned_numbers_of_a_log_from_elsewhere(
    spark: SparkSession, job: Job, url: str, tmp_path: Path
) -> None:
    day = tmp_path / "other" / f"dt={DAY}"
    day.mkdir(parents=True)
    numbers = pa.array(range(40))
    ages = pa.StructArray.from_arrays([numbers.cast(pa.uint64())], names=["age"])
    hours = pa.StructArray.from_arrays([pc.divide(numbers, 2).cast(pa.uint8())], names=["now.hour"])
    columns = {
        "time": pc.add(numbers, int(NOON)).cast(pa.uint32()),
        "request_id": numbers.cast(pa.string()),
        "sample_rate": pa.repeat(pa.scalar(1, pa.uint8()), 40),
        "attributes": ages,
        "builtins": hours,
    }
    pq.write_table(pa.table(columns), day / "part.parquet")
    assert job("selectivity", "--format", "parquet", log=tmp_path / "other") == 0
    (version,) = versions(url)
    assert (version.rows, version.quarantined) == (40, 0)


def test_columns_of_types_that_spark_does_not_know_are_refused_in_one_line(
    spark: SparkSession, job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day = tmp_path / "wrong" / f"dt={DAY}"
    day.mkdir(parents=True)
    ages = pa.StructArray.from_arrays([pa.array([1.0], pa.float16())], names=["age"])
    table = {"time": [NOON], "request_id": ["r"], "sample_rate": [1.0], "attributes": ages}
    pq.write_table(pa.table(table), day / "part.parquet")
    assert job("selectivity", "--format", "parquet", log=tmp_path / "wrong") == 2
    printed = [row for row in capsys.readouterr().err.splitlines() if row.startswith("spark: ")]
    assert len(printed) == 1
    assert "part.parquet" in printed[0]
    assert "halffloat" in printed[0]


@pytest.mark.parametrize("by_spark", [False, True])
def test_files_of_a_day_with_other_columns(
    spark: SparkSession,
    job: Job,
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    by_spark: bool,
) -> None:
    """Read by workers, as from a disk, or by Spark, as from HDFS."""
    if by_spark:
        monkeypatch.setattr(Directory, "is_local", False)
    day = tmp_path / "log" / f"dt={DAY}"
    columns = f"{NOON}D AS time, string(id) AS request_id, 1D AS sample_rate"
    for place, said in enumerate(("'age', id", "'country', 'US'")):
        spark.sql(
            f"SELECT {columns}, named_struct({said}) AS attributes "
            f"FROM range({40 * place}, {40 * place + 40})"
        ).write.parquet(str(day / str(place)))
    assert job("selectivity", "--format", "parquet") == 0
    (version,) = versions(url)
    document = on_store(url, lambda store: statistics.document(store, version.id))
    assert [document["attributes"][name]["presence"] for name in ("age", "country")] == [0.5, 0.5]
    spark.sql(
        f"SELECT {columns}, named_struct('age', 'old') AS attributes FROM range(1)"
    ).write.parquet(str(day / "other"))
    assert job("selectivity", "--format", "parquet") == 2
    printed = [row for row in capsys.readouterr().err.splitlines() if row.startswith("spark: ")]
    assert len(printed) == 1


def test_columns_of_other_types_are_refused(
    spark: SparkSession, job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.sql(
        "SELECT 1.0D AS time, 'r' AS request_id, 1.0D AS sample_rate, "
        "named_struct('age', 'old') AS attributes"
    ).write.parquet(str(tmp_path / "wrong" / f"dt={DAY}"))
    assert job("selectivity", "--format", "parquet", log=tmp_path / "wrong") == 2
    assert "attributes.`age` in" in capsys.readouterr().err


def test_a_damaged_parquet_file_gives_one_line_that_names_it(
    spark: SparkSession, job: Job, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(log, rows())
    assert job("compact", "--out", str(tmp_path / "out")) == 0
    (file,) = (tmp_path / "out" / f"dt={DAY}").glob("*.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + bytes(2000) + whole[2004:])
    capsys.readouterr()
    assert job("selectivity", "--format", "parquet", log=tmp_path / "out") == 1
    printed = [row for row in capsys.readouterr().err.splitlines() if row.startswith("spark: ")]
    assert len(printed) == 1
    assert f"{file}: " in printed[0]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--database-url", "nothing://here"), 2, "postgresql://"),
        (("--impressions", "s3a://bucket/log"), 2, "s3a"),
        (("--impressions", "nothing://log"), 2, "nothing"),
    ],
)
def test_wrong_arguments_give_one_line(
    job: Job,
    log: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    write_log(log, rows())
    assert job("selectivity", *arguments) == code
    printed = [row for row in capsys.readouterr().err.splitlines() if row.startswith("spark: ")]
    assert len(printed) == 1
    assert words in printed[0]


def truncated(log: Path) -> None:
    write_log(log, rows())
    whole = gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows(2000)))
    (log / f"dt={DAY}" / "part.jsonl.gz").write_bytes(whole[: len(whole) // 2])


def test_a_truncated_file_gives_one_line_that_names_it(
    job: Job, url: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truncated(log)
    assert job("selectivity") == 1
    errors = capsys.readouterr().err
    named = "" if pyspark.__version__ < "4" else "part.jsonl.gz: "  # Spark 3.5 does not say it
    assert f"{named}EOFException: Unexpected end of input stream" in errors
    assert "Traceback" not in errors
    assert versions(url) == []


@pytest.mark.long
def test_the_jvm_prints_no_stack_trace_either(url: str, log: Path) -> None:
    """It writes to the stderr of the process, which only a process of its own shows."""
    truncated(log)
    where = ["--impressions", str(log), "--date", DAY, "--database-url", url]
    done = subprocess.run(
        [sys.executable, "-m", "spark", "selectivity", *where],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    printed = [row for row in done.stderr.splitlines() if row.startswith(("spark:", "\t", "org."))]
    assert len(printed) == 1
    assert "part.jsonl.gz: EOFException" in printed[0]


def test_packages_without_the_native_core_are_refused(url: str, tmp_path: Path) -> None:
    """As `--py-files` ships them: they come first in the path and hide the installed ones."""
    shipped = tmp_path / "shipped"
    for package in ("app", "campaigns", "index", "migrations", "spark"):
        ignored = shutil.ignore_patterns("*.so", "native", "__pycache__")
        shutil.copytree(ROOT / package, shipped / package, ignore=ignored)
    archive = shutil.make_archive(str(tmp_path / "shipped"), "zip", shipped)
    done = subprocess.run(
        [sys.executable, "-m", "spark", "selectivity", "--impressions", "x", "--database-url", url],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": archive},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--py-files" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_master_is_the_one_that_spark_is_configured_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("MASTER", raising=False)
    assert not _names_master()
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_text("# spark.master local\nspark.ui.enabled false\n")
    assert not _names_master()
    defaults.write_text("spark.ui.enabled false\nspark.master  spark://host:7077\n")
    assert _names_master()


def test_java_options_that_somebody_chose_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "SPARK_SUBMIT_OPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    defaults = tmp_path / "spark-defaults.conf"
    assert not _names_java_options()
    assert "spark.driver.extraJavaOptions" in _quiet("1g")
    defaults.write_text("spark.driver.defaultJavaOptions -XX:+UseG1GC\n")
    assert _names_java_options()
    defaults.write_text("spark.driver.extraJavaOptions=-XX:+UseG1GC\n")
    assert _names_java_options()
    assert "spark.driver.extraJavaOptions" not in _quiet("1g")
    defaults.unlink()
    for name, value in (
        ("JDK_JAVA_OPTIONS", "-XX:+UseG1GC"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-java-options -XX:+UseG1GC pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--conf spark.driver.extraJavaOptions=-Xint pyspark-shell"),
    ):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            assert _names_java_options()
