"""The restrictions of a bid request, in the terms of the index.

    bidfloor, bidfloorcur      the floor of an offer, in micros of a US dollar
    badv, bapp, bseat          advertisers to exclude
    bcat, cattax               labels to exclude (`campaigns/campaign/categories.py`)
    acat                       the only labels to include
    cur                        the currencies of a bid

A floor that is not a number is not ignored: no campaign can match. `offers.py` has what differs
between deals.
"""

from collections.abc import Mapping
from math import ceil, isfinite
from typing import Any

from app.openrtb.domains import app, registered
from app.openrtb.list_readers import listed_texts
from app.openrtb.readers import Context
from campaigns.campaign.categories import CONTENT_1, category
from index.score import MAX_BID_MICROS

USD = "USD"
Rates = Mapping[str, float]
"""US dollars for one unit of a currency."""


class NoBid(Exception):
    """No campaign can match an imp; `reason` is the label of its metric."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def floor_micros(document: Mapping[str, Any], rates: Rates, context: Context, path: str) -> int:
    """The floor of an imp or a deal, rounded up; `NoBid` if no campaign can meet it."""
    sent = document.get("bidfloor")
    if sent is None:
        return 0
    floor = _number(sent)
    if type(sent) is str:
        context.tolerate(path)
    if floor <= 0:
        return 0
    rate = _rate(document.get("bidfloorcur") or USD, rates)
    if rate is None:
        raise NoBid("currency")
    # Less than a thousandth of a micro is a rounding error of binary fractions.
    micros = floor * rate * 1e6
    if not micros <= MAX_BID_MICROS:
        raise NoBid("floor")
    return ceil(round(micros, 3))


def bid_currency(allowed: object, rates: Rates, context: Context) -> tuple[str, float]:
    """The first currency of `cur` that is USD or has a rate, and its rate; `NoBid` if none is."""
    currencies = texts(allowed, "cur", context)
    for currency in currencies:
        if (rate := _rate(currency, rates)) is not None:
            return currency.strip().upper(), rate
    if currencies:
        raise NoBid("currency")
    return USD, 1.0


def _number(value: object) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise NoBid("floor") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise NoBid("floor")
    return value


def _rate(currency: object, rates: Rates) -> float | None:
    if not isinstance(currency, str):
        return None
    currency = currency.strip().upper()
    return 1.0 if currency == USD else rates.get(currency)


def categories(listed: object, taxonomy: object, path: str, context: Context) -> list[str]:
    """The categories of `bcat` or `acat`, in the notation of campaigns."""
    codes = texts(listed, path, context)
    if not codes:
        return codes
    number = CONTENT_1 if taxonomy is None else context.integer(taxonomy)
    context.settle("cattax")
    if number is None:
        context.ignore("cattax")
    return list(dict.fromkeys(category(code, number or CONTENT_1) for code in codes))


def domains(listed: object, path: str, context: Context) -> list[str]:
    """The domains of `badv` or `wadomain`, as advertisers are stored."""
    return [registered(each) for each in texts(listed, path, context)]


def apps(listed: object, path: str, context: Context) -> list[str]:
    """The store ids of `bapp`, as those of advertisers are stored."""
    return [app(each) for each in texts(listed, path, context)]


def texts(value: object, path: str, context: Context) -> list[str]:
    """The texts of a list."""
    if not value:
        return []
    found = listed_texts(value, context)
    if found is None:
        context.ignore(path)
        return []
    context.settle(path)
    return found
