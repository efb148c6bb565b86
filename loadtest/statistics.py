"""New statistics in the middle of a run: does matching go on while the indexes rearrange
themselves?"""

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any

from bench.http.serving import Server

_PATH = "/v1/statistics"
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Activation:
    """What came of it; `at` is when it was asked for, None when it was not."""

    told: str
    at: float | None = None


def activate(server: Server, token: str) -> Activation:
    """Activate the newest version that is not the active one."""
    status, listed = _send(server, token, "GET", _PATH)
    if status != 200:
        return Activation(f"not activated: GET {_PATH} answers {status}")
    waiting = [each for each in listed.get("items", []) if not each.get("active")]
    if not waiting:
        return Activation("not activated: there is no version of statistics that could be")
    id = max(each["id"] for each in waiting)
    at = time.time()
    status, told = _send(server, token, "POST", f"{_PATH}/{id}/activate", {"force": True})
    took = time.time() - at
    if status != 200:
        return Activation(f"version {id} was refused: {status} {told.get('detail', '')}", at)
    return Activation(f"version {id} activated in {took * 1000:.0f} ms", at)


def _send(
    server: Server, token: str, method: str, path: str, body: object = None
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_SECONDS)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, headers)
        answer = connection.getresponse()
        read = answer.read()
    finally:
        connection.close()
    told = json.loads(read) if read.startswith(b"{") else {}
    return answer.status, told
