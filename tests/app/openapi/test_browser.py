"""The OpenAPI page in a real Chromium: a newcomer tries its examples, with a key that stays."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.browser import Browser, browser
from tests.app.serving import Served, serving

IS_LOADED = "document.querySelectorAll('.opblock').length > 20"
TYPE_KEY = """(() => {
  const input = document.querySelector('.auth-container input');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  set.call(input, %s);
  input.dispatchEvent(new Event('input', {bubbles: true}));
})()"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    with serving("--development", COPSE_DATABASE_URL=url) as served:
        yield served


def authorize(page: Browser, token: str) -> None:
    page.run("document.querySelector('.btn.authorize').click()")
    page.wait("document.querySelector('.auth-container input')")
    page.run(TYPE_KEY % json.dumps(token))
    page.run("document.querySelector('.auth-container .authorize').click()")
    page.wait("document.querySelector('.btn.authorize.locked')")


def execute(page: Browser, operation: str) -> tuple[str, str]:
    """Press the button of an operation; returns the status and the text of the answer."""
    block = f"document.querySelector('#operations-{operation} %s')"
    page.run((block % ".opblock-summary-control") + ".click()")
    page.wait(block % ".execute")
    page.run((block % ".execute") + ".click()")
    answer = ".live-responses-table tbody .response-col_%s"
    page.wait(block % (answer % "status"))
    status, text = (
        page.run(f"{block % (answer % column)}.innerText") for column in ("status", "description")
    )
    return status.split()[0], text


@pytest.mark.long
def test_the_examples_work_one_after_the_other_and_the_key_survives_a_reload(
    served: Served, tmp_path: Path
) -> None:
    with browser() as page:
        page.open(f"{served.url}/docs")
        page.wait(IS_LOADED)
        authorize(page, (tmp_path / "copse-development.key").read_text().strip())
        page.open(f"{served.url}/docs?again")
        page.wait(IS_LOADED)
        page.wait("document.querySelector('.btn.authorize.locked')")
        assert execute(page, "advertisers-create_advertiser")[0] == "201"
        assert execute(page, "campaigns-create_campaign")[0] == "201"
        for change in ("change_campaign", "activate_campaign", "preview_change", "read_campaign"):
            assert execute(page, f"campaigns-{change}")[0] == "200"
        status, answer = execute(page, "match-match")
        assert status == "200"
        assert '"campaign_id": 1' in answer
        status, answer = execute(page, "campaigns-import_campaigns")
        assert status == "200"
        assert [answer.count(f'"line":{line},') for line in (1, 2, 3)] == [1, 1, 0]
        assert '"failed"' not in answer
