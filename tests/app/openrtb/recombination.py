"""Bid requests put together at random from parts: the IAB's examples, and parts of every shape."""

import json
from pathlib import Path
from random import Random
from typing import Any

from tests.app.openrtb.iab import EXAMPLES
from tests.app.openrtb.test_gpp import expected
from tests.app.openrtb.test_tcf import core

Document = dict[str, Any]

GRANTED, LOCATED = core({1, 2, 3, 4, 7}), core({1, 2, 3, 4}, special={1})
REFUSED = core({1, 2, 4}, interests={3})

_STRINGS = json.loads(Path(__file__).with_name("gpp_strings.json").read_text())
_OF_STATES: dict[str, Any] = {
    text: {int(section): expected(answer)}
    for section, strings in _STRINGS.items()
    for answer, text in strings.items()
}
GPP: dict[str, dict[int, Any] | None] = {
    **_OF_STATES,
    f"DBABMA~{GRANTED}": {2: GRANTED},
    f"DBABMA~{REFUSED}": {2: REFUSED},
    f"DBACNY~{LOCATED}~1YNN": {2: LOCATED, 6: set()},
    f"DBACNY~{GRANTED}~1YYN": {2: GRANTED, 6: {"gpp_opt_out"}},
    "DBABTA~1YNN": {6: set()},
    "DBABTA~1NYN": {6: {"gpp_opt_out"}},
    "not a string": None,
}
"""GPP strings, and what each of their sections says; None for one that is not valid."""


def sections_of(document: Document) -> dict[int, Any] | None:
    regs = document.get("regs") or {}
    text = regs.get("gpp", regs.get("ext", {}).get("gpp"))
    return {} if text is None else GPP[text]


SITES: tuple[Document, ...] = (
    {},
    {"page": "https://me:secret@News.Example:8443/a/b?q=1#top"},
    {
        "domain": "NEWS.example",
        "cat": ["IAB7-39", "IAB2"],
        "pagecat": "IAB3",
        "keywords": "A, b ,,",
    },
    {"cat": ["150", "IAB7"], "cattax": 6, "sectioncat": ["IAB1-2"], "kwarray": ["Cars", "x"]},
    {"publisher": {"id": 5}, "domain": 7, "cat": [3, None, "IAB4"], "content": {"livestream": "1"}},
    {"publisher": "none", "content": [], "cat": {"a": 1}, "page": None, "keywords": 12},
    {"content": {"title": "T", "genre": "G", "contentrating": "PG", "language": "en-US"}},
    {"content": {"cat": ["IAB9-9", "77"], "cattax": 5, "livestream": 0, "kwarray": ["K", "l"]}},
)
APPS: tuple[Document, ...] = (
    {"bundle": 12345, "name": "Game", "cat": ["IAB9"], "keywords": "puzzle"},
    {"bundle": "com.example.app", "publisher": {"name": "P"}, "content": {"series": "S"}},
    {"cat": ["IAB7-39"], "cattax": "1", "sectioncat": ["9"], "pagecat": ["IAB7"]},
)
DOOHS: tuple[Document, ...] = (
    {"venuetype": ["3", "airport"], "publisher": {"id": "screens"}},
    {"venuetype": 30101, "content": {"cat": ["IAB5"], "title": "Ads", "keywords": "Out,Home"}},
)
GEOS: tuple[Any, ...] = (
    {"country": "USA", "region": "US-CA", "metro": "803", "city": "Los Angeles", "zip": "90049"},
    {"country": "DEU", "lat": 52.5, "lon": 13.4, "utcoffset": 60, "zip": 10115},
    {"country": "UK", "lat": "51.5", "lon": "-0.1", "utcoffset": "-90"},
    {"country": "ZZZ", "region": "ny", "lat": 1},
    {"country": "el", "zip": "", "city": None, "utcoffset": 1e9},
    {},
    "somewhere",
    None,
)
DEVICES: tuple[Document, ...] = (
    {"os": "iPadOS", "osv": "17.2", "make": "APPLE", "model": "iPad", "devicetype": 5},
    {"os": "Windows NT 10.0", "language": "eng", "devicetype": "2", "connectiontype": 1},
    {"os": "Android 11", "osv": 14, "make": "oneplus", "devicetype": 4, "connectiontype": "6"},
    {"os": "MACOSX", "osv": "XP", "devicetype": 99, "connectiontype": None, "language": "haw"},
    {"langb": "de-DE", "lmt": 1, "carrier": "T-Mobile", "make": "htc"},
    {"dnt": "1", "language": "??", "langb": "de"},
    {"lmt": 0, "dnt": 2, "ip": "203.0.113.7", "ua": "UA", "ifa": "x"},
    {"ip": "2001:db8:1:2345::7", "ipv6": "::1"},
    {"ip": "", "ipv6": "2001:db8:ffff:ffff::"},
    {"ip": "203.0.113", "ipv6": "::ffff:198.51.100.200"},
    {"language": "en", "make": 7, "model": 8, "os": ["ios"], "carrier": True},
)
USERS: tuple[Document, ...] = (
    {"yob": 1984, "gender": "F", "data": [{"name": "p", "segment": [{"id": "1"}, {"name": "2"}]}]},
    {"yob": "1984", "gender": "male", "data": [{"id": 3, "segment": [{"id": 7}]}]},
    {
        "yob": 1066,
        "gender": "?",
        "data": [{"id": "p", "ext": {"segtax": 4}, "segment": [{"id": "1"}]}],
    },
    {"consent": GRANTED, "eids": [{"source": "id.example", "uids": [{"id": "x"}]}, 7], "id": "u"},
    {"consent": REFUSED, "yob": 2030},
    {"ext": {"consent": LOCATED, "eids": []}, "data": {"name": "p"}},
    {"consent": "broken", "ext": {"consent": GRANTED}},
    {
        "data": [
            {"segment": [{"id": "1"}]},
            {"name": "q", "segment": [{}, {"id": None, "name": "n"}]},
        ]
    },
)
REGS: tuple[Document, ...] = (
    {},
    {"coppa": 1},
    {"coppa": "0", "gdpr": 0},
    {"gdpr": 1},
    {"gdpr": "1"},
    {"ext": {"gdpr": 1}},
    {"gdpr": 0, "ext": {"gdpr": 1}},
    {"us_privacy": "1YYN"},
    {"us_privacy": "1ynn"},
    {"us_privacy": "1Y"},
    {"ext": {"us_privacy": "1NYN", "gpc": "1"}},
    {"gpc": 0, "ext": {"gpc": 1}},
    {"coppa": 7},
)
RESTRICTIONS: tuple[Document, ...] = (
    {"bcat": ["IAB7"], "cattax": 2},
    {"bcat": ["IAB7-39", "IAB2"]},
    {"bcat": "IAB2"},
    {"bcat": ["150"], "cattax": 6},
    {"acat": ["IAB7", "IAB2"]},
    {"acat": []},
    {"badv": ["http://WWW.shop.example/sale?x"]},
    {"badv": ["*.brand.example", "münchen.de"]},
    {"badv": "shop.example:443"},
    {"badv": [None, 7, ".Shop.example"]},
    {"bapp": ["com.Brand.App"]},
    {"bapp": ["https://play.google.com/store/apps/details?id=com.brand.app&hl=en"]},
    {"bapp": ["https://apps.apple.com/us/app/brand/id628677149"]},
    {"wseat": ["s1", "Agency1"]},
    {"wseat": []},
    {"bseat": ["s2"]},
    {"cur": ["EUR", "USD"]},
    {"cur": "gbp"},
    {"cur": ["XXX"]},
    {"cur": []},
)
BANNERS: tuple[Any, ...] = (
    {"w": 300, "h": 250, "pos": 1},
    {"w": "300", "h": 250.0, "format": [{"w": 728, "h": 90}, {"w": 1}, None], "api": [5, "7"]},
    {"format": [{"wratio": 16, "hratio": 9}], "mimes": ["image/png"], "btype": 4},
    {"w": 0, "h": 250, "battr": [1, "x", None], "pos": "3"},
    {},
)
VIDEOS: tuple[Any, ...] = (
    {"w": 640, "h": 480, "mimes": ["video/mp4"], "minduration": 5, "maxduration": "30"},
    {"mimes": "video/webm", "protocols": [2, 3], "plcmt": 1, "skip": 1, "startdelay": -1, "pos": 7},
    {"skip": 2, "linearity": 1.0, "playbackmethod": 6, "api": [7], "w": -1, "h": 5},
)
AUDIOS: tuple[Any, ...] = ({"mimes": ["audio/mp3"], "maxduration": 15, "api": [1]}, {})
NATIVES: tuple[Any, ...] = ({"request": "{}"},)
IMPS: tuple[Document, ...] = (
    {},
    {"bidfloor": 0.5},
    {"bidfloor": "1.5", "bidfloorcur": "EUR"},
    {"bidfloor": 2, "bidfloorcur": "XXX"},
    {"bidfloor": "free"},
    {"bidfloor": -1},
    {"secure": 1, "instl": "1", "tagid": 12, "rwdd": 0, "ext": {"gpid": "/1/home"}},
    {"instl": 2, "tagid": "t", "ext": {"gpid": 9}},
)
DEALS: tuple[Any, ...] = (
    {"id": "A"},
    {"id": "A", "bidfloor": 2},
    {"id": "B", "bidfloor": 0.5, "at": 3},
    {"id": "B", "bidfloor": 1, "bidfloorcur": "EUR", "wseat": ["s1"]},
    {"id": "C", "wadomain": ["shop.example"]},
    {"id": "C", "wadomain": ["https://www.Brand.example/"], "at": "3", "bidfloor": 0.25},
    {"id": 7, "wseat": "s2"},
    {"id": "D", "bidfloor": 0.1, "bidfloorcur": "XXX"},
    {"id": "D", "bidfloor": None, "wseat": []},
    {"bidfloor": 1},
    "A",
)


def maybe(random: Random, chance: float, name: str, values: tuple[Any, ...]) -> Document:
    return {name: random.choice(values)} if random.random() < chance else {}


def imp(random: Random, id: object) -> Document:
    made = {**random.choice(IMPS), "id": id}
    made |= maybe(random, 0.5, "banner", BANNERS) | maybe(random, 0.4, "video", VIDEOS)
    made |= maybe(random, 0.2, "audio", AUDIOS) | maybe(random, 0.2, "native", NATIVES)
    if random.random() < 0.5:
        deals = random.sample(DEALS, random.randrange(0, 5))
        made["pmp"] = {"deals": deals} | maybe(random, 0.5, "private_auction", (0, 1, "1"))
    return made


def regs(random: Random) -> Document:
    made = dict(random.choice(REGS))
    if random.random() < 0.4:
        text, sections = random.choice(list(GPP.items()))
        ids = list(sections or {7: None})
        sid = random.choice((None, ids, ids[0], [str(id) for id in ids], [2], [8, *ids], [-1]))
        found = {"gpp": text} | ({} if sid is None else {"gpp_sid": sid})
        made |= found if random.random() < 0.8 else {"ext": found}
    return made


def recombined(random: Random) -> Document:
    """Some parts of the IAB's examples, some made here, none of them where it was."""
    made: Document = {"id": random.choice(("r", 7))}
    for field in ("imp", "site", "app", "dooh", "device", "user", "cur", "bcat", "badv"):
        found = [example[field] for example in EXAMPLES if field in example]
        if random.random() < 0.4:
            made[field] = random.choice(found)
    if "imp" not in made or random.random() < 0.3:
        ids = random.sample(("1", "2", 3, "2", None), random.randrange(1, 4))
        made["imp"] = made.get("imp", []) + [imp(random, id) for id in ids]
        if all(each["id"] is None for each in made["imp"]):
            made["imp"].append(imp(random, "x"))
    made |= maybe(random, 0.3, "site", SITES) | maybe(random, 0.2, "app", APPS)
    made |= maybe(random, 0.1, "dooh", DOOHS) | maybe(random, 0.5, "device", DEVICES)
    made |= maybe(random, 0.5, "user", USERS)
    if random.random() < 0.4:
        made["device"] = {**made.get("device", {}), "geo": random.choice(GEOS)}
    if random.random() < 0.3:
        made["user"] = {**made.get("user", {}), "geo": random.choice(GEOS)}
    if random.random() < 0.6:
        made["regs"] = regs(random)
    if random.random() < 0.3:
        chain = {"complete": random.choice((0, 1, "1")), "nodes": [{"asi": "SSP.example"}, {}]}
        made["source"] = random.choice(({"schain": chain}, {"ext": {"schain": chain}}))
    for restriction in random.sample(RESTRICTIONS, random.choice((0, 0, 1, 2))):
        made |= restriction
    return made
