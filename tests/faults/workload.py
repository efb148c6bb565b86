"""The targetings and events of a run: a few of each, drawn from the seed.

They are few, so that the oracle (`index.scan`) evaluates each pair once and thousands of answers
can be compared with the result.
"""

from random import Random
from typing import Any

from campaigns.catalogue.model import schema_of
from index import Index

EVENTS = 24
TEXTS = 40

_ATTRIBUTES = (
    ("country", "string"),
    ("device.type", "string"),
    ("age", "int"),
    ("segments", "int list"),
)
_COUNTRIES = ("US", "CA", "DE", "FR", "JP")
_DEVICES = ("phone", "tablet", "desktop", "tv")


def texts(seed: int) -> list[str]:
    """Targetings; the first matches everything."""
    random = Random(f"texts {seed}")
    return ["true", *(_text(random) for _ in range(TEXTS - 1))]


def events(seed: int) -> list[dict[str, Any]]:
    """The attributes of requests; each may lack some."""
    random = Random(f"events {seed}")
    return [_event(random) for _ in range(EVENTS)]


def truths(texts: list[str], events: list[dict[str, Any]]) -> list[frozenset[str]]:
    """For each event the targetings that match it, by the oracle."""
    scan = Index(schema_of(_ATTRIBUTES), engine="scan")
    scan.insert_many(list(enumerate(texts)))
    return [frozenset(texts[id] for id in scan.match(event)) for event in events]


def _text(random: Random) -> str:
    parts = [_predicate(random) for _ in range(random.randint(1, 3))]
    return f" {random.choice(('and', 'or', 'xor'))} ".join(parts)


def _predicate(random: Random) -> str:
    low = random.randint(10, 60)
    country, device = random.choice(_COUNTRIES), random.choice(_DEVICES)
    numbers = ", ".join(str(random.randint(1, 9)) for _ in range(random.randint(1, 3)))
    return random.choice(
        (
            f"country = '{country}'",
            f"country not in ('{country}', 'BR')",
            f"device.type = '{device}'",
            f"not (device.type = '{device}')",
            f"age between {low} and {low + random.randint(0, 30)}",
            f"age >= {low}",
            f"segments any of ({numbers})",
            f"segments none of ({numbers})",
            "age is null",
        )
    )


def _event(random: Random) -> dict[str, Any]:
    every = {
        "country": random.choice(_COUNTRIES),
        "device.type": random.choice(_DEVICES),
        "age": random.randint(10, 90),
        "segments": sorted({random.randint(1, 9) for _ in range(random.randint(0, 4))}),
    }
    return {name: value for name, value in every.items() if random.random() < 0.9}
