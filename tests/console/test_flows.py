"""What people do in the console, as they click it, in a real browser."""

import json
import time
from pathlib import Path

import axe_core_python
import pytest

from campaigns.statistics import service
from campaigns.store import Store
from tests.app.answers import eventually
from tests.app.conftest import on_store
from tests.campaigns.statistics.traffic import request, statistics
from tests.console.conftest import World

AXE = Path(axe_core_python.__path__[0]) / "axe.min.js"


def click(world: World, text: str) -> None:
    world.page.click_text(text)


def campaign(world: World, **fields: object) -> int:
    """A campaign of the first advertiser, by the API."""
    listed = world.api("GET", "/v1/advertisers")["items"]
    owner = listed[0] if listed else world.api("POST", "/v1/advertisers", json={"name": "Shop"})
    sent = {"advertiser_id": owner["id"], "name": "Other"} | fields
    id: int = world.api("POST", "/v1/campaigns", json=sent)["id"]
    return id


def test_a_wrong_key_is_refused_and_a_newcomer_makes_the_first_campaign(world: World) -> None:
    world.open("/campaigns")
    world.page.type("#key", "copse_none_none")
    click(world, "Sign in")
    world.sees("Copse does not know this key")
    world.page.type("#key", world.tokens["all"])
    world.page.press("Enter")
    world.sees("No campaigns yet")
    click(world, "Create an advertiser.")
    world.page.type("#domain", "not a domain")
    click(world, "Create advertiser")
    world.sees("name is required")
    world.page.type("#name", "Shop")
    world.page.type("#domain", "shop.example")
    click(world, "Create advertiser")
    world.sees("Now create a campaign for it")
    click(world, "Campaigns")
    click(world, "Create a campaign")
    world.page.type("#name", "Phones")
    world.page.type("#targeting", "contry in ('US', 'CA')")
    world.sees("there is no attribute contry – did you mean country?")
    assert world.page.run("document.querySelector('pre .error').textContent") == "contry"
    click(world, "Create draft")
    world.sees("It was not saved.")
    world.page.type("#targeting", "country in ('US', 'CA') and device.type = 'phone'")
    world.sees("Valid: 2 predicates.")
    assert world.page.run("document.querySelectorAll('pre .attribute').length") == 2
    world.page.type("#bid", "1.2")
    world.page.type("#priority", "5")
    click(world, "Create draft")
    world.sees("Phones is a draft now.")
    click(world, "Activate")
    world.sees("Phones is active.")
    world.sees("No traffic seen")
    (made,) = world.api("GET", "/v1/campaigns")["items"]
    assert (made["status"], made["bid_micros"], made["priority"]) == ("active", 1_200_000, 5)


def test_words_are_completed_by_the_keyboard(world: World) -> None:
    world.open("/campaigns/new")
    world.page.wait("document.querySelectorAll('.verdict p').length")
    world.page.type("#targeting", "device.ty")
    world.page.wait("!document.querySelector('.choices').hidden")
    world.page.press("Enter")
    assert world.page.run("document.querySelector('#targeting').value") == "device.type "
    world.page.press(" ", modifiers=2)
    world.page.wait("document.querySelectorAll('.choices li').length > 3")
    world.page.press("ArrowDown")
    chosen = "document.querySelector('[aria-selected=true]').id"
    assert world.page.run(chosen) == "choice-1"
    world.page.press("Escape")
    world.page.wait("document.querySelector('.choices').hidden")


def test_values_are_completed_from_the_vocabulary_and_operators_by_type(world: World) -> None:
    world.open("/campaigns/new")
    world.page.wait("document.querySelectorAll('.verdict p').length")
    first = "document.querySelector('.choices li code')?.textContent"
    world.page.type("#targeting", "device.connection = 'eth")
    world.page.wait(f"{first} === 'ethernet'")
    world.page.press("Enter")
    assert world.page.run("document.querySelector('#targeting').value").endswith("= 'ethernet")
    world.page.type("#targeting", "geo.point wi")
    world.page.wait(f"{first} === 'within'")
    world.page.press("Escape")
    world.page.type("#targeting", "age in")
    world.page.wait(f"{first} === 'not in'")
    assert "in network" not in world.page.run("document.querySelector('.choices').innerText")
    world.page.press("Escape")


def test_a_warning_shows_its_words_and_is_corrected_by_a_click(world: World) -> None:
    world.open("/campaigns/new")
    world.page.wait("document.querySelectorAll('.verdict p').length")
    world.page.type("#targeting", "country = 'USA' and device.os = 'ios'")
    world.sees("country does not have the value 'USA' – write 'US'")
    world.sees("Cost: requests with")
    assert world.page.run("document.querySelector('pre .doubtful').textContent") == "'USA'"
    click(world, "Apply")
    world.page.wait("!document.querySelector('.verdict .warning')")
    text = world.page.run("document.querySelector('#targeting').value")
    assert text == "country = 'US' and device.os = 'ios'"


def test_a_conflict_shows_both_versions_and_keeps_both_changes(world: World) -> None:
    id = campaign(world, name="Mine", targeting="country = 'US'")
    world.open(f"/campaigns/{id}")
    world.page.wait("document.querySelectorAll('.verdict p').length")
    patch = {"If-Match": "*", "Content-Type": "application/merge-patch+json"}
    body = json.dumps({"priority": 9, "targeting": "country = 'DE'"})
    world.api("PATCH", f"/v1/campaigns/{id}", content=body, headers=patch)
    world.page.type("#name", "Renamed")
    world.page.type("#targeting", "country = 'FR'")
    click(world, "Save")
    world.sees("Somebody else was faster")
    world.sees("changed by both")
    assert "'DE'" in world.text()
    assert "'FR'" in world.text()
    click(world, "Apply my changes to it")
    world.sees("Renamed is saved.")
    now = world.api("GET", f"/v1/campaigns/{id}")
    assert (now["name"], now["priority"], now["targeting"]) == ("Renamed", 9, "country = 'FR'")


def test_a_campaign_is_duplicated_paused_archived_and_deleted(world: World) -> None:
    id = campaign(world, name="Short lived")
    world.api("POST", f"/v1/campaigns/{id}/activate")
    world.open(f"/campaigns/{id}")
    click(world, "Pause")
    world.sees("Short lived is paused.")
    click(world, "Duplicate")
    world.page.wait("document.querySelector('#name')?.value === 'Short lived (copy)'")
    click(world, "Create draft")
    world.sees("Short lived (copy) is a draft now.")
    click(world, "Delete")
    world.sees("This cannot be undone.")
    click(world, "Cancel")
    click(world, "Delete")
    click(world, "Yes")
    world.sees("Short lived (copy) is deleted.")
    world.open(f"/campaigns/{id}")
    click(world, "Archive")
    click(world, "Yes")
    world.sees("Short lived is archived.")
    assert "Save" not in world.text()
    click(world, "Delivery & history")
    world.sees("archive by all")
    world.sees("pause by all")


def test_the_list_is_searched_and_filtered(world: World) -> None:
    campaign(world, name="Needle", targeting="site.domain = 'hay.example'")
    world.open("/campaigns")
    world.page.type("#text", "HAY.example")
    world.page.press("Enter")
    world.page.wait("document.querySelectorAll('tbody tr').length === 1")
    world.sees("Needle")
    world.page.run("document.querySelector('#status').value = 'active'")
    click(world, "Filter")
    world.sees("No campaign fits.")


def test_live_traffic_tells_why_a_campaign_does_not_deliver(world: World) -> None:
    id = campaign(world, name="Germans", targeting="country = 'DE' and age > 17")
    rev = world.api("POST", f"/v1/campaigns/{id}/activate")["rev"]
    asked = {"attributes": {"country": "US", "age": 30}, "min_rev": rev}

    def explained() -> bool:
        world.api("POST", "/v1/match", json=asked)
        told = world.api("GET", f"/v1/campaigns/{id}/delivery")
        return bool(told["explained"] >= 2)

    eventually(explained)
    world.open("/campaigns")
    world.sees("Nothing matched")
    world.open(f"/campaigns/{id}/delivery")
    world.sees("country = 'DE'")
    world.sees("100 %")
    world.open(f"/campaigns/{id}")
    world.page.type("#targeting", "country = '")
    world.page.press(" ", modifiers=2)
    world.page.wait("document.querySelector('.choices li code')?.textContent === 'US'")
    world.page.press("Escape")
    world.page.type("#targeting", "country = 'US'")
    world.sees("Valid: 1 predicate.")
    click(world, "Try it")
    world.sees("gained, 0 lost")


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
        click(world, f"Activate statistics {id}")
        click(world, "Yes")
        world.sees(f"Statistics {id} are active.")
    click(world, "Roll back")
    click(world, "Yes")
    world.sees(f"Statistics {first} are active again.")
    world.open("/campaigns/new")
    world.page.type("#targeting", "country = 'US' and age = 30")
    world.sees("requests a day, about 40 % of all")
    world.page.type("#targeting", "country = 'DE' and age < 60 and age > 49")
    world.sees("requests a day, about 60 % of all")
    world.page.type("#targeting", "country = 'US' and age > 40")
    world.sees("without country = 'US' 600 a day")


def test_why_shows_the_ranking_the_tree_and_the_smallest_change(world: World) -> None:
    id = campaign(world, name="Readers", targeting="country = 'US' and age between 18 and 34")
    world.api("POST", f"/v1/campaigns/{id}/activate")
    world.open(f"/why?campaign_id={id}")
    world.page.type("#request", '{"country": "US", "age": 50')
    click(world, "Explain")
    world.sees("This is not JSON")
    world.page.type("#request", '{"country": "US", "age": 50, "device.type": "phone"}')
    click(world, "Explain")
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
    click(world, "Explain")
    world.sees("must be true: country is 'DE'")
    world.page.type("#request", '{"country": 7}')
    click(world, "Explain")
    world.sees("expected a string")


def test_an_operator_makes_a_key_sees_it_once_and_revokes_it(world: World) -> None:
    world.open("/operations")
    world.sees("Up to date")
    world.page.type("#keys #name", "Ada")
    click(world, "Create key")
    world.sees("a key needs at least one scope")
    world.page.click("input[name='scope campaigns:read']")
    click(world, "Create key")
    world.sees("It is shown this once")
    token = str(world.page.run("document.querySelector('#token').textContent"))
    world.open("/operations")
    assert token.split("_")[2] not in world.text()
    click(world, f"Revoke Ada {token.split('_')[1]}")
    click(world, "Yes")
    world.sees("The key Ada is revoked.")


def test_operations_name_what_was_ignored_and_what_could_not_be_applied(world: World) -> None:
    world.api("POST", "/v1/match", json={"attributes": {"mood.of_the_day": "good"}})
    bid = {"id": "1", "imp": [{"id": "1", "banner": {"w": 1, "h": 1}}]}
    bid["device"] = {"devicetype": "a phone"}  # type: ignore[assignment]
    headers = {"Content-Type": "application/json"}
    world.api("POST", "/v1/openrtb", content=json.dumps(bid), headers=headers)
    id = campaign(world, name="Broken", targeting="country = 'FR'")
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

    eventually(shown)


def test_a_file_is_tried_imported_and_exported(world: World, tmp_path: Path) -> None:
    owner = world.api("GET", "/v1/advertisers")["items"][0]["id"]
    file = tmp_path / "campaigns.csv"
    file.write_text(
        "external_id,advertiser_id,name,targeting\n"
        f"i1,{owner},Imported,country = 'US'\n"
        f"i2,{owner},Broken,contry = 'US'\n"
    )
    world.open("/transfer")
    world.page.choose_file("#file", file)
    click(world, "Dry run")
    world.sees("1 would be created, 0 would be changed, 0 stay as they are, 1 would fail.")
    world.sees("there is no attribute contry")
    assert world.api("GET", "/v1/campaigns?text=Imported")["items"] == []
    click(world, "Import")
    world.sees("1 created, 0 changed, 0 stay as they are, 1 failed.")
    world.sees("Download the failed lines")
    exported = world.page.run(
        f"fetch('{world.url}/transfer/export?text=Imported').then(r => r.text())"
    )
    assert "Imported" in exported


def test_a_key_that_may_only_read_cannot_write_and_one_without_scopes_is_told(
    world: World,
) -> None:
    world.sign_in("campaigns:read")
    world.open("/campaigns")
    world.sees("Phones")
    assert "New campaign" not in world.text()
    world.open("/operations")
    assert "New key" not in world.text()
    world.sign_in("match")
    world.open("/campaigns")
    world.sees("Not allowed")
    world.sees("campaigns:read")
    world.sign_in()


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
            time.sleep(0.3)
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
