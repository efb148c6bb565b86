"""`/v1/forecast`: how many requests a day would a targeting match?"""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.api.campaign_errors import wrong_targeting
from app.api.statistics import Share, Window
from app.errors.http_errors import NothingToForecastFrom
from app.middleware.scopes import Reader
from app.openapi.responses import answers
from app.state import CurrentState
from campaigns.errors import SampleGone
from campaigns.statistics.forecast import MEANING

router = APIRouter(prefix="/v1/forecast", tags=["statistics"])


class ForecastIn(BaseModel):
    """What to forecast."""

    model_config = ConfigDict(extra="forbid")

    targeting: str = Field(description="an expression over the catalogue, as a campaign has it")


class Bounds(BaseModel):
    """95 of 100 future days should be within these bounds."""

    low: int = Field(ge=0)
    high: int = Field(ge=0)


class Without(BaseModel):
    """The forecast without one predicate."""

    predicate: str
    attribute: str
    matched_requests_per_day: int
    change: float | None = Field(description="relative; null if nothing matches with it")
    words: str


class UsedVersion(BaseModel):
    """The statistics that the forecast was made from."""

    id: int
    checksum: str


class Forecast(BaseModel):
    """How many requests a day the targeting would match."""

    targeting: str
    statistics: UsedVersion
    matched_requests_per_day: Bounds
    insufficient_data: bool = Field(
        description="fewer than 30 sampled requests matched (with none, `high` is an upper bound), "
        "or the targeting has attributes that are not logged"
    )
    not_logged: list[str] = Field(
        default=[], description="attributes of the targeting that are never logged, for privacy"
    )
    hits: int = Field(description="sampled requests that matched")
    sampled_requests: int = Field(description="sampled requests that were tried")
    unreadable_requests: int = Field(description="those that do not fit the current catalogue")
    sample_rate: Share = Field(description="the share of the requests that is in the sample")
    requests_per_day: int = Field(description="all requests, averaged over the window")
    day_to_day_spread: float = Field(description="relative spread between days; in the bounds")
    window: Window
    without: list[Without] = Field(description="without each predicate in turn, for the first 50")
    nearest_miss: Without | None = Field(
        description="the predicate whose removal would add the most requests; null: none would"
    )
    meaning: str


_NEAREST: dict[str, Any] = {
    "predicate": "age between 18 and 34",
    "attribute": "age",
    "matched_requests_per_day": 91_840,
    "change": 1.2403,
    "words": "without age +124%",
}
EXAMPLE: dict[str, Any] = {
    "targeting": "country = 'US' and age between 18 and 34",
    "statistics": {
        "id": 3,
        "checksum": "9f2b5c1e7a604d38c1f0a6b2e4d7985a3c6e1b0f8d2a4c5e7b9f1a3d5c7e9b1d",
    },
    "matched_requests_per_day": {"low": 27_562, "high": 60_978},
    "insufficient_data": False,
    "not_logged": [],
    "hits": 2050,
    "sampled_requests": 20_000,
    "unreadable_requests": 0,
    "sample_rate": 0.05,
    "requests_per_day": 400_000,
    "day_to_day_spread": 0.1,
    "window": {
        "from": "2026-11-15T00:00:00Z",
        "to": "2026-11-16T00:00:00Z",
        "days": ["2026-11-15"],
    },
    "without": [
        {
            "predicate": "country = 'US'",
            "attribute": "country",
            "matched_requests_per_day": 84_300,
            "change": 1.0563,
            "words": "without country +106%",
        },
        _NEAREST,
    ],
    "nearest_miss": _NEAREST,
    "meaning": MEANING,
}
ASKED: dict[str, Example] = {
    "young": {"summary": "Young readers", "value": {"targeting": EXAMPLE["targeting"]}}
}


@router.post(
    "",
    summary="Forecast the requests that a targeting would match",
    response_model=Forecast,
    responses=answers(
        EXAMPLE,
        scope="campaigns:read",
        body=True,
        errors={
            "wrong_targeting": wrong_targeting(),
            "no_statistics": NothingToForecastFrom(),
            "no_sample": SampleGone(3),
        },
    ),
)
async def forecast_targeting(
    _: Reader, state: CurrentState, sent: Annotated[ForecastIn, Body(openapi_examples=ASKED)]
) -> Response:
    """Matches the sampled requests of the last seven days of statistics. The bounds include the
    sampling error and the spread between days. Matched, not won: how many of them a campaign gets
    depends on its competitors."""
    found = await state["forecaster"].forecast(sent.targeting)
    return responses.json(found)
