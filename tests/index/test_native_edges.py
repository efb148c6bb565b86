"""Adversarial expressions and values, one by one: the native core answers as the oracle does.

Invalid events are in `test_native_events.py`.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from index import Attribute, Index, RowError, Schema
from index.language import And, Not, Or, Predicate, Tree, TreeError, Xor, from_json, parse, to_json
from index.language.checks import make_predicate
from index.language.operators import Op
from index.language.types import INT_MAX, INT_MIN

TYPES = {"flag": "bool", "n": "int", "x": "float", "s": "string"}
LISTS = {"ns": "int list", "ss": "string list"}
SCHEMA = Schema([Attribute(name, type) for name, type in (TYPES | LISTS).items()])
HUGE = 100_000
TOP = "\U0010ffff"
INTS_OR_TEXTS: dict[str, Callable[[int], object]] = {
    **dict.fromkeys(("n", "ns"), int),
    **dict.fromkeys(("s", "ss"), "v{}".format),
}


class Both:
    """A native index and the oracle, with the same content."""

    def __init__(self, expressions: Iterable[Tree | str] = ()) -> None:
        self.native = Index(SCHEMA, engine="native")
        self.scan = Index(SCHEMA, engine="scan")
        for id, expression in enumerate(expressions):
            self.insert(id, expression)

    def insert(self, id: int, expression: Tree | str, score: int = 0) -> None:
        self.native.insert(id, expression, score)
        self.scan.insert(id, expression, score)
        self.native.check_invariants()

    def insert_many(self, items: Iterable[Any]) -> None:
        rows = list(items)
        self.native.insert_many(rows)
        self.scan.insert_many(rows)
        self.native.check_invariants()

    def top(self, event: Mapping[str, object], limit: int) -> None:
        best = self.scan.top(event, limit, total=True)
        assert self.native.top(event, limit, total=True) == best

    def match(self, event: Mapping[str, object]) -> list[int]:
        found = self.native.match(event)
        assert found == self.scan.match(event), event
        return found

    def empty(self) -> None:
        for id in list(self.scan):
            assert self.native.remove(id)
        self.native.check_invariants()
        stats = self.native.stats()
        assert [stats[part] for part in ("distinct_expressions", "postings", "keys")] == [0, 0, 0]


def predicate(name: str, op: Op, operands: Iterable[object] = ()) -> Predicate:
    return make_predicate(SCHEMA[name], op, list(operands))


@pytest.mark.parametrize("attribute", ["n", "s"])
def test_sets_of_a_hundred_thousand_values_hold_or_not(attribute: str) -> None:
    value = INTS_OR_TEXTS[attribute]
    values = [value(2 * number) for number in range(HUGE)]
    both = Both(
        [
            predicate(attribute, Op.IN, values),
            predicate(attribute, Op.NOT_IN, values),
            Not(predicate(attribute, Op.IN, values)),
            And((predicate(attribute, Op.IN, values), predicate("flag", Op.HOLDS))),
            predicate(attribute, Op.IN, values[1:]),
            predicate(attribute, Op.IN, [*values[:-1], value(1)]),
        ]
    )
    assert both.match({attribute: value(0)}) == [0, 5]
    assert both.match({attribute: value(2), "flag": True}) == [0, 3, 4, 5]
    assert both.match({attribute: value(1)}) == [1, 2, 5]
    assert both.match({attribute: value(2 * HUGE - 2)}) == [0, 4]
    assert both.match({attribute: value(2 * HUGE)}) == [1, 2]
    assert both.match({}) == []
    both.empty()


@pytest.mark.parametrize("attribute", ["ns", "ss"])
def test_lists_meet_sets_of_a_hundred_thousand_values(attribute: str) -> None:
    value = INTS_OR_TEXTS[attribute]
    values = [value(2 * number) for number in range(HUGE)]
    both = Both(
        [
            predicate(attribute, Op.ANY_OF, values),
            predicate(attribute, Op.NONE_OF, values),
            predicate(attribute, Op.ALL_OF, values),
            Not(predicate(attribute, Op.ALL_OF, values)),
            Not(predicate(attribute, Op.ANY_OF, values)),
        ]
    )
    assert both.match({attribute: []}) == [1, 3, 4]
    assert both.match({attribute: [value(1), value(3)]}) == [1, 3, 4]
    assert both.match({attribute: [value(1), value(2 * HUGE - 2)]}) == [0, 3]
    assert both.match({attribute: values}) == [0, 2]
    assert both.match({attribute: values[1:]}) == [0, 3]
    assert both.match({attribute: [value(1), *reversed(values)]}) == [0, 2]
    assert both.match({}) == []
    both.empty()


def test_a_huge_set_that_is_folded_away_leaves_nothing_behind() -> None:
    texts = [f"v{number}" for number in range(5000)]
    never = And((predicate("s", Op.IN, texts), predicate("s", Op.IS_NULL)))
    both = Both([never, Or((never, predicate("n", Op.EQ, [1])))])
    assert both.match({"s": "v1", "n": 1}) == [1]
    assert both.match({"s": "v1", "n": 2}) == []
    both.insert(0, predicate("s", Op.IN, texts))
    both.insert(1, predicate("s", Op.IN, texts))
    assert both.match({"s": "v1", "n": 1}) == [0, 1]
    both.empty()


@pytest.mark.parametrize("inverted", [False, True])
def test_chains_of_a_thousand_are_exact(inverted: bool) -> None:
    children = tuple(predicate("n", Op.GE, [number]) for number in range(1000))
    chain = Xor(children, (inverted,) * 999)
    both = Both([chain, Not(chain)])
    for n in (-1, 0, 1, 2, 499, 500, 998, 999, 1000):
        met = min(max(n + 1, 0), 1000)
        odd = met % 2 == 1
        # An even number of children: `xnor` all through is `xor` all through, inverted.
        expected = odd != inverted
        assert both.match({"n": n}) == ([0] if expected else [1])
    assert both.match({}) == []
    both.empty()


def test_chains_mixed_of_everything_are_unknown_as_soon_as_one_is() -> None:
    children = tuple(
        predicate(*each)
        for _ in range(250)
        for each in (
            ("n", Op.EQ, [1]),
            ("s", Op.IN, ["a", "b"]),
            ("ns", Op.ANY_OF, [1, 2]),
            ("flag", Op.HOLDS),
        )
    )
    both = Both([Xor(children[:999], (False, True) * 499)])
    event = {"n": 1, "s": "a", "ns": [2], "flag": True}
    both.match(event)
    for name in event:
        both.match({**event, name: None})
        assert both.match({key: event[key] for key in event if key != name}) == []
    both.empty()


def test_xor_nests_to_the_limit_of_depth() -> None:
    text = "n = 0"
    for depth in range(1, 65):
        text = f"({text} xor n = {depth} xnor flag)"
    both = Both([text, f"not {text[1:-1]}"])
    for n in (-1, 0, 1, 31, 63, 64, 65):
        for flag in (True, False, None):
            both.match({"n": n, "flag": flag})
    assert both.match({"n": 1}) == []
    both.empty()


def test_only_negative_expressions_ask_for_presence() -> None:
    both = Both(
        [
            "n != 1",
            "n not in (1, 2) and s != 'a'",
            "not (s starts with 'a') and not (s contains 'b')",
            "ns none of (1)",
            "not (ns all of (1, 2))",
            "x != 0.0 and x not in (1.0, 2.0)",
            "not flag",
            "not (n between 1 and 5) and not (x between -1.0 and 1.0)",
        ]
    )
    assert both.match({}) == []
    assert both.match({"n": 2}) == [0]
    assert both.match({"n": 3, "s": "c"}) == [0, 1, 2]
    assert both.match({"ns": []}) == [3, 4]
    assert both.match({"ns": [1]}) == [4]
    assert both.match({"ns": [1, 2]}) == []
    assert both.match({"x": -0.0}) == []
    assert both.match({"x": 3, "n": 6}) == [0, 5, 7]
    assert both.match({"flag": False}) == [6]
    both.empty()


def test_constants_and_null_alone() -> None:
    both = Both(["true", "false", "n is null", "n is not null", "n is null or n is not null"])
    both.insert(5, "n is null and s is null and flag is null")
    both.insert(6, "not (n is null)")
    both.insert(7, "true or n = 1")
    both.insert(8, "false and n = 1")
    assert both.match({}) == [0, 2, 4, 5, 7]
    assert both.match({"n": 0}) == [0, 3, 4, 6, 7]
    assert both.match({"n": None, "s": ""}) == [0, 2, 4, 7]
    assert both.native.plan(1)["way"] == "never"
    both.empty()


def test_an_index_without_attributes_takes_constants() -> None:
    index = Index(Schema(), engine="native")
    index.insert(1, "true")
    index.insert(2, "false")
    index.check_invariants()
    assert index.match({}) == index.match({"n": 1}) == index.match(b"{}") == [1]


def test_the_same_id_twice_is_a_replacement() -> None:
    both = Both()
    both.insert_many([(7, "n = 1"), (7, "n = 2"), (7, "n = 3")])
    assert [both.match({"n": n}) for n in (1, 2, 3)] == [[], [], [7]]
    assert len(both.native) == 1
    both.insert(7, "true")
    both.insert(7, "false")
    assert both.match({"n": 3}) == []
    both.insert(7, "n = 3")
    assert both.match({"n": 3}) == [7]
    both.empty()


def test_four_thousand_predicates_on_one_attribute() -> None:
    pairs = tuple(
        And((predicate("n", Op.GE, [10 * k]), predicate("n", Op.LE, [10 * k + 4])))
        for k in range(2048)
    )
    both = Both([Or(pairs), Not(Or(pairs)), And(tuple(Not(pair) for pair in pairs))])
    for n in (-1, 0, 4, 5, 9, 10, 20474, 20475, 20479, 20480, INT_MIN, INT_MAX):
        hit = 0 <= n < 20480 and n % 10 <= 4
        assert both.match({"n": n}) == ([0] if hit else [1, 2])
    both.empty()


def test_a_gate_over_the_literals_beside_it_is_no_literal() -> None:
    """The normal form is `and(a, b, or(a, b))`: as many children as there are other nodes."""
    both = Both(["not (flag and flag is null) xor (flag is null or flag)"])
    both.insert(1, "(n = 1 xor n is not null) and s = 'a'")
    assert both.match({"flag": False}) == [0]
    assert both.match({"flag": True}) == []
    assert both.match({"n": 2, "s": "a"}) == [1]
    both.empty()


def test_one_expression_with_ten_thousand_ids() -> None:
    both = Both()
    items = [(3 * number, "n = 1 or s = 'a'", number % 7) for number in range(10_000)]
    both.insert_many(items)
    assert both.native.stats()["distinct_expressions"] == 1
    assert both.match({"n": 1}) == list(range(0, 30_000, 3))
    both.top({"s": "a"}, 5)
    both.top({"s": "a"}, 5000)
    both.empty()


def test_integers_at_every_width() -> None:
    edges = [
        sign * 2**power + step
        for power in (0, 21, 31, 32, 53)
        for sign in (-1, 1)
        for step in range(-3, 4)
    ]
    values = sorted({*edges, INT_MIN, INT_MIN + 1, INT_MAX - 1, INT_MAX, 0})
    expressions: list[Tree] = []
    for value in values:
        for op in (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE):
            expressions.append(predicate("n", op, [value]))
            expressions.append(Not(expressions[-1]))
    for low, high in zip(values, values[3:], strict=False):
        expressions.append(predicate("n", Op.BETWEEN, [low, high]))
        expressions.append(Not(expressions[-1]))
    both = Both()
    both.insert_many(enumerate(expressions))
    for value in values:
        both.match({"n": value})
    both.empty()


@pytest.mark.parametrize(
    "text",
    [
        f"n between {INT_MIN} and {INT_MAX}",
        f"n between {INT_MIN + 1} and {INT_MAX - 1}",
        f"n between {INT_MIN} and 0",
        f"n between -1 and {INT_MAX}",
        f"n between {-(2**62)} and {2**62}",
        "x between -1.7976931348623157e308 and 1.7976931348623157e308",
        "x between -5e-324 and 5e-324",
        "x between -1e300 and 1.0",
    ],
)
def test_ranges_as_wide_as_their_type(text: str) -> None:
    both = Both([text, f"not ({text})", f"{text} and flag"])
    for n in (INT_MIN, INT_MIN + 1, -(2**62) - 1, -1, 0, 1, 2**62, INT_MAX - 1, INT_MAX):
        found = both.match({"n": n, "x": float(n), "flag": True})
        assert found in ([0, 2], [1])
    assert both.match({"flag": True}) == []
    both.empty()


def test_neighbouring_doubles_differ() -> None:
    values = [0.0, -0.0, 5e-324, -5e-324, 0.1, 1.0, 1e300, 1.7976931348623157e308, 2.0**53]
    near = {
        other
        for value in values
        for other in (
            value + 0.0,
            -value + 0.0,
            math.nextafter(value, math.inf),
            math.nextafter(value, -math.inf),
        )
        if math.isfinite(other)
    }
    points = sorted(near)
    expressions = [
        predicate("x", op, [point])
        for point in points
        for op in (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE)
    ]
    both = Both()
    both.insert_many(enumerate(expressions))
    for place, point in enumerate(points):
        below, above = place, len(points) - place - 1
        # One of `=`, `!=` holds of each; `<` and `<=` of points above, `>` and `>=` of those below.
        assert len(both.match({"x": point})) == 3 * (below + above) + 3
    both.empty()


def test_minus_zero_is_zero() -> None:
    both = Both(["x = 0.0", "x = -0.0", "x >= 0", "x < 0", "x in (-0.0, 1.0)", "x <= -0.0"])
    for zero in (0.0, -0.0, 0):
        assert both.match({"x": zero}) == [0, 1, 2, 4, 5]
    assert both.native.match(b'{"x": -0.0}') == [0, 1, 2, 4, 5]
    assert both.native.match(b'{"x": -0}') == [0, 1, 2, 4, 5]
    assert both.native.stats()["distinct_expressions"] == 5
    both.empty()


def test_strings_of_every_width_by_prefix_suffix_and_part() -> None:
    texts = [
        "",
        "a",
        "é",
        "\u20ac",
        TOP,
        "\ud7ff",
        "\ue000",
        "aé",
        "éa",
        f"a{TOP}",
        f"{TOP}a",
        "ab",
    ]
    expressions = [
        predicate("s", op, [text])
        for text in texts
        for op in (Op.EQ, Op.LT, Op.GE, Op.STARTS_WITH, Op.ENDS_WITH, Op.CONTAINS)
        if text or op in (Op.EQ, Op.LT, Op.GE)
    ]
    both = Both()
    both.insert_many(enumerate(expressions))
    for text in [*texts, *(f"{a}{b}" for a in texts for b in texts), "\U00010000", "a" * 10_000]:
        both.match({"s": text})
    both.empty()


def test_a_prefix_that_ends_inside_a_character_is_none() -> None:
    # é is C3 A9 and è is C3 A8; € is E2 82 AC: the lengths of the prefixes cut the others.
    both = Both(["s starts with 'a'", "s starts with 'é'", "s ends with 'ab'", "s ends with '€'"])
    both.insert(4, "s = 'é'")
    assert both.match({"s": "è"}) == []
    assert both.match({"s": "€é"}) == []
    assert both.match({"s": "a€"}) == [0, 3]
    assert both.match({"s": "é"}) == [1, 4]
    assert both.match({"s": TOP}) == []
    assert both.match({"s": ""}) == []
    both.empty()


def test_huge_and_empty_lists() -> None:
    both = Both(
        [
            "ns any of (5, 9999)",
            "ns all of (0, 5000, 9999)",
            "ns none of (10000)",
            "ns is empty",
            "ns is not empty",
            "ss any of ('v5')",
            "ss all of ('v0', 'v9999')",
            "ss none of ('w')",
            "ss is empty",
            "not (ss is empty)",
        ]
    )
    event = {"ns": [*range(10_000)] * 2, "ss": [f"v{number}" for number in range(10_000)]}
    assert both.match(event) == [0, 1, 2, 4, 5, 6, 7, 9]
    assert both.match({"ns": [], "ss": []}) == [2, 3, 7, 8]
    assert both.match({"ns": (7,), "ss": ["nobody named this"]}) == [2, 4, 7, 9]
    assert both.match({"ns": None}) == []
    both.empty()


def test_limits_of_top_as_large_as_they_come() -> None:
    both = Both(["true", "n = 1"])
    for limit in (0, 1, 2, 512, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70):
        both.top({"n": 1}, limit)


@pytest.mark.parametrize(
    ("tree", "code", "pointer"),
    [
        (b"", "tree.json", ""),
        (b"[1", "tree.json", ""),
        (b"\xff", "tree.json", ""),
        (b"{}", "tree.shape", ""),
        (b"[1]", "tree.shape", ""),
        (b"[2,true]", "tree.version", "/0"),
        (b"[true,true]", "tree.version", "/0"),
        (b"[1,null]", "tree.shape", "/1"),
        (b"[1,[]]", "tree.shape", "/1"),
        (b'[1,["and",true]]', "tree.shape", "/1"),
        (b'[1,["not"]]', "tree.shape", "/1"),
        (b'[1,["nand",true,true]]', "tree.shape", "/1/0"),
        (b'[1,["xor","xx",true,true]]', "tree.shape", "/1"),
        (b'[1,["xor","y",true,true]]', "tree.shape", "/1"),
        (b'[1,["and",true,["=","nobody",1]]]', "attribute.unknown", "/1/2/1"),
        (b'[1,["=","n"]]', "tree.shape", "/1"),
        (b'[1,["=","n",1.5]]', "type.mismatch", "/1/2"),
        (b'[1,["=","n",true]]', "type.mismatch", "/1/2"),
        (b'[1,["=","n",9223372036854775808]]', "value.int_range", "/1/2"),
        (b'[1,["=","s","\\ud800"]]', "value.surrogate", "/1/2"),
        (b'[1,["=","s","a\\u0000"]]', "value.nul", "/1/2"),
        (b'[1,["in","n"]]', "set.empty", "/1"),
        (b'[1,["between","n",2,1]]', "range.reversed", "/1"),
        (b'[1,["starts with","s",""]]', "pattern.empty", "/1/2"),
        (b'[1,["any of","n",1]]', "type.operator", "/1"),
        (b"[1," + b'["not",' * 300 + b"true" + b"]" * 301, "limit.depth", "/1" * 197),
        (b"[" * 100_000 + b"]" * 100_000, None, None),
        (b'[1,["in","n"' + b",1" * 100_001 + b"]]", "limit.set_values", "/1"),
        (b'[1,["or"' + b',["holds","flag"]' * 4097 + b"]]", "limit.predicates", "/1/4097"),
    ],
)
def test_what_is_no_checked_tree_is_refused_and_changes_nothing(
    tree: bytes, code: str | None, pointer: str | None
) -> None:
    index = Index(SCHEMA, engine="native")
    core = index._native().core
    index.insert(1, "s = 'a' and n = 1", 5)
    before = index.stats()
    for id in (1, 2):
        with pytest.raises(TreeError) as error:
            core.insert(id, tree, 9, 1.0, 2.0)
        if code is not None:
            assert (error.value.code, error.value.pointer) == (code, pointer)
        if code not in (None, "tree.json"):
            with pytest.raises(TreeError) as expected:
                from_json(tree, SCHEMA)
            assert str(error.value) == str(expected.value)
    good = to_json(parse("true", SCHEMA)).encode()
    with pytest.raises(RowError, match="row 1, id 3: ") as wrong:
        core.insert_many([(1, good, 0, None, None), (3, tree, 0, None, None)])
    assert isinstance(wrong.value.problem, TreeError)
    index.check_invariants()
    after = index.stats()
    for measured in ("longest_update_ns", "memory"):
        before.pop(measured)
        after.pop(measured)
    assert after == before
    assert index.top({"s": "a", "n": 1}, at=0, total=True) == ([1], 1)
