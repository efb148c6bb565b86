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
    default: bool | int | None = None
    """Its value if no field has one."""


_CATEGORIES = tuple(
    f"{place}.{field}"
    for place in ("site", "app")
    for field in ("cat", "sectioncat", "pagecat", "content.cat")
)
_COORDINATE = "unchanged; withheld sooner than the rest of `geo`"

REQUEST = (
    Row("age", "int", ("user.yob",), r.age, "the year of the request minus this year, 0 to 120"),
    Row("user.gender", "string", ("user.gender",), r.gender, "`M`, `F` or `O`"),
    Row(
        "user.segments",
        "string list",
        ("user.data",),
        lists.segments,
        "`provider|taxonomy:segment`: `name` or else `id` of the data, its `ext.segtax` or "
        "nothing, `id` or else `name` of the segment",
    ),
    Row("country", "string", ("geo.country",), r.country, "ISO 3166-1, from three letters to two"),
    Row("geo.region", "string", ("geo.region",), r.region, "upper case, `US-CA` as `CA`"),
    Row("geo.metro", "string", ("geo.metro",), r.text, "unchanged"),
    Row("geo.city", "string", ("geo.city",), r.text, "unchanged"),
    Row("geo.zip", "string", ("geo.zip",), r.text, "unchanged"),
    Row("geo.lat", "float", ("geo.lat",), r.latitude, _COORDINATE),
    Row("geo.lon", "float", ("geo.lon",), r.longitude, _COORDINATE),
    Row(
        "local.hour",
        "int",
        ("device.geo.utcoffset", "user.geo.utcoffset"),
        r.local_hour,
        "the hour of the request, moved by this number of minutes",
    ),
    Row("device.type", "string", ("device.devicetype",), r.device_type, "the word for the number"),
    Row(
        "device.os",
        "string",
        ("device.os",),
        r.operating_system,
        "lower case, one name for each",
    ),
    Row("device.os_version", "string", ("device.osv",), r.text, "unchanged"),
    Row("device.make", "string", ("device.make",), r.text, "unchanged"),
    Row("device.model", "string", ("device.model",), r.text, "unchanged"),
    Row(
        "device.language",
        "string",
        ("device.language", "device.langb"),
        r.language,
        "lower case, `en-US` as `en`",
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
    Row(
        "privacy.gdpr",
        "bool",
        ("regs.gdpr", "regs.ext.gdpr", "regs.gpp_sid", "regs.ext.gpp_sid"),
        r.gdpr,
        "whether it is 1, or the GPP sections include that of the TCF",
    ),
    Row("privacy.coppa", "bool", ("regs.coppa", "regs.ext.coppa"), r.coppa, "whether it is 1"),
    Row(
        "privacy.us",
        "string",
        ("regs.us_privacy", "regs.ext.us_privacy"),
        r.us_privacy,
        "upper case",
    ),
)
"""Once for each request."""

IMP = (
    Row("imp.media", "string list", ("imp",), lists.media, "the media types that the imp has"),
    Row(
        "imp.sizes",
        "string list",
        ("imp.banner", "imp.video"),
        lists.sizes,
        "`300x250`, from `w` and `h`, and from each `format`",
    ),
    Row("imp.position", "int", ("imp.banner.pos", "imp.video.pos"), r.position, "the number"),
    Row("imp.secure", "bool", ("imp.secure",), r.flag, "whether it is 1"),
    Row(
        "imp.floor_micros",
        "int",
        ("imp.bidfloor",),
        r.floor,
        "in USD, converted from `bidfloorcur` with the rates of the settings",
        default=0,
    ),
    Row("imp.deals", "string list", ("imp.pmp.deals",), lists.deals, "the `id` of each"),
    Row(
        "imp.private_auction",
        "bool",
        ("imp.pmp.private_auction",),
        r.cautious_flag,
        "whether it is 1",
        default=False,
    ),
)
"""For each imp, in addition to those of the request."""

NOT_FED = {
    "segments": (
        "int list",
        "numbers without their provider have no meaning here; clients of `/v1/match` send them",
    )
}
"""Attributes of the first catalogue that a bid request cannot set: their types, and why."""
