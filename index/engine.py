"""What an engine owes the facade: which expressions does an event make true?"""

from collections.abc import Iterable
from typing import Protocol

from index.event import Event
from index.language.tree import Tree


class Engine(Protocol):
    """Ids in, ids out. Scores, windows and the trees themselves are the facade's."""

    name: str

    def add(self, id: int, tree: Tree) -> None:
        """Index an expression under an id that is free. Raises before it changes anything."""

    def drop(self, id: int) -> None:
        """Forget an id that is there."""

    def find(self, event: Event) -> Iterable[int]:
        """The ids whose expressions a checked event makes true, each once, in no order."""

    def plan(self, id: int) -> dict[str, object]:
        """How `find` will look for an expression."""

    def stats(self) -> dict[str, object]:
        """What the engine holds."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the engine is not what it should be."""
