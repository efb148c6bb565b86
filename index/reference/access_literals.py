"""The access literals of PSTHash in their PS-Trees, and how they are chosen.

    age >= 18        ┐
    age between …    ├─▶  PS-Tree of age, values
    name = 'ann'     ───▶ PS-Tree of name, values
    name ends with … ───▶ PS-Tree of name, reversed         three dimensions

An access literal is one member of its dimension's tree, no matter how many subscriptions use it.

Invariants: every access literal has users and every tree has members, so without subscriptions
all is empty.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from index.event import Value
from index.language.predicate import Literal
from index.language.types import Scalar
from index.reference.elements import elements_of
from index.reference.ps_tree import PSTree
from index.reference.space_table import Dimension, Space
from index.reference.spaces import Domain, domain_of, intervals_of, rank


@dataclass(eq=False, slots=True)
class Access:
    """An access literal and the number of subscriptions that use it.

    Compared by identity: hashing a literal of 100,000 values for each space that it covers would
    be quadratic.
    """

    literal: Literal
    dimension: Dimension
    uses: int = 0


def dimension_of(literal: Literal) -> Dimension | None:
    """The dimension of a literal, if it can be an access literal.

    It must cover spaces, and an event must be in one space only; with lists it is in many.
    """
    domain = domain_of(literal)
    if domain is None or literal.predicate.type.is_list:
        return None
    return Dimension(literal.predicate.key, domain)


class AccessLiterals:
    """Access literals by use count, in one PS-Tree for each dimension.

    `on_split(old, new)` and `on_merge(gone)` are called for the spaces of all trees.
    """

    def __init__(
        self, on_split: Callable[[Space, Space], None], on_merge: Callable[[Space], None]
    ) -> None:
        self.trees: dict[Dimension, PSTree[Access]] = {}
        self.recorded = 0
        """The number of recorded events."""
        self._born: dict[Dimension, int] = {}  # the events recorded before the tree existed
        self._access: dict[Literal, Access] = {}
        self._on_split = on_split
        self._on_merge = on_merge

    def __len__(self) -> int:
        return len(self._access)

    def acquire(self, literal: Literal) -> Access:
        """Count one more use of a literal; the first inserts it into its PS-Tree."""
        access = self._access.get(literal)
        if access is None:
            dimension = dimension_of(literal)
            assert dimension is not None
            access = self._access[literal] = Access(literal, dimension)
            if dimension not in self.trees:
                self._plant(dimension, literal)
            self.trees[dimension].insert(access, intervals_of(literal))
        access.uses += 1
        return access

    def release(self, access: Access) -> None:
        """Count one use less; the last removes the literal from its PS-Tree."""
        access.uses -= 1
        if access.uses > 0:
            return
        del self._access[access.literal]
        tree = self.trees[access.dimension]
        tree.remove(access)
        if not len(tree):
            del self.trees[access.dimension]
            del self._born[access.dimension]

    def _plant(self, dimension: Dimension, literal: Literal) -> None:
        space = partial(Space, dimension)
        self._born[dimension] = self.recorded
        self.trees[dimension] = PSTree(
            elements_of(literal.predicate.type),
            on_split=lambda old, new: self._on_split(space(old.space_id), space(new.space_id)),
            on_merge=lambda _, gone: self._on_merge(space(gone.space_id)),
        )

    def spaces(self, access: Access) -> list[Space]:
        """The spaces that an access literal covers."""
        leaves = self.trees[access.dimension].covered(access)
        return [Space(access.dimension, leaf.space_id) for leaf in leaves]

    def locate(self, event: Mapping[str, Value]) -> list[Space]:
        """The spaces of an event, one for each dimension it has, ascending."""
        return sorted(
            Space(dimension, self.trees[dimension].locate(value).space_id)
            for dimension, value in self._values(event)
        )

    def record(self, event: Mapping[str, Value]) -> None:
        """Count an event, for later choices."""
        self.recorded += 1
        for dimension, value in self._values(event):
            self.trees[dimension].record(value)

    def _values(self, event: Mapping[str, Value]) -> Iterator[tuple[Dimension, Scalar]]:
        """The event's scalars that have a tree, in the form of that tree."""
        for attribute, value in event.items():
            if not isinstance(value, frozenset):
                for domain in Domain:
                    if (attribute, domain) in self.trees:
                        yield Dimension(attribute, domain), domain.image(value)

    def select(self, literals: Iterable[Literal]) -> list[Literal]:
        """The most selective literal, and the next on another attribute (SelectAccPreds).

        By the share of past events that they were true of, if all their trees have recorded any;
        otherwise by rank, since a share and a rank cannot be compared.
        """
        usable = [literal for literal in literals if dimension_of(literal) is not None]
        usable.sort(key=rank)
        shares = {literal: self._share(literal) for literal in usable}
        if None not in shares.values():
            usable.sort(key=lambda literal: shares[literal] or 0.0)
        for other in usable:
            if other.predicate.key != usable[0].predicate.key:
                return [usable[0], other]
        return usable[:1]

    def _share(self, literal: Literal) -> float | None:
        """The share of the events, since the tree exists, that a literal was true of.

        A share, not a count as in the thesis: trees come and go, and an older one has seen more.
        """
        dimension = dimension_of(literal)
        if dimension not in self.trees or self.recorded == self._born[dimension]:
            return None
        matching = self.trees[dimension].events_matching(intervals_of(literal))
        return matching / (self.recorded - self._born[dimension])

    def check_invariants(self, users: Mapping[Access, int]) -> None:
        """Raise `AssertionError` unless exactly `users` use exactly these literals."""
        assert {access: access.uses for access in self._access.values()} == users
        assert self.trees.keys() == self._born.keys()
        for dimension, tree in self.trees.items():
            tree.check_invariants()
            members = {access for access in users if access.dimension == dimension}
            assert members, f"{dimension} has a tree without users"
            assert len(tree) == len(members)
            assert all(access in tree for access in members)
        for literal, access in self._access.items():
            assert (literal, dimension_of(literal)) == (access.literal, access.dimension)
            assert access.dimension in self.trees
