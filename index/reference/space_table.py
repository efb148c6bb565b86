"""The hash table of PSTHash: from one or two predicate spaces to subscriptions.

    key      [age-3][country-7]  →  {12, 40}         two dimensions, ascending
             [age-5]             →  {13}             the single-access way

    keys_of  age-3  →  {[age-3][country-7], …}       which keys name a space

With `keys_of`, a split or a merge of a space costs only the entries of that space; the thesis does
not say how to find them.

Invariants: `keys_of` has exactly the spaces and keys of the table, and no set is empty.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from index.reference.spaces import Domain


class Dimension(NamedTuple):
    """The domain of a PS-Tree: an attribute's values, or its reversed strings."""

    attribute: str
    domain: Domain


class Space(NamedTuple):
    """A predicate space: its dimension and its id in it."""

    dimension: Dimension
    space_id: int


Key = tuple[Space, ...]
"""One space, or two in ascending order of their dimensions."""


class SpaceTable:
    """Subscriptions by the spaces of their access literals."""

    def __init__(self) -> None:
        self._ids: dict[Key, set[int]] = {}
        self._keys_of: defaultdict[Space, set[Key]] = defaultdict(set)

    def __getitem__(self, key: Key) -> Iterable[int]:
        """The subscriptions under a key, possibly none."""
        return self._ids.get(key, ())

    def __len__(self) -> int:
        return len(self._ids)

    def items(self) -> dict[Key, frozenset[int]]:
        """All keys with their subscriptions."""
        return {key: frozenset(ids) for key, ids in self._ids.items()}

    def add(self, key: Key, id: int) -> None:
        """List a subscription under a key."""
        ids = self._ids.get(key)
        if ids is None:
            self._put(key, {id})
        else:
            ids.add(id)

    def remove(self, key: Key, id: int) -> None:
        """Undo `add`."""
        ids = self._ids[key]
        ids.remove(id)
        if not ids:
            self._drop(key)

    def split(self, old: Space, new: Space) -> Counter[int]:
        """List under `new` what is under `old`; returns the keys gained by each subscription."""
        gained: Counter[int] = Counter()
        for key in tuple(self._keys_of.get(old, ())):
            ids = set(self._ids[key])
            self._put(tuple(new if space == old else space for space in key), ids)
            gained.update(ids)
        return gained

    def merge(self, gone: Space) -> Counter[int]:
        """Remove a space; returns the keys lost by each subscription."""
        lost: Counter[int] = Counter()
        for key in tuple(self._keys_of.get(gone, ())):
            lost.update(self._drop(key))
        return lost

    def _put(self, key: Key, ids: set[int]) -> None:
        self._ids[key] = ids
        for space in key:
            self._keys_of[space].add(key)

    def _drop(self, key: Key) -> set[int]:
        for space in key:
            self._keys_of[space].remove(key)
            if not self._keys_of[space]:
                del self._keys_of[space]
        return self._ids.pop(key)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an invariant is broken."""
        assert all(self._ids.values()), "a key without subscriptions"
        assert all(list(key) == sorted(key) for key in self._ids), "a key out of order"
        keys_of: dict[Space, set[Key]] = {}
        for key in self._ids:
            for space in key:
                keys_of.setdefault(space, set()).add(key)
        assert self._keys_of == keys_of
