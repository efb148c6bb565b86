"""Lists stay right while rows come, change and go."""

import pytest

from campaigns.advertiser import service as advertiser
from campaigns.campaign import service as campaign
from campaigns.campaign.service import CampaignFilter
from campaigns.database.pagination import cursor_after, id_in
from campaigns.errors import BadCursor, InvalidFields
from campaigns.log import audit
from campaigns.store import Store
from tests.campaigns.conftest import Fields


async def test_no_row_is_missed_or_repeated_while_others_change(
    store: Store, fields: Fields
) -> None:
    made = [(await campaign.create(store, "ann", fields())).id for _ in range(10)]
    first = await campaign.page(store, limit=4)
    assert [item.id for item in first.items] == made[:4]
    await campaign.delete(store, "ann", made[1])  # behind us
    await campaign.delete(store, "ann", made[3])  # the row that the cursor names
    await campaign.delete(store, "ann", made[5])  # ahead of us
    await campaign.patch(store, "ann", made[0], {"name": "changed"}, None)
    new = (await campaign.create(store, "ann", fields())).id
    rest = []
    cursor = first.next_cursor
    while cursor:
        page = await campaign.page(store, limit=2, cursor=cursor)
        rest += [item.id for item in page.items]
        cursor = page.next_cursor
    assert rest == [id for id in made[4:] if id != made[5]] + [new]


async def test_filters(store: Store, fields: Fields) -> None:
    other = await advertiser.create(store, "ann", {"name": "Other"})
    a = await campaign.create(store, "ann", fields(name="Äpfel_1", external_id="EXT-1"))
    b = await campaign.create(store, "ann", fields(targeting="country = 'US'"))
    c = await campaign.create(store, "ann", fields(advertiser_id=other.id))
    await campaign.activate(store, "ann", b.id)

    async def ids(**filters: object) -> list[int]:
        found = await campaign.page(store, CampaignFilter(**filters))  # type: ignore[arg-type]
        return [item.id for item in found.items]

    assert await ids() == [a.id, b.id, c.id]
    assert await ids(status="active") == [b.id]
    assert await ids(advertiser_id=other.id) == [c.id]
    assert await ids(text="ext-1") == [a.id]
    assert await ids(text="COUNTRY = 'us") == [b.id]
    assert await ids(text="l_1") == [a.id]
    assert await ids(text="lX1") == []
    assert await ids(text="spring", status="draft", advertiser_id=other.id) == [c.id]


async def test_a_cursor_belongs_to_its_filters(store: Store, fields: Fields) -> None:
    for _ in range(3):
        await campaign.create(store, "ann", fields())
    cursor = (await campaign.page(store, limit=1)).next_cursor
    with pytest.raises(BadCursor):
        await campaign.page(store, CampaignFilter(status="draft"), cursor=cursor)


@pytest.mark.parametrize("cursor", ["", "x", "äö", "bnVsbA", "WzEsMl0", "W10", "!!!!"])
async def test_what_is_no_cursor_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(BadCursor):
        await campaign.page(store, cursor=cursor)


@pytest.mark.parametrize("limit", [0, 1001, -1])
async def test_limits_have_bounds(store: Store, limit: int) -> None:
    with pytest.raises(InvalidFields):
        await campaign.page(store, limit=limit)


@pytest.mark.parametrize("filters", [{"status": "lost"}, {"text": "a\0"}, {"advertiser_id": 2**70}])
async def test_a_filter_that_cannot_be_is_refused(store: Store, filters: dict[str, object]) -> None:
    with pytest.raises(InvalidFields):
        await campaign.page(store, CampaignFilter(**filters))  # type: ignore[arg-type]


def test_a_cursor_says_where_it_stands() -> None:
    assert id_in(cursor_after(2**62, ("f",)), ("f",)) == 2**62


async def test_the_audit_log_is_read_from_its_end(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields())
    await campaign.activate(store, "bob", made.id)
    first = await audit.page(store, limit=1)
    assert [entry.action for entry in first.items] == ["activate"]
    await campaign.pause(store, "bob", made.id)
    rest = await audit.page(store, limit=5, cursor=first.next_cursor)
    assert [entry.action for entry in rest.items] == ["create", "create"]
    assert rest.next_cursor is None
    by_bob = await audit.page(store, audit.AuditFilter(actor="bob", object_id=str(made.id)))
    assert [entry.action for entry in by_bob.items] == ["pause", "activate"]
