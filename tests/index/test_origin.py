"""The group and version of an id, and the scores of matches, on every engine."""

import pytest

from index import Attribute, Index, Query, Schema


@pytest.mark.parametrize("engine", ["native", "reference", "scan"])
def test_what_stands_beside_an_id_is_what_was_put_there(engine: str) -> None:
    index = Index(Schema([Attribute("a", "int")]), engine=engine)
    index.insert(7, "true", score=5, group=3, version=2)
    index.insert(8, "a = 1", score=9)
    assert [index.origin(id) for id in (7, 8, 9)] == [(3, 2), (0, 0), (0, 0)]
    best = index.ask({"a": 1}, Query(limit=5))
    assert (best.ids, best.scores) == ([8, 7], [9, 5])
    assert index.ask({"a": 1}, Query()).scores is None
    index.insert(7, "true", group=4, version=3)
    assert index.origin(7) == (4, 3)
    index.remove(7)
    assert index.origin(7) == (0, 0)
