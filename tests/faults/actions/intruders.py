"""Entries in the stream of Redis that no relay wrote."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis

from campaigns.keys.model import SCOPES, hash_of, make, token_of
from campaigns.log.changes import KEY, new_nonce
from testkit.client import Client, Lost
from tests.faults.actions.effect import Effect
from tests.faults.schedule import Fault
from tests.faults.service import PORT
from tests.faults.stage import Stage

_ATTEMPTS = 50
_TRIED_SECONDS = 3.0
_NOT_ACCEPTED = (401, 503)
Fields = dict[bytes, bytes]


@contextmanager
def foreign(stage: Stage, fault: Fault) -> Iterator[Effect]:
    """Something that is no change, close to the last entry or far ahead of it."""
    yield Effect(_add(stage, int(fault.amount), lambda _: {b"hello": b"world"}))


@contextmanager
def forge(stage: Stage, _: Fault) -> Iterator[Effect]:
    """A key with all scopes, as the change after the last one. Nobody may log in with it."""
    prefix, secret = make()
    key = {"id": 10**6, "prefix": prefix, "secret_hash": hash_of(secret), "scopes": SCOPES}
    key |= {"expires_at": None, "revoked": False, "rate": None, "max_body": None}

    def fields(last: Fields) -> Fields:
        return last | {
            b"kind": KEY.encode(),
            b"object_id": str(key["id"]).encode(),
            b"nonce": new_nonce().encode(),
            b"payload": json.dumps(key).encode(),
            b"previous": last.get(b"nonce", b""),
        }

    effect = Effect(_add(stage, 1, fields))
    yield effect
    effect.broken = _try(stage, token_of(prefix, secret))


def _add(stage: Stage, further: int, fields: Any) -> str:
    """Add an entry `further` revs after the last one, made from the last one's fields. The relay
    may be faster: then again."""
    with redis.Redis.from_url(stage.redis.url) as client:
        for _ in range(_ATTEMPTS):
            for stream in client.scan_iter("copse:*", _type="stream"):
                for id, last in client.xrevrange(stream, count=1):
                    new = int(id.partition(b"-")[0]) + further
                    try:
                        client.xadd(stream, fields(last), id=f"{new}-0")
                    except redis.ResponseError:
                        continue
                    return f"entry {new}"
            time.sleep(0.01)
    return "no stream"


def _try(stage: Stage, token: str) -> str:
    """Use the key on every host; what is broken if one accepts it."""
    end = time.monotonic() + _TRIED_SECONDS
    while time.monotonic() < end:
        for service in stage.services:
            with service.entered(), Client(PORT, token, timeout=1.0) as client:
                try:
                    status = client.send("GET", "/v1/campaigns").status
                except Lost:
                    continue
            if status not in _NOT_ACCEPTED:
                return f"forged: host {service.number} answered {status}"
        time.sleep(0.02)
    return ""
