"""No secret, password or personal data in what the service prints, answers or stores.

Unique words are planted wherever a secret or personal data comes in; afterwards all output is
searched for them.
"""

import base64
import gzip
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from migrations.run import upgrade
from testkit.servers import PostgresServer, RedisServer, postgres_server
from tests.app.conftest import bearer, make_keys, on_store
from tests.app.serving import COPSE

PASSWORD = "canary-of-the-password"
WRONG_SECRET = "canaryOfAWrongSecret00"
PERSONAL = {
    "user.id": "canary-of-a-user",
    "buyeruid": "canary-of-a-buyer",
    "ifa": "canary-of-an-ifa",
    "eid": "canary-of-an-eid",
    "ip": "203.0.113.217",
    "ipv6": "2001:db8:7:7:ca:ca:ca:ca",
    "forwarded": "198.51.100.223",
    "email": "canary@person.example",
    "lat": "48.858370123",
    "cookie": "canary-of-a-cookie",
}

BID: dict[str, Any] = {
    "id": "bid-1",
    "imp": [{"id": "1", "banner": {"w": 300, "h": 250}}],
    "site": {"domain": "daily.news"},
    "device": {
        "ip": PERSONAL["ip"],
        "ipv6": PERSONAL["ipv6"],
        "ifa": PERSONAL["ifa"],
        "didsha1": PERSONAL["ifa"],
        "geo": {"country": "USA", "lat": float(PERSONAL["lat"]), "lon": float(PERSONAL["lat"])},
    },
    "user": {
        "id": PERSONAL["user.id"],
        "buyeruid": PERSONAL["buyeruid"],
        "customdata": PERSONAL["cookie"],
        "eids": [{"source": "x.example", "uids": [{"id": PERSONAL["eid"]}]}],
        "ext": {"eids": [{"uids": [{"id": PERSONAL["eid"]}]}]},
    },
}
MATCH: dict[str, Any] = {
    "attributes": {
        "country": "US",
        "user.id": PERSONAL["user.id"],
        "device.ip": PERSONAL["ip"],
        "device.ifa": PERSONAL["ifa"],
        "user.email": PERSONAL["email"],
    }
}


@dataclass
class Out:
    """The output of the service, by source."""

    found: dict[str, bytes] = field(default_factory=dict)

    def add(self, where: str, what: bytes) -> None:
        self.found[where] = self.found.get(where, b"") + what

    def add_answer(self, answer: httpx2.Response) -> None:
        output = [answer.content, *(f"{n}: {v}".encode() for n, v in answer.headers.items())]
        self.add(f"{answer.request.method} {answer.request.url.path}", b"\n".join(output))

    def add_files(self, directory: Path) -> None:
        for path in directory.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                packed = content.startswith(b"\x1f\x8b")
                self.add(str(path), gzip.decompress(content) if packed else content)

    def check(self, *secrets: str) -> None:
        """No secret is in any output, neither plain nor base64."""
        for secret in secrets:
            forms = {secret.encode(), base64.b64encode(secret.encode()).rstrip(b"=")}
            for where, content in self.found.items():
                for form in forms:
                    assert form not in content, f"{secret} is in {where}"


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    """A separate Postgres that the test can stop; it accepts any password."""
    with postgres_server() as server:
        upgrade(server.url)
        yield server


def with_password(url: str) -> str:
    user, _, rest = url.removeprefix("postgresql://").partition("@")
    return f"postgresql://{user}:{PASSWORD}@{rest}"


def address_in(output: Path) -> str:
    """The address of the service, once it is printed."""
    end = time.monotonic() + 60
    while not (found := re.search(r"http://[\d.:]+", output.read_text())):
        assert time.monotonic() < end, output.read_text()
        time.sleep(0.05)
    return found[0]


def send_everything(client: httpx2.Client, tokens: dict[str, str], out: Out) -> None:
    """Good requests and bad ones, with canaries in all of them."""
    tracked = {"X-Forwarded-For": PERSONAL["forwarded"], "Cookie": f"id={PERSONAL['cookie']}"}
    headers = bearer(tokens["all"]) | tracked
    broken = {**MATCH, "attributes": {**MATCH["attributes"], "age": PERSONAL["email"]}}
    requests: list[tuple[str, str, Any, dict[str, str]]] = [
        ("POST", "/v1/match", MATCH, headers),
        ("POST", "/v1/match/batch", {"requests": [MATCH, broken]}, headers),
        ("POST", "/v1/openrtb", BID, headers),
        ("POST", "/v1/openrtb", {**BID, "imp": []}, headers),
        ("POST", "/v1/match", broken, headers),
        ("POST", "/v1/match", MATCH, bearer(tokens["revoked"]) | tracked),
        ("POST", "/v1/match", MATCH, bearer(tokens["audit:read"]) | tracked),
        ("POST", "/v1/advertisers", {"name": "Shop"}, headers | {"Idempotency-Key": "one"}),
        ("POST", "/v1/advertisers", {"name": "Shop"}, headers | {"Idempotency-Key": "one"}),
        ("POST", "/v1/campaigns", {"name": "x", "advertiser_id": 1}, headers),
        ("POST", "/v1/campaigns", {"name": 7}, headers),
        ("GET", "/v1/audit", None, headers),
        ("GET", "/v1/index", None, headers),
        ("GET", "/v1/nothing", None, headers),
        ("GET", "/metrics", None, headers),
        ("GET", "/healthz/ready", None, tracked),
    ]
    wrong = f"copse_{tokens['all'].split('_')[1]}_{WRONG_SECRET}"
    requests += [(m, p, b, bearer(wrong) | tracked) for m, p, b, _ in requests[:8]]
    for method, path, body, sent in requests:
        out.add_answer(client.request(method, path, json=body, headers=sent))


def secrets_of(tokens: dict[str, str]) -> list[str]:
    return [token.split("_", 2)[2] for token in tokens.values()]


def test_no_secret_and_no_person_in_anything_that_comes_out(
    own_postgres: PostgresServer, redis: RedisServer, tmp_path: Path
) -> None:
    tokens, out = on_store(own_postgres.url, make_keys), Out()
    output = tmp_path / "output"
    environment = os.environ | {
        "COPSE_DATABASE_URL": with_password(own_postgres.url),
        "COPSE_REDIS_URL": redis.url,
        "COPSE_LOG_LEVEL": "debug",
        "COPSE_IMPRESSIONS_DIR": str(tmp_path / "impressions"),
        "COPSE_INDEX_DIRECTORY": str(tmp_path / "index"),
        "COPSE_PORT": "0",
        "COPSE_WORKERS": "2",
    }
    with output.open("wb") as file:
        process = subprocess.Popen([COPSE, "serve"], stdout=file, stderr=file, env=environment)
        try:
            with httpx2.Client(base_url=address_in(output), timeout=30) as client:
                send_everything(client, tokens, out)
                own_postgres.stop()
                send_everything(client, tokens, out)
                own_postgres.start()
        finally:
            process.terminate()
            process.wait(30)
    dump = own_postgres.bin / "pg_dump"
    stored = subprocess.run(
        [dump, "--data-only", own_postgres.url], capture_output=True, check=True
    )
    out.add("the database", stored.stdout)
    out.add_files(tmp_path)
    assert "GET /v1/audit" in out.found
    impressions = b"".join(each for where, each in out.found.items() if "impressions" in where)
    assert impressions.count(b'"openrtb"') >= 2, "nothing was logged"
    assert b"daily.news" in impressions
    assert tokens["all"].split("_")[1].encode() in out.found["the database"], "prefixes are public"
    out.check(PASSWORD, WRONG_SECRET, *secrets_of(tokens), *PERSONAL.values())


def test_a_password_is_not_printed_when_a_server_does_not_answer(tmp_path: Path) -> None:
    out = Out()
    nobody = {
        "COPSE_DATABASE_URL": f"postgresql://copse:{PASSWORD}@127.0.0.1:1/copse",
        "COPSE_REDIS_URL": f"redis://:{PASSWORD}@127.0.0.1:1/0",
        "COPSE_LOG_LEVEL": "debug",
        "COPSE_PORT": "0",
    }
    environment = os.environ | nobody
    commands = ["migrate"], ["key", "list"], ["settings"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": environment}
    running = [subprocess.Popen([COPSE, *command], **pipes) for command in commands]
    output = tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen([COPSE, "serve"], stdout=file, stderr=file, env=environment)
        try:
            url = address_in(output)
            out.add_answer(httpx2.get(f"{url}/healthz/ready"))
            out.add_answer(httpx2.post(f"{url}/v1/match", json=MATCH, headers=bearer("copse_a_b")))
        finally:
            process.terminate()
            process.wait(30)
    for command, each in zip(commands, running, strict=True):
        printed, _ = each.communicate(timeout=60)
        assert printed
        out.add(f"copse {command[0]}", printed)
    out.add("its output", output.read_bytes())
    out.check(PASSWORD, *PERSONAL.values())


def test_the_search_finds_what_is_there() -> None:
    out = Out()
    out.add("here", base64.b64encode(PASSWORD.encode()))
    with pytest.raises(AssertionError, match="is in here"):
        out.check(PASSWORD)
