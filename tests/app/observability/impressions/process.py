"""A worker of its own that logs, for tests that kill it or take its disk away.

It adds numbered rows and says what it counted, a line of JSON each time. `--limit` is the largest
file that the kernel lets it write, until it reads a line from its input.
"""

import argparse
import json
import resource
import signal
import sys
import threading
import time
from pathlib import Path

from app.observability.impressions.log import ImpressionLog
from app.observability.impressions.options import Options
from campaigns.backoff import Backoff
from tests.app.observability.impressions.rows import row

QUICK = Options(flush_every=0.02, retry=Backoff(0.02, 0.05))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    log = ImpressionLog(options.directory, "w9", QUICK)
    if options.limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (options.limit, resource.RLIM_INFINITY))
        threading.Thread(target=lift, daemon=True).start()
    log.start()
    added = 0
    while not ended.is_set():
        if added < options.rows:
            added += log.add(row(added, time=time.time()))
        else:
            ended.wait(0.01)
        if added % 100 == 0:
            tell(added, log)
            time.sleep(0.005)
    closed = log.close(5)
    tell(added, log, closed=closed)


def lift() -> None:
    sys.stdin.readline()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def tell(added: int, log: ImpressionLog, closed: bool | None = None) -> None:
    counts = log.counts()
    said = {
        "added": added,
        "written": counts.written,
        "lost": counts.lost,
        "failing": counts.failing,
        "closed": closed,
    }
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
