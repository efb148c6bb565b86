"""The table: which field of a bid request becomes which attribute of the catalogue, and how.

`docs/openrtb.md` shows it; `python -m app.commands.docs` updates that. A row names its fields in
the order in which they are tried: the first one with a value counts, or all of them if the
attribute is a list. `geo` is `device.geo`, or `user.geo` if the device has none.
"""

from dataclasses import dataclass

from app.openrtb import list_readers as lists
from app.openrtb import readers as r


@dataclass(frozen=True, slots=True)
class Row:
    """One attribute."""

    attribute: str
    type: str
    paths: tuple[str, ...]
    read: r.Reader
    how: str


_CATEGORIES = tuple(
    f"{place}.{field}"
    for place in ("site", "app")
    for field in ("cat", "sectioncat", "pagecat", "content.cat")
)
_CONTENTS = tuple(f"{place}.content" for place in ("site", "app", "dooh"))
_SCHAINS = ("source.schain", "source.ext.schain")


def _content(field: str) -> tuple[str, ...]:
    return tuple(f"{content}.{field}" for content in _CONTENTS)


def _schain(field: str) -> tuple[str, ...]:
    return tuple(f"{schain}.{field}" for schain in _SCHAINS)


_COORDINATE = "unchanged; withheld sooner than the rest of `geo`"

REQUEST = (
    Row("age", "int", ("user.yob",), r.age, "the year of the request minus this year, 0 to 120"),
    Row("user.gender", "string", ("user.gender",), r.gender, "`M`, `F` or `O`, also from words"),
    Row(
        "user.segments",
        "string list",
        ("user.data",),
        lists.segments,
        "`provider|taxonomy:segment`: `name` or else `id` of the data, its `ext.segtax` or "
        "nothing, `id` or else `name` of the segment",
    ),
    Row(
        "country",
        "string",
        ("geo.country",),
        r.country,
        "ISO 3166-1 in two letters, also from three, and `UK`",
    ),
    Row("geo.region", "string", ("geo.region",), r.region, "upper case, `US-CA` as `CA`"),
    Row("geo.metro", "string", ("geo.metro",), r.text, "unchanged"),
    Row("geo.city", "string", ("geo.city",), r.text, "unchanged"),
    Row("geo.zip", "string", ("geo.zip",), r.text, "unchanged"),
    Row("geo.lat", "float", ("geo.lat",), r.latitude, _COORDINATE),
    Row("geo.lon", "float", ("geo.lon",), r.longitude, _COORDINATE),
    Row(
        "geo.point",
        "point",
        ("geo.lat",),
        r.point,
        "with `geo.lon`; withheld and rounded as they are",
    ),
    Row(
        "local.hour",
        "int",
        ("device.geo.utcoffset", "user.geo.utcoffset"),
        r.local_hour,
        "the hour of the request, moved by this number of minutes",
    ),
    Row(
        "local.weekday",
        "int",
        ("device.geo.utcoffset", "user.geo.utcoffset"),
        r.local_weekday,
        "the day of the request, moved by this number of minutes, 1 (Monday) to 7",
    ),
    Row("device.type", "string", ("device.devicetype",), r.device_type, "the word for the number"),
    Row(
        "device.os",
        "string",
        ("device.os",),
        r.operating_system,
        "one name for each, without a version",
    ),
    Row(
        "device.os_version",
        "version",
        ("device.osv",),
        r.version,
        "the numbers at its beginning, also where the catalogue has it as a string",
    ),
    Row(
        "device.ip",
        "ip",
        ("device.ip", "device.ipv6"),
        r.text,
        "its network: 24 bits of IPv4, 56 of IPv6, the rest 0; withheld with `geo.zip`",
    ),
    Row("device.make", "string", ("device.make",), r.maker, "one way of writing for each"),
    Row("device.model", "string", ("device.model",), r.text, "unchanged"),
    Row(
        "device.language",
        "string",
        ("device.language", "device.langb"),
        r.language,
        "two letters, `en-US` and `eng` as `en`",
    ),
    Row(
        "device.connection",
        "string",
        ("device.connectiontype",),
        r.connection,
        "the word for the number",
    ),
    Row(
        "categories",
        "string list",
        (*_CATEGORIES, "dooh.content.cat"),
        lists.categories,
        "with their taxonomy (`cattax` next to them) and their parent categories",
    ),
    Row("site.domain", "string", ("site.domain", "site.page"), r.domain, "lower case"),
    Row("site.page", "string", ("site.page",), r.page, "without query, fragment and user"),
    Row("site.categories", "string list", ("site.cat",), lists.categories, "as `categories`"),
    Row("app.bundle", "string", ("app.bundle",), r.text, "unchanged"),
    Row("app.name", "string", ("app.name",), r.text, "unchanged"),
    Row("app.categories", "string list", ("app.cat",), lists.categories, "as `categories`"),
    Row(
        "publisher.id",
        "string",
        ("site.publisher.id", "app.publisher.id", "dooh.publisher.id"),
        r.text,
        "unchanged",
    ),
    Row(
        "publisher.name",
        "string",
        ("site.publisher.name", "app.publisher.name", "dooh.publisher.name"),
        r.text,
        "unchanged",
    ),
    Row("content.title", "string", _content("title"), r.text, "unchanged"),
    Row("content.series", "string", _content("series"), r.text, "unchanged"),
    Row("content.genre", "string", _content("genre"), r.text, "unchanged"),
    Row("content.rating", "string", _content("contentrating"), r.text, "unchanged"),
    Row("content.language", "string", _content("language"), r.language, "two letters"),
    Row("content.live", "bool", _content("livestream"), r.flag, "whether it is 1"),
    Row(
        "keywords",
        "string list",
        (
            *("site.keywords", "site.kwarray", "app.keywords", "app.kwarray", "dooh.keywords"),
            *_content("keywords"),
            *_content("kwarray"),
        ),
        lists.keywords,
        "lower case",
    ),
    Row("device.carrier", "string", ("device.carrier",), r.text, "unchanged"),
    Row("dooh.venues", "string list", ("dooh.venuetype",), lists.texts, "unchanged"),
    Row("schain.complete", "bool", _schain("complete"), r.flag, "whether it is 1"),
    Row("schain.nodes", "int", _schain("nodes"), lists.length, "how many"),
    Row("schain.asis", "string list", _schain("nodes"), lists.systems, "`asi` of each, lower case"),
    Row(
        "user.id_sources",
        "string list",
        ("user.id_sources",),
        lists.texts,
        "`source` of each of `user.eids`, lower case; withheld with the segments",
    ),
    Row(
        "privacy.gdpr",
        "bool",
        ("regs.gdpr", "regs.gpp_sid", "regs.gpp"),
        r.given,
        "whether it is 1, or the section of the TCF applies",
    ),
    Row("privacy.coppa", "bool", ("regs.coppa",), r.given, "whether it is 1"),
    Row("privacy.us", "string", ("regs.us_privacy",), r.given, "upper case"),
)
"""Once for each request."""

IMP = (
    Row(
        "imp.media",
        "string list",
        ("imp.banner", "imp.video", "imp.audio", "imp.native"),
        r.given,
        "the format",
    ),
    Row(
        "imp.sizes",
        "string list",
        ("imp.banner.w", "imp.banner.format", "imp.video.w"),
        lists.sizes,
        "`300x250`, with `h` next to `w`",
    ),
    Row(
        "imp.position",
        "int",
        ("imp.banner.pos", "imp.video.pos"),
        r.position,
        "the number; 0, unknown, is missing",
    ),
    Row("imp.secure", "bool", ("imp.secure",), r.flag, "whether it is 1"),
    Row(
        "imp.floor_micros",
        "int",
        ("imp.bidfloor",),
        r.given,
        "in USD, converted from `bidfloorcur` with the rates of the settings; without it 0",
    ),
    Row("imp.deals", "string list", ("imp.pmp.deals",), r.given, "the `id` of each offer"),
    Row(
        "imp.private_auction",
        "bool",
        ("imp.pmp.private_auction",),
        r.given,
        "whether it is 1; without it false",
    ),
    Row("imp.instl", "bool", ("imp.instl",), r.flag, "whether it is 1"),
    Row("imp.tagid", "string", ("imp.tagid",), r.text, "unchanged"),
    Row("imp.ext.gpid", "string", ("imp.ext.gpid",), r.text, "unchanged"),
    Row("imp.rwdd", "bool", ("imp.rwdd",), r.flag, "whether it is 1"),
    Row("imp.banner.mimes", "string list", ("imp.banner.mimes",), lists.texts, "unchanged"),
    Row("imp.banner.api", "int list", ("imp.banner.api",), lists.codes, "the numbers"),
    Row("imp.banner.btype", "int list", ("imp.banner.btype",), lists.codes, "the numbers"),
    Row("imp.banner.battr", "int list", ("imp.banner.battr",), lists.codes, "the numbers"),
    Row("imp.video.mimes", "string list", ("imp.video.mimes",), lists.texts, "unchanged"),
    Row("imp.video.minduration", "int", ("imp.video.minduration",), r.seconds, "the number"),
    Row("imp.video.maxduration", "int", ("imp.video.maxduration",), r.seconds, "the number"),
    Row("imp.video.protocols", "int list", ("imp.video.protocols",), lists.codes, "the numbers"),
    Row("imp.video.api", "int list", ("imp.video.api",), lists.codes, "the numbers"),
    Row("imp.video.battr", "int list", ("imp.video.battr",), lists.codes, "the numbers"),
    Row("imp.video.plcmt", "int", ("imp.video.plcmt",), r.code, "the number"),
    Row("imp.video.linearity", "int", ("imp.video.linearity",), r.code, "the number"),
    Row("imp.video.skip", "bool", ("imp.video.skip",), r.flag, "whether it is 1"),
    Row("imp.video.startdelay", "int", ("imp.video.startdelay",), r.seconds, "the number"),
    Row(
        "imp.video.playbackmethod",
        "int list",
        ("imp.video.playbackmethod",),
        lists.codes,
        "the numbers",
    ),
    Row("imp.audio.mimes", "string list", ("imp.audio.mimes",), lists.texts, "unchanged"),
    Row("imp.audio.minduration", "int", ("imp.audio.minduration",), r.seconds, "the number"),
    Row("imp.audio.maxduration", "int", ("imp.audio.maxduration",), r.seconds, "the number"),
    Row("imp.audio.api", "int list", ("imp.audio.api",), lists.codes, "the numbers"),
)
"""For each format of an imp, in addition to those of the request."""

GIVEN = frozenset(row.attribute for row in (*REQUEST, *IMP) if row.read is r.given)
"""Attributes whose fields `privacy.py` and `offers.py` read: the same value decides there."""

NOT_FED = {
    "segments": (
        "int list",
        "numbers without their provider have no meaning here; clients of `/v1/match` send them",
    )
}
"""Attributes of the first catalogue that a bid request cannot set: their types, and why."""
