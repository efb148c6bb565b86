"""Why an expression did or did not match: its tree as written, with a value at every node."""

from collections.abc import Iterator
from dataclasses import dataclass

from index.event import Event
from index.language.tree import Tree, children_of
from index.scan import evaluate

_WORDS = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One node of the tree as written: `kind` is `and`, `or`, `xor`, `not`, `predicate` or
    `constant`; `value` is True, False, or None for unknown."""

    kind: str
    text: str
    value: bool | None
    children: tuple["Explanation", ...] = ()

    def to_dict(self) -> dict[str, object]:
        """For an answer in JSON; the value as the word `true`, `false` or `unknown`."""
        answer: dict[str, object] = {
            "kind": self.kind,
            "text": self.text,
            "value": _WORDS[self.value],
        }
        if self.children:
            answer["children"] = [child.to_dict() for child in self.children]
        return answer

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        label = self.text if not self.children else self.kind
        yield f"{_WORDS[self.value]:<8}{'  ' * depth}{label}"
        for child in self.children:
            yield from child._lines(depth + 1)


def explain(tree: Tree, event: Event) -> Explanation:
    """The tree with its values on a checked event."""
    children = tuple(explain(child, event) for child in children_of(tree))
    return Explanation(type(tree).__name__.lower(), str(tree), evaluate(tree, event), children)
