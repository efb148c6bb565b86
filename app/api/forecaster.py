"""Forecasts inside the service, from the samples of the last days, which it caches.

One forecast runs at a time, in a thread that regularly yields to the event loop: ad servers come
first.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from app.errors.http_errors import InvalidExpression, NothingToForecastFrom
from campaigns.campaign.networks import check_networks
from campaigns.catalogue.knowledge import Knowledge
from campaigns.statistics import service
from campaigns.statistics.forecast import forecast
from campaigns.statistics.history import History, load_history
from campaigns.statistics.sample import Sampled
from campaigns.store import Store
from index import ExpressionError, Limits, Schema
from index.language import parse_written

NAP = 0.0005


@dataclass(frozen=True, slots=True)
class Known:
    """A history with its sampled requests."""

    history: History
    sample: list[Sampled]


class Forecaster:
    """Makes forecasts from the active statistics and the days before, and caches what it used."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: Known | None = None
        self._turn = asyncio.Lock()

    async def forecast(self, targeting: str) -> dict[str, Any]:
        """The forecast for a targeting, as clients see it."""
        schema = (await self._store.catalogue()).schema
        limits = self._store.limits
        async with self._turn:
            known = await self._active()
            return await asyncio.to_thread(_forecast, targeting, schema, limits, known)

    async def _active(self) -> Known:
        active = await service.active(self._store)
        if active is None:
            raise NothingToForecastFrom
        known = self._known
        if known is None or known.history.versions[0].checksum != active.checksum:
            history = await load_history(self._store)
            if history is None:
                raise NothingToForecastFrom
            known = Known(history, await asyncio.to_thread(history.sample))
            self._known = known
        return known


def _forecast(targeting: str, schema: Schema, limits: Limits, known: Known) -> dict[str, Any]:
    try:
        tree, written = parse_written(targeting, schema, limits)
        check_networks(targeting, written, Knowledge())
        found = forecast(
            tree, schema, known.sample, known.history.document, limits, lambda: time.sleep(NAP)
        )
    except ExpressionError as error:
        raise InvalidExpression("/targeting", error) from error
    active = known.history.versions[0]
    version = {"id": active.id, "checksum": active.checksum}
    return {"targeting": targeting, "statistics": version, **found.to_dict()}
