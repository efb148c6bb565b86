"""The client that `openapi-python-client` generates from `/openapi.json` works."""

import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.app.serving import Served, serving

GENERATOR = Path(sys.executable).parent / "openapi-python-client"
API = Path(__file__).parents[3] / "docs/api.md"
NAME = "copse_client"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client")


@pytest.fixture(scope="module")
def served(directory: Path) -> Iterator[Served]:
    url = f"sqlite:///{directory / 'copse.sqlite3'}"
    with serving("--development", COPSE_DATABASE_URL=url) as served:
        yield served


@pytest.fixture(scope="module")
def package(served: Served, directory: Path) -> Iterator[Any]:
    """The generated package, with the configuration that the documentation shows."""
    document, config = directory / "openapi.json", directory / "config.json"
    document.write_bytes(httpx2.get(f"{served.url}/openapi.json").content)
    shown = API.read_text().partition("# client.yaml\n")[2].partition("```")[0]
    name, value = shown.partition(":\n  ")[0], shown.partition(":\n  ")[2].split(": ")
    overrides = {name: {value[0]: value[1].strip()}}
    config.write_text(json.dumps({**overrides, "post_hooks": []}))
    done = subprocess.run(
        [
            *(GENERATOR, "generate", "--fail-on-warning", "--meta", "none"),
            *("--path", document, "--config", config, "--output-path", directory / NAME),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(directory))
    try:
        yield import_module(NAME)
    finally:
        sys.path.remove(str(directory))


def test_every_module_of_it_can_be_imported(package: Any) -> None:
    names = [each.name for each in pkgutil.walk_packages(package.__path__, f"{NAME}.")]
    assert len(names) > 50
    for name in names:
        import_module(name)


def test_it_creates_changes_activates_imports_and_matches(
    package: Any, served: Served, directory: Path
) -> None:
    models = import_module(f"{NAME}.models")
    token = (directory / "copse-development.key").read_text().strip()

    def call(tag: str, operation: str, *path: int, **arguments: Any) -> Any:
        module = import_module(f"{NAME}.api.{tag}.{operation}")
        answer = module.sync_detailed(*path, client=client, **arguments)
        assert answer.status_code in (200, 201), answer.content
        return answer.parsed

    with package.AuthenticatedClient(base_url=served.url, token=token) as client:
        body = models.NewAdvertiser(name="Shop", domain="shop.example")
        owner = call("advertisers", "create_advertiser", body=body).id
        body = models.NewCampaign(
            advertiser_id=owner, name="Phones", external_id="phones", targeting="country = 'US'"
        )
        id = call("campaigns", "create_campaign", body=body).id
        changes = models.CampaignChanges(bid_micros=1_500_000)
        call("campaigns", "change_campaign", id, body=changes, if_match="*")
        rev = call("campaigns", "activate_campaign", id).rev
        request = models.MatchIn(
            attributes=models.MatchInAttributes.from_dict({"country": "US", "contry": "US"}),
            min_rev=rev,
            strict=False,
            fields=[models.MatchInFieldsItem.EXTERNAL_ID],
        )
        answer = call("match", "match", body=request)
        (match,) = answer.matches
        assert (match.campaign_id, match.bid_micros, match.external_id) == (id, 1_500_000, "phones")
        assert answer.ignored == ["contry"]
        (found,) = call("campaigns", "list_campaigns", external_id="phones").items
        assert found.id == id
        line = {"external_id": "phones", "priority": 5}
        sent = import_module(f"{NAME}.types").File(payload=json.dumps(line).encode())
        call("campaigns", "import_campaigns", body=sent)
        assert call("campaigns", "read_campaign", id).priority == 5
