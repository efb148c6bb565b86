"""The ads workload as OpenRTB: the same campaigns, and requests as an exchange sends them.

`/v1/openrtb` has its own attributes and values. So the attributes of the ads workload that a bid
request can express are renamed, with their values, in campaigns and events alike; the skew stays.
No event has the other attributes, so targetings that use them never match.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from campaigns.catalogue.countries import BY_ALPHA_3
from index.language import Attribute, Schema
from testkit.workloads.ads import Ads
from testkit.workloads.workload import Event, Workload

_COMMON = ("USA", "GBR", "DEU", "FRA", "JPN", "BRA", "IND", "CAN", "ITA", "ESP", "MEX", "AUS")
COUNTRIES = (*_COMMON, *(code for code in BY_ALPHA_3 if code not in _COMMON))
_DEVICES = ("phone", "desktop", "tablet", "tv", "console", "set_top_box")
_DEVICE_CODES = {"phone": 4, "desktop": 2, "tablet": 5, "tv": 3, "console": 6, "set_top_box": 7}
_SYSTEMS = [
    "android",
    "ios",
    "windows",
    "macos",
    "linux",
    "chromeos",
    "tizen",
    "webos",
    "roku",
    "fireos",
    "harmonyos",
    "kaios",
]
_CONNECTIONS = ("wifi", "4g", "5g", "cellular", "3g", "ethernet")
_CONNECTION_CODES = {"wifi": 2, "4g": 6, "5g": 7, "cellular": 3, "3g": 5, "ethernet": 1}
_PROVIDER, _TAXONOMY = "audiences.example", 4
_LOGICAL = frozenset({"and", "or", "not", "xor", "xnor"})


@dataclass(frozen=True, slots=True)
class Translation:
    """An OpenRTB attribute, and the translation of values of the ads workload."""

    name: str
    type: str
    value: Callable[[Any], Any]


def _ranked(words: tuple[str, ...] | list[str]) -> Callable[[str], str]:
    """Translate `country-3` to the fourth word."""
    return lambda value: words[int(value.rpartition("-")[2])]


def _language(value: str) -> str:
    rank = int(value.rpartition("-")[2])
    return chr(ord("a") + rank // 26) + chr(ord("a") + rank % 26)


def _same(value: Any) -> Any:
    return value


TRANSLATIONS = {
    "country": Translation("country", "string", _ranked([BY_ALPHA_3[code] for code in COUNTRIES])),
    "device.type": Translation("device.type", "string", _ranked(_DEVICES)),
    "user.segments": Translation(
        "user.segments", "string list", lambda value: f"{_PROVIDER}|{_TAXONOMY}:{value}"
    ),
    "user.age": Translation("age", "int", _same),
    "site.domain": Translation("site.domain", "string", _same),
    "device.os": Translation("device.os", "string", _ranked(_SYSTEMS)),
    "region": Translation("geo.region", "string", lambda value: value.upper().replace("-", "")),
    "user.gender": Translation("user.gender", "string", _ranked(("F", "M", "O"))),
    "ad.position": Translation("imp.position", "int", lambda value: value + 1),
    "language": Translation("device.language", "string", _language),
    "city": Translation("geo.city", "string", _same),
    "connection": Translation("device.connection", "string", _ranked(_CONNECTIONS)),
    "app.bundle": Translation("app.bundle", "string", _same),
    "device.model": Translation("device.model", "string", _same),
    "deals": Translation("imp.deals", "string list", lambda value: f"deal-{value}"),
    "secure": Translation("imp.secure", "bool", _same),
    "device.make": Translation("device.make", "string", str.capitalize),
}


@dataclass(frozen=True, kw_only=True)
class AdsOpenRtb(Workload):
    """Ads-like campaigns and bid requests."""

    @property
    def schema(self) -> Schema:
        """OpenRTB names where they exist, else the names of the ads workload."""
        attributes = []
        for each in Ads(seed=self.seed).schema:
            target = TRANSLATIONS.get(each.name)
            named = (target.name, target.type) if target else (each.name, each.type.value)
            attributes.append(Attribute(*named))
        return Schema(attributes)

    def expressions(self) -> Iterator[str]:
        """The expressions of the ads workload, renamed."""
        for text in Ads(seed=self.seed).expressions():
            version, tree = json.loads(text)
            yield json.dumps([version, _renamed(tree)], separators=(",", ":"))

    def events(self, count: int) -> list[Event]:
        """The attributes that the service must extract from each `bid_request`."""
        return [_translated(event) for event in Ads(seed=self.seed).events(count)]


def _renamed(tree: list[Any]) -> list[Any]:
    op, *rest = tree
    if op in _LOGICAL:
        return [op, *map(_renamed, rest)]
    name, *values = rest
    target = TRANSLATIONS.get(name)
    if target is None:
        return tree
    if op in ("starts with", "ends with", "contains"):  # of domains, which are called the same
        return [op, target.name, *values]
    return [op, target.name, *map(target.value, values)]


def _translated(event: Event) -> Event:
    found: Event = {}
    for name, value in event.items():
        if (target := TRANSLATIONS.get(name)) is not None:
            several = isinstance(value, list)
            found[target.name] = (
                [target.value(each) for each in value] if several else target.value(value)
            )
    if "site.domain" in found:  # it is a site or an app
        found.pop("app.bundle", None)
    return found


def bid_request(event: Event, number: int, year: int) -> dict[str, Any]:
    """An OpenRTB 2.6 bid request with these attributes, sent in that year."""
    alpha_3 = {two: three for three, two in BY_ALPHA_3.items()}
    geo = {
        "country": alpha_3.get(event.get("country", "")),
        "region": event.get("geo.region"),
        "city": event.get("geo.city"),
    }
    device = {
        "devicetype": _DEVICE_CODES.get(event.get("device.type", "")),
        "connectiontype": _CONNECTION_CODES.get(event.get("device.connection", "")),
        "os": event.get("device.os"),
        "make": event.get("device.make"),
        "model": event.get("device.model"),
        "language": event.get("device.language"),
        "geo": _without_nothing(geo),
    }
    user = {
        "yob": year - event["age"] if "age" in event else None,
        "gender": event.get("user.gender"),
        "data": _data(event.get("user.segments")),
    }
    imp = {
        "id": "1",
        "banner": _without_nothing({"w": 300, "h": 250, "pos": event.get("imp.position")}),
        "secure": int(event["imp.secure"]) if "imp.secure" in event else None,
        "pmp": _deals(event.get("imp.deals")),
    }
    place = {
        "site": {"domain": event["site.domain"]} if "site.domain" in event else None,
        "app": {"bundle": event["app.bundle"]} if "app.bundle" in event else None,
    }
    return {
        "id": f"request-{number}",
        "imp": [_without_nothing(imp)],
        "device": _without_nothing(device),
        "user": _without_nothing(user),
        **_without_nothing(place),
        "at": 1,
        "cur": ["USD"],
    }


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _data(segments: list[str] | None) -> list[dict[str, Any]] | None:
    if segments is None:
        return None
    ids = [{"id": each.partition(":")[2]} for each in segments]
    return [{"name": _PROVIDER, "ext": {"segtax": _TAXONOMY}, "segment": ids}]


def _deals(ids: list[str] | None) -> dict[str, Any] | None:
    return None if ids is None else {"private_auction": 0, "deals": [{"id": id} for id in ids]}
