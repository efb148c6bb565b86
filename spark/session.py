"""A quiet Spark session, local or on a cluster.

Under `spark-submit` a session exists already or its settings name the master; then only the
settings that the jobs rely on are applied. Otherwise the session is local and listens on the
loopback address only.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from spark.errors import JobError
from spark.java import check_java

NAME = "copse"
MASTER = "local[2]"
MEMORY = "2g"
LOOPBACK = "127.0.0.1"

_LOGGING = Path(__file__).parent / "log4j2.properties"

REQUIRED = {
    "spark.sql.caseSensitive": "true",  # as attribute names are
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",  # a sum that overflows is an error
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # With a smaller bound Spark measures all columns after every row, and spends most of its time
    # there.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}

_BYTES_A_TASK = 64 * 2**20
_FEWEST, _MOST = 4, 2000


@contextmanager
def session(
    master: str | None = None,
    memory: str = MEMORY,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A session that stops with the block. A session that exists already, as in a notebook, gets
    the `REQUIRED` settings and keeps running."""
    existing = _existing()
    if existing is not None:
        for name, value in REQUIRED.items():
            existing.conf.set(name, value)
        yield existing
        return
    submitted = "SPARK_ENV_LOADED" in os.environ and "PYSPARK_GATEWAY_PORT" in os.environ
    given = dict(REQUIRED)
    if not submitted:
        check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        given |= _quiet(memory)
        if (master or MASTER).startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
            given |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    builder = SparkSession.builder.appName(NAME)
    if master or not submitted:
        builder = builder.master(master or MASTER)
    for name, value in {**given, **(settings or {})}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise JobError(f"Spark does not start: {error}") from None
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def _existing() -> SparkSession | None:
    """The session of this process, whichever thread made it."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def set_shuffle_partitions(spark: SparkSession, size: int) -> int:
    """Set the number of tasks after a shuffle to fit a log of `size` bytes, and return it."""
    tasks = min(max(_FEWEST, size // _BYTES_A_TASK), _MOST)
    spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
    return tasks


def _quiet(memory: str) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    }
