"""What `/v1/openrtb` does with a bid request, and why: for one campaign, or for all of them."""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from app.api import eligibility
from app.errors.http_errors import Invalid
from app.errors.problems import item
from app.match.built_ins import built_ins
from app.openrtb import Answer, BidRequest, MalformedBidRequest, Question, ask, parse
from app.openrtb import answer as answer_to
from app.openrtb.explanation import OUTRANKED, Candidate, Verdict, explain, funnel, nearest
from app.operators.runtime import EXPLAIN_SECONDS, repeated
from app.state import State
from campaigns.advertiser import service as advertisers
from campaigns.campaign import service as campaigns
from campaigns.campaign.categories import labels_of
from campaigns.campaign.explanation import explain_tree
from campaigns.feed.view import View
from index.score import score_of

MOST_SAMPLED, FEWEST_SAMPLED = 2000, 100
"""Campaigns of a funnel: with more formats fewer, since each is explained for each of them."""

MOST_RANKED = 1000
"""How far down the rank of a campaign is counted."""

MOST_ABOVE = 10

BRIEF = 0.02
"""The longest answer that an explanation computes in the event loop, in seconds."""

PAUSE_EVERY, PAUSE = 100, 0.0002
"""The thread that reads trees pauses after every hundred, so that the event loop has its turn."""


class BidExplanation:
    """A bid request, what it became, and what answers questions about it."""

    def __init__(self, document: Mapping[str, Any], view: View, state: State) -> None:
        """Raises `Invalid` if the document is not a bid request."""
        self._view, self._store, self._operators = view, state["store"], state["operators"]
        settings = state["match_settings"]
        self._limit, self._now = settings.openrtb_limit, time.time()
        self._builtins = built_ins(self._now)
        self._request = _parsed(document, settings.openrtb_purposes)
        rates, table = settings.rates, settings.openrtb_table
        self._question: Question = ask(self._request, view, self._now, rates, table)

    @property
    def became(self) -> dict[str, Any]:
        """The attributes by imp and format, and what is missing and why."""
        return {
            "events": [
                {"imp_id": imp.id, "format": each.format, "attributes": each.event}
                for imp in self._question.imps
                for each in imp.formats
            ],
            "withheld_by": list(self._request.privacy.reasons),
            "ignored": self._request.ignored,
            "tolerated": self._request.tolerated,
        }

    async def of_campaign(
        self, id: int, excluded: Sequence[int], excluded_advertisers: Sequence[int]
    ) -> dict[str, Any]:
        """Each imp, format and offer: matched, or every reason."""
        store = self._store
        campaign = await campaigns.get(store, id)
        owner = await advertisers.get(store, campaign.advertiser_id)
        reasons = eligibility.reasons(campaign, owner, self._now)
        if id in excluded or owner.id in excluded_advertisers:
            reasons.append(eligibility.EXCLUDED)
        candidate = Candidate(
            campaign.id,
            campaign.tree,
            score_of(campaign.priority, campaign.bid_micros),
            owner.id,
            labels_of(campaign.categories),
            owner.seat,
            owner.domain,
            tuple(reasons),
        )
        common = {**self._builtins, **self._question.builtins}
        events = [{**each.event, **common} for imp in self._question.imps for each in imp.formats]
        asking = await self._operators.all_calls(campaign.tree, events, self._view)
        candidate = replace(candidate, results=dict(asking.results))
        verdicts = await self._analysed(len(campaign.tree), explain, candidate)
        ranks = self._ranks(candidate, verdicts, await self._answer(MOST_RANKED))
        best = nearest(verdicts)
        attributes = {**self._event(best), **common}
        tree, schema = campaign.tree, (await store.catalogue()).schema
        shown = await store.analyse(
            len(tree), explain_tree, tree, attributes, schema, store.limits, candidate.results
        )
        return {
            "campaign_id": campaign.id,
            "matched": not best.reasons,
            "reasons": best.to_dict()["reasons"],
            "tree": orjson.Fragment(shown.tree),
            "in_the_way": orjson.Fragment(shown.in_the_way),
            "offers": [verdict.to_dict() for verdict in verdicts],
            "ranks": ranks,
            "calls": asking.answered(tree, attributes) or None,
        }

    def _event(self, verdict: Verdict) -> Mapping[str, Any]:
        """The attributes of the format that a verdict is about."""
        imp = next(imp for imp in self._question.imps if imp.id == verdict.imp_id)
        return next((each.event for each in imp.formats if each.format == verdict.format), {})

    def _ranks(
        self, candidate: Candidate, verdicts: Sequence[Verdict], answered: Answer
    ) -> list[dict[str, Any]]:
        """The rank in each imp that it matches. Where it is too low for an answer, that becomes a
        reason."""
        ranks = []
        mine = (-candidate.score, candidate.id)
        by_imp = defaultdict(list)
        for verdict in verdicts:
            if not verdict.reasons:
                by_imp[verdict.imp_id].append(verdict)
        for imp, of in zip(self._question.imps, answered.imps, strict=True):
            matched = by_imp.get(imp.id)
            if matched is None:
                continue
            above = [match.id for match in of.matches if match.rank < mine]
            rank, shown = len(above) + 1, above[:MOST_ABOVE]
            is_out = rank > self._limit
            ranks.append({"imp_id": imp.id, "rank": rank, "outranked": is_out, "above": shown})
            if is_out:
                best = ", ".join(map(str, shown))
                detail = f"its rank is {rank}, an answer has {self._limit}; above it are {best}"
                for verdict in matched:
                    verdict.reasons.append((OUTRANKED, detail))
        return ranks

    async def funnel(self) -> dict[str, Any]:
        """What keeps the campaigns in the index out, or a sample of them (`sampled`)."""
        formats = sum(len(imp.formats) for imp in self._question.imps)
        most = max(FEWEST_SAMPLED, MOST_SAMPLED // max(1, formats))
        ids = self._view.index.sample(most)
        terms = await campaigns.terms_of(self._store, ids)
        candidates = await asyncio.to_thread(self._candidates, terms)
        answered = await self._answer(self._limit)
        matched = {match.id for imp in answered.imps for match in imp.matches}
        size = sum(len(each.tree) for each in candidates)
        found = await self._analysed(size, funnel, candidates, matched)
        return {**found, "sampled": len(ids) < len(self._view.index)}

    def _candidates(
        self, terms: Mapping[int, tuple[int, int, datetime | None, datetime | None]]
    ) -> list[Candidate]:
        view = self._view
        index, muted = view.index, view.index.muted()
        moment = datetime.fromtimestamp(self._now, UTC)
        found = []
        for place, (id, (priority, bid, start, end)) in enumerate(terms.items()):
            if place % PAUSE_EVERY == 0:
                time.sleep(PAUSE)
            tree, (group, _) = index.tree_json(id), index.origin(id)
            if tree is None:  # it may have been removed
                continue
            reasons = [eligibility.PAUSED] if group in muted else []
            reasons += eligibility.flight(start, end, moment)
            seat, domain = view.seats.get(group), view.domains.get(group)
            score, labels = score_of(priority, bid), index.labels(id)
            found.append(Candidate(id, tree, score, group, labels, seat, domain, tuple(reasons)))
        return found

    async def _answer(self, limit: int) -> Answer:
        arguments = (self._question, self._view, self._now, self._builtins, limit)
        if not self._view.operators:
            return await asyncio.to_thread(answer_to, *arguments)
        asking = self._operators.asking(self._view, EXPLAIN_SECONDS)
        # In the event loop, where operators live; so it must be brief.
        return await repeated(
            asking,
            lambda: answer_to(*arguments, time.perf_counter() + BRIEF, asking.ask, asking.results),
        )

    async def _analysed(self, size: int, function: Any, *arguments: Any) -> Any:
        """The result of a function of `explanation.py`; `size` is that of the trees."""
        formats = sum(len(imp.formats) for imp in self._question.imps)
        store, privacy = self._store, self._request.privacy
        schema = (await store.catalogue()).schema
        common = (self._question, privacy, self._builtins, schema, store.limits)
        return await store.analyse(size * max(1, formats), function, *arguments, *common)


def _parsed(document: Mapping[str, Any], purposes: frozenset[int]) -> BidRequest:
    try:
        # Not orjson: it refuses half a surrogate pair, which `parse` understands.
        return parse(json.dumps(document).encode(), required_purposes=purposes)
    except MalformedBidRequest as error:
        wrong = item(f"/bid_request{error.pointer}", error.code, error.detail)
        raise Invalid("This is not an OpenRTB bid request.", wrong) from None
