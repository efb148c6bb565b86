"""Expensive targetings, each as large as the limits allow, with an event for each.

An expression has as many parts as the limits allow, so no accepted targeting of its kind is more
expensive.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from index import Attribute, Limits, Schema
from index.language.limits import MAX_DEPTH

LIMITS = Limits(depth=MAX_DEPTH - 1)
"""One level below the highest, since variants of a targeting are one level deeper."""

SCHEMA = Schema(
    [
        Attribute("i", "int"),
        Attribute("s", "string"),
        Attribute("l", "int list"),
        Attribute("b", "bool"),
        *(Attribute(f"a{n}", "int") for n in range(200)),
    ]
)

Event = dict[str, object]

LONG = 100_000
"""Characters in the longest string of an event: a body has 256 KiB."""


@dataclass(frozen=True)
class Hostile:
    """A targeting, and the event for which it costs the most."""

    name: str
    text: str
    event: Event


def hostile() -> Iterator[Hostile]:
    """All hostile targetings."""
    i: Event = {"i": 1}
    s: Event = {"s": "a" * LONG}
    numbers: Event = {"i": 1, **{f"a{n}": 1 for n in range(200)}}
    yield Hostile("xor of one attribute", _joined(" xor ", lambda n: f"i = {n}"), i)
    yield Hostile("xor of many attributes", _joined(" xor ", _some), numbers)
    yield Hostile("xnor of ranges", _joined(" xnor ", _range), i)
    yield Hostile("xor of xors, halved again and again", _halved(_some), numbers)
    yield Hostile("xor of xors of ranges around one value", _halved(lambda n: f"i < {n + 2}"), i)
    yield Hostile(
        "xor of xors of elements", _halved(lambda n: f"l any of ({n})"), {"l": list(range(4096))}
    )
    yield Hostile("or of one attribute", _joined(" or ", lambda n: f"i = {n}"), i)
    yield Hostile("and of != on one attribute", _joined(" and ", lambda n: f"i != {n}"), {"i": -1})
    yield Hostile("or of ranges around one value", _joined(" or ", _range), i)
    yield Hostile("and of ranges around one value", _joined(" and ", _range), i)
    yield Hostile(
        "and of ors, entered by each",
        _joined(" and ", lambda n: f"(a{n % 200} = 1 or a{(n + 1) % 200} = {n})"),
        numbers,
    )
    yield Hostile(
        "or of ands, all but true",
        _joined(" or ", lambda n: f"(a{n % 200} = 1 and a{(n + 7) % 200} = {n + 2})"),
        numbers,
    )
    yield Hostile("and, or, and, or … to the depth", _alternating(), numbers)
    yield Hostile("not not not … to the depth", _nested(), {"b": False})
    yield Hostile("a set of numbers", _set("i in"), i)
    yield Hostile("all of a set", _set("l all of"), {"l": list(range(10_000))})
    yield Hostile("none of a set", _set("l none of"), {"l": list(range(-10_000, 0))})
    yield Hostile(
        "any of many sets",
        _joined(" or ", lambda n: f"l any of ({n * 3}, {n * 3 + 1}, {n * 3 + 2})"),
        {"l": list(range(-10_000, 0))},
    )
    yield Hostile(
        "contains, in a long string", _joined(" or ", lambda n: f"s contains 'aaab{n}'"), s
    )
    yield Hostile(
        "does not contain, in a long string",
        _joined(" and ", lambda n: f"not (s contains 'aaab{n}')"),
        s,
    )
    yield Hostile("contains a long string", _long("s contains"), s)
    yield Hostile(
        "starts with, ever longer", _joined(" or ", lambda n: f"s starts with '{'a' * n}b'"), s
    )
    yield Hostile(
        "ends with, ever longer", _joined(" or ", lambda n: f"s ends with 'b{'a' * n}'"), s
    )


def refused() -> Iterator[tuple[str, str]]:
    """Targetings beyond a limit, by name."""
    yield "a text of 65,537 bytes", "b" + " " * LIMITS.text_bytes
    yield "4,097 predicates", " or ".join(["b"] * (LIMITS.predicates + 1))
    yield "nested once too often", "(" * (LIMITS.depth + 1) + "b" + ")" * (LIMITS.depth + 1)
    yield "100,000 parentheses", "(" * 100_000
    yield "30,000 times not", "not " * 30_000 + "b"


def _joined(word: str, part: Callable[[int], str]) -> str:
    """As many parts as the limits allow."""
    parts: list[str] = []
    size = predicates = 0
    for n in range(LIMITS.predicates):
        text = part(n)
        size += len(text.encode()) + len(word)
        predicates += 1 + text.count(" and ") + text.count(" or ") - text.count(" between ")
        if size > LIMITS.text_bytes or predicates > LIMITS.predicates:
            break
        parts.append(text)
    return word.join(parts)


def _some(n: int) -> str:
    return f"a{n % 200} = {n // 200}"


def _range(n: int) -> str:
    return f"i between {-n} and {n + 1}"


def _long(start: str) -> str:
    return f"{start} '{'a' * (LIMITS.text_bytes - len(start) - 4)}b'"


def _set(start: str) -> str:
    values: list[str] = []
    size = len(start) + 3
    while size + len(f"{len(values)},") <= LIMITS.text_bytes:
        size += len(f"{len(values)},")
        values.append(str(len(values)))
    return f"{start} ({','.join(values)})"


def _halved(part: Callable[[int], str]) -> str:
    parts = [part(n) for n in range(2048)]
    while len(parts) > 1:
        parts = [f"({a} xor {b})" for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _alternating() -> str:
    text = "a0 = 1"
    for level in range(LIMITS.depth):
        word = "and" if level % 2 else "or"
        side = f" {word} ".join(f"a{(level * 50 + n) % 200} = {n % 3}" for n in range(50))
        text = f"({side} {word} {text})"
    return text


def _nested() -> str:
    return "not (" * (LIMITS.depth // 2) + "b" + ")" * (LIMITS.depth // 2)
