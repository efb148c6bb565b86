"""Why an expression did or did not match: its tree as written, with a value at every node.

    false   and
    false     country in ('US', 'CA')      'FR'
    unknown   age >= 18                    missing

`obstacles.py` finds what would have to change; `funnel.py` does that for many expressions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from index.event import Event, Value
from index.language.derived import Bucket, Folded
from index.language.folding import fold
from index.language.predicate import Predicate, print_value
from index.language.tree import Constant, Tree, children_of
from index.language.types import Scalar, plain
from index.scan import combine, evaluate

WORDS = {True: "true", False: "false", None: "unknown"}

MOST_ELEMENTS = 20
"""At most this many elements of an event's list are shown: a list may have ten thousand, and a tree
a thousand predicates on it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One node of the tree as written: `kind` is `and`, `or`, `xor`, `not`, `predicate` or
    `constant`; `value` is True, False, or None for unknown.

    For a predicate, `predicate` is the predicate and `got` the event's value, None if missing.
    """

    kind: str
    text: str
    value: bool | None
    children: tuple["Explanation", ...] = ()
    predicate: Predicate | None = None
    got: Value | None = None

    def to_dict(self) -> dict[str, object]:
        """As JSON; the value is the word `true`, `false` or `unknown`."""
        answer: dict[str, object] = {
            "kind": self.kind,
            "text": self.text,
            "value": WORDS[self.value],
        }
        if self.predicate is not None:
            answer["attribute"] = self.predicate.attribute
            answer |= got_as_json(self.predicate, self.got)
        if self.children:
            answer["children"] = [child.to_dict() for child in self.children]
        return answer

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        label = self.text if not self.children else self.kind
        yield f"{WORDS[self.value]:<8}{'  ' * depth}{label}"
        for child in self.children:
            yield from child._lines(depth + 1)


def explain(tree: Tree, event: Event) -> Explanation:
    """The tree with its values on a checked event."""
    kind, text = type(tree).__name__.lower(), str(tree)
    if isinstance(tree, Constant):
        return Explanation(kind, text, tree.value)
    if isinstance(tree, Predicate):
        got = got_in(tree, event)
        return Explanation(kind, text, evaluate(tree, event), predicate=tree, got=got)
    children = tuple(explain(child, event) for child in children_of(tree))
    return Explanation(kind, text, combine(tree, [child.value for child in children]), children)


def got_in(predicate: Predicate, event: Event) -> Value | None:
    """What an event has there, as people know it: the number of a bucket, but the text in its own
    case."""
    if isinstance(predicate.derived, Bucket):
        return predicate.value_in(event)  # type: ignore[no-any-return]
    return event.get(predicate.attribute)


def got_as_json(predicate: Predicate, got: Value | None) -> dict[str, object]:
    """The event's value as JSON: `got`, null if missing; and `got_total` for a list that was cut.

    The elements of a list that the predicate names come first, since they decide.
    """
    if not isinstance(got, frozenset):
        return {"got": None if got is None else plain(got)}
    elements = _elements(predicate, got)
    if len(got) <= MOST_ELEMENTS:
        return {"got": elements}
    return {"got": elements, "got_total": len(got)}


def describe_got(predicate: Predicate, got: Value | None) -> str:
    """The event's value, for people: `country is 'FR'`, `age is missing`."""
    if got is None:
        return f"{predicate.attribute} is missing"
    if not isinstance(got, frozenset):
        subject = (
            predicate.subject if isinstance(predicate.derived, Bucket) else predicate.attribute
        )
        return f"{subject} is {print_value(got)}"
    if not got:
        return f"{predicate.attribute} is empty"
    elements = ", ".join(map(print_value, _elements(predicate, got)))
    more = f" and {len(got) - MOST_ELEMENTS} more" if len(got) > MOST_ELEMENTS else ""
    return f"{predicate.attribute} is ({elements}{more})"


def _elements(predicate: Predicate, got: frozenset[Scalar]) -> list[Any]:
    named = got.intersection(predicate.values)
    if isinstance(predicate.derived, Folded):
        named = frozenset(each for each in got if fold(str(each)) in predicate.values)
    rest = sorted(got - named, key=_in_order) if len(named) < MOST_ELEMENTS else []
    return [*sorted(named, key=_in_order), *rest][:MOST_ELEMENTS]


def _in_order(element: Any) -> Any:
    return element
