"""Random schemas, expressions and events, for every property test of the index.

Values come from small pools that include the extremes of each type, so predicates often hold and
often collide.
"""

from collections.abc import Callable

from hypothesis import strategies as st

from index import Exclude
from index.language import And, Attribute, Constant, Not, Or, Predicate, Schema, Tree, Type, Xor
from index.language.checks import make_predicate
from index.language.derived import Bucket, Derived, Folded
from index.language.folding import fold
from index.language.operators import Op, Operands
from index.language.types import INT_MAX, INT_MIN, check_scalar

INTS = [*range(-3, 6), INT_MIN, INT_MIN + 1, INT_MAX - 1, INT_MAX, 2**53, -(2**53)]
FLOATS = [0.0, -0.0, 0.5, 1.0, 1.5, -1.5, 5e-324, -5e-324, 1.7976931348623157e308, 0.1, 3]
STRINGS = [
    "",
    "a",
    "b",
    "AB",
    "abc",
    "bA",
    "é",
    "É",
    "'",
    '"',
    "-- no",
    "\U0010ffff",
    "a\U0010ffff",
]

VERSION_TEXTS = ["0", "0.1", "9.3", "10", "14", "14.2", "14.10", "127.1", "128", "120.0.6099.129"]
ADDRESSES = ["10.0.0.0", "10.0.0.7", "10.1.0.0", "255.255.255.255", "::", "2001:db8::1", "fe80::7"]
NETWORKS = [*ADDRESSES, "0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/29", "::/0", "2001:db8::/32", "::/127"]
DEGREES = [-180, -179.99, -90, -45.5, -0.00001, 0, 0.001, 13.4, 52.52, 89.9999, 90, 179.5, 180]
LATITUDES = [degrees for degrees in DEGREES if abs(degrees) <= 90]

POINTS = st.tuples(st.sampled_from(LATITUDES), st.sampled_from(DEGREES)).map(list[float])

VALUES: dict[Type, st.SearchStrategy[object]] = {
    Type.BOOL: st.booleans(),
    Type.INT: st.sampled_from(INTS) | st.integers(INT_MIN, INT_MAX),
    Type.FLOAT: st.sampled_from(FLOATS) | st.floats(allow_nan=False, allow_infinity=False),
    Type.STRING: st.sampled_from(STRINGS) | st.text(alphabet="abAB\ud7ff\ue000éÉ", max_size=4),
    Type.VERSION: st.sampled_from(VERSION_TEXTS)
    | st.lists(st.sampled_from([0, 1, 2, 127, 128, 300]), min_size=1, max_size=4).map(
        lambda parts: ".".join(map(str, parts))
    ),
    Type.IP: st.sampled_from(ADDRESSES) | st.ip_addresses().map(str),
    Type.POINT: POINTS,
}

SALTS = ["", "spring", "\U0010ffff"]
BUCKETS = st.sampled_from([0, 1, 4999, 5000, 9998, 9999, -1, 10_000, INT_MIN, INT_MAX])

WILDCARDS = st.lists(
    st.sampled_from(["*", "?", "a", "b", "ab", "É", "abc", "\\*", "\\\\"]), max_size=5
).map("".join)
_ATOMS = st.sampled_from(
    ["a", "b", "A", "ab", "abc", "é", ".", "[ab]", "[^a]", "[a-é]", "^", "$", "\\b", "\\w", "\\D"]
)
_REPEATED = st.builds(
    lambda atom, times: f"(?:{atom}){times}",
    _ATOMS,
    st.sampled_from(["*", "+", "?", "{2}", "{0,3}"]),
)
REGULAR = st.recursive(
    st.lists(_ATOMS | _REPEATED, min_size=1, max_size=3).map("".join),
    lambda inner: st.builds(lambda a, b: f"({a}|{b})", inner, inner) | inner.map("({})+".format),
    max_leaves=3,
)
"""Patterns that `matches` takes."""

OPERATORS: dict[Type, list[Op]] = {
    kind: sorted((op for op in Op if kind in op.types), key=str) for kind in Type
}

NAMES = ["a", "b", "c.d", "E", "f-1", "`g` é", "in.g"]


SCORES = st.sampled_from(
    [0, 0, 1, 2, -1, 2**53 - 1, 2**53, 2**53 + 1, (5 << 53) + 3, INT_MAX, INT_MIN]
)
GROUPS = st.sampled_from([0, 0, 1, 2, 3, 64, 2**32, INT_MAX])
SOME_GROUPS = GROUPS.filter(bool)
VERSIONS = st.sampled_from([0, 1, 2, 2**32 - 1])
FLOORS = st.sampled_from([0, 0, 0, 1, 2, 3, 2**53 - 1])


def excludes(ids: st.SearchStrategy[int]) -> st.SearchStrategy[Exclude | None]:
    """Nothing, or ids and groups, with repeats and strangers among them."""
    lists = st.builds(
        Exclude, st.lists(ids, max_size=4), st.lists(GROUPS | st.integers(0, 99), max_size=4)
    )
    return st.none() | lists


def schemas() -> st.SearchStrategy[Schema]:
    """One to seven attributes of any type."""
    return st.dictionaries(
        st.sampled_from(NAMES), st.sampled_from(list(Type)), min_size=1, max_size=len(NAMES)
    ).map(lambda types: Schema([Attribute(name, kind) for name, kind in types.items()]))


@st.composite
def predicates(draw: st.DrawFn, schema: Schema) -> Predicate:
    """Any operator that an attribute of the schema takes, with any operands."""
    attribute = draw(st.sampled_from(list(schema)))
    derived = draw(derivations(attribute))
    kind = attribute.type if derived is None else derived.type
    op = draw(st.sampled_from(OPERATORS[kind]))
    if isinstance(derived, Folded) and op.operands is Operands.NONE:
        derived = None
    values = BUCKETS if isinstance(derived, Bucket) else VALUES[kind.element]
    operands: list[object] = []
    if op.operands is Operands.SET:
        operands = draw(st.lists(values, min_size=1, max_size=4))
    elif op.operands is Operands.BOUNDS:
        operands = draw(st.lists(values, min_size=2, max_size=2).map(bounds(kind, derived)))
    elif op.operands is Operands.TEXT:
        operands = [draw(values.filter(lambda text: text != ""))]
    elif op.operands is Operands.PATTERN:
        operands = [draw(WILDCARDS if op is Op.LIKE else REGULAR)]
    elif op.operands is Operands.ONE:
        operands = [draw(values)]
    elif op.operands is not Operands.NONE:
        operands = draw(areas(op))
    return make_predicate(attribute, op, operands, derived)


def derivations(attribute: Attribute) -> st.SearchStrategy[Derived | None]:
    """Nothing, or what can be derived from an attribute."""
    options: list[Derived | None] = [None, None]
    if attribute.type in Folded.sources:
        options.append(Folded(attribute.name, attribute.type))
    if attribute.type in Bucket.sources:
        options += [Bucket(attribute.name, attribute.type, salt) for salt in SALTS]
    return st.sampled_from(options)


def bounds(kind: Type, derived: Derived | None = None) -> Callable[[list[object]], list[object]]:
    """Two values in order; two addresses of one version."""

    def in_order(values: list[object]) -> list[object]:
        folds = isinstance(derived, Folded)
        ends = sorted(
            values, key=lambda value: check_scalar(fold(str(value)) if folds else value, kind)
        )
        # The first digit of a checked address is its version; ::ffff:0:0 is one of IPv4.
        if kind is Type.IP and len({str(check_scalar(end, kind))[0] for end in ends}) == 2:
            return [ends[0], ends[0]]
        return ends

    return in_order


def areas(op: Op) -> st.SearchStrategy[list[object]]:
    """The operands of `in network` and of `within`."""
    if op.operands is Operands.NETWORKS:
        return st.lists(st.sampled_from(NETWORKS), min_size=1, max_size=4)
    points = POINTS
    if op.operands is Operands.CIRCLE:
        distances = st.sampled_from([1, 1000, 5000.5, 2e6, 1.5e7])
        return st.tuples(distances, points).map(lambda parts: [parts[0], *parts[1]])
    if op.operands is Operands.BOX:
        pairs = st.lists(points, min_size=2, max_size=2).map(lambda pair: sorted(pair, key=_lat))
    else:
        pairs = st.lists(points, min_size=3, max_size=6)
    return pairs.map(lambda points: [number for point in points for number in point])


def _lat(point: list[float]) -> float:
    return point[0]


def trees(schema: Schema, max_leaves: int = 12) -> st.SearchStrategy[Tree]:
    """Trees with every operator of the logic."""
    leaves = st.one_of(*[predicates(schema)] * 8, st.booleans().map(Constant))

    def grow(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(children, min_size=2, max_size=4).map(tuple)
        return st.one_of(
            several.map(And),
            several.map(Or),
            children.map(Not),
            several.flatmap(
                lambda operands: st.tuples(*[st.booleans()] * (len(operands) - 1)).map(
                    lambda inverted: Xor(operands, inverted)
                )
            ),
        )

    return st.recursive(leaves, grow, max_leaves=max_leaves)


def conjunctions(schema: Schema) -> st.SearchStrategy[Tree]:
    """What PSTHash is for."""
    return st.lists(predicates(schema), min_size=2, max_size=5).map(tuple).map(And)


def events(schema: Schema) -> st.SearchStrategy[dict[str, object]]:
    """Events as clients send them: attributes missing, null, lists with repeats."""
    optional = {attribute.name: st.none() | _values_of(attribute.type) for attribute in schema}
    return st.fixed_dictionaries({}, optional=optional)


def _values_of(kind: Type) -> st.SearchStrategy[object]:
    values = VALUES[kind.element]
    return st.lists(values, max_size=5) if kind.is_list else values
