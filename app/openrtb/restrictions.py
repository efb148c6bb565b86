"""The restrictions of a bid request, in the terms of the index.

    bidfloor, bidfloorcur      the floor of the question, in micros of a US dollar
    badv                       advertisers to exclude
    bcat, cattax               the built-in attribute `request.blocked_categories`
    acat                       the allowed categories, to check matches against
    private_auction, deals     the deals by their floors (`offers`)
    cur                        the currencies of a bid

A wrong value is not ignored here: with a floor that is not a number no campaign can match, and a
single string is a list of one.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import ceil, isfinite
from typing import Any

from app.openrtb.readers import as_integer, is_text
from campaigns.campaign.categories import CONTENT_1, category
from index.score import MAX_BID_MICROS

USD = "USD"
MOST_FLOORS = 8
"""Most different floors of the deals of a private auction; each is a search."""

Rates = Mapping[str, float]
"""US dollars for one unit of a currency."""


class NoBid(Exception):
    """No campaign can match an imp; `reason` is the label of its metric."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def floor_micros(document: Mapping[str, Any], rates: Rates) -> int:
    """The floor of an imp or a deal, rounded up; `NoBid` if no campaign can meet it."""
    floor = _number(document.get("bidfloor"))
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


def check_currencies(allowed: object, rates: Rates) -> None:
    """`NoBid` if the exchange accepts neither USD nor a currency with a rate."""
    currencies = [each for each in _listed(allowed) if is_text(each)]
    if currencies and all(_rate(each, rates) is None for each in currencies):
        raise NoBid("currency")


def _number(value: object) -> float:
    if value is None:
        return 0.0
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


def categories(listed: object, taxonomy: object) -> list[str]:
    """The categories of `bcat` or `acat`, in the notation of campaigns."""
    number = as_integer(taxonomy) or CONTENT_1
    return list(dict.fromkeys(category(code, number) for code in _texts(listed)))


def domains(listed: object) -> Iterator[str]:
    """The domains of `badv`, without `www.`."""
    for each in _texts(listed):
        yield each.strip().lower().removesuffix(".").removeprefix("www.")


def offers(deals: object, imp: Mapping[str, Any], rates: Rates) -> list[tuple[int, list[str]]]:
    """The deals of a private auction by their floors, lowest first; a deal without a floor has that
    of the imp. Above `MOST_FLOORS` floors the highest one applies to the rest."""
    by_floor: dict[int, list[str]] = {}
    for deal in deals if isinstance(deals, list) else ():
        if not isinstance(deal, dict) or not is_text(deal.get("id")):
            continue
        try:
            floor = floor_micros(imp if deal.get("bidfloor") is None else deal, rates)
        except NoBid:
            continue
        by_floor.setdefault(floor, []).append(deal["id"])
    if not by_floor:
        raise NoBid("deals")
    sorted_offers = sorted(by_floor.items())
    kept, rest = sorted_offers[: MOST_FLOORS - 1], sorted_offers[MOST_FLOORS - 1 :]
    if rest:
        kept.append((rest[-1][0], [id for _, ids in rest for id in ids]))
    return kept


def _texts(listed: object) -> Iterator[str]:
    for each in _listed(listed):
        if is_text(each) or type(each) is int:
            yield str(each)


def _listed(value: object) -> Iterable[Any]:
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, list) else ()
