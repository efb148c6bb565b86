"""Peers in Java, each in its own process: event-ruler and Lucene Monitor (`bench/peers/`).

They read an exported workload, time themselves and give their answers, which are compared with the
native core's. Without Java or Maven they are skipped with a reason.
"""

import json
import shutil
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.index.engines import make
from bench.index.measure import Disagreement, Result
from testkit import CACHE, ROOT
from testkit.progress import Progress
from testkit.workloads import make as workload_of
from testkit.workloads.cache import items
from testkit.workloads.workload import Workload

NAMES = ("event-ruler", "lucene-monitor")
_FOLDER = ROOT / "bench" / "peers"
_EVENTS, _SEEN = 100, 2000
_WORKLOADS = {
    "w0": workload_of("w0"),
    "w1": workload_of("w1"),
    "w2": workload_of("w2"),
    "be-tree =": workload_of("be-tree", equality=1.0),
}
"""By their rows of the league: conjunctions of comparisons, one for each attribute."""
_SLOW = {"w2": 4}
"""How many times fewer expressions: event-ruler takes a minute for 2,000 with six ranges each."""


class Skipped(Exception):
    """Why the peers cannot run here."""


@dataclass(frozen=True)
class Peers:
    """Results by row of the league, and why there are none. A result has the native core's time for
    the same expressions beside its own."""

    results: dict[str, list[Result]]
    skipped: str = ""


def peers(n: int, progress: Progress) -> Peers:
    """Measure; raises `Disagreement` if an answer is wrong."""
    found: dict[str, list[Result]] = {}
    try:
        jars = _jars()
        for name, workload in _WORKLOADS.items():
            progress.show(f"peers in Java, {name}", len(found), len(_WORKLOADS))
            found[name] = _peers(name, workload, n // _SLOW.get(name, 1), jars)
    except Skipped as reason:
        return Peers(found, str(reason))
    finally:
        progress.done()
    return Peers(found)


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


def _peers(name: str, workload: Workload, n: int, jars: Path) -> list[Result]:
    events = workload.events(_EVENTS + _SEEN)
    events, seen = events[:_EVENTS], events[_EVENTS:]
    native = make("native", workload.schema, [e for e in seen if e not in events])
    flat = make("flat", workload.schema)
    expressions = list(items(workload, n))
    native.build(expressions)
    flat.build(expressions)
    exact = native.answers(events)
    for engine in (native, flat):
        engine.match_ns(events)  # warm-up
    native_us, flat_us = (
        statistics.median(engine.match_ns(events)) / 1000 for engine in (native, flat)
    )
    found = []
    with TemporaryDirectory() as folder:
        paths = Path(folder, "expressions"), Path(folder, "events")
        paths[0].write_text("\n".join(text for _, text in expressions))
        paths[1].write_text("\n".join(map(json.dumps, events)))
        for name_of_engine in NAMES:
            command = ["java", "-cp", f"{jars}/*", str(_FOLDER / "Peers.java"), name_of_engine]
            command += map(str, paths)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Skipped(f"{name_of_engine} failed: {done.stderr.strip().splitlines()[-1]}")
            result = json.loads(done.stdout)
            if result["answers"] != exact:
                raise Disagreement(f"{name_of_engine} and native disagree on {name}")
            times = sorted(each / 1000 for each in result["times_ns"])
            us = statistics.median(times)
            found.append(
                {
                    "engine": name_of_engine,
                    "n": n,
                    "match_us_median": float(f"{us:.4g}"),
                    "match_us_p99": float(f"{times[-1]:.4g}"),
                    "ratio_to_native": float(f"{us / native_us:.3g}"),
                    "ratio_to_flat": float(f"{flat_us / us:.3g}"),
                    "build_s": round(result["build_s"], 3),
                    "bytes_per_expression": None,
                    "capped": True,
                }
            )
    return found
