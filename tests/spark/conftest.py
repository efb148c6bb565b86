"""One Spark session for all tests: it takes longer to start than most tests to run."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from pyspark.sql import DataFrame, SparkSession

from index import Attribute, Schema
from spark.impression_log import ImpressionLog
from spark.session import session, set_shuffle_partitions
from testkit.java import java_there

DAY = "2026-11-16"
NOON = 1794830400.0

FAST_START = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Options that halve the start of the JVM; longer jobs get slower."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    java_there()
    settings = {
        "spark.driver.defaultJavaOptions": FAST_START,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # sockets of py4j
        with session(settings=settings) as made:
            set_shuffle_partitions(made, 0)
            made.conf.set("spark.sql.shuffle.partitions", "2")
            yield made


@pytest.fixture
def schema() -> Schema:
    return Schema(
        [
            Attribute("country", "string"),
            Attribute("Country", "string"),
            Attribute("device.type", "string"),
            Attribute("age", "int"),
            Attribute("bid.floor", "float"),
            Attribute("secure", "bool"),
            Attribute("user.segments", "int list"),
            Attribute("page.categories", "string list"),
            Attribute("time", "int"),
            Attribute("user.id", "string"),
            Attribute("now.hour", "int"),
        ]
    )


def line(some: Mapping[str, Any], id: str = "r", **fields: Any) -> dict[str, Any]:
    """A row of the log, as the service writes it."""
    return {
        "time": NOON,
        "request_id": id,
        "route": "match",
        "attributes": dict(some),
        "builtins": {"now.hour": 12, "now.weekday": 1},
        "matches": [],
        "total": 0,
        "epoch": "e",
        "rev": 1,
        "sample_rate": 1.0,
        **fields,
    }


Rows = Callable[..., DataFrame]


@pytest.fixture
def log(spark: SparkSession, schema: Schema, tmp_path: Path) -> Rows:
    """What is found in a log with these lines, objects or text."""

    def write(*lines: Mapping[str, Any] | bytes) -> DataFrame:
        write_log(tmp_path, lines)
        return ImpressionLog(spark, schema, str(tmp_path)).counted([DAY], 1000, 3).persist()

    return write


@pytest.fixture
def checked_log(spark: SparkSession, schema: Schema, tmp_path: Path) -> Rows:
    """The rows of a log with these lines, checked."""

    def write(*lines: Mapping[str, Any]) -> DataFrame:
        write_log(tmp_path, lines)
        return ImpressionLog(spark, schema, str(tmp_path)).checked([DAY])

    return write


def write_log(root: Path, lines: Sequence[Mapping[str, Any] | bytes], day: str = DAY) -> None:
    """A file of the log."""
    folder = root / f"dt={day}" / "hour=12"
    folder.mkdir(parents=True, exist_ok=True)
    texts = (each if isinstance(each, bytes) else orjson.dumps(each) for each in lines)
    (folder / "part-w9-1-0.jsonl").write_bytes(b"".join(text + b"\n" for text in texts))
