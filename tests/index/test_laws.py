"""The main evidence: every engine gives the oracle's answers, after any history of changes.

Each test is a law; its name says which. `make test-long` runs ten thousand examples.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from index import Index, Query, Schema, digest_of
from index.language import Tree
from tests.index.strategies import (
    FLOORS,
    GROUPS,
    SCORES,
    SOME_GROUPS,
    VERSIONS,
    conjunctions,
    events,
    excludes,
    schemas,
    trees,
)

MOMENTS = st.sampled_from([None, 0, 1, 2, 2.5, 3])
WINDOWS = st.sampled_from([(None, None), (None, None), (1, None), (None, 3), (1, 2.5)])
Beside = tuple[int, float | None, float | None, int, int]
BESIDES: st.SearchStrategy[Beside] = st.builds(
    lambda score, window, group, version: (score, *window, group, version),
    SCORES,
    WINDOWS,
    GROUPS,
    VERSIONS,
)
EXPRESSIONS: list[Callable[[Schema], st.SearchStrategy[Tree]]] = [trees, conjunctions]


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("expressions", EXPRESSIONS, ids=["any", "conjunctions"])
@given(data=st.data())
def test_every_engine_equals_scan(
    expressions: Callable[[Schema], st.SearchStrategy[Tree]], engine: str, data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    index, scan = Index(schema, engine=engine), Index(schema, engine="scan")
    for id, tree in enumerate(data.draw(st.lists(expressions(schema), max_size=6))):
        index.insert(id, tree)
        scan.insert(id, tree)
    index.check_invariants()
    for event in data.draw(st.lists(events(schema), min_size=1, max_size=6)):
        assert index.match(event) == scan.match(event)


@given(data=st.data())
def test_insert_then_remove_is_identity(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    index = Index(schema, engine="reference")
    for id, tree in enumerate(data.draw(st.lists(trees(schema), max_size=4))):
        index.insert(id, tree)
    before = index.stats()
    index.insert(99, data.draw(trees(schema) | conjunctions(schema)))
    index.remove(99)
    index.check_invariants()
    assert index.stats() == before


class Histories(RuleBasedStateMachine):
    """Everything that can happen to an index, beside an oracle that it happens to too."""

    engine = "reference"
    ids = st.integers(0, 5)

    def __init__(self) -> None:
        super().__init__()
        self.start(Schema())

    @initialize(schema=schemas())
    def start(self, schema: Schema) -> None:
        self.schema = schema
        self.index = Index(schema, engine=self.engine)
        self.scan = Index(schema, engine="scan")
        self.versions: dict[int, int] = {}

    @rule(data=st.data(), beside=BESIDES)
    def insert(self, data: st.DataObject, beside: Beside) -> None:
        self.put(
            data.draw(self.ids), data.draw(trees(self.schema) | conjunctions(self.schema)), beside
        )

    def put(self, id: int, tree: Tree, beside: Beside) -> None:
        self.versions[id] = beside[-1]
        self.index.insert(id, tree, *beside)
        self.scan.insert(id, str(tree), *beside)

    @rule(group=SOME_GROUPS)
    def mute(self, group: int) -> None:
        assert self.index.mute(group) == self.scan.mute(group)

    @rule(group=SOME_GROUPS)
    def unmute(self, group: int) -> None:
        assert self.index.unmute(group) == self.scan.unmute(group)

    @rule(data=st.data())
    def remove_what_may_not_be_there(self, data: st.DataObject) -> None:
        id = data.draw(self.ids)
        assert self.index.remove(id) == self.scan.remove(id)
        self.versions.pop(id, None)

    @rule(data=st.data(), at=MOMENTS, limit=st.integers(0, 4), floor=FLOORS)
    def match_less(self, data: st.DataObject, at: float | None, limit: int, floor: int) -> None:
        event = data.draw(events(self.schema))
        ids = st.sampled_from(list(self.scan)) | self.ids if len(self.scan) else self.ids
        exclude = data.draw(excludes(ids))
        for query in (
            Query(at, None, True, exclude, floor),
            Query(at, limit, True, exclude, floor),
        ):
            self.ask(event, query)

    def ask(self, event: dict[str, object], query: Query) -> None:
        assert self.index.ask(event, query) == self.scan.ask(event, query)

    @rule(data=st.data())
    def explain(self, data: st.DataObject) -> None:
        event = data.draw(events(self.schema))
        for id in self.scan:
            explanation = self.index.explain(id, event)
            heard = id in self.scan.match(event)
            assert explanation.value is True or not heard
            assert heard or explanation.value is not True or self.scan.muted()

    @invariant()
    def invariants_hold(self) -> None:
        self.index.check_invariants()
        assert list(self.index) == list(self.scan)
        digest = digest_of(self.versions.items())
        assert self.index.digest() == self.scan.digest() == digest
        assert self.index.muted() == self.scan.muted()

    def teardown(self) -> None:
        for id in list(self.scan):
            assert self.index.remove(id)
            self.index.check_invariants()
        for group in self.index.muted():
            self.index.unmute(group)
        assert self.index.digest() == 0
        self.check_empty()

    def check_empty(self) -> None:
        """No trace is left of what was in it."""
        empty = Index(self.schema, engine=self.engine).stats()
        assert self.index.stats() | {"unknown_attributes": {}} == empty


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=max(30, settings().max_examples // 5), stateful_step_count=20, deadline=None
)
