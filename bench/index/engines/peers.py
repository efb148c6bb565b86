"""The engines of `bench/native/`: the flat scan and the crate a-tree, in Rust.

Reading trees and events from JSON is not timed.
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

    def __init__(self, peer: "_peers.Flat | _peers.ATree") -> None:
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
