"""API keys: made once, checked without the database, revoked for ever."""

import pytest

from campaigns.errors import InvalidFields, NotFound
from campaigns.keys import model
from campaigns.keys import service as key
from campaigns.log import audit
from campaigns.log import service as log
from campaigns.store import Store
from tests.campaigns.history import changes_of


async def test_a_token_opens_what_its_change_tells(store: Store) -> None:
    made = await key.create(
        store,
        "cli",
        {"name": "ads", "scopes": ["match"], "expires_at": "2999-01-01T00:00:00Z"},
    )
    [change] = await changes_of(store, "key")
    sent = change.content()
    assert sent
    parts = model.split(made.token)
    assert parts
    assert parts[0] == sent["prefix"] == made.key.prefix
    assert model.verify(parts[1], sent["secret_hash"])
    assert not model.verify(parts[1] + "x", sent["secret_hash"])
    assert (sent["scopes"], sent["expires_at"], sent["revoked"]) == (["match"], 32472144000, False)


async def test_the_secret_is_stored_nowhere(store: Store) -> None:
    made = await key.create(store, "cli", {"name": "ads", "scopes": ["match"]})
    parts = model.split(made.token)
    assert parts
    [entry] = (await audit.page(store)).items
    everything = [str(await key.every(store)), str(await changes_of(store, "key")), str(entry)]
    assert not any(parts[1] in text for text in everything)
    assert made.key.secret_hash not in str(entry)


async def test_two_keys_live_until_one_is_revoked(store: Store) -> None:
    old = await key.create(store, "cli", {"name": "ads", "scopes": ["match"]})
    new = await key.create(store, "cli", {"name": "ads", "scopes": ["match"]})
    assert await key.every(store) == [old.key, new.key]
    revoked = await key.revoke(store, "cli", old.key.id)
    assert revoked.revoked_at
    assert [change.content()["revoked"] for change in await changes_of(store, "key")] == [  # type: ignore[index]
        False,
        False,
        True,
    ]
    assert await key.revoke(store, "cli", old.key.id) == revoked
    assert (await log.read_head(store)).rev == 3
    assert await key.every(store) == [revoked, new.key]


async def test_limits_are_stored_and_logged(store: Store) -> None:
    fields = {"name": "ads", "scopes": ["match"], "rate": 500, "max_body": 65536}
    limited = await key.create(store, "cli", fields)
    unlimited = await key.create(store, "cli", {"name": "ads", "scopes": ["match"]})
    assert await key.every(store) == [limited.key, unlimited.key]
    sent = [change.content() or {} for change in await changes_of(store, "key")]
    assert [(each["rate"], each["max_body"]) for each in sent] == [(500, 65536), (None, None)]
    with pytest.raises(InvalidFields) as refused:
        await key.create(store, "cli", {**fields, "rate": 0, "max_body": 262145})
    assert {p.pointer for p in refused.value.problems} == {"/rate", "/max_body"}


async def test_refusals(store: Store) -> None:
    with pytest.raises(InvalidFields) as refused:
        await key.create(store, "cli", {"scopes": [], "expires_at": "2020-01-01T00:00:00Z"})
    assert {(p.pointer, p.code) for p in refused.value.problems} == {
        ("/name", "field.missing"),
        ("/scopes", "list.empty"),
        ("/expires_at", "moment.past"),
    }
    with pytest.raises(InvalidFields, match="one of"):
        await key.create(store, "cli", {"name": "x", "scopes": ["match", "everything"]})
    with pytest.raises(NotFound):
        await key.revoke(store, "cli", 1)


@pytest.mark.parametrize("token", ["", "copse", "copse_a", "copse_a_", "other_a_b", "copse__b"])
def test_what_is_no_token_is_not_split(token: str) -> None:
    assert model.split(token) is None


def test_a_secret_with_underscores_stays_whole() -> None:
    assert model.split(model.token_of("ab", "c_d_e")) == ("ab", "c_d_e")
