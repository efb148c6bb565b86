"""A no-op server with a match before each answer: what any Python server around this index costs.

    python -m bench.service.matching_noop FILE URL BODIES

The index has the campaigns of the database at URL; its answers are discarded. A match in a large
index evicts the server's code and data from the CPU caches, so whatever runs next is slower. This
server shows by how much.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import orjson

from app.match.single import reserved
from index import Query
from testkit.local_index import LIMIT, build
from testkit.noop import Ask, Clock, serve
from testkit.service import Server, started
from testkit.workloads import make


@contextmanager
def matching_noop(answer: Path, database: str, bodies: Path) -> Iterator[Server]:
    """The server, as a child process during the block."""
    arguments = ["-m", "bench.service.matching_noop", str(answer), database, str(bodies)]
    with started("noop that matches", arguments) as server:
        yield server


def question(url: str, bodies: str) -> Ask:
    """A function that matches the next event."""
    index = asyncio.run(build(url, make("ads")))
    lines = Path(bodies).read_bytes().splitlines()
    events = cycle([orjson.dumps(orjson.loads(line)["attributes"]) for line in lines])

    def ask() -> bytes:
        now = time.time()
        query = Query(now, LIMIT, builtins=reserved(int(now // 3600)))
        return index.ask(next(events), query).to_json(b"}")

    return ask


if __name__ == "__main__":
    serve(sys.argv[1], Clock(question(*sys.argv[2:])))
