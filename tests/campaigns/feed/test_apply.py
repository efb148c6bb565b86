"""Changes into a view: in any portions the same, and no bad one in the way of the others."""

import json
import logging

from hypothesis import given
from hypothesis import strategies as st

from campaigns.feed.apply import apply
from campaigns.feed.view import View
from campaigns.log.changes import Change
from index import Limits
from tests.campaigns.feed.writing import active

AGES = range(3)
NOT_JSON = "{"


def change(rev: int, kind: str, object_id: str, payload: object) -> Change:
    text = payload if payload == NOT_JSON else json.dumps(payload)
    return Change(rev, kind, object_id, f"n{rev}", str(text).encode(), 0.0)


def fresh() -> View:
    view = View.empty({"age": "int"}, Limits())
    view.arrive("e", 0, "")
    return view


ids = st.integers(1, 4)
campaigns = st.builds(
    lambda id, version, age, advertiser: (
        "campaign",
        str(id),
        active(id, version, age, advertiser_id=advertiser, categories=["IAB1"][: id % 2]),
    ),
    ids,
    st.integers(1, 9),
    st.sampled_from(AGES),
    st.integers(1, 2),
)
others = st.one_of(
    st.builds(lambda id: ("campaign", str(id), {"id": id, "version": 1, "status": "paused"}), ids),
    st.builds(lambda id: ("campaign", str(id), None), ids),
    st.builds(
        lambda id, status: ("advertiser", str(id), {"status": status, "domain": None}),
        st.integers(1, 2),
        st.sampled_from(["active", "paused"]),
    ),
    st.builds(lambda id: ("campaign", str(id), active(id, 1) | {"tree": [1, "bad"]}), ids),
    st.builds(lambda id: ("campaign", str(id), NOT_JSON), ids),
    st.builds(lambda id: ("campaign", str(id), {"status": "active"}), ids),
    st.just(("attribute", "vip", {"name": "vip", "type": "bool"})),
    st.just(("statistics", "1", {})),
)


def expected(contents: list[tuple[str, str, object]]) -> dict[int, list[int]]:
    """Who matches at each age, said the simple way."""
    live: dict[str, dict[str, object]] = {}
    paused: set[object] = set()
    for kind, object_id, payload in contents:
        if kind == "advertiser" and isinstance(payload, dict):
            (paused.discard if payload["status"] == "active" else paused.add)(int(object_id))
        if kind != "campaign":
            continue
        good = isinstance(payload, dict) and payload.get("tree", [1, "bad"]) != [1, "bad"]
        if good and isinstance(payload, dict):
            live[object_id] = payload
        else:
            live.pop(object_id, None)
    return {
        age: sorted(
            int(id)
            for id, payload in live.items()
            if payload["tree"] == [1, ["=", "age", age]] and payload["advertiser_id"] not in paused
        )
        for age in AGES
    }


@given(
    contents=st.lists(st.one_of(campaigns, campaigns, others), max_size=25),
    cuts=st.lists(st.integers(0, 25), max_size=4),
)
def test_in_whatever_portions_the_end_is_the_same(
    contents: list[tuple[str, str, object]], cuts: list[int]
) -> None:
    changes = [change(rev, *content) for rev, content in enumerate(contents, 1)]
    logging.disable(logging.ERROR)
    try:
        view = fresh()
        for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), 99], strict=True):
            apply(view, changes[start:end])
        one_by_one = fresh()
        for each in changes:
            apply(one_by_one, [each])
    finally:
        logging.disable(logging.NOTSET)
    assert view.place[:3] == one_by_one.place[:3]
    assert view.place.rev == len(changes)
    assert view.digest() == one_by_one.digest()
    assert view.poisoned == one_by_one.poisoned
    found = {age: view.index.match({"age": age}) for age in AGES}
    assert found == {age: one_by_one.index.match({"age": age}) for age in AGES}
    assert found == expected(contents)
    assert {id for id in range(1, 5) if view.index.labels(id)} == {
        id for id in view.index if id % 2
    }
    view.index.check_invariants()


def test_a_poisoned_key_opens_nothing_and_a_poisoned_advertiser_is_muted() -> None:
    view = fresh()
    key = {"id": 1, "prefix": "p", "secret_hash": "h", "scopes": ["match"], "expires_at": None}
    apply(view, [change(1, "key", "1", key | {"revoked": False})])
    assert view.keys["p"].scopes == {"match"}
    apply(view, [change(2, "key", "1", {}), change(3, "advertiser", "1", NOT_JSON)])
    apply(view, [change(4, "campaign", "1", active(1, 1))])
    assert view.keys == {}
    assert view.index.match({"age": 0}) == []
    assert set(view.poisoned) == {("key", "1"), ("advertiser", "1")}
    apply(view, [change(5, "advertiser", "1", {"status": "active", "domain": "a.example"})])
    assert view.index.match({"age": 0}) == [1]
    assert view.domains == {1: "a.example"}


def test_another_type_stops_before_it_and_everything_behind_waits() -> None:
    view = fresh()
    apply(
        view,
        [
            change(1, "campaign", "1", active(1, 1)),
            change(2, "attribute", "age", {"name": "age", "type": "string"}),
            change(3, "campaign", "2", active(2, 1)),
        ],
    )
    assert (view.place.rev, view.stalled, list(view.index)) == (1, "catalogue", [1])
    apply(view, [change(4, "campaign", "3", active(3, 1))])
    assert (view.place.rev, list(view.index)) == (1, [1])
