"""PSTHash: conjunctions found by two of their literals at once (chapter 8).

Each subscription has two *access literals*: selective literals on different attributes. Each
covers predicate spaces in the PS-Tree of its attribute; the subscription is listed in a hash table
under every pair of spaces. Figure 8.1.1, with spaces by position:

    S1: a1 = 1, a2 = -1, a3 < 0          space      1        2        3
    S2: a1 = 1, a2 = -1, a3 > 0          a1        < 1     [= 1]     > 1
    S3: a1 = 1, a2 < -1, a3 = 0          a2       < -1     [= -1]   > -1
    S4: a1 < 1, a2 = -1, a3 = 0          a3        < 0     [= 0]     > 0

    table    [a1-2][a2-2] → S1 S2     [a1-2][a3-2] → S3     [a2-2][a3-2] → S4

An event locates one space an attribute, here [a1-2] [a2-2] [a3-3] for (1, -1, 2), and every
pair of them is looked up. Only S1 and S2 are candidates; their other literals are checked, and S2
remains. No candidate appears twice: at most one of an event's keys has both dimensions of a
subscription.

With one usable access literal, or where a pair would expand to more than `max_pair_spaces`
keys, the key is a single space (the footnote of chapter 8). A pair may also outgrow the cap
later, when the literals of others split its spaces: then it becomes single, and stays so.

Literals on lists are never access literals, since an event is in many of their spaces at once;
nor are literals that cover no spaces. A conjunction of only such literals goes to the A-Tree.

Invariants: the keys of a subscription are the product of the spaces that its access literals
cover; a pair has at most `max_pair_spaces` keys; an index without subscriptions is empty.

Costs, for D trees on an event's attributes: D times `locate`, D²/2 lookups, the candidates.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import prod

from index.event import Value
from index.language.literals import holds
from index.language.operators import Op
from index.language.predicate import Literal
from index.reference.access_literals import Access, AccessLiterals, dimension_of
from index.reference.space_table import Key, Space, SpaceTable


@dataclass(eq=False, slots=True)
class Subscription:
    """A conjunction: its access literals (the most selective first), the literals left to check,
    and the number of keys it is listed under."""

    literals: tuple[Literal, ...]
    access: tuple[Access, ...]
    checks: tuple[Literal, ...]
    keys: int = 0

    @property
    def is_pair(self) -> bool:
        return len(self.access) == 2


class PSTHash:
    """Conjunctions of literals by id."""

    def __init__(self, max_pair_spaces: int = 256) -> None:
        self.max_pair_spaces = max_pair_spaces
        self.table = SpaceTable()
        self.access = AccessLiterals(self._on_split, self._on_merge)
        self._subscriptions: dict[int, Subscription] = {}
        self._overgrown: set[int] = set()

    # ---- matching -----------------------------------------------------------------------

    def match(self, event: Mapping[str, Value]) -> set[int]:
        """The ids of the subscriptions that an event makes true (MatchEvent, algorithm 17)."""
        spaces = self.access.locate(event)
        keys: Iterator[Key] = chain(((space,) for space in spaces), combinations(spaces, 2))
        return {
            id
            for key in keys
            for id in self.table[key]
            if all(_is_true(literal, event) for literal in self._subscriptions[id].checks)
        }

    def record(self, event: Mapping[str, Value]) -> None:
        """Count an event, for later choices of access literals."""
        self.access.record(event)

    # ---- inserting ----------------------------------------------------------------------

    @staticmethod
    def can_index(literals: Iterable[Literal]) -> bool:
        """Whether any of the literals can be an access literal."""
        return any(dimension_of(literal) is not None for literal in literals)

    def insert(self, id: int, literals: Sequence[Literal]) -> None:
        """Add a conjunction under an unused id (InsertSubscription, algorithm 16)."""
        if id in self._subscriptions:
            raise ValueError(f"{id} is in the index already")
        chosen = self.access.select(literals)
        if not chosen:
            raise ValueError(f"no literal of {id} can be an access literal")
        access = tuple(self.access.acquire(literal) for literal in chosen)
        subscription = Subscription(tuple(literals), access, _without(literals, access))
        self._subscriptions[id] = subscription
        if subscription.is_pair and self._expansion(subscription) > self.max_pair_spaces:
            self._make_single(subscription)
        self._list(id, subscription)
        self._shrink_overgrown()

    def _on_split(self, old: Space, new: Space) -> None:
        """The entries of the old space hold for the new one, too."""
        for id, keys in self.table.split(old, new).items():
            subscription = self._subscriptions[id]
            subscription.keys += keys
            if subscription.is_pair and subscription.keys > self.max_pair_spaces:
                self._overgrown.add(id)

    def _shrink_overgrown(self) -> None:
        """After the insertion, not during it: the tree must not change while it is being cut."""
        for id in sorted(self._overgrown):
            subscription = self._subscriptions[id]
            if subscription.keys > self.max_pair_spaces:  # merges may have shrunk it meanwhile
                self._unlist(id, subscription)
                self._make_single(subscription)
                self._list(id, subscription)
        self._overgrown.clear()

    def _make_single(self, subscription: Subscription) -> None:
        """Keep only the more selective access literal. The subscription must not be listed."""
        kept, dropped = subscription.access
        subscription.access = (kept,)
        subscription.checks = _without(subscription.literals, subscription.access)
        self.access.release(dropped)

    # ---- removing -----------------------------------------------------------------------

    def remove(self, id: int) -> None:
        """Remove a conjunction that is there (DeleteSub, algorithm 18)."""
        subscription = self._subscriptions[id]
        self._unlist(id, subscription)
        del self._subscriptions[id]
        for access in subscription.access:
            self.access.release(access)

    def _on_merge(self, gone: Space) -> None:
        """The entries of the removed space are also listed under the kept one."""
        for id, keys in self.table.merge(gone).items():
            self._subscriptions[id].keys -= keys

    # ---- the keys of a subscription -----------------------------------------------------

    def _keys(self, subscription: Subscription) -> Iterator[Key]:
        """The product of the spaces that the access literals cover."""
        in_order = sorted(subscription.access, key=lambda access: access.dimension)
        return product(*map(self.access.spaces, in_order))

    def _expansion(self, subscription: Subscription) -> int:
        return prod(len(self.access.spaces(access)) for access in subscription.access)

    def _list(self, id: int, subscription: Subscription) -> None:
        for key in self._keys(subscription):
            self.table.add(key, id)
            subscription.keys += 1

    def _unlist(self, id: int, subscription: Subscription) -> None:
        for key in self._keys(subscription):
            self.table.remove(key, id)
            subscription.keys -= 1

    # ---- looking inside -----------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, id: int) -> bool:
        return id in self._subscriptions

    def plan(self, id: int) -> dict[str, object]:
        """How `match` will look for a subscription."""
        subscription = self._subscriptions[id]
        return {
            "way": "pair" if subscription.is_pair else "single",
            "access": [str(access.literal) for access in subscription.access],
            "keys": subscription.keys,
        }

    def stats(self) -> dict[str, int]:
        """What the index holds."""
        pairs = sum(subscription.is_pair for subscription in self._subscriptions.values())
        return {
            "subscriptions": len(self),
            "pairs": pairs,
            "singles": len(self) - pairs,
            "access_literals": len(self.access),
            "trees": len(self.access.trees),
            "spaces": sum(1 for tree in self.access.trees.values() for _ in tree.leaves()),
            "keys": len(self.table),
            "events": self.access.recorded,
        }

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an invariant is broken."""
        self.table.check_invariants()
        users = Counter(access for s in self._subscriptions.values() for access in s.access)
        self.access.check_invariants(users)
        listed: dict[Key, set[int]] = {}
        for id, subscription in self._subscriptions.items():
            keys = list(self._keys(subscription))
            assert len(keys) == subscription.keys
            assert not subscription.is_pair or len(keys) <= self.max_pair_spaces
            assert len({access.dimension.attribute for access in subscription.access}) == len(
                subscription.access
            )
            for key in keys:
                listed.setdefault(key, set()).add(id)
        assert self.table.items() == listed
        assert not self._overgrown


def _without(literals: Iterable[Literal], access: Iterable[Access]) -> tuple[Literal, ...]:
    """The literals of a candidate that are left to check: all but its access literals."""
    known = {entry.literal for entry in access}
    return tuple(literal for literal in literals if literal not in known)


def _is_true(literal: Literal, event: Mapping[str, Value]) -> bool:
    """Whether an event makes a literal true; if the attribute is missing, only `is null` is."""
    value = event.get(literal.predicate.key)
    if value is None:
        return literal.positive and literal.predicate.op is Op.IS_NULL
    return holds(literal, value)
