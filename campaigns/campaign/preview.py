"""A dry run of creating or changing a campaign. Nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.advertiser import repository as advertiser
from campaigns.campaign import repository as rows
from campaigns.campaign.analysis import Understanding, understand
from campaigns.campaign.comparison import compare
from campaigns.campaign.model import Campaign, check_window, flight_warnings, new_campaign
from campaigns.campaign.service import get, no_advertiser
from campaigns.campaign.statuses import ARCHIVED, DRAFT
from campaigns.campaign.targeting import problem_of
from campaigns.errors import FieldProblem, Final, InvalidFields
from campaigns.record import check_changes, check_new
from campaigns.store import Store
from index import ExpressionError
from index.language import ExpressionWarning

SHOWN = 10
"""How many campaigns with the same targeting are named."""

UNSAVED = ("id", "version", "rev", "created_at", "updated_at")
"""The fields that a campaign gets when it is saved."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The campaign as it would be (a new one without the `UNSAVED` fields), the fields that change,
    the analysis of its targeting, and the tree of its present targeting, if it has one."""

    campaign: dict[str, Any]
    changes: tuple[str, ...]
    understanding: Understanding
    same_targeting: tuple[int, ...]
    flight: tuple[ExpressionWarning, ...]
    tree_before: str | None = None

    @property
    def warnings(self) -> tuple[ExpressionWarning, ...]:
        """Valid input that is probably a mistake."""
        found = (*self.understanding.targeting.warnings, *self.flight)
        if not self.same_targeting:
            return found
        others = ", ".join(str(id) for id in self.same_targeting)
        same = ExpressionWarning("same_targeting", f"same targeting as campaign {others}")
        return (*found, same)


async def preview_new(store: Store, fields: Mapping[str, Any]) -> Preview:
    """Preview a new campaign with these fields."""
    values, problems = check_new(Campaign, fields)
    problems += check_window(values["starts_at"], values["ends_at"])
    understood = await _understand(store, values.get("targeting"), problems)
    await _check_advertiser(store, values["advertiser_id"])
    campaign = new_campaign(values, DRAFT, understood.targeting, 0, store.now())
    shown = campaign.to_dict()
    for name in UNSAVED:
        shown[name] = None
    same = await _same_targeting(store, campaign, None)
    flight = tuple(flight_warnings(campaign, store.now()))
    return Preview(shown, tuple(fields), understood, same, flight)


async def preview_change(store: Store, id: int, fields: Mapping[str, Any]) -> Preview:
    """Preview a change of these fields of a campaign."""
    values, problems = check_changes(Campaign, fields)
    before = await get(store, id)
    understood = await _understand(store, values.get("targeting", before.targeting), problems)
    after = before.changed(values, understood.targeting)
    old, new = before.to_dict(), after.to_dict()
    changes = tuple(name for name in new if new[name] != old[name])
    if changes and before.status == ARCHIVED:
        raise Final(id)
    if window := check_window(after.starts_at, after.ends_at):
        raise InvalidFields(*window)
    if after.advertiser_id != before.advertiser_id:
        await _check_advertiser(store, after.advertiser_id)
    same = await _same_targeting(store, after, id)
    flight = tuple(flight_warnings(after, store.now()))
    return Preview(new, changes, understood, same, flight, before.tree)


async def compare_on(
    store: Store, preview: Preview, requests: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the preview would gain and lose of some requests."""
    after, schema = preview.understanding.targeting.tree, (await store.catalogue()).schema
    size = len(requests) * max(len(after), len(preview.tree_before or ""))
    arguments = (preview.tree_before, after, requests, schema, store.limits)
    return await store.analyse(size, compare, *arguments)


async def _understand(
    store: Store, text: object, problems: Sequence[FieldProblem]
) -> Understanding:
    if not isinstance(text, str):
        raise InvalidFields(*problems)
    catalogue = await store.catalogue()
    try:
        understood = await store.analyse(
            len(text),
            understand,
            text,
            catalogue.schema,
            store.limits,
            await store.knowledge(catalogue),
        )
    except ExpressionError as error:
        raise InvalidFields(*problems, problem_of(error)) from None
    if problems:
        raise InvalidFields(*problems)
    return understood


async def _check_advertiser(store: Store, id: int) -> None:
    async with store.database.read() as connection:
        if await advertiser.get(connection, id) is None:
            raise InvalidFields(no_advertiser(id))


async def _same_targeting(store: Store, campaign: Campaign, but: int | None) -> tuple[int, ...]:
    async with store.database.read() as connection:
        found = await rows.with_fingerprint(connection, campaign.fingerprint, but, SHOWN)
    return tuple(found)
