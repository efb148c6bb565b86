"""The no-op, with a match before each answer: what any Python server around this index costs.

    python -m bench.service.matching_noop FILE URL BODIES

The index has the campaigns of that database; its answers are thrown away. A match of a large index
leaves nothing of the server in the caches of the processor, so that what comes after it takes
longer, whoever wrote it. This tells how much.
"""

import asyncio
import sys
import time
from itertools import cycle
from pathlib import Path

import orjson

from index import Query
from testkit.expected import LIMIT, RESERVED, build
from testkit.noop import Ask, Clock, serve
from testkit.workloads import make


def question(url: str, bodies: str) -> Ask:
    """One match, of the next event."""
    index = asyncio.run(build(url, make("ads")))
    lines = Path(bodies).read_bytes().splitlines()
    events = cycle([orjson.dumps(orjson.loads(line)["attributes"]) for line in lines])

    def ask() -> bytes:
        query = Query(time.time(), LIMIT, total=True, builtins=RESERVED)
        return index.ask(next(events), query).to_json(b"}")

    return ask


if __name__ == "__main__":
    serve(sys.argv[1], Clock(question(*sys.argv[2:])))
