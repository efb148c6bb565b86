"""The words of the first catalogue, and other ways in which requests write them.

`app/openrtb` writes these words into events; the catalogue can offer and check them.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from campaigns.catalogue import countries, languages

OPERATING_SYSTEMS: dict[str, tuple[str, ...]] = {
    "android": ("android os", "android tv", "androidtv", "google android"),
    "ios": ("iphone os", "iphone", "ipad", "ipados", "ipad os", "ipod", "iphoneos"),
    "windows": ("windows nt", "win", "win32", "win64", "microsoft windows"),
    "windows phone": ("windows mobile", "windowsphone"),
    "macos": ("mac os", "mac os x", "macosx", "os x", "osx", "mac", "macintosh", "darwin"),
    "linux": ("gnu/linux", "ubuntu", "debian", "fedora"),
    "chromeos": ("chrome os", "cros", "chromium os"),
    "tvos": ("apple tv", "appletv", "tv os", "apple tvos"),
    "watchos": ("watch os",),
    "fireos": ("fire os", "fire tv", "firetv"),
    "roku": ("roku os", "rokuos"),
    "tizen": ("tizen os",),
    "webos": ("web os", "webos tv", "web0s"),
    "harmonyos": ("harmony os", "openharmony"),
    "kaios": ("kai os",),
    "playstation": ("orbis os", "ps", "playstation os"),
    "xbox": ("xbox os",),
    "blackberry": ("blackberry os", "rim os"),
}
"""Each system, and its other names; case and version numbers do not count."""

_SYSTEM = {name: system for system, names in OPERATING_SYSTEMS.items() for name in (system, *names)}
_VERSION = re.compile(r"(?:[\s/_-]+v?|(?<=[a-z]))[0-9][0-9._]*(?:[\s(;].*)?$")

_MAKERS = """
Acer Alcatel Amazon Apple ASUS BlackBerry BlackShark BLU Cubot Doogee Dell Fairphone Gionee
Google Hisense HMD Honor HP HTC Huawei Infinix itel Lenovo LG Meizu Micromax Microsoft
Motorola Nintendo Nokia Nothing NVIDIA OnePlus OPPO Oukitel Palm Panasonic Philips Realme
Redmi Roku Samsung Sharp Sony TCL Tecno Toshiba Ulefone Umidigi Vizio vivo Wiko Xiaomi Xbox
ZTE
"""

MAKERS = tuple(_MAKERS.split())
"""Makers of devices, as they are usually written."""

_MAKER = {maker.lower(): maker for maker in MAKERS}

GENDERS: dict[str, tuple[str, ...]] = {
    "M": ("male", "man"),
    "F": ("female", "woman"),
    "O": ("other", "non-binary", "nonbinary", "diverse"),
}
"""Each letter, and its words."""

_GENDER = {w: letter for letter, words in GENDERS.items() for w in (letter.lower(), *words)}

DEVICE_TYPES = ("phone", "tablet", "desktop", "tv", "console", "set_top_box", "other")
CONNECTIONS = ("ethernet", "wifi", "cellular", "2g", "3g", "4g", "5g")
FORMATS = ("banner", "video", "audio", "native")

VALUES: dict[str, tuple[str, ...]] = {
    "country": tuple(sorted(countries.ALPHA_2)),
    "user.gender": tuple(GENDERS),
    "device.type": DEVICE_TYPES,
    "device.os": tuple(OPERATING_SYSTEMS),
    "device.make": MAKERS,
    "device.language": tuple(sorted(languages.ALPHA_2)),
    "content.language": tuple(sorted(languages.ALPHA_2)),
    "device.connection": CONNECTIONS,
    "imp.media": FORMATS,
}
"""The usual values of an attribute. Systems, makers and languages that are not listed occur, too;
the other lists are complete."""

OPEN = frozenset({"device.os", "device.make", "device.language", "content.language"})

NUMBERS: dict[str, range] = {
    "now.hour": range(24),
    "local.hour": range(24),
    "now.weekday": range(1, 8),
    "local.weekday": range(1, 8),
}
"""The values of the clocks; the day starts again with 0, the week ends with Sunday, 7."""

KEPT_BITS: dict[str, tuple[int, int]] = {"device.ip": (24, 56)}
"""How many bits of an IPv4 and of an IPv6 address events have, for privacy. The rest is 0."""

_OFTEN_MISSING = """
segments age user.gender user.segments user.id_sources geo.region geo.metro geo.city geo.zip
geo.lat geo.lon geo.point local.hour local.weekday device.ip device.model device.carrier
device.connection site.domain site.page site.categories app.bundle app.name app.categories
categories keywords
content.title content.series content.genre content.rating content.language content.live
dooh.venues imp.deals imp.position imp.tagid imp.ext.gpid
"""

OFTEN_MISSING = frozenset(_OFTEN_MISSING.split())
"""What many bid requests lack: a user who is not known, a site in an app, an app on a site. The
statistics know better, once there are some."""


@lru_cache(maxsize=4096)
def operating_system(name: str) -> str:
    """The usual name of a system, without its version; an unknown one in lower case."""
    name = " ".join(name.lower().split())
    for each in (name, _VERSION.sub("", name)):
        if each in _SYSTEM:
            return _SYSTEM[each]
    return name


@lru_cache(maxsize=4096)
def maker(name: str) -> str:
    """A maker as it is usually written; an unknown one with capitals, whatever its case was."""
    return _MAKER.get(name.lower()) or " ".join(word.capitalize() for word in name.split())


def gender(word: str) -> str | None:
    """`M`, `F` or `O`."""
    return _GENDER.get(word.strip().lower())


def language(code: str) -> str | None:
    """The two letters of `en-US` or `eng`; a language without two letters keeps its three."""
    first = code.strip().lower().replace("_", "-").partition("-")[0]
    if not (2 <= len(first) <= 3 and first.isascii() and first.isalpha()):
        return None
    return languages.BY_ALPHA_3.get(first, first)


_USUAL: dict[str, Callable[[str], str | None]] = {
    "country": countries.alpha_2,
    "user.gender": gender,
    "device.os": operating_system,
    "device.make": maker,
    "device.language": language,
    "content.language": language,
}


def usual(attribute: str, value: str) -> str | None:
    """A value of an attribute as events have it: `USA` is `US`, `iPhone OS` is `ios`. None if that
    is not known."""
    return _USUAL[attribute](value) if attribute in _USUAL else None
