"""The 122 attributes of the ads workload, most common first, and their values.

An attribute's position is its rank: about 1 / rank of the requests and campaigns use it. The same
holds for values: the most common `country` is its value 0, in events and campaigns alike.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdsAttribute:
    """An attribute, its number of values, and their skew."""

    name: str
    type: str
    values: int
    alpha: float = 1.0

    def value(self, rank: int) -> str | int | float | bool:
        """The value with this rank; of a list, one element."""
        if self.type in ("string", "string list"):
            if self.name == "site.domain":
                return f"{_SITES[rank % 7]}{rank}{_ENDINGS[rank % 5]}"
            return f"{self.name.rpartition('.')[2]}-{rank}"
        if self.type == "float":
            return rank / 20
        if self.type == "bool":
            return rank == 0
        return rank


_SITES = ("daily", "sport", "game", "shop", "auto", "food", "film")
_ENDINGS = (".com", ".news", ".de", ".co.uk", ".fr")

_NAMED = (
    AdsAttribute("country", "string", 120),
    AdsAttribute("device.type", "string", 6, 0.8),
    AdsAttribute("user.segments", "int list", 50_000),
    AdsAttribute("user.age", "int", 90, 0.0),
    AdsAttribute("site.domain", "string", 20_000),
    AdsAttribute("page.categories", "string list", 400),
    AdsAttribute("device.os", "string", 12),
    AdsAttribute("region", "string", 1500),
    AdsAttribute("user.gender", "string", 3, 0.3),
    AdsAttribute("ad.format", "string", 12, 0.8),
    AdsAttribute("ad.position", "int", 8, 0.6),
    AdsAttribute("language", "string", 60),
    AdsAttribute("user.interests", "string list", 600),
    AdsAttribute("browser", "string", 20),
    AdsAttribute("city", "string", 8000),
    AdsAttribute("placement", "string", 5000),
    AdsAttribute("connection", "string", 6, 0.8),
    AdsAttribute("session.depth", "int", 60, 0.7),
    AdsAttribute("bid.floor", "float", 200, 0.6),
    AdsAttribute("app.bundle", "string", 9000),
    AdsAttribute("recency.days", "int", 365, 0.5),
    AdsAttribute("user.returning", "bool", 2, 0.3),
    AdsAttribute("device.model", "string", 2000),
    AdsAttribute("carrier", "string", 200),
    AdsAttribute("deals", "int list", 3000),
    AdsAttribute("page.keywords", "string list", 4000),
    AdsAttribute("user.income", "int", 10, 0.2),
    AdsAttribute("video.seconds", "int", 120, 0.3),
    AdsAttribute("secure", "bool", 2, 1.0),
    AdsAttribute("device.make", "string", 250),
)

COUNT = 122

ATTRIBUTES = (
    *_NAMED,
    *(
        AdsAttribute(f"kv.k{place}", ("string", "string", "int")[place % 3], 4 + 9 * (place % 40))
        for place in range(COUNT - len(_NAMED))
    ),
)
