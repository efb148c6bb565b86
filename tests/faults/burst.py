"""A burst: matches at a fixed rate, each on a new connection, whatever becomes of the ones before.

python -m tests.faults.burst PORT RATE SECONDS      prints a line of JSON
"""

import asyncio
import json
import os
import sys
import time
from collections import Counter

_GIVES_UP_SECONDS = 1.0
_HEALTH_TIMEOUT = 30.0
_HEALTH_PAUSE = 0.2


async def _ask(port: int, request: bytes, timeout: float) -> int:
    """The status of the answer; 0 if there was none in time."""
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                line = await reader.readline()
                return int(line.split()[1]) if line else 0
            finally:
                writer.transport.abort()
    except OSError:  # a timeout is one
        return 0


async def burst(port: int, token: str, rate: float, seconds: float) -> dict[str, object]:
    """Send the burst; returns the number of answers by status, and the slowest health check."""
    # Not logged: the checker knows only the requests of the history.
    body = json.dumps({"attributes": {"country": "US"}, "log": False}).encode()
    head = (
        "POST /v1/match HTTP/1.1\r\nHost: copse\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    live = b"GET /healthz/live HTTP/1.1\r\nHost: copse\r\n\r\n"
    counts: Counter[int] = Counter()
    slowest = 0.0
    begin = time.monotonic()

    async def match() -> None:
        counts[await _ask(port, head.encode() + body, _GIVES_UP_SECONDS)] += 1

    async def check_health() -> None:
        nonlocal slowest
        while time.monotonic() < begin + seconds:
            asked = time.monotonic()
            await _ask(port, live, _HEALTH_TIMEOUT)
            slowest = max(slowest, time.monotonic() - asked)
            await asyncio.sleep(_HEALTH_PAUSE)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(check_health())
        for number in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, begin + number / rate - time.monotonic()))
            tasks.create_task(match())
    return {"statuses": dict(sorted(counts.items())), "health": round(slowest, 2)}


if __name__ == "__main__":
    port, rate, seconds = sys.argv[1:]
    told = burst(int(port), os.environ["BURST_TOKEN"], float(rate), float(seconds))
    sys.stdout.write(json.dumps(asyncio.run(told)) + "\n")
