"""What a bid request forbids, as the index can obey it.

    bidfloor, bidfloorcur      the floor of the question, in micros of a US dollar
    badv                       advertisers to exclude
    bcat, cattax               the built-in attribute `request.blocked_categories`
    acat                       the categories that are allowed, to hold matches against
    private_auction, deals     `Offer`: which deals there are, by their floors
    cur                        currencies that a bid may be in

Here what is wrong is not passed over in silence: a floor that cannot be read is one that nobody can
meet, and a lone string is a list of one.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import ceil, isfinite
from typing import Any

from app.openrtb.readers import as_integer, is_text
from campaigns.campaign.taxonomy import CONTENT_1, category
from index.score import MAX_BID_MICROS

USD = "USD"
MOST_FLOORS = 8
"""Different floors of the deals of a private auction; each is a search."""

Rates = Mapping[str, float]
"""US dollars for one of a currency."""


class NoBid(Exception):
    """Nobody can bid on an imp; `reason` is for counting."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def floor_micros(document: Mapping[str, Any], rates: Rates) -> int:
    """The floor of an imp or a deal, rounded up; `NoBid` if nobody can meet it."""
    floor = _number(document.get("bidfloor"))
    if floor <= 0:
        return 0
    rate = _rate(document.get("bidfloorcur") or USD, rates)
    if rate is None:
        raise NoBid("currency")
    # A thousandth of a micro is the dust of binary fractions, not a floor.
    micros = floor * rate * 1e6
    if not micros <= MAX_BID_MICROS:
        raise NoBid("floor")
    return ceil(round(micros, 3))


def check_currencies(allowed: object, rates: Rates) -> None:
    """`NoBid` if the exchange takes none of the currencies that we can count in."""
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
    """The categories of `bcat` or `acat`, as campaigns have them."""
    number = as_integer(taxonomy) or CONTENT_1
    return list(dict.fromkeys(category(code, number) for code in _texts(listed)))


def domains(listed: object) -> Iterator[str]:
    """The domains of `badv`; `www.` is nobody's own."""
    for each in _texts(listed):
        yield each.strip().lower().removesuffix(".").removeprefix("www.")


def offers(deals: object, imp: Mapping[str, Any], rates: Rates) -> list[tuple[int, list[str]]]:
    """The deals of a private auction by their floors, lowest first; a deal without one has the
    imp's. Past `MOST_FLOORS` the highest stands for the rest."""
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
