"""What operators and engineers do in the console, in a real browser, and what axe finds."""

import json
from pathlib import Path

import axe_core_python
import pytest

from app.observability.setup import SAMPLE_SECONDS
from campaigns.statistics import service
from campaigns.store import Store
from tests.app.answers import DEADLINE_SECONDS, eventually
from tests.app.conftest import on_store
from tests.campaigns.statistics.traffic import request, statistics
from tests.console.conftest import World

AXE = Path(axe_core_python.__path__[0]) / "axe.min.js"


@pytest.fixture(scope="module", autouse=True)
def signed_in(world: World) -> None:
    world.campaign(name="Phones", targeting="country in ('US', 'CA') and device.type = 'phone'")
    world.api("POST", "/v1/campaigns/1/activate")
    world.sign_in()


def test_the_forecast_appears_while_typing_and_statistics_are_activated_and_rolled_back(
    world: World,
) -> None:
    async def make(store: Store) -> list[int]:
        rows = [request(country="US", age=30)] * 40 + [request(country="DE", age=50)] * 60
        first = await service.keep(store, "nightly", *statistics(rows, rate=0.1))
        second = await service.keep(store, "nightly", *statistics(rows[1:], rate=0.1))
        return [first.id, second.id]

    first, second = on_store(world.database_url, make)
    world.open("/operations")
    for id in (first, second):
        world.click(f"Activate statistics {id}")
        world.click("Yes")
        world.sees(f"Statistics {id} are active.")
    world.click("Roll back")
    world.click("Yes")
    world.sees(f"Statistics {first} are active again.")
    world.open("/campaigns/new")
    world.page.type("#targeting", "country = 'US' and age = 30")
    world.sees("requests a day, about 40 % of all")
    world.page.type("#targeting", "country = 'DE' and age < 60 and age > 49")
    world.sees("requests a day, about 60 % of all")
    world.page.type("#targeting", "country = 'US' and age > 40")
    world.sees("without country = 'US' 600 a day")


def test_why_shows_the_ranking_the_tree_and_the_smallest_change(world: World) -> None:
    id = world.campaign(name="Readers", targeting="country = 'US' and age between 18 and 34")
    world.api("POST", f"/v1/campaigns/{id}/activate")
    world.open(f"/why?campaign_id={id}")
    world.page.type("#request", '{"country": "US", "age": 50')
    world.click("Explain")
    world.sees("This is not JSON")
    world.page.type("#request", '{"country": "US", "age": 50, "device.type": "phone"}')
    world.click("Explain")
    world.sees("Does not match")
    world.sees("must be true: age is 50")
    assert world.page.run("document.querySelectorAll('.node.true, .node.false').length") >= 3
    world.sees("Phones")
    bid = {
        "id": "1",
        "imp": [{"id": "first", "banner": {"w": 300, "h": 250}}],
        "device": {"geo": {"country": "DEU"}},
    }
    world.page.type("#request", json.dumps(bid))
    world.click("Explain")
    world.sees("must be true: country is 'DE'")
    world.page.type("#request", '{"country": 7}')
    world.click("Explain")
    world.sees("expected a string")


def test_a_sampled_request_is_explained_by_a_click(world: World) -> None:
    world.campaign(name="Second")
    attributes = {"country": "CA", "device.type": "phone", "age": 41}

    def sampled() -> bool:
        world.api("POST", "/v1/match", json={"attributes": attributes})
        return attributes in [s["attributes"] for s in world.api("GET", "/v1/requests")["items"]]

    eventually(sampled)
    world.open("/why")
    world.page.type("#campaign", "Phon")
    world.page.click(".samples button")
    world.page.wait("document.querySelector('#request')?.value.includes('41')")
    world.sees("It is number 1 in the ranking.")
    world.page.type("#campaign", "o")
    world.click("Explain")
    world.sees("Several campaigns fit 'o'")
    world.click("Explain Phones")
    world.page.wait("document.querySelector('#explained-title')")
    body = {"attributes": {"age": 1}, "exclude": {"campaigns": [1]}}
    world.page.type("#request", json.dumps(body))
    world.page.type("#campaign", "1")
    world.click("Explain")
    world.sees("The request must not exclude it.")


def test_an_operator_makes_a_key_sees_it_once_and_revokes_it(world: World) -> None:
    world.open("/operations")
    world.sees("Up to date")
    world.click(f"Revoke all {world.tokens['all'].split('_')[1]}")
    world.sees("It is your own: you will be signed out.")
    world.click("Cancel")
    world.page.type("#keys #name", "Ada")
    world.click("Create key")
    world.sees("a key needs at least one scope")
    world.page.click("input[name='scope campaigns:read']")
    world.click("Create key")
    world.sees("It is shown this once")
    token = str(world.page.run("document.querySelector('#token').textContent"))
    world.open("/operations")
    assert token.split("_", 2)[2] not in world.text()
    world.click(f"Revoke Ada {token.split('_')[1]}")
    world.click("Yes")
    world.sees("The key Ada is revoked.")


def test_operations_name_what_was_ignored_and_what_could_not_be_applied(world: World) -> None:
    world.api("POST", "/v1/match", json={"attributes": {"mood.of_the_day": "good"}})
    bid = {"id": "1", "imp": [{"id": "1", "banner": {"w": 1, "h": 1}}]}
    bid["device"] = {"devicetype": "a phone"}  # type: ignore[assignment]
    headers = {"Content-Type": "application/json"}
    world.api("POST", "/v1/openrtb", content=json.dumps(bid), headers=headers)
    id = world.campaign(name="Broken", targeting="country = 'FR'")
    spoilt = "UPDATE campaigns SET tree = '[1, [\"no\"]]' WHERE id = {}"

    async def spoil(store: Store) -> None:
        async with store.database.write() as connection:
            await connection.exec_driver_sql(spoilt.format(id))

    on_store(world.database_url, spoil)
    world.api("POST", f"/v1/campaigns/{id}/activate")

    def shown() -> bool:
        world.open("/operations")
        text = world.text()
        return all(each in text for each in (f"campaign {id}", "mood.of_the_day", "devicetype"))

    eventually(shown, within=SAMPLE_SECONDS + DEADLINE_SECONDS)


def test_a_file_is_tried_imported_and_exported(world: World, tmp_path: Path) -> None:
    owner = world.api("GET", "/v1/advertisers")["items"][0]["id"]
    rows = [f"i{n},{owner},\"Imported\n{n}\",country = 'US'" for n in range(600)]
    rows[550] = f"i550,{owner},Broken,contry = 'US'"
    file = tmp_path / "campaigns.csv"
    file.write_text("\n".join(["external_id,advertiser_id,name,targeting", *rows, ""]))
    world.open("/transfer")
    world.page.choose_file("#file", file)
    world.click("Dry run")
    world.sees("599 would be created, 0 would be changed, 0 stay as they are, 1 would fail.")
    world.sees("there is no attribute contry")
    first = "document.querySelector('[data-results] tbody tr').innerText"
    assert world.page.run(first).split()[:3] == ["552", "i550", "failed"]
    assert world.api("GET", "/v1/campaigns?text=Imported")["items"] == []
    world.click("Import")
    world.sees("599 created, 0 changed, 0 stay as they are, 1 failed.")
    world.page.download_to(tmp_path)
    world.click("Download the failed lines")
    failed = tmp_path / "failed-campaigns.csv"
    lines = f"external_id,advertiser_id,name,targeting\n{rows[550]}\n"
    eventually(lambda: failed.exists() and failed.read_text() == lines)
    exported = world.page.run(
        f"fetch('{world.url}/transfer/export?text=Imported').then(r => r.text())"
    )
    assert exported.count("Imported") == 599


def test_a_file_that_is_not_in_utf_8_is_refused_before_it_is_sent(
    world: World, tmp_path: Path
) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("external_id,name\nü,Grün\n".encode("latin-1"))
    world.open("/transfer")
    world.page.choose_file("#file", file)
    world.click("Dry run")
    world.sees("This file is not in UTF-8.")


PAGES = ("/campaigns", "/campaigns/new", "/campaigns/1", "/campaigns/1/delivery", "/advertisers")
MORE = ("/why?campaign_id=1", "/operations", "/transfer")


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_axe_finds_nothing_serious_light_and_dark_wide_and_narrow(world: World) -> None:
    found = []
    for theme, width in (("light", 1280), ("dark", 400)):
        world.page.resize(width, 900)
        for path in (*PAGES, *MORE):
            world.page.run(f"localStorage.setItem('theme', '{theme}')")
            world.open(path)
            world.page.wait("!document.querySelector('.editor') || document.querySelector('.fine')")
            world.page.run(AXE.read_text() + "; 0")
            result = json.loads(world.page.run("axe.run().then(r => JSON.stringify(r))"))
            assert len(result["passes"]) > 10
            found += [
                (path, theme, each["id"], [node["html"][:120] for node in each["nodes"]][:2])
                for each in result["violations"]
                if each["impact"] in ("serious", "critical")
            ]
            wide = "document.documentElement.scrollWidth <= innerWidth + 1"
            assert world.page.run(wide), f"{path} is wider than the window"
    world.page.resize(1280, 900)
    world.page.run("localStorage.setItem('theme', 'light')")
    assert found == []
