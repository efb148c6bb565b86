"""Campaign managers: each writes to its own advertiser and campaigns, one write at a time.

The writes are drawn from the seed. Names are unique, so the database's log shows which attempt made
each change. After a lost answer the writer does not know the version: it reads the campaign again
and sends the version it saw with the next write.
"""

import json
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from random import Random
from typing import Any

from testkit.client import Answer, Client, Lost
from tests.faults.history import ACKNOWLEDGED, UNKNOWN, History, Write
from tests.faults.matchers import MatchClient
from tests.faults.outcomes import known, outcome_of, results_of
from tests.faults.service import Service

CAMPAIGNS = "/v1/campaigns"
_MOST = 40
"""Most campaigns of a writer, besides imported ones."""

_IMPORTED = 24
_LINES = 12
_REPEATS = 4
_HOUR = 3600

# Weights. Patches and moves are frequent; creates balance deletes and archives.
_ACTIONS = (
    ("create", 3),
    ("patch", 8),
    ("move", 8),
    ("archive", 1),
    ("delete", 2),
    ("import", 1),
    ("advertiser", 1),
)


@dataclass
class _Campaign:
    """A campaign as the writer knows it; `version` is None if it must be read first."""

    id: int
    version: int | None
    status: str


class Writer(threading.Thread):
    """Writes at intervals until stopped, and checks some writes with a match at once."""

    def __init__(
        self,
        number: int,
        seed: int,
        advertiser: int,
        service: Service,
        client: Client,
        match_client: MatchClient,
        texts: list[str],
        wall: float,
        pause: float,
        history: History,
    ) -> None:
        super().__init__(name=f"writer {number}", daemon=True)
        self._number = number
        self._random = Random(f"writer {seed} {number}")
        self._advertiser = _Campaign(advertiser, 1, "active")
        self._service = service
        self._client = client
        self._match_client = match_client
        self._texts = texts
        self._wall = wall
        self._pause = pause
        self._history = history
        self._campaigns: list[_Campaign] = []
        self._names = 0
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        with self._service.entered():
            self._write_until_stopped()
            self._client.close()
            self._match_client.close()

    def _write_until_stopped(self) -> None:
        names, weights = zip(*_ACTIONS, strict=True)
        while not self._stopped.wait(self._pause * self._random.uniform(0.5, 1.5)):
            (action,) = self._random.choices(names, weights)
            rev = self._act(action)
            if rev and self._random.random() < 0.3:
                self._match_client.ask(self._random.randrange(len(self._texts) // 2), min_rev=rev)
            if self._random.random() < 0.1:
                self._client.close()

    def _act(self, action: str) -> int | None:
        """One action; returns its rev if it was acknowledged."""
        if action == "create" or (action != "import" and len(self._campaigns) < 5):
            return self._create() if len(self._campaigns) < _MOST else None
        if action == "import":
            return self._import()
        if action == "advertiser":
            return self._move_advertiser()
        campaign = self._random.choice(self._campaigns)
        if campaign.version is None and not self._look(campaign):
            return None
        match action:
            case "patch":
                return self._patch(campaign)
            case "move":
                return self._move(campaign, "pause" if campaign.status == "active" else "activate")
            case "archive":
                return self._move(campaign, "archive")
            case _:
                return None if campaign.status == "active" else self._remove(campaign)

    # Writes.

    def _create(self) -> int | None:
        """Create a draft with an idempotency key, so that a lost answer can be retried. While the
        first request is in progress, a repeated one gets 409."""
        fields = self._fields() | {"advertiser_id": self._advertiser.id}
        token = fields["name"]
        attempts = 0
        while attempts < _REPEATS:
            written, answer = self._write(
                token, "create", None, fields, "POST", CAMPAIGNS, Idempotency_Key=token
            )
            if answer is not None and written.outcome == ACKNOWLEDGED:
                self._campaigns.append(_Campaign(answer.content["id"], 1, "draft"))
                return written.rev
            attempts += written.status != HTTPStatus.CONFLICT
            if self._stopped.wait(0.5):
                break
        return None

    def _patch(self, campaign: _Campaign) -> int | None:
        return self._change(campaign, "patch", self._fields(), "PATCH", "")

    def _move(self, campaign: _Campaign, action: str) -> int | None:
        return self._change(campaign, action, None, "POST", f"/{action}")

    def _remove(self, campaign: _Campaign) -> int | None:
        return self._change(campaign, "delete", None, "DELETE", "")

    def _change(
        self,
        campaign: _Campaign,
        action: str,
        fields: dict[str, Any] | None,
        method: str,
        path: str,
    ) -> int | None:
        written, answer = self._write(
            self._token(),
            action,
            campaign,
            fields,
            method,
            f"{CAMPAIGNS}/{campaign.id}{path}",
            If_Match=f'"{campaign.version}"',
        )
        campaign.version = None
        if answer is None or written.outcome != ACKNOWLEDGED:
            return None
        if action == "delete":
            self._campaigns.remove(campaign)
        else:
            self._take(campaign, answer.content)
        return written.rev

    def _move_advertiser(self) -> int | None:
        advertiser = self._advertiser
        path = f"/v1/advertisers/{advertiser.id}"
        if advertiser.version is None:
            answer = self._get(path)
            if answer is None or answer.status != HTTPStatus.OK:
                return None
            advertiser.version = answer.content["version"]
            advertiser.status = answer.content["status"]
        action = "pause" if advertiser.status == "active" else "resume"
        written, answer = self._write(
            self._token(),
            action,
            advertiser,
            None,
            "POST",
            f"{path}/{action}",
            kind="advertiser",
            If_Match=f'"{advertiser.version}"',
        )
        advertiser.version = None
        if answer is not None and written.outcome == ACKNOWLEDGED:
            advertiser.version = answer.content["version"]
            advertiser.status = answer.content["status"]
        return written.rev

    def _import(self) -> int | None:
        """Several campaigns at once, more than a worker applies in one batch on its event loop."""
        first = self._random.randrange(_IMPORTED)
        lines = []
        for place in range(first, first + _LINES):
            owned = {"advertiser_id": self._advertiser.id, "status": "active"}
            name = f"import {self._number} {place % _IMPORTED}"
            lines.append(self._fields() | owned | {"external_id": name})
        begin = self._history.elapsed()
        answer: Answer | None = None
        with suppress(Lost):
            answer = self._client.send(
                "POST",
                f"{CAMPAIGNS}/import",
                "\n".join(map(json.dumps, lines)).encode(),
                "application/x-ndjson",
            )
        end = self._history.elapsed()
        results = results_of(answer)
        revs = []
        for place, fields in enumerate(lines):
            result = results.get(place + 1)
            outcome = outcome_of(result)
            rev, version = (result["rev"], result["version"]) if result else (None, None)
            status = answer.status if answer else 0
            sent = (fields["name"], "campaign", "import", None, None, fields)
            told = Write(*sent, begin, end, outcome, status, rev, version, self._service.number)
            self._history.add(told)
            revs.append(rev or 0)
        return max(revs) or None

    def _write(
        self,
        token: str,
        action: str,
        to: _Campaign | None,
        fields: dict[str, Any] | None,
        method: str,
        path: str,
        kind: str = "campaign",
        **headers: str,
    ) -> tuple[Write, Answer | None]:
        begin = self._history.elapsed()
        try:
            answer: Answer | None = self._client.send(method, path, fields, **headers)
        except Lost:
            answer = None
        id, version = (to.id, to.version) if to else (None, None)
        times = begin, self._history.elapsed()
        sent = Write(token, kind, action, id, version, fields or {}, *times, UNKNOWN)
        record = replace(known(sent, answer), host=self._service.number)
        self._history.add(record)
        return record, answer

    # Reads.

    def _look(self, campaign: _Campaign) -> bool:
        answer = self._get(f"{CAMPAIGNS}/{campaign.id}")
        if answer is None or answer.status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
            return False
        if answer.status == HTTPStatus.NOT_FOUND:
            self._campaigns.remove(campaign)
            return False
        return self._take(campaign, answer.content)

    def _take(self, campaign: _Campaign, content: dict[str, Any]) -> bool:
        """Take over the service's version and status; an archived campaign is dropped."""
        campaign.version, campaign.status = content["version"], content["status"]
        if campaign.status == "archived":
            self._campaigns.remove(campaign)
        return campaign.status != "archived"

    def _get(self, path: str) -> Answer | None:
        try:
            return self._client.send("GET", path)
        except Lost:
            return None

    def _token(self) -> str:
        self._names += 1
        return f"w{self._number}-{self._names}"

    def _fields(self) -> dict[str, Any]:
        random = self._random
        starts, ends = random.choice(((None, None), (None, None), (-24, 24), (1, 3), (-3, -1)))
        return {
            "name": self._token(),
            "targeting": random.choice(self._texts),
            "priority": random.randint(0, 10),
            "bid_micros": random.randint(1, 5) * 100_000,
            "starts_at": self._moment(starts),
            "ends_at": self._moment(ends),
        }

    def _moment(self, hours: int | None) -> str | None:
        """Some hours from the start of the run; a clock step of two hours crosses it."""
        if hours is None:
            return None
        return datetime.fromtimestamp(self._wall + hours * _HOUR, UTC).isoformat()
