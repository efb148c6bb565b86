"""The jobs on other Sparks than a local one: a standalone cluster of two workers, by the documented
lines of `spark-submit`, and a server of Spark Connect."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest

from campaigns.statistics import service as statistics
from campaigns.statistics.versions import StatisticsVersion
from migrations.run import upgrade
from testkit import ROOT
from testkit.java import java_there
from testkit.servers import HOST, free_port
from tests.app.conftest import on_store
from tests.spark.conftest import DAY, FAST_START, line, write_log

pytestmark = pytest.mark.long

HOME = Path(pyspark.__file__).parent
SECONDS = 600
ENVIRONMENT = {
    **os.environ,
    "SPARK_HOME": str(HOME),
    "SPARK_LOCAL_IP": HOST,
    "SPARK_DAEMON_JAVA_OPTS": FAST_START,
    "PYSPARK_PYTHON": sys.executable,
}


@dataclass(frozen=True)
class Cluster:
    """A standalone master, and the directories of its workers."""

    url: str
    workers: list[Path]


@contextmanager
def _running(command: list[str], log: Path, ready: Callable[[str], bool]) -> Iterator[None]:
    """A server of Spark, until the block ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + SECONDS
            while not ready(log.read_text()):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            process.wait(SECONDS)


def _class(name: str, *arguments: str) -> list[str]:
    return [str(HOME / "bin" / "spark-class"), name, *arguments]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    java_there()
    root, port = tmp_path_factory.mktemp("cluster"), free_port()
    url, workers = f"spark://{HOST}:{port}", [root / "one", root / "two"]
    place = ["--host", HOST, "--webui-port", "0"]
    with ExitStack() as stack:
        master = _class("org.apache.spark.deploy.master.Master", *place, "--port", str(port))
        stack.enter_context(_running(master, root / "master", lambda text: "ALIVE" in text))
        for worker in workers:
            worker.mkdir()
            size = ["--cores", "1", "--memory", "2g", "--work-dir", str(worker)]
            command = _class("org.apache.spark.deploy.worker.Worker", *place, *size, url)
            log = root / f"{worker.name}.log"
            stack.enter_context(
                _running(command, log, lambda text: "Successfully registered with" in text)
            )
        yield Cluster(url, workers)


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    upgrade(url)
    return url


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_log(tmp_path / "log", [line({"age": n % 7}, id=f"r{n}") for n in range(400)] + [b"{"])
    return tmp_path / "log"


def _job(log: Path, url: str) -> list[str]:
    where = ["--impressions", str(log), "--database-url", url, "--date", DAY]
    return ["selectivity", *where, "--least-rows", "10"]


def _submit(cluster: Cluster, *arguments: str) -> "subprocess.CompletedProcess[str]":
    memory = ["--conf", "spark.executor.memory=600m", "--conf", "spark.ui.enabled=false"]
    command = [str(HOME / "bin" / "spark-submit"), "--master", cluster.url, *memory, *arguments]
    return _run(command)


def _run(
    command: list[str], more: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env={**ENVIRONMENT, **(more or {})},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def only_version(url: str) -> StatisticsVersion:
    (version,) = on_store(url, statistics.page).items
    return version


def test_client_mode_on_two_workers(cluster: Cluster, log: Path, url: str) -> None:
    done = _submit(cluster, "spark/submit/main.py", *_job(log, url))
    assert done.returncode == 0, done.stderr
    version = only_version(url)
    assert (version.active, version.rows, version.quarantined) == (True, 400, 1)
    for worker in cluster.workers:
        assert list(worker.glob("app-*")), "both workers had an executor"


def test_cluster_mode_runs_the_driver_on_a_worker(
    cluster: Cluster, log: Path, url: str, tmp_path: Path
) -> None:
    """Spark refuses Python in this mode on a standalone cluster, so the line names the class that
    runs Python."""
    refused = _submit(cluster, "--deploy-mode", "cluster", "spark/submit/main.py", *_job(log, url))
    assert refused.returncode != 0
    assert "not supported for python applications on standalone clusters" in refused.stderr
    jar = next((HOME / "jars").glob("spark-core_*.jar"))
    wait = ["--conf", "spark.standalone.submit.waitAppCompletion=true"]
    python = ["--conf", f"spark.pyspark.python={sys.executable}"]
    runner = ["--class", "org.apache.spark.deploy.PythonRunner", f"file:{jar}"]
    small = ["--driver-memory", "600m", "--deploy-mode", "cluster"]
    main = str(ROOT / "spark" / "submit" / "main.py")
    done = _submit(cluster, *small, *wait, *python, *runner, main, "", *_job(log, url))
    assert done.returncode == 0, done.stderr
    assert only_version(url).active
    drivers = [path for worker in cluster.workers for path in worker.glob("driver-*/stdout")]
    assert any("version 1 is active" in path.read_text() for path in drivers)


def test_a_table_through_spark_connect(log: Path, url: str, tmp_path: Path) -> None:
    port = free_port()
    server = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": HOST,
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.ui.enabled": "false",
    }
    for name, value in settings.items():
        server += ["--conf", f"{name}={value}"]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    server += ["--class", name, "spark-internal"]
    remote = f"sc://{HOST}:{port}"
    started = re.compile("Spark Connect server started").search
    with _running(server, tmp_path / "server", lambda text: bool(started(text))):
        made = _run([sys.executable, "-c", _TABLE, remote, str(log), DAY])
        assert made.returncode == 0, made.stderr
        day = ["--date", DAY, "--database-url", url, "--master", remote]
        quarantine = ["--quarantine", str(tmp_path / "aside"), "--least-rows", "10"]
        job = [sys.executable, "-m", "spark", "selectivity", "--table", "impressions"]
        done = _run([*job, *day, *quarantine])
        assert done.returncode == 0, done.stderr
        version = only_version(url)
        assert (version.active, version.rows, version.quarantined) == (True, 400, 1)
        assert list((tmp_path / "aside" / f"dt={DAY}").glob("part-*.json"))
        done = _run([sys.executable, "-m", "spark", *_job(log, url), "--master", remote])
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert "read the log with --table" in done.stderr


_TABLE = """
import sys
from pyspark.sql import SparkSession
remote, log, day = sys.argv[1:]
spark = SparkSession.builder.remote(remote).getOrCreate()
schema = ("time double, request_id string, sample_rate double, "
          "attributes struct<age: bigint>, builtins struct<`now.hour`: bigint>")
rows = spark.read.schema(schema).json(f"{log}/dt={day}")
rows.selectExpr("*", f"'{day}' AS dt").write.saveAsTable("impressions")
"""
