"""A service, a console beside it and a browser: on SQLite and on Postgres, once for each file.

On a failure the page is kept as a picture in `build/console/`.
"""

import json
import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from migrations.run import upgrade
from testkit import ROOT
from testkit.browser import Browser, browser
from testkit.servers import PostgresServer
from tests.app.conftest import make_keys, on_store, template, tokens
from tests.app.serving import serving
from tests.campaigns.conftest import execute

__all__ = ["template", "tokens"]

PICTURES = ROOT / "build" / "console"
DATABASES = ("sqlite", "postgres")


@dataclass
class World:
    """What a person has before them, and the API behind it."""

    url: str
    api_url: str
    database_url: str
    tokens: dict[str, str]
    page: Browser

    def open(self, path: str) -> None:
        self.page.open(self.url + path)

    def sign_in(self, key: str = "all") -> None:
        """Sign in as a person does."""
        self.open("/sign-in")
        if "Sign out" in self.text():
            self.page.click_text("Sign out")
            self.page.wait("document.querySelector('#key')")
        self.page.type("#key", self.tokens[key])
        self.page.press("Enter")
        self.page.wait("document.querySelector('header.bar')")

    def click(self, text: str) -> None:
        """Click the link or button with this text."""
        self.page.click_text(text)

    def campaign(self, **fields: object) -> int:
        """A draft of the first advertiser, by the API."""
        listed = self.api("GET", "/v1/advertisers")["items"]
        owner = listed[0] if listed else self.api("POST", "/v1/advertisers", json={"name": "Shop"})
        sent = {"advertiser_id": owner["id"], "name": "Other"} | fields
        id: int = self.api("POST", "/v1/campaigns", json=sent)["id"]
        return id

    def text(self) -> str:
        return str(self.page.run("document.body.innerText"))

    def sees(self, text: str) -> None:
        """Wait until a text is on the page."""
        self.page.wait(f"document.body.innerText.includes({json.dumps(text)})")

    def api(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens['all']}", **options.pop("headers", {})}
        answer = httpx2.request(method, self.api_url + path, headers=headers, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


@contextmanager
def console(api_url: str, *options: str) -> Iterator[str]:
    """`python -m console` on a free port; its address without the last slash."""
    process = subprocess.Popen(
        [sys.executable, "-m", "console", "--api-url", api_url, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stdout.read()
        yield found[0].rstrip("/")
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


@pytest.fixture(scope="module", params=DATABASES)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    url = f"sqlite:///{tmp_path_factory.mktemp('console') / 'copse.sqlite3'}"
    if request.param == "postgres":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        name = request.module.__name__.rpartition(".")[2]
        execute(postgres.url, f"CREATE DATABASE {name}")
        url = postgres.url_of(name)
    upgrade(url)
    tokens = on_store(url, make_keys)
    settings = {"COPSE_DELIVERY_SECONDS": "0.2", "COPSE_DELIVERY_SHARE": "1"}
    with (
        serving(lines=3, COPSE_DATABASE_URL=url, **settings) as served,
        console(served.url) as address,
        browser() as page,
    ):
        page.resize(1280, 900)
        yield World(address, served.url, url, tokens, page)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    """Keep a picture of the page on which a test failed."""
    report = yield
    world = getattr(item, "funcargs", {}).get("world")
    if call.when == "call" and report.failed and world is not None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", item.name)
        world.page.screenshot(PICTURES / f"{name}.png")
        Path(PICTURES / f"{name}.txt").write_text(world.text())
    return report
