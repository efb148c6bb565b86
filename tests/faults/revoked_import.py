"""An import whose key is revoked while it is under way.

    key made ──▶ lines, ten a second … key revoked … more lines ──▶ the last line that was written

Every line and both writes of the key are records of the history, as those of the writers are.
"""

import asyncio
import http.client
import json
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from campaigns.database.engine import Database
from campaigns.errors import CampaignsError
from campaigns.keys import service as keys
from campaigns.keys.model import NewKey
from campaigns.store import Store
from testkit.client import Client, Lost
from tests.faults.bounds import REVOKED_SECONDS
from tests.faults.history import ACKNOWLEDGED, UNKNOWN, Write
from tests.faults.outcomes import outcome_of
from tests.faults.schedule import SECOND
from tests.faults.service import PORT
from tests.faults.stage import Stage

_BEFORE = 8
_LINES = _BEFORE + int(10 * (REVOKED_SECONDS + 1.5))
_PAUSE = 0.1
_KNOWN_SECONDS = 10.0
_ATTEMPTS = 20
_IMPORTED = 24


@dataclass
class RevokedImport:
    """One such import, on the second host. `seconds` is how long after the revocation its last line
    was written; negative if none was."""

    stage: Stage
    seconds: float = -1.0
    written: int = 0
    _names: list[str] = field(default_factory=list)
    _results: dict[int, tuple[float, dict[str, Any]]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.written} lines written, the last {self.seconds:.1f} s after"

    def run(self) -> "RevokedImport":
        """Send it, and record what became of it."""
        number = time.monotonic_ns()
        new = self._on_store("create", {"name": f"revoked {number}", "scopes": ["campaigns:write"]})
        if new is None:
            return self
        revoked = float("inf")
        with self.stage.services[SECOND].entered():
            if self._is_known(new.token):
                with suppress(OSError, http.client.HTTPException):
                    revoked = self._send(new, number)
        if revoked == float("inf"):  # for whatever reason it did not come to that
            self._on_store("revoke", new.key.id)
        lasts = [at for at, result in self._results.values() if result["rev"] is not None]
        self.written = len(lasts)
        self.seconds = max(lasts, default=0.0) - revoked
        return self

    def _send(self, new: NewKey, number: int) -> float:
        """Send the lines, and revoke the key meanwhile; when that was done."""
        history = self.stage.history
        revoked = float("inf")
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
        connection.putrequest("POST", "/v1/campaigns/import")
        connection.putheader("Authorization", f"Bearer {new.token}")
        connection.putheader("Content-Type", "application/x-ndjson")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        sock: socket.socket = connection.sock
        reading = threading.Thread(target=self._read, args=(connection,), daemon=True)
        reading.start()
        begin = history.elapsed()
        lines = [self._line(number, place) for place in range(_LINES)]
        sent = 0
        try:
            for place, line in enumerate(lines):
                if place == _BEFORE:
                    self._on_store("revoke", new.key.id)
                    revoked = history.elapsed()
                data = json.dumps(line).encode() + b"\n"
                sock.sendall(b"%x\r\n%s\r\n" % (len(data), data))
                sent += 1
                time.sleep(_PAUSE)
            sock.sendall(b"0\r\n\r\n")
        except OSError:
            pass  # it was ended, as it should be
        reading.join(15)
        connection.close()
        for place, fields in enumerate(lines[: sent + 1]):
            at, result = self._results.get(place + 1, (history.elapsed(), None))
            rev, version = (result["rev"], result["version"]) if result else (None, None)
            attempt = (fields["name"], "campaign", "import", None, None, fields, begin, at)
            outcome = outcome_of(result)
            self.stage.history.add(Write(*attempt, outcome, 200, rev, version, SECOND))
        return revoked

    def _read(self, connection: http.client.HTTPConnection) -> None:
        with suppress(OSError, http.client.HTTPException, ValueError):
            answer = connection.getresponse()
            while line := answer.readline():
                result = json.loads(line)
                if "line" in result:
                    self._results[result["line"]] = (self.stage.history.elapsed(), result)

    def _line(self, number: int, place: int) -> dict[str, Any]:
        """A campaign that serves nobody."""
        return {
            "external_id": f"revoked {place % _IMPORTED}",
            "advertiser_id": self.stage.advertisers[0],
            "name": f"revoked {number} {place}",
            "targeting": "true",
            "priority": place % 10,
            "bid_micros": 100,
        }

    def _is_known(self, token: str) -> bool:
        """Wait until the host knows the key."""
        end = time.monotonic() + _KNOWN_SECONDS
        with Client(PORT, token, timeout=2.0) as client:
            while time.monotonic() < end:
                with suppress(Lost):
                    if client.send("GET", "/v1/attributes").status == 200:
                        return True
                time.sleep(0.05)
        return False

    def _on_store(self, action: str, about: Any) -> Any:
        """Create or revoke the key, as `copse key` does; None if the database stays away."""
        history = self.stage.history

        async def work() -> Any:
            async with Database(self.stage.postgres.url) as database:
                store = Store(database)
                if action == "create":
                    return await keys.create(store, "faults", about)
                return await keys.revoke(store, "faults", about)

        id, fields = (None, {"name": about["name"]}) if action == "create" else (about, {})
        for _ in range(_ATTEMPTS):
            begin = history.elapsed()
            sent = (f"key {action} {id or fields}", "key", action, id, None, fields, begin)
            try:
                done = asyncio.run(work())
            except CampaignsError:
                history.add(Write(*sent, history.elapsed(), UNKNOWN))
                time.sleep(0.5)
                continue
            rev = done.key.rev if action == "create" else done.rev
            history.add(Write(*sent, history.elapsed(), ACKNOWLEDGED, 200, rev))
            return done
        return None
