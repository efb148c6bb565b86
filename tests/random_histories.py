"""Random schemas, expressions, events and histories, generated quickly from a seed.

Hypothesis finds small counterexamples; this generates thousands of cases per second that resemble
real indexes: repeated expressions and subexpressions, adjacent bounds and values, large sets, long
chains, scattered ids. It shares the pools of values with `tests/index/strategies.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from random import Random

from index import Exclude
from index.language import (
    And,
    Attribute,
    Constant,
    Not,
    Or,
    Schema,
    Tree,
    Type,
    Xor,
    predicate_count,
)
from index.language.checks import make_predicate
from index.language.derived import Bucket, Derived, Folded
from index.language.operators import Op, Operands
from index.language.predicate import Predicate
from tests.index.strategies import (
    ADDRESSES,
    DEGREES,
    FLOATS,
    INTS,
    LATITUDES,
    NETWORKS,
    OPERATORS,
    SALTS,
    STRINGS,
    VERSION_TEXTS,
    bounds,
)

EDGES = [
    sign * 2**power + step for power in (21, 31, 32) for sign in (-1, 1) for step in range(-3, 4)
]
PLACES = [[lat, lon] for lat in LATITUDES for lon in DEGREES]
POOLS: dict[Type, list[object]] = {
    Type.BOOL: [False, True],
    Type.INT: [*INTS, *INTS, *EDGES],
    Type.FLOAT: [*FLOATS, math.nextafter(0.5, 1), math.nextafter(0.5, 0), -1.7976931348623157e308],
    Type.STRING: [*STRINGS, "abcd", "BCD", "Éa", "aé", "\u20ac", "\U00010000", "a" * 40],
    Type.VERSION: list(VERSION_TEXTS),
    Type.IP: list(ADDRESSES),
    Type.POINT: list(PLACES),
}
MANY: dict[Type, Callable[[int], object]] = {
    Type.INT: int,
    Type.FLOAT: int,
    Type.STRING: str,
    Type.VERSION: str,
    Type.IP: lambda n: f"10.0.{n // 256}.{n % 256}",
}
"""From a number to a value, to fill large sets."""
REPEATED = 12
"""Most predicates of an expression that is reused, whole or as part of others."""
MOMENTS = [None, None, 0, 1, 2, 2.5, 3]
SCORES = [0, 0, 1, -1, 2**53 - 1, 2**53, (5 << 53) + 3, 2**63 - 1, -(2**63)]
GROUPS = [0, 1, 2, 3, 64, 2**40, 2**63 - 1]
VERSIONS = [0, 1, 2, 2**32 - 1]
FLOORS = [0, 0, 0, 0, 1, 4, 2**53 - 1]


@dataclass(frozen=True)
class Insert:
    id: int
    tree: Tree
    score: int = 0
    start: float | None = None
    end: float | None = None
    group: int = 0
    version: int = 0

    @property
    def beside(self) -> tuple[int, float | None, float | None, int, int]:
        return self.score, self.start, self.end, self.group, self.version


@dataclass(frozen=True)
class Change:
    """`remove` an id, `mute` or `unmute` a group."""

    method: str
    argument: int


@dataclass(frozen=True)
class Match:
    event: dict[str, object]
    at: float | None = None
    limit: int = 3
    exclude: Exclude | None = None
    floor: int = 0


@dataclass(frozen=True)
class UseStatistics:
    statistics: dict[str, object] | None


class Upkeep(Enum):
    """What changes no answer."""

    REPLAN = "replan"
    RELOAD = "reload"
    CHECK = "check"


Step = Insert | Change | Match | UseStatistics | Upkeep


class Cases:
    """A schema, and generators of everything random for it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        count = random.choice([1, 2, 3, 5, 8, 12])
        kinds = list(Type)
        self.schema = Schema(
            [Attribute(f"a{place}", random.choice(kinds)) for place in range(count)]
        )
        self.attributes = list(self.schema)
        # Few values make predicates collide and hold; many make the tables grow.
        self.pools = {kind: self._pool(kind, random.choice([3, 8, 40])) for kind in POOLS}
        self.known: list[Tree] = []
        self.groups = GROUPS

    def _pool(self, kind: Type, size: int) -> list[object]:
        pool = [self.random.choice(POOLS[kind]) for _ in range(size)]
        if kind is Type.INT and self.random.random() < 0.5:
            near = self.random.choice([0, 50, 2**21, -(2**21), 2**31, -(2**31), 2**40])
            pool += [near + self.random.randint(-40, 40) for _ in range(size)]
        return pool

    def value(self, kind: Type) -> object:
        return self.random.choice(self.pools[kind])

    def predicate(self) -> Predicate:
        random = self.random
        attribute = random.choice(self.attributes)
        derived = self.derived(attribute)
        kind = (attribute.type if derived is None else derived.type).element
        op = random.choice(OPERATORS[attribute.type if derived is None else derived.type])
        if isinstance(derived, Folded) and op.operands is Operands.NONE:
            derived = None
        operands: list[object] = []
        if op.operands is Operands.SET:
            size = random.choice([1, 2, 3, 5]) if random.random() < 0.98 else 1500
            operands = [self.value(kind) for _ in range(min(size, 5))]
            if size > 5 and kind is not Type.BOOL:
                numbers = range(size)
                operands += [MANY[kind](n) for n in numbers]
        elif op.operands is Operands.BOUNDS:
            operands = bounds(kind, derived)([self.value(kind), self.value(kind)])
        elif op.operands is Operands.TEXT:
            operands = [self.value(kind) or "a"]
        elif op.operands is Operands.PATTERN:
            operands = [self.pattern(op)]
        elif op.operands is Operands.ONE:
            operands = [self.value(kind)]
        elif op.operands is not Operands.NONE:
            operands = self.area(op)
        if isinstance(derived, Bucket):
            buckets = [int(str(each)) % 10_003 for each in operands]
            operands = [*(sorted(buckets) if op.operands is Operands.BOUNDS else buckets)]
        return make_predicate(attribute, op, operands, derived)

    def derived(self, attribute: Attribute) -> Derived | None:
        dice = self.random.random()
        if dice < 0.2 and attribute.type in Folded.sources:
            return Folded(attribute.name, attribute.type)
        if dice > 0.9 and attribute.type in Bucket.sources:
            return Bucket(attribute.name, attribute.type, self.random.choice(SALTS))
        return None

    def pattern(self, op: Op) -> str:
        """Pieces of values with wildcards, or with parts of regular expressions, between them."""
        random = self.random
        signs = ["*", "?", "*?"] if op is Op.LIKE else [".*", ".", "b?", "[a-c]", "(a|é)", "+", "$"]
        special = "*?\\" if op is Op.LIKE else "\\.+*?()|[]{}^$"
        pieces = []
        for _ in range(random.randint(1, 3)):
            text = str(self.value(Type.STRING))[: random.randint(1, 12)]
            text = "".join(f"\\{char}" if char in special else char for char in text)
            pieces.append((text or "a") + random.choice(["", *signs]))
        return "".join(pieces)

    def area(self, op: Op) -> list[object]:
        random = self.random
        if op.operands is Operands.NETWORKS:
            return [random.choice(NETWORKS) for _ in range(random.choice([1, 2, 3, 9]))]
        count = {Operands.CIRCLE: 1, Operands.BOX: 2}.get(op.operands, random.randint(3, 6))
        points = sorted(random.choice(PLACES) for _ in range(count))
        if op.operands is Operands.POLYGON:
            random.shuffle(points)
        numbers: list[object] = [number for point in points for number in point]
        return [random.choice([1, 1000, 2e6]), *numbers] if count == 1 else numbers

    def tree(self, depth: int = 3) -> Tree:
        random = self.random
        dice = random.random()
        if self.known and dice < 0.1:
            return random.choice(self.known)
        if depth == 0 or dice < 0.3:
            return self.predicate() if random.random() < 0.97 else Constant(random.random() < 0.5)
        if dice < 0.4:
            return Not(self.tree(depth - 1))
        wide = random.random() < 0.02
        size = random.randint(10, 60) if wide else random.randint(2, 4)
        children = tuple(self.tree(0 if wide else depth - 1) for _ in range(size))
        if dice < 0.65:
            return And(children)
        if dice < 0.9:
            return Or(children)
        return Xor(children, tuple(random.random() < 0.5 for _ in children[1:]))

    def expression(self) -> Tree:
        dice = self.random.random()
        if self.known and dice < 0.15:
            return self.random.choice(self.known)
        tree: Tree
        if dice < 0.45:
            size = self.random.randint(2, 6)
            tree = And(tuple(self.predicate() for _ in range(size)))
        else:
            tree = self.tree(self.random.choice([1, 2, 3, 4]))
        if predicate_count(tree) > REPEATED:
            return tree
        if len(self.known) < 40:
            self.known.append(tree)
        else:
            self.known[self.random.randrange(40)] = tree
        return tree

    def event(self) -> dict[str, object]:
        random = self.random
        presence = random.choice([0.3, 0.8, 1.0])
        event: dict[str, object] = {}
        for attribute in self.attributes:
            if random.random() > presence:
                if random.random() < 0.2:
                    event[attribute.name] = None
                continue
            kind = attribute.type
            if kind.is_list:
                size = random.choice([0, 1, 2, 5, 30])
                event[attribute.name] = [self.value(kind.element) for _ in range(size)]
            else:
                event[attribute.name] = self.value(kind)
        if random.random() < 0.05:
            event["nobody.knows"] = 1
        return event

    def statistics(self) -> dict[str, object] | None:
        random = self.random
        if random.random() < 0.2:
            return None
        attributes: dict[str, object] = {}
        for attribute in self.attributes:
            if random.random() < 0.3:
                continue
            kind = attribute.type
            shares = [[self.value(kind.element), random.random()] for _ in range(4)]
            described: dict[str, object] = {"presence": random.random()}
            if kind is not Type.POINT:
                described["elements" if kind.is_list else "values"] = shares
            if kind in (Type.INT, Type.FLOAT):
                bounds = [[self.value(kind), self.value(kind), random.random()] for _ in range(2)]
                described["histogram"] = bounds
            attributes[attribute.name] = described
        return {"version": 1, "attributes": attributes}

    def ids(self, count: int) -> list[int]:
        """Ids that are adjacent, far apart, and at the limits."""
        random = self.random
        way = random.choice(["dense", "sparse", "mixed"])
        if way == "dense":
            first = random.choice([0, 60, 2**40])
            return [first + place for place in range(count)]
        sparse = [random.randrange(2**63) for _ in range(count)]
        if way == "mixed":
            sparse[: count // 2] = range(count // 2)
            sparse += [63, 64, 2**63 - 1]
        return sparse

    def window(self) -> tuple[float | None, float | None]:
        return self.random.choice([(None, None), (None, None), (1, None), (None, 3), (1, 2.5)])

    def history(self, steps: int) -> list[Step]:
        """A random sequence of steps, with matches throughout."""
        random = self.random
        ids = self.ids(random.choice([3, 10, 40, 150]))
        self.groups = random.choice([[0], GROUPS, [random.randrange(2**63) for _ in range(200)]])
        weights = {
            "insert": 40,
            "match": 40,
            "remove": random.choice([5, 20, 40]),
            "mute": random.choice([0, 2]),
            "unmute": 2,
            "statistics": 1,
            "replan": 1,
            "reload": 0.5,
            "check": 3,
        }
        kinds = random.choices(list(weights), list(weights.values()), k=steps)
        return [self._step(kind, ids) for kind in kinds]

    def _step(self, kind: str, ids: list[int]) -> Step:
        random = self.random
        match kind:
            case "insert":
                score, version = random.choice(SCORES), random.choice(VERSIONS)
                beside = (score, *self.window(), random.choice(self.groups), version)
                return Insert(random.choice(ids), self.expression(), *beside)
            case "remove":
                return Change(kind, random.choice(ids))
            case "mute" | "unmute":
                return Change(kind, random.choice(self.groups) or 1)
            case "statistics":
                return UseStatistics(self.statistics())
            case "replan" | "reload" | "check":
                return Upkeep(kind)
        moment, limit = random.choice(MOMENTS), random.choice([0, 1, 3, 1000])
        return Match(self.event(), moment, limit, self.exclude(ids), random.choice(FLOORS))

    def exclude(self, ids: list[int]) -> Exclude | None:
        """Mostly empty; else ids and groups, with duplicates and unknown ones."""
        random = self.random
        if random.random() < 0.6:
            return None
        some, groups = random.choice([0, 1, 5, 300]), random.choice([0, 1, 5])
        return Exclude(
            [random.choice(ids) for _ in range(some)] + [random.randrange(2**63)],
            [random.choice(self.groups) for _ in range(groups)],
        )
