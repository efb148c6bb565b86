"""A session of Spark that is quiet, and at home on one machine as on a cluster.

Under `spark-submit` a session is there already, or the master is in its settings: then only what
the jobs rely on is set. Otherwise it is a local one, which listens on the loopback address only.
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

RELIED_ON = {
    "spark.sql.caseSensitive": "true",  # attributes are
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",  # a sum that does not fit is an error
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # Any other bound is checked after every row, over all columns: most of the time went there.
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
    """A session for as long as the block runs; one that is there already, as in a notebook, is
    used and left as it is but for what the jobs rely on."""
    known = _known()
    if known is not None:
        for name, value in RELIED_ON.items():
            known.conf.set(name, value)
        yield known
        return
    submitted = "SPARK_ENV_LOADED" in os.environ and "PYSPARK_GATEWAY_PORT" in os.environ
    given = dict(RELIED_ON)
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


def _known() -> SparkSession | None:
    """The session of this process, whichever of its threads made it."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def fit_shuffles(spark: SparkSession, size: int) -> int:
    """As many tasks after a shuffle as so many bytes of log need; how many."""
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
