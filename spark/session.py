"""A quiet Spark session, local or on a cluster.

The master is the one given, or else Spark's own: of `spark-submit`, of `spark-defaults.conf`, or of
Spark Connect (`SPARK_REMOTE`, or a master `sc://…`). Without any of them the session is local, on
all cores, and listens on the loopback address only.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from spark.errors import JobError
from spark.java import check_java

NAME = "copse"
LOCAL = "local[*]"
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

SHORT_WORK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m"
"""Java options for a job whose rows are handled outside the JVM: the compiler that takes long would
not pay for itself, nor would several threads of garbage collection, nor a collection whenever some
more classes have been loaded. For a local Spark alone, and only if nobody chose Java options."""

_EXTRA_OPTIONS = "spark.driver.extraJavaOptions"
_JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "SPARK_SUBMIT_OPTS")

_BYTES_A_TASK = 64 * 2**20
_FEWEST, _MOST = 4, 2000


@contextmanager
def session(
    master: str | None = None,
    memory: str = MEMORY,
    settings: Mapping[str, str] | None = None,
    java: str = "",
) -> Iterator[SparkSession]:
    """A session that stops with the block. A session that exists already, as in a notebook, gets
    the `REQUIRED` settings and keeps running. `java` are options of a local JVM; those that people
    chose go before them."""
    existing = _existing()
    if existing is not None:
        for name, value in REQUIRED.items():
            existing.conf.set(name, value)
        yield existing
        return
    submitted = "SPARK_ENV_LOADED" in os.environ and "PYSPARK_GATEWAY_PORT" in os.environ
    given = dict(REQUIRED)
    remote = "SPARK_REMOTE" in os.environ or (master or "").startswith("sc://")
    builder = SparkSession.builder.appName(NAME)
    if not submitted and not remote:
        check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        given |= _quiet(memory)
        if not master and not _names_master():
            master = LOCAL
        if master and master.startswith("local"):
            if java and not _names_java_options():
                given["spark.driver.defaultJavaOptions"] = java
            os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
            given |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    if master:
        builder = builder.remote(master) if remote else builder.master(master)
    for name, value in {**given, **(settings or {})}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise JobError(f"Spark does not start: {error}") from None
    if not remote:
        spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def _names_master() -> bool:
    """Whether Spark's own configuration names a master."""
    return "MASTER" in os.environ or _is_configured("spark.master")


def _names_java_options() -> bool:
    """Whether somebody chose options for the JVM: a second garbage collector would be an error."""
    return (
        any(os.environ.get(name) for name in _JAVA_VARIABLES)
        or "java-options" in os.environ.get("PYSPARK_SUBMIT_ARGS", "")
        or "JavaOptions" in os.environ.get("PYSPARK_SUBMIT_ARGS", "")
        or _is_configured("spark.driver.defaultJavaOptions")
        or _is_configured(_EXTRA_OPTIONS)
    )


def _is_configured(setting: str) -> bool:
    """Whether `spark-defaults.conf` has a setting."""
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    defaults = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    lines = defaults.read_text().splitlines() if defaults.is_file() else []
    return any(line.split("=")[0].split()[:1] == [setting] for line in lines)


def _existing() -> SparkSession | None:
    """The session of this process, whichever thread made it."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def is_remote(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect, which has no JVM of its own."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def set_shuffle_partitions(spark: SparkSession, size: int) -> int:
    """Set the number of tasks after a shuffle to fit a log of `size` bytes, and return it."""
    tasks = min(max(_FEWEST, size // _BYTES_A_TASK), _MOST)
    spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
    return tasks


def _quiet(memory: str) -> dict[str, str]:
    quiet = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
    }
    if not _is_configured(_EXTRA_OPTIONS):
        quiet[_EXTRA_OPTIONS] = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
    return quiet
