"""The native core gives the oracle's answers after any history of changes.

`test_laws.py` has the laws of all engines; this file has those of the native core alone:
answers from JSON, statistics, replanning, snapshots, its own normal form.
"""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from index import Attribute, Index, Query, Schema
from index.language import Not, Type, normalize, to_json
from tests.index.strategies import (
    GROUPS,
    NAMES,
    VALUES,
    conjunctions,
    events,
    schemas,
    trees,
)
from tests.index.test_laws import BESIDES, MOMENTS, Beside, Histories

IDS = st.sampled_from(
    [0, 1, 62, 63, 64, 65, 127, 128, 4096, 2**32, 2**62, 2**63 - 64, 2**63 - 1]
) | st.integers(0, 2**63 - 1)
SHARES = st.floats(0, 1, width=32)


def statistics(schema: Schema) -> st.SearchStrategy[dict[str, object] | None]:
    """Statistics of any attributes of the schema, right in form and otherwise nonsense."""

    def described(kind: Type) -> st.SearchStrategy[dict[str, object]]:
        shares = st.lists(st.tuples(VALUES[kind.element], SHARES), max_size=4)
        optional: dict[str, st.SearchStrategy[object]] = {"presence": SHARES}
        if kind.is_list:
            optional |= {"empty": SHARES, "elements": shares}
        elif kind is not Type.POINT:
            optional["values"] = shares
        if kind in (Type.INT, Type.FLOAT):
            optional["histogram"] = st.lists(
                st.tuples(VALUES[kind], VALUES[kind], SHARES), max_size=3
            )
        return st.fixed_dictionaries({}, optional=optional)

    attributes = {attribute.name: described(attribute.type) for attribute in schema}
    return st.none() | st.fixed_dictionaries(
        {
            "version": st.just(1),
            "attributes": st.fixed_dictionaries({}, optional=attributes),
        }
    )


@given(data=st.data())
def test_the_normal_form_is_the_references(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    core = Index(schema, engine="native")._native().core
    tree = data.draw(trees(schema, max_leaves=20) | conjunctions(schema))
    for each in (tree, Not(tree)):
        assert core.normal_form(to_json(each).encode()) == normalize(each).to_json()


@given(data=st.data())
def test_statistics_never_change_an_answer(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    index = Index(schema, engine="native")
    expressions = data.draw(st.lists(trees(schema) | conjunctions(schema), max_size=8))
    index.insert_many(enumerate(expressions))
    some = data.draw(st.lists(events(schema), min_size=1, max_size=5))
    before = index.match_many(some)
    for known in data.draw(st.lists(statistics(schema), min_size=1, max_size=3)):
        index.use_statistics(known)
        index.check_invariants()
        assert index.match_many(some) == before


@given(data=st.data())
def test_the_order_of_inserts_never_changes_an_answer(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    expressions = data.draw(
        st.dictionaries(IDS, trees(schema) | conjunctions(schema), min_size=1, max_size=8)
    )
    some = data.draw(st.lists(events(schema), min_size=1, max_size=5))
    first, second = Index(schema, engine="native"), Index(schema, engine="native")
    first.insert_many(expressions.items())
    for id in data.draw(st.permutations(list(expressions))):
        second.insert(id, expressions[id])
    assert first.match_many(some) == second.match_many(some)


class NativeHistories(Histories):
    """What can happen to any index, and what only the native one does."""

    engine = "native"
    ids = IDS

    @initialize(schema=schemas())
    def start(self, schema: Schema) -> None:
        super().start(schema)
        # Bands of two entries and more, so that borders move.
        self.index._native().core.tune("bands", 1)

    @rule(data=st.data(), tree_of=IDS, ids=st.lists(IDS, min_size=2, max_size=5), group=GROUPS)
    def insert_many_of_one_expression(
        self, data: st.DataObject, tree_of: int, ids: list[int], group: int
    ) -> None:
        tree = data.draw(trees(self.schema) | conjunctions(self.schema))
        items = [
            (id, tree, place, None, None, group, place) for place, id in enumerate([*ids, tree_of])
        ]
        self.versions |= {id: version for id, *_, version in items}
        self.index.insert_many(items)
        self.scan.insert_many(items)

    @rule(data=st.data(), ids=st.lists(IDS, min_size=1, max_size=4))
    def insert_json(self, data: st.DataObject, ids: list[int]) -> None:
        rows = []
        for id in ids:
            tree = to_json(data.draw(trees(self.schema)))
            beside = data.draw(BESIDES)
            rows.append((id, data.draw(st.sampled_from([tree, tree.encode()])), *beside))
            self.versions[id] = beside[-1]
        self.index.insert_json(rows)
        self.scan.insert_json(rows)

    @precondition(lambda self: len(self.scan) > 0)
    @rule(data=st.data(), beside=BESIDES)
    def replace(self, data: st.DataObject, beside: Beside) -> None:
        id = data.draw(st.sampled_from(list(self.scan)))
        other = data.draw(st.sampled_from(list(self.scan)))
        tree = data.draw(st.just(self.scan._backend.tree(other)) | trees(self.schema))
        assert tree is not None
        self.put(id, tree, beside)

    @rule(name=st.sampled_from([*NAMES, "late", "later"]), kind=st.sampled_from(list(Type)))
    def add_attribute(self, name: str, kind: Type) -> None:
        known = self.schema.get(name)
        attribute = Attribute(name, known.type if known else kind)
        for index in (self.index, self.scan):
            index.add_attribute(attribute)
        assert self.index.schema == self.scan.schema
        self.schema = self.index.schema

    @precondition(lambda self: len(self.scan) > 0)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.scan)))
        assert self.index.remove(id)
        assert self.scan.remove(id)
        del self.versions[id]

    @rule(data=st.data(), at=MOMENTS, limit=st.integers(0, 4))
    def match(self, data: st.DataObject, at: float | None, limit: int) -> None:
        event = data.draw(events(self.schema))
        expected = self.scan.match(event, at)
        best = self.scan.top(event, limit, at, total=True)
        found = self.index.match(event, at)
        assert found == sorted(found) == expected
        assert self.index.top(event, limit, at, total=True) == best
        assert self.index.top(event, limit, at) == best[0]
        sent = json.dumps(event, ensure_ascii=data.draw(st.booleans())).encode()
        assert self.index.match(sent, at) == expected
        assert self.index.top(sent, limit, at, total=True) == best

    def ask(self, event: dict[str, object], query: Query) -> None:
        query = replace(query, total=len(self.scan) % 2 == 0)
        best = self.scan.ask(event, query)
        for asked in (event, json.dumps(event).encode()):
            found = self.index.ask(asked, query)
            assert (found.ids, found.total) == (best.ids, best.total)
            if query.limit is not None:
                assert found.to_json(b"}") == best.to_json(b"}")
                answer = json.loads(best.to_json(b"}"))
                assert [each["campaign_id"] for each in answer["matches"]] == best.ids

    @rule(data=st.data(), at=MOMENTS)
    def match_with_builtins(self, data: st.DataObject, at: float | None) -> None:
        event, builtins = data.draw(events(self.schema)), data.draw(events(self.schema))
        without = {name: value for name, value in event.items() if name not in builtins}
        sent = json.dumps(without).encode()
        both = without | builtins
        query = Query(at, builtins=builtins)
        assert self.index.ask(sent, query).ids == self.scan.match(both, at)
        assert self.index.ask(without, query).ids == self.scan.match(both, at)
        best = self.index.ask(sent, Query(at, 3, True, builtins=builtins))
        assert (best.ids, best.total) == self.scan.top(both, 3, at, total=True)

    @rule(data=st.data())
    def use_statistics(self, data: st.DataObject) -> None:
        self.index.use_statistics(data.draw(statistics(self.schema)))

    @rule()
    def replan(self) -> None:
        self.index.replan()

    @rule(data=st.data())
    def save_and_load(self, data: st.DataObject) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.copse"
            self.index.save(path)
            self.index = Index.load(path, self.schema)
        assert len(self.index) == len(self.scan)
        event = data.draw(events(self.schema))
        for id in self.scan:
            assert self.index.explain(id, event) == self.scan.explain(id, event)
        assert self.index.top(event, len(self.scan), total=True) == self.scan.top(
            event, len(self.scan), total=True
        )
        assert self.index.muted() == self.scan.muted()

    @invariant()
    def stats_hold(self) -> None:
        assert self.index.stats()["expressions"] == len(self.scan)
        assert self.index.stats()["groups"] == self.scan.stats()["groups"]

    def check_empty(self) -> None:
        stats = self.index.stats()
        assert isinstance(stats["ways"], dict)
        assert not any(stats["ways"].values())
        assert stats["nodes"] == {"literal": 0, "gate": 0}
        parts = ("expressions", "distinct_expressions", "levels", "edges", "postings", "keys")
        for part in (*parts, "groups"):
            assert stats[part] == 0


TestNativeHistories = NativeHistories.TestCase
TestNativeHistories.settings = settings(
    max_examples=max(50, settings().max_examples // 5), stateful_step_count=25, deadline=None
)
