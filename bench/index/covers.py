"""Circles, networks and patterns: the index against testing each of them.

Both sides use the native core. *Testing each* asks an index of the negated expressions: those are
found by the presence of their attribute, so every circle, network or pattern is tested. Nearly all
of them match, and marking them is a part of its time. The answers must be each other's complement.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from random import Random
from statistics import median

from index import Attribute, Index, Schema
from testkit.arguments import positive

ROUNDS = 5
SCHEMA = Schema([Attribute("place", "point"), Attribute("ip", "ip"), Attribute("page", "string")])
WORDS = ("sport", "news", "shop", "travel", "health", "auto", "games", "music", "video", "food")

Make = Callable[[Random, int], str]


def circle(rng: Random, _: int) -> str:
    """Five kilometres around a place in Europe."""
    at = f"({rng.uniform(36, 60):.5f}, {rng.uniform(-9, 30):.5f})"
    return f"place within {rng.choice((1, 2, 5))} km of {at}"


def network(rng: Random, _: int) -> str:
    """A network of IPv4, of 256 to 65,536 addresses."""
    prefix = rng.randint(16, 24)
    address = rng.getrandbits(32) >> (32 - prefix) << (32 - prefix)
    return f"ip in network ('{_dotted(address)}/{prefix}')"


def pattern(rng: Random, number: int) -> str:
    """A section of a site, with something after it."""
    word = rng.choice(WORDS)
    return f"page matches '/{word}-{number:05}/[a-z0-9-]+[.](html|php)$'"


def _dotted(address: int) -> str:
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def events(rng: Random, count: int, most: int) -> list[bytes]:
    """Requests from Europe, to pages that the patterns are about."""
    return [
        json.dumps(
            {
                "place": [rng.uniform(36, 60), rng.uniform(-9, 30)],
                "ip": _dotted(rng.getrandbits(32)),
                "page": f"https://www.site-{rng.randint(0, 999)}.example/"
                f"{rng.choice(WORDS)}-{rng.randrange(most):05}/some-long-title.html",
            }
        ).encode()
        for _ in range(count)
    ]


def compare(make: Make, attribute: str, count: int, asked: int) -> tuple[float, float]:
    """Seconds an event: by the index, and testing each."""
    rng = Random(7)
    texts = [make(rng, number) for number in range(count)]
    indexed, tested = Index(SCHEMA, engine="native"), Index(SCHEMA, engine="native")
    indexed.insert_many(enumerate(texts))
    tested.insert_many((number, f"not ({text})") for number, text in enumerate(texts))
    requests = events(rng, asked, count)
    everybody = set(range(count))
    for request in requests[: max(1, asked // 10)]:
        assert set(indexed.match(request)) == everybody - set(tested.match(request)), attribute
    return _seconds(indexed, requests * 10), _seconds(tested, requests)


def _seconds(index: Index, requests: Sequence[bytes]) -> float:
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for request in requests:
            index.top(request, limit=1, total=True)
        taken.append((time.perf_counter() - start) / len(requests))
    return median(taken)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    cases: list[tuple[str, Make, str, int, int]] = [
        ("circles", circle, "place", arguments.areas, 100),
        ("networks", network, "ip", arguments.areas, 100),
        ("patterns", pattern, "page", arguments.patterns, 30),
    ]
    print(f"{'':>10}{'number':>10}{'index µs':>12}{'each µs':>12}{'times':>8}{'wanted':>8}")
    for name, make, attribute, count, wanted in cases:
        by_index, by_each = compare(make, attribute, count, arguments.events)
        print(
            f"{name:>10}{count:>10,}{by_index * 1e6:>12.1f}{by_each * 1e6:>12.1f}"
            f"{by_each / by_index:>8.0f}{wanted:>8}"
        )


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `covers` on the command line."""
    command = commands.add_parser("covers", help="circles, networks, patterns: index or each")
    command.add_argument("--areas", type=positive, default=100_000, help="circles, networks")
    command.add_argument("--patterns", type=positive, default=10_000)
    command.add_argument("--events", type=positive, default=50)
    command.set_defaults(run=run)
