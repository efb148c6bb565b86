"""A second mapping of bid requests, as plain as it can be: no table, no index, nothing shared.

It was written from docs/openrtb.md and the specification of OpenRTB 2.6, not from the code.
What it says about a request is compared with the service's answer in `test_oracle.py`.
"""

import ipaddress
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

Document = dict[str, Any]
Event = dict[str, Any]

NAMES: dict[str, dict[Any, str]] = {
    "type": {1: "phone", 2: "desktop", 3: "tv", 4: "phone", 5: "tablet", 6: "console"}
    | {7: "set_top_box", 8: "other"},
    "connection": {1: "ethernet", 2: "wifi", 3: "cellular", 4: "2g", 5: "3g", 6: "4g", 7: "5g"},
    "country": {"USA": "US", "US": "US", "DEU": "DE", "DE": "DE", "GBR": "GB", "UK": "GB"}
    | {"GB": "GB", "EL": "GR", "BRA": "BR", "FRA": "FR"},
    "os": {"ios": "ios", "iphone os": "ios", "ipados": "ios", "os x": "macos", "macosx": "macos"}
    | {"windows nt 10.0": "windows", "windows 10": "windows", "android 11": "android"}
    | {"android": "android", "roku": "roku"},
    "make": {"apple": "Apple", "samsung": "Samsung", "htc": "HTC", "oneplus": "OnePlus"},
    "language": {"en": "en", "en-us": "en", "eng": "en", "de": "de", "de-de": "de", "haw": "haw"},
    "gender": {"m": "M", "male": "M", "f": "F", "woman": "F", "o": "O", "non-binary": "O"},
}
"""The names that the requests of the tests have, as the docs list them."""


@dataclass(frozen=True)
class Advertiser:
    domain: str | None = None
    seat: str | None = None
    apps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Campaign:
    id: int
    targeting: str
    holds: Callable[[Event], bool]
    """What `targeting` says, written by hand; `imp.deals` is a list or None."""
    bid: int = 1_000_000
    categories: tuple[str, ...] = ()
    advertiser: Advertiser = Advertiser()


@dataclass(frozen=True)
class Match:
    campaign: int
    format: str | None
    deal: str | None
    price: int | None
    """In micros, of a deal with a fixed price."""


# --- values -----------------------------------------------------------------------------------


def at(document: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document


def objects(value: Any) -> list[Document]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def integer(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value) if str(value) and len(str(value)) <= 4096 else None


def many(value: Any, read: Callable[[Any], Any]) -> list[Any] | None:
    """The good elements of a list; a single value counts as a list of one."""
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    found = [read(each) for each in values]
    return [each for each in found if each is not None] if len(found) <= 10_000 else None


def network(value: Any) -> str | None:
    """What is kept of an address: 24 bits of IPv4, 56 of IPv6."""
    try:
        found = ipaddress.ip_address(value if isinstance(value, str) else "")
    except ValueError:
        return None
    found = getattr(found, "ipv4_mapped", None) or found
    kept = 24 if found.version == 4 else 56
    return str(ipaddress.ip_network(f"{found}/{kept}", strict=False).network_address)


def minutes(value: Any) -> int | None:
    """An offset to UTC: no place is more than 14 hours away."""
    found = integer(value)
    return found if found is not None and abs(found) <= 14 * 60 else None


def flag(value: Any) -> bool | None:
    found = number(value)
    return found == 1 if found in (0, 1) else None


def lower(value: Any) -> str | None:
    found = text(value)
    return found.lower() if found else None


def first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def together(values: Iterable[list[Any] | None]) -> list[Any] | None:
    """All lists as one; None if there is none."""
    found = [value for value in values if value is not None]
    return [each for value in found for each in value] if found else None


def named(kind: str, value: Any) -> str | None:
    found = text(value)
    return (
        NAMES[kind].get(found.strip().lower() if kind != "country" else found.upper())
        if found
        else None
    )


def maker(value: Any) -> str | None:
    found = text(value)
    return NAMES["make"].get(found.lower(), found.title()) if found else None


def categories(value: Any, taxonomy: Any) -> list[str] | None:
    """Codes with their taxonomy, and the parents of those of the first."""
    if not isinstance(value, list | str):
        return None
    found = []
    for code in many(value, text) or []:
        if re.fullmatch(r"IAB\d+(-\d+)?", code):
            found += [code, code.partition("-")[0]]
        elif integer(taxonomy) in (None, 1):
            found.append(code)
        else:
            found.append(f"{integer(taxonomy)}:{code}")
    return found


def domain(value: Any) -> str | None:
    """A bare domain out of what exchanges write."""
    found = (text(value) or "").strip().lower()
    found = re.sub(r"^[a-z]+://", "", found)
    found = re.split(r"[/?#]", found)[0].rpartition("@")[2].partition(":")[0]
    found = re.sub(r"^(\*?\.)", "", found)
    found = re.sub(r"^www\.", "", found).rstrip(".")
    return found.encode("idna").decode() if found else None


def within(name: str | None, domains: Iterable[str | None]) -> bool:
    return name is not None and any(
        name == each or name.endswith(f".{each}") for each in domains if each
    )


# --- privacy ----------------------------------------------------------------------------------

SEGMENTS, PERSON, PRECISE, COORDINATES = "segments", "person", "precise", "coordinates"
WITHHELD = {
    "gdpr": {SEGMENTS, PERSON, PRECISE, COORDINATES},
    "gdpr_location": {COORDINATES},
    "coppa": {SEGMENTS, PERSON, PRECISE, COORDINATES},
    "gpp_sensitive": {PRECISE, COORDINATES},
    "gpp_unknown": {SEGMENTS, PERSON, PRECISE, COORDINATES},
} | {
    reason: {SEGMENTS, PRECISE, COORDINATES}
    for reason in ("us_privacy", "gpp_opt_out", "gpc", "lmt", "dnt")
}


def regulation(document: Document, name: str) -> Any:
    return first((at(document, f"regs.{name}"), at(document, f"regs.ext.{name}")))


def raised(value: Any) -> bool:
    """A flag of privacy: anything but 0 counts as 1."""
    return value is not None and number(value) != 0


def consents(string: Any) -> tuple[set[int], set[int]] | None:
    """Purposes and special features of a TCF string of version 2."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    core = string.partition(".")[0] if isinstance(string, str) else ""
    if any(letter not in alphabet for letter in core):
        return None
    bits = "".join(f"{alphabet.index(letter):06b}" for letter in core)
    if len(bits) < 176 or int(bits[:6], 2) != 2:
        return None
    return (
        {n for n in range(1, 25) if bits[151 + n] == "1"},
        {n for n in range(1, 13) if bits[139 + n] == "1"},
    )


def applicable(document: Document, sections: dict[int, Any]) -> list[int]:
    ids = regulation(document, "gpp_sid")
    return list(sections) if ids is None else [id for id in many(ids, integer) or [] if id > 0]


def reasons(document: Document, sections: dict[int, Any] | None) -> set[str]:
    """Why attributes are withheld. `sections`: of the GPP string, what each says (a set of
    reasons, or the TCF string); None if the string is not valid."""
    found = set()
    ids = applicable(document, sections or {})
    if sections is None:
        found.add("gpp_unknown")
    for id in ids:
        if id != 2:
            found |= (sections or {}).get(id, {"gpp_unknown"})
    if raised(regulation(document, "gdpr")) or 2 in ids:
        string = first((at(document, "user.consent"), at(document, "user.ext.consent")))
        given = consents((sections or {}).get(2) if string is None else string)
        if given is None or not given[0] >= {1, 2, 3, 4}:
            found.add("gdpr")
        elif 1 not in given[1]:
            found.add("gdpr_location")
    us_privacy = regulation(document, "us_privacy")
    if us_privacy is not None and not re.fullmatch("(?i)1[YN-][N-][YN-]", str(us_privacy)):
        found.add("us_privacy")  # opted out, or not a valid string
    found |= {name for name in ("coppa", "gpc") if raised(regulation(document, name))}
    found |= {name for name in ("lmt", "dnt") if raised(at(document, f"device.{name}"))}
    return found


# --- attributes -------------------------------------------------------------------------------


def of_request(document: Document, moment: float, sections: dict[int, Any] | None) -> Event:
    withheld = set().union(*(WITHHELD[reason] for reason in reasons(document, sections)))

    def get(path: str) -> Any:
        return at(document, path)

    coppa, us = regulation(document, "coppa"), str(regulation(document, "us_privacy"))
    user = get("user") if isinstance(get("user"), dict) else {}
    event: Event = {}

    if PERSON not in withheld:
        born = integer(user.get("yob"))
        age = datetime.fromtimestamp(moment, UTC).year - born if born is not None else -1
        event["age"] = age if 0 <= age <= 120 else None
        event["user.gender"] = named("gender", user.get("gender"))
    if SEGMENTS not in withheld:
        event["user.segments"] = segments(user.get("data"))
        eids = first((user.get("eids"), at(user, "ext.eids")))
        if isinstance(eids, list):
            event["user.id_sources"] = [
                source for each in objects(eids) if (source := lower(each.get("source")))
            ]

    geo = get("device.geo")
    if not isinstance(geo, dict) or not geo:
        geo = user.get("geo") if PERSON not in withheld else None
    geo = geo if isinstance(geo, dict) else {}
    region = text(geo.get("region"))
    event |= {
        "country": named("country", geo.get("country")),
        "geo.region": re.sub(r"^[A-Z]{2}-", "", region.upper()) if region else None,
        "geo.metro": text(geo.get("metro")),
        "geo.city": text(geo.get("city")),
    }
    if PRECISE not in withheld:
        event["geo.zip"] = text(geo.get("zip"))
        addresses = (network(get("device.ip")), network(get("device.ipv6")))
        event["device.ip"] = next((each for each in addresses if each), None)
    if COORDINATES not in withheld:
        lat, lon = number(geo.get("lat")), number(geo.get("lon"))
        event |= {"geo.lat": lat, "geo.lon": lon}
        event["geo.point"] = [lat, lon] if lat is not None and lon is not None else None
    offset = minutes(get("device.geo.utcoffset"))
    if offset is None and PERSON not in withheld:
        offset = minutes(get("user.geo.utcoffset"))
    if offset is not None:
        there = datetime.fromtimestamp(moment, UTC) + timedelta(minutes=offset)
        event |= {"local.hour": there.hour, "local.weekday": there.isoweekday()}

    version = re.match(r"[vV\s]*(\d+(\.\d+)*)", text(get("device.osv")) or "")
    event |= {
        "device.type": NAMES["type"].get(integer(get("device.devicetype")) or 0),
        "device.os": named("os", get("device.os")),
        "device.os_version": version[1] if version else None,
        "device.make": maker(get("device.make")),
        "device.model": text(get("device.model")),
        "device.language": first(
            named("language", get(f"device.{n}")) for n in ("language", "langb")
        ),
        "device.connection": NAMES["connection"].get(integer(get("device.connectiontype")) or 0),
        "device.carrier": text(get("device.carrier")),
    }

    page = text(get("site.page"))
    parts = urlsplit(page) if page else None
    host = parts.netloc.rpartition("@")[2] if parts else None
    event |= {
        "categories": together(
            categories(get(f"{place}.{field}"), get(f"{place}.cattax"))
            for place in ("site", "site.content", "app", "app.content", "dooh.content")
            for field in ("cat", "sectioncat", "pagecat")
        ),
        "site.domain": first(
            (lower(get("site.domain")), (parts.hostname if parts else None) or None)
        ),
        "site.page": parts._replace(netloc=host or "", query="", fragment="").geturl()
        if parts
        else None,
        "site.categories": categories(get("site.cat"), get("site.cattax")),
        "app.bundle": text(get("app.bundle")),
        "app.name": text(get("app.name")),
        "app.categories": categories(get("app.cat"), get("app.cattax")),
        "dooh.venues": many(get("dooh.venuetype"), text),
        "content.live": first(
            flag(get(f"{p}.content.livestream")) for p in ("site", "app", "dooh")
        ),
        "content.language": first(
            named("language", get(f"{p}.content.language")) for p in ("site", "app", "dooh")
        ),
        "privacy.gdpr": gdpr_flag(document, sections),
        "privacy.coppa": None if coppa is None else raised(coppa),
        "privacy.us": us.upper() if re.fullmatch("(?i)1[YN-]{3}", us) else None,
    }
    for attribute, field in (("id", "id"), ("name", "name")):
        event[f"publisher.{attribute}"] = first(
            text(get(f"{place}.publisher.{field}")) for place in ("site", "app", "dooh")
        )
    for attribute, field in (
        ("title",) * 2,
        ("series",) * 2,
        ("genre",) * 2,
        ("rating", "contentrating"),
    ):
        event[f"content.{attribute}"] = first(
            text(get(f"{place}.content.{field}")) for place in ("site", "app", "dooh")
        )
    event["keywords"] = together(
        words(get(f"{place}.{field}"))
        for place in ("site", "app", "dooh", "site.content", "app.content", "dooh.content")
        for field in ("keywords", "kwarray")
    )
    chain = first((get("source.schain"), get("source.ext.schain")))
    if isinstance(chain, dict):
        event["schain.complete"] = flag(chain.get("complete"))
        if isinstance(chain.get("nodes"), list):
            event["schain.nodes"] = len(chain["nodes"])
            event["schain.asis"] = [
                asi for each in objects(chain["nodes"]) if (asi := lower(each.get("asi")))
            ]
    return event


def words(value: Any) -> list[str] | None:
    """A text with commas, or a list of words."""
    listed = many(value.split(",") if isinstance(value, str) else value, text)
    return None if listed is None else [word.strip().lower() for word in listed if word.strip()]


def gdpr_flag(document: Document, sections: dict[int, Any] | None) -> bool | None:
    flagged = regulation(document, "gdpr")
    if 2 in applicable(document, sections or {}):
        return True
    return None if flagged is None else raised(flagged)


def segments(data: Any) -> list[str] | None:
    if not isinstance(data, list):
        return None
    found = []
    for provider in objects(data):
        name = first((text(provider.get("name")), text(provider.get("id"))))
        taxonomy = integer(at(provider, "ext.segtax"))
        for segment in objects(provider.get("segment")):
            id = first((text(segment.get("id")), text(segment.get("name"))))
            if id:
                found.append(f"{name or ''}|{'' if taxonomy is None else taxonomy}:{id}")
    return found


def of_imp(imp: Document, format: str | None, floor: int | None, deals: list[str] | None) -> Event:
    event: Event = {
        "imp.media": [format] if format else [],
        "imp.floor_micros": floor,
        "imp.deals": deals,
        "imp.private_auction": flag(at(imp, "pmp.private_auction")) or False,
        "imp.secure": flag(imp.get("secure")),
        "imp.instl": flag(imp.get("instl")),
        "imp.rwdd": flag(imp.get("rwdd")),
        "imp.tagid": text(imp.get("tagid")),
        "imp.ext.gpid": text(at(imp, "ext.gpid")),
    }
    inside = imp.get(format) if format else None
    inside = inside if isinstance(inside, dict) else {}
    if format in ("banner", "video"):
        event["imp.position"] = integer(inside.get("pos")) or None
        others = inside.get("format") if format == "banner" else None
        sizes = [(integer(e.get("w")), integer(e.get("h"))) for e in (inside, *objects(others))]
        if inside.get("w") is not None or others is not None:
            event["imp.sizes"] = [f"{w}x{h}" for w, h in sizes if w and h and w > 0 and h > 0]
    fields = {
        "banner": ("mimes", "api", "btype", "battr"),
        "video": (
            *("mimes", "minduration", "maxduration", "protocols", "api", "battr", "plcmt"),
            *("linearity", "skip", "startdelay", "playbackmethod"),
        ),
        "audio": ("mimes", "minduration", "maxduration", "api"),
    }
    for field in fields.get(format or "", ()):
        value = inside.get(field)
        if field == "mimes":
            read: Any = many(value, text)
        elif field == "skip":
            read = flag(value)
        elif field in ("api", "btype", "battr", "protocols", "playbackmethod"):
            read = many(value, integer)
        else:
            read = integer(value)
        event[f"imp.{format}.{field}"] = read
    return event


# --- offers and restrictions ------------------------------------------------------------------


def micros(floor: Any, currency: Any, rates: dict[str, float]) -> int | None:
    """A floor in USD; None if it cannot be used."""
    price = 0.0 if floor is None else number(floor)
    code = "USD" if currency is None else text(currency)
    if price is not None and price <= 0:
        return 0
    if price is None or code is None or code.upper() not in rates:
        return None
    return math.ceil(round(price * rates[code.upper()] * 1_000_000, 3))


def allowed(campaign: Campaign, document: Document) -> bool:
    """Whether the request blocks nothing that the campaign or its advertiser is."""
    owner = campaign.advertiser
    blocked = categories_of_list(document, "bcat")
    wanted = categories_of_list(document, "acat")
    parents = {code: {code, code.partition("-")[0]} for code in campaign.categories}
    if any(parents[code] & blocked for code in campaign.categories):
        return False
    if wanted and not (parents and all(found & wanted for found in parents.values())):
        return False
    if within(owner.domain, [domain(each) for each in many(document.get("badv"), text) or []]):
        return False
    apps = {store_id(each) for each in many(document.get("bapp"), text) or []}
    if apps & {app.lower() for app in owner.apps}:
        return False
    seats = many(document.get("wseat"), text)
    if seats and owner.seat not in seats:
        return False
    return owner.seat is None or owner.seat not in (many(document.get("bseat"), text) or [])


def categories_of_list(document: Document, field: str) -> set[str]:
    taxonomy = integer(document.get("cattax"))
    return {
        code if code.startswith("IAB") or taxonomy in (None, 1) else f"{taxonomy}:{code}"
        for code in many(document.get(field), text) or []
    }


def store_id(app: str) -> str:
    found = re.search(r"(?:[?&]id=|/id)([^&#/?]+)", app)
    return (found[1] if found else app).strip().lower()


@dataclass(frozen=True)
class Deal:
    id: str
    floor: int
    fixed: bool
    seats: list[str]
    domains: list[str | None]


def deals_of(imp: Document, rates: dict[str, float]) -> list[Deal]:
    found: dict[str, Deal] = {}
    for each in objects(at(imp, "pmp.deals")):
        id = text(each.get("id"))
        floor = micros(each.get("bidfloor"), each.get("bidfloorcur"), rates)
        if id and floor is not None and id not in found:
            domains = [domain(name) for name in many(each.get("wadomain"), text) or []]
            seats = many(each.get("wseat"), text) or []
            found[id] = Deal(id, floor, integer(each.get("at")) == 3, seats, domains)
    return list(found.values())


def imps(document: Document) -> list[Document]:
    seen: dict[str, Document] = {}
    for imp in objects(document["imp"]):
        if isinstance(imp.get("id"), str | int) and not isinstance(imp["id"], bool):
            seen.setdefault(str(imp["id"]), imp)
    return list(seen.values())


def formats(imp: Document) -> list[str | None]:
    return [f for f in ("banner", "video", "audio", "native") if isinstance(imp.get(f), dict)] or [
        None
    ]


def answers(
    document: Document,
    campaigns: list[Campaign],
    moment: float,
    rates: dict[str, float],
    sections: dict[int, Any] | None,
) -> list[tuple[list[tuple[str | None, Event]], list[Match]]]:
    """For each imp: the attributes of each format, and the matches."""
    rates = {"USD": 1.0} | rates
    currencies = many(document.get("cur"), text)
    payable = not currencies or any(code.upper() in rates for code in currencies)
    common = of_request(document, moment, sections)
    found = []
    for imp in imps(document):
        floor = micros(imp.get("bidfloor"), imp.get("bidfloorcur"), rates)
        deals = deals_of(imp, rates)
        ids = [deal.id for deal in deals] if isinstance(at(imp, "pmp.deals"), list) else None
        events: list[tuple[str | None, Event]] = [
            (format, common | of_imp(imp, format, floor, ids)) for format in formats(imp)
        ]
        matches: dict[int, Match] = {}
        for format, event in events if payable else ():
            for campaign in campaigns:
                match = offered(campaign, event, format, floor, deals)
                if match and campaign.id not in matches and allowed(campaign, document):
                    matches[campaign.id] = match
        found.append((events, list(matches.values())))
    return found


def offered(
    campaign: Campaign, event: Event, format: str | None, floor: int | None, deals: list[Deal]
) -> Match | None:
    """The offer of an imp that a campaign takes, if any."""

    def holds(ids: list[str] | None) -> bool:
        return campaign.holds(event | {"imp.deals": ids})

    every = event["imp.deals"] or []
    if not holds(event["imp.deals"]):
        return None
    if not every or holds([]):
        if event["imp.private_auction"]:
            return None
        fits = floor is not None and campaign.bid >= floor
        return Match(campaign.id, format, None, None) if fits else None
    for deal in deals:
        rest = [id for id in every if id != deal.id]
        if not (holds([deal.id]) or (holds(every) and not holds(rest))):
            continue
        seat, name = campaign.advertiser.seat, campaign.advertiser.domain
        if campaign.bid < deal.floor or (deal.seats and seat not in deal.seats):
            continue
        if deal.domains and not within(name, deal.domains):
            continue
        return Match(campaign.id, format, deal.id, deal.floor if deal.fixed else None)
    return None
