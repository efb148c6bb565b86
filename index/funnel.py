"""One event, many expressions: how many match, and what keeps the others from matching.

An attribute *alone* keeps an expression out if changing predicates on that attribute, and on no
other, would make it true; as in `obstacles.py`, each occurrence can change independently. Several
attributes may each be enough (`country = 'US' or age > 18`): the expression counts under each of
them in `alone`, and once in `by_one`. So

    looked_at = matched + by_one + by_several + never      and      sum(alone) >= by_one

One walk does it for all attributes: a node has two sets of attributes, those that alone can make it
true and those that alone can make it false. For a predicate that already has the value, that is the
set of all attributes. An `and` is made true by the intersection of its children's sets, an `or` by
their union, and so on. The sets are the bits of an integer; bit 0 stands for all attributes
together and distinguishes `by_several` from `never`.

>>> from index import Attribute, Schema, parse
>>> schema = Schema([Attribute("country", "string"), Attribute("age", "int")])
>>> texts = ["country = 'US'", "country = 'US' and age > 18", "country = 'FR'", "false"]
>>> print(funnel((parse(text, schema) for text in texts), {"country": "FR", "age": 20}))
4 looked at: 1 matched, 2 kept out by one attribute alone, 0 by several, 1 never match
     2  country
"""

from collections.abc import Iterable
from dataclasses import dataclass

from index.event import Event
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Or, Tree
from index.scan import evaluate


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many expressions were checked, and with what result.

    `alone` is by attribute, the most frequent first; `missing` are the attributes in it that the
    event does not have.
    """

    looked_at: int
    matched: int
    by_one: int
    by_several: int
    never: int
    alone: dict[str, int]
    missing: frozenset[str]

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {
            "looked_at": self.looked_at,
            "matched": self.matched,
            "kept_out": {"by_one": self.by_one, "by_several": self.by_several, "never": self.never},
            "alone": [
                {"attribute": name, "campaigns": number, "missing": name in self.missing}
                for name, number in self.alone.items()
            ],
        }

    def __str__(self) -> str:
        first = (
            f"{self.looked_at} looked at: {self.matched} matched, {self.by_one} kept out by one "
            f"attribute alone, {self.by_several} by several, {self.never} never match"
        )
        rest = (
            f"{number:6}  {name}{' (missing)' if name in self.missing else ''}"
            for name, number in self.alone.items()
        )
        return "\n".join((first, *rest))


def funnel(trees: Iterable[Tree], event: Event) -> Funnel:
    """Check the trees against a checked event."""
    bits: dict[str, int] = {}
    suspects: dict[int, int] = {}  # number of trees by the set that can make them true
    for tree in trees:
        able, _ = _able(tree, event, bits)
        suspects[able] = suspects.get(able, 0) + 1
    alone = {
        name: sum(number for able, number in suspects.items() if able > 0 and able & bit)
        for name, bit in bits.items()
    }
    ranked = sorted((-number, name) for name, number in alone.items() if number)
    return Funnel(
        looked_at=sum(suspects.values()),
        matched=suspects.get(_NO_CHANGE, 0),
        by_one=sum(number for able, number in suspects.items() if able > _TOGETHER),
        by_several=suspects.get(_TOGETHER, 0),
        never=suspects.get(_IMPOSSIBLE, 0),
        alone={name: -number for number, name in ranked},
        missing=frozenset(name for _, name in ranked if name not in event),
    )


_IMPOSSIBLE = 0
_TOGETHER = 1
_NO_CHANGE = -1  # all bits


def _able(tree: Tree, event: Event, bits: dict[str, int]) -> tuple[int, int]:
    """The attributes that alone can make a tree true, and those that can make it false."""
    if isinstance(tree, Predicate):
        value = evaluate(tree, event)
        bit = bits.get(tree.attribute)
        if bit is None:
            bit = bits[tree.attribute] = 2 << len(bits)
        needed = bit | _TOGETHER
        return (
            _NO_CHANGE if value is True else needed,
            _NO_CHANGE if value is False else needed,
        )
    if isinstance(tree, Constant):
        return (_NO_CHANGE, _IMPOSSIBLE) if tree.value else (_IMPOSSIBLE, _NO_CHANGE)
    if isinstance(tree, Not):
        true, false = _able(tree.child, event, bits)
        return false, true
    pairs = [_able(child, event, bits) for child in tree.children]
    true, false = pairs[0]
    if isinstance(tree, And):
        for true_too, false_too in pairs[1:]:
            true, false = true & true_too, false | false_too
    elif isinstance(tree, Or):
        for true_too, false_too in pairs[1:]:
            true, false = true | true_too, false & false_too
    else:
        for (true_too, false_too), inverted in zip(pairs[1:], tree.inverted, strict=True):
            same = true & true_too | false & false_too
            differs = true & false_too | false & true_too
            true, false = (same, differs) if inverted else (differs, same)
    return true, false
