"""What campaign managers do in the console, as they click it, in a real browser."""

import json

from tests.app.answers import eventually
from tests.console.conftest import World


def test_a_wrong_key_is_refused_and_a_newcomer_makes_the_first_campaign(world: World) -> None:
    world.open("/campaigns")
    world.page.type("#key", "copse_none_none")
    world.click("Sign in")
    world.sees("Copse does not know this key")
    world.page.type("#key", world.tokens["all"])
    world.page.press("Enter")
    world.sees("No campaigns yet")
    world.click("Create an advertiser.")
    world.page.type("#domain", "not a domain")
    world.click("Create advertiser")
    world.sees("name is required")
    world.page.type("#name", "Shop")
    world.page.type("#domain", "shop.example")
    world.click("Create advertiser")
    world.sees("Now create a campaign for it")
    world.click("Campaigns")
    world.click("Create a campaign")
    world.page.type("#name", "Phones")
    world.page.type("#targeting", "contry in ('US', 'CA')")
    world.sees("there is no attribute contry – did you mean country?")
    assert world.page.run("document.querySelector('pre .error').textContent") == "contry"
    world.click("Create draft")
    world.sees("It was not saved.")
    world.page.type("#targeting", "country in ('US', 'CA') and device.type = 'phone'")
    world.sees("Valid: 2 predicates.")
    assert world.page.run("document.querySelectorAll('pre .attribute').length") == 2
    world.page.type("#bid", "1.2")
    world.page.type("#priority", "5")
    world.click("Create draft")
    world.sees("Phones is a draft now.")
    world.click("Activate")
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
    assert world.page.run("document.querySelector('#targeting').value").endswith("= 'ethernet'")
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
    world.click("Apply")
    world.page.wait("!document.querySelector('.verdict .warning')")
    text = world.page.run("document.querySelector('#targeting').value")
    assert text == "country = 'US' and device.os = 'ios'"


def test_every_field_is_reached_by_the_tab_key_in_the_order_of_the_page(world: World) -> None:
    world.open("/campaigns/new")
    world.page.run("document.activeElement.blur()")
    reached = []
    for _ in range(60):  # a date has seven
        world.page.press("Tab")
        reached.append(
            world.page.run(
                "(e => e.id || e.textContent.trim() || e.getAttribute('aria-label'))"
                "(document.activeElement)"
            )
        )
        if reached[-1] == "Create draft":
            break
    assert reached[0] == "Skip to the content"
    fields = ["targeting", "name", "advertiser_id", "priority", "bid", "categories", "external_id"]
    places = [reached.index(each) for each in ("Campaigns", "Operations", *fields)]
    assert places == sorted(places)
    assert reached[-1] == "Create draft"


def test_a_conflict_shows_both_versions_and_keeps_both_changes(world: World) -> None:
    id = world.campaign(name="Mine", targeting="country = 'US'")
    world.open(f"/campaigns/{id}")
    world.page.wait("document.querySelectorAll('.verdict p').length")
    patch = {"If-Match": "*", "Content-Type": "application/merge-patch+json"}
    body = json.dumps({"priority": 9, "targeting": "country = 'DE'"})
    world.api("PATCH", f"/v1/campaigns/{id}", content=body, headers=patch)
    world.page.type("#name", "Renamed")
    world.page.type("#targeting", "country = 'FR'")
    world.click("Save")
    world.sees("Somebody else was faster")
    world.sees("changed by both")
    assert "'DE'" in world.text()
    assert "'FR'" in world.text()
    world.click("Apply my changes to it")
    world.sees("Renamed is saved.")
    now = world.api("GET", f"/v1/campaigns/{id}")
    assert (now["name"], now["priority"], now["targeting"]) == ("Renamed", 9, "country = 'FR'")


def test_what_was_typed_is_there_again_when_the_session_has_ended(world: World) -> None:
    id = world.campaign(name="Interrupted", targeting="country = 'US'")
    world.open(f"/campaigns/{id}")
    world.sees("Valid: 1 predicate.")
    world.page.type("#name", "Kept")
    world.page.forget_cookies()
    world.click("Save")
    world.sees("Your session has ended")
    world.page.type("#key", world.tokens["all"])
    world.page.press("Enter")
    world.sees("What you had typed is here again.")
    assert world.api("GET", f"/v1/campaigns/{id}")["name"] == "Interrupted"
    world.click("Save")
    world.sees("Kept is saved.")
    assert world.api("GET", f"/v1/campaigns/{id}")["name"] == "Kept"


def test_a_campaign_is_duplicated_paused_archived_and_deleted(world: World) -> None:
    id = world.campaign(name="Short lived")
    world.api("POST", f"/v1/campaigns/{id}/activate")
    world.open(f"/campaigns/{id}")
    world.click("Pause")
    world.sees("Short lived is paused.")
    world.click("Duplicate")
    world.page.wait("document.querySelector('#name')?.value === 'Short lived (copy)'")
    world.click("Create draft")
    world.sees("Short lived (copy) is a draft now.")
    world.click("Delete")
    world.sees("This cannot be undone.")
    world.click("Cancel")
    world.click("Delete")
    world.click("Yes")
    world.sees("Short lived (copy) is deleted.")
    world.open(f"/campaigns/{id}")
    world.click("Archive")
    world.click("Yes")
    world.sees("Short lived is archived.")
    assert "Save" not in world.text()
    world.click("Delivery & history")
    world.sees("Archived by all")
    world.sees("Paused by all")


def test_an_advertiser_is_paused_and_its_campaigns_say_so(world: World) -> None:
    owner = world.api("POST", "/v1/advertisers", json={"name": "Harbour"})
    id = world.campaign(name="Ferries", advertiser_id=owner["id"])
    world.api("POST", f"/v1/campaigns/{id}/activate")
    world.open("/advertisers")
    world.click("Pause Harbour")
    world.sees("Harbour is paused.")
    world.open("/campaigns?text=Ferries")
    world.sees("Advertiser paused")
    world.open("/advertisers")
    world.api("POST", f"/v1/advertisers/{owner['id']}/resume")
    world.click("Resume Harbour")
    world.sees("Somebody has changed it meanwhile.")
    world.page.type("#text", "HARB")
    world.click("Search")
    world.page.wait("document.querySelectorAll('tbody tr').length === 1")
    world.click("New campaign of Harbour")
    world.page.wait(f"document.querySelector('#advertiser_id')?.value === '{owner['id']}'")


def test_the_list_is_searched_and_filtered(world: World) -> None:
    world.campaign(name="Needle", targeting="site.domain = 'hay.example'")
    world.open("/campaigns")
    world.page.type("#text", "HAY.example")
    world.page.press("Enter")
    world.page.wait("document.querySelectorAll('tbody tr').length === 1")
    world.sees("Needle")
    world.page.run("document.querySelector('#status').value = 'active'")
    world.click("Filter")
    world.sees("No campaign fits.")


def test_live_traffic_tells_why_a_campaign_does_not_deliver(world: World) -> None:
    id = world.campaign(name="Germans", targeting="country = 'DE' and age > 17")
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
    world.sees("Activated by all")
    shown = "[...document.querySelectorAll('.chart rect')].map(e => e.getAttribute('class'))"
    assert set(world.page.run(shown)) == {"hour", "reason-1"}
    assert world.page.run("document.querySelectorAll('.chart line.change').length") == 2
    world.open(f"/campaigns/{id}")
    world.page.type("#targeting", "country = '")
    world.page.press(" ", modifiers=2)
    world.page.wait("document.querySelector('.choices li code')?.textContent === 'US'")
    world.page.press("Escape")
    world.page.type("#targeting", "country = 'US'")
    world.sees("Valid: 1 predicate.")
    world.click("Try it")
    world.sees("gained, 0 lost")


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
