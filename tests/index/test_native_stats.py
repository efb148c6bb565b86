"""The statistics that the native core reports about itself."""

from typing import Any

from index import Attribute, Index, Schema

TYPES = {"flag": "bool", "n": "int", "x": "float", "s": "string"}
SCHEMA = Schema([Attribute(name, type) for name, type in TYPES.items()])


def test_stats_count_every_expression_once() -> None:
    """They are looked at a thousand at a time."""
    index = Index(SCHEMA, engine="native")
    index.insert_many((id, f"n = {id % 2500} and s = 'a'") for id in range(5000))
    index.insert_many((5000 + id, "n > 1 and n < 1") for id in range(7))
    index.insert_many((6000 + id, f"x > {id}.5 or flag") for id in range(3))
    for id in range(0, 2000, 3):
        index.remove(id)
    stats: Any = index.stats()
    count = 5010 - 667
    assert (stats["expressions"], stats["distinct_expressions"]) == (count, 2503)
    assert stats["ways"] == {"conjunction": count - 10, "tree": 3, "never": 7}
    assert stats["nodes"] == {"literal": 2500 + 1 + 3 + 1, "gate": 2503}
    assert stats["sharing"]["ids_on_shared_expressions"] == count - 7 - 2503
    assert stats["costliest"][0] == {"key": "flag = true", "postings": 3}
    assert len(stats["costliest"]) == 10
