"""Random schemas, expressions and events, for every property test of the index.

Values come from small pools that include the extremes of each type, so predicates often hold and
often collide.
"""

from hypothesis import strategies as st

from index import Exclude
from index.language import And, Attribute, Constant, Not, Or, Predicate, Schema, Tree, Type, Xor
from index.language.checks import make_predicate
from index.language.operators import Op, Operands
from index.language.types import INT_MAX, INT_MIN

INTS = [*range(-3, 6), INT_MIN, INT_MIN + 1, INT_MAX - 1, INT_MAX, 2**53, -(2**53)]
FLOATS = [0.0, -0.0, 0.5, 1.0, 1.5, -1.5, 5e-324, -5e-324, 1.7976931348623157e308, 0.1, 3]
STRINGS = ["", "a", "b", "ab", "abc", "ba", "é", "'", '"', "-- no", "\U0010ffff", "a\U0010ffff"]

VALUES: dict[Type, st.SearchStrategy[object]] = {
    Type.BOOL: st.booleans(),
    Type.INT: st.sampled_from(INTS) | st.integers(INT_MIN, INT_MAX),
    Type.FLOAT: st.sampled_from(FLOATS) | st.floats(allow_nan=False, allow_infinity=False),
    Type.STRING: st.sampled_from(STRINGS) | st.text(alphabet="ab\ud7ff\ue000é", max_size=4),
}

OPERATORS: dict[Type, list[Op]] = {
    kind: sorted((op for op in Op if kind in op.types), key=str) for kind in Type
}

NAMES = ["a", "b", "c.d", "E", "f_1", "g", "in.g"]


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
    op = draw(st.sampled_from(OPERATORS[attribute.type]))
    values = VALUES[attribute.type.element]
    operands: list[object] = []
    if op.operands is Operands.SET:
        operands = draw(st.lists(values, min_size=1, max_size=4))
    elif op.operands is Operands.BOUNDS:
        operands = sorted([draw(values), draw(values)])  # type: ignore[type-var]
    elif op.operands is Operands.TEXT:
        operands = [draw(values.filter(lambda text: text != ""))]
    elif op.operands is Operands.ONE:
        operands = [draw(values)]
    return make_predicate(attribute, op, operands)


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
