"""The engines of `bench/native/`, in Rust: the flat scan, two crates and those of the papers.

Reading trees and events from JSON is not timed, except for quamina, which reads JSON itself.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.build import CannotBuild, peers
from bench.index.engines.engine import Item, Unavailable, as_pairs
from index.language import Schema
from testkit.workloads.workload import Event

if TYPE_CHECKING:
    from bench import _peers


class _Peer:
    cap: int | None = None

    def __init__(self, peer: "_peers.Flat | _peers.ATree | _peers.Quamina | _peers.Paper") -> None:
        self._peer = peer

    def build(self, items: Sequence[Item]) -> None:
        """One by one; there is no bulk insert."""
        insert = self._peer.insert
        try:
            for id, text in items:
                insert(id, text)
        except ValueError as e:
            raise Unavailable(str(e)) from None

    def insert(self, item: Item) -> None:
        """One JSON tree."""
        self.build([item])

    def match_ns(self, events: Sequence[Event]) -> list[int]:
        """Timed inside the engine."""
        written = [json.dumps(event) for event in events]
        return self._peer.match_ns(written)

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """The engine's answers."""
        return [self._peer.matching(json.dumps(event)) for event in events]

    def bytes_(self) -> int:
        """The engine's own count."""
        return self._peer.bytes_held()


class Flat(_Peer):
    """The baseline."""

    def __init__(self, schema: Schema) -> None:
        try:
            super().__init__(peers().Flat(as_pairs(schema)))
        except CannotBuild as e:
            raise Unavailable(str(e)) from None


class ATree(_Peer):
    """The crate a-tree. `bench/native/src/peer.rs` lists what it does not support."""

    cap: int | None = 100_000

    def __init__(self, schema: Schema) -> None:
        try:
            super().__init__(peers().ATree(as_pairs(schema)))
        except CannotBuild as e:
            raise Unavailable(str(e)) from None


class Quamina(_Peer):
    """The crate quamina. `bench/native/src/quamina.rs` says what it holds; its compiled form panics
    with more patterns than this."""

    cap: int | None = 2000

    def __init__(self, schema: Schema) -> None:
        try:
            super().__init__(peers().Quamina(as_pairs(schema)))
        except CannotBuild as e:
            raise Unavailable(str(e)) from None

    def match_ns(self, events: Sequence[Event]) -> list[int]:
        """Timed inside the engine, after it has compiled its patterns."""
        try:
            return super().match_ns(events)
        except ValueError as e:
            raise Unavailable(str(e)) from None


class Paper(_Peer):
    """An engine of the papers, by its name there. `seen` are events to learn from; `setting` is the
    capacity of BE-Tree's leaves or TAMA's last level."""

    _peer: "_peers.Paper"

    def __init__(
        self, name: str, schema: Schema, seen: Sequence[Event] = (), setting: int | None = None
    ) -> None:
        try:
            super().__init__(peers().Paper(name, as_pairs(schema), setting))
        except CannotBuild as e:
            raise Unavailable(str(e)) from None
        self._seen = [json.dumps(event) for event in seen]
        self._peer.learn(self._seen)
        self._changed = False

    def build(self, items: Sequence[Item]) -> None:
        """One by one; the paper's maintenance follows before the next match."""
        super().build(items)
        self._changed = True

    def maintain(self, events: Sequence[Event] = ()) -> None:
        """What the paper does after a build, or at the end of a window, given recent events."""
        self._peer.maintain([json.dumps(event) for event in events] or self._seen)
        self._changed = False

    def stay(self) -> None:
        """Leave out the maintenance after changes."""
        self._changed = False

    def match_ns(self, events: Sequence[Event]) -> list[int]:
        """Timed inside the engine."""
        if self._changed:
            self.maintain()
        return super().match_ns(events)

    def remove(self, id: int) -> bool:
        """Whether it was there."""
        return self._peer.remove(id)
