"""The peers in Rust: the flat scan and the crate a-tree, from `bench/native/`.

Their trees and events are read from JSON outside of the time that is measured.
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
        """One by one: there is no faster way."""
        insert = self._peer.insert
        try:
            for id, text in items:
                insert(id, text)
        except ValueError as e:
            raise Unavailable(str(e)) from None

    def insert(self, item: Item) -> None:
        """One JSON tree."""
        self.build([item])

    def match_ns(self, events: Sequence[Event], rounds: int = 1) -> list[int]:
        """Timed inside."""
        written = [json.dumps(event) for event in events]
        return self._peer.match_ns(written * rounds)

    def list_ns(self, events: Sequence[Event]) -> list[int]:
        """Timed inside."""
        return self._peer.list_ns([json.dumps(event) for event in events])

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """As the peer gives them."""
        return [self._peer.matching(json.dumps(event)) for event in events]

    def bytes_(self) -> int:
        """As the peer counts them."""
        return self._peer.bytes_held()


class Flat(_Peer):
    """The baseline. `reorder` puts the children that decide cheapest first."""

    def __init__(self, schema: Schema, reorder: bool = True) -> None:
        try:
            super().__init__(peers().Flat(as_pairs(schema), reorder))
        except CannotBuild as e:
            raise Unavailable(str(e)) from None


class ATree(_Peer):
    """The crate a-tree. See `bench/native/src/peer.rs` for what it is not asked."""

    cap: int | None = 100_000

    def __init__(self, schema: Schema) -> None:
        try:
            super().__init__(peers().ATree(as_pairs(schema)))
        except CannotBuild as e:
            raise Unavailable(str(e)) from None
