"""Peers in Java, each in its own process: event-ruler and Lucene Monitor (`bench/peers/`).

They read an exported workload of equalities, time themselves and give their answers, which are
compared with the native core's. Without Java or Maven they are skipped with a reason.
"""

import json
import shutil
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.index.engines import make
from bench.index.measure import Disagreement
from testkit import CACHE, ROOT
from testkit.markdown import table
from testkit.progress import Progress
from testkit.workloads import make as workload_of
from testkit.workloads.cache import items
from testkit.workloads.workload import Workload

NAMES = ("event-ruler", "lucene-monitor")
_FOLDER = ROOT / "bench" / "peers"
_EVENTS, _SEEN = 100, 2000


class Skipped(Exception):
    """Why the peers cannot run here."""


@dataclass(frozen=True)
class Peer:
    """A peer on a workload."""

    workload: str
    engine: str
    n: int
    us: float
    build_s: float
    native_us: float


def peers(n: int, progress: Progress) -> list[Peer]:
    """Measure; raises `Skipped`, and `Disagreement` if an answer is wrong."""
    jars = _jars()
    found: list[Peer] = []
    workloads = {"w0": workload_of("w0"), "be-tree =": workload_of("be-tree", equality=1.0)}
    for name, workload in workloads.items():
        progress.show(f"peers in Java, {name}", len(found), 2 * len(NAMES))
        found += _peers(name, workload, n, jars)
    progress.done()
    return found


def _jars() -> Path:
    """The folder of the peers' libraries, fetched once by Maven."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            raise Skipped(f"no {tool} found")
    folder = CACHE / "peers"
    if not folder.exists():
        command = ["mvn", "-q", "-B", "-f", str(_FOLDER / "pom.xml")]
        command += ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise Skipped("Maven could not fetch the libraries")
    return folder


def _peers(name: str, workload: Workload, n: int, jars: Path) -> list[Peer]:
    events = workload.events(_EVENTS + _SEEN)
    events, seen = events[:_EVENTS], events[_EVENTS:]
    native = make("native", workload.schema, [e for e in seen if e not in events])
    expressions = list(items(workload, n))
    native.build(expressions)
    exact = native.answers(events)
    native.match_ns(events)
    native_us = statistics.median(native.match_ns(events)) / 1000
    found = []
    with TemporaryDirectory() as folder:
        paths = Path(folder, "expressions"), Path(folder, "events")
        paths[0].write_text("\n".join(text for _, text in expressions))
        paths[1].write_text("\n".join(map(json.dumps, events)))
        for engine in NAMES:
            command = ["java", "-cp", f"{jars}/*", str(_FOLDER / "Peers.java"), engine]
            command += map(str, paths)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Skipped(f"{engine} failed: {done.stderr.strip().splitlines()[-1]}")
            result = json.loads(done.stdout)
            if result["answers"] != exact:
                raise Disagreement(f"{engine} and native disagree on {name}")
            us = statistics.median(result["times_ns"]) / 1000
            found.append(Peer(name, engine, n, us, result["build_s"], native_us))
    return found


def peers_page(n: int, progress: Progress) -> str:
    """A table, or why there is none."""
    try:
        found = peers(n, progress)
    except Skipped as reason:
        return f"{_TEXT}\n\nSkipped: {reason}."
    rows = [
        [
            peer.workload,
            peer.engine,
            peer.n,
            float(f"{peer.us:.4g}"),
            float(f"{peer.native_us:.4g}"),
            float(f"{peer.us / peer.native_us:.3g}"),
            round(peer.build_s, 2),
        ]
        for peer in found
    ]
    header = ["workload", "engine", "n", "µs per event", "native µs", "times native", "build s"]
    return f"{_TEXT}\n\n{table(header, rows)}"


_TEXT = """\
`event-ruler` 2.1.0 and Lucene Monitor 9.11.1, each in a process of its own (`bench/peers/`), on
workloads of equalities, which both can hold. They read the event as JSON text, which our core does
before its time begins; their answers are compared with ours. `quamina` and `hypermatch` (Go)
are not measured: the Go module proxy that we can reach does not have them."""
