"""A document: one way to write it, what the index takes of it, what it must not be."""

import copy
from typing import Any

import pytest

from campaigns.errors import InvalidFields
from campaigns.statistics.document import canonical, check, checksum_of, for_index, share
from index import Attribute, Index, Schema
from tests.campaigns.statistics.traffic import request, statistics

ATTRIBUTES: dict[str, Any] = {
    "country": {"type": "string", "presence": 1.0, "distinct": 1, "values": [["US", 0.9]]},
    "geo.lat": {
        "type": "float",
        "presence": 0.5,
        "distinct": 7,
        "values": [],
        "histogram": [[-1.5, 2.0, 0.5]],
    },
    "segments": {
        "type": "int list",
        "presence": 0.7,
        "empty": 0.1,
        "distinct": 3,
        "elements": [[12, 0.4]],
    },
}
PAIRS = [{"attributes": ["country", "geo.lat"], "presence": 0.5, "values": [["US", 1.0, 0.01]]}]


def document() -> dict[str, Any]:
    made, _ = statistics([request(country="US")], attributes=copy.deepcopy(ATTRIBUTES))
    return made


def test_the_order_of_names_does_not_matter() -> None:
    turned = dict(reversed(document().items()))
    assert canonical(turned) == canonical(document())
    assert checksum_of(canonical(turned)) == checksum_of(canonical(document()))
    assert checksum_of(canonical({**turned, "rows": 2})) != checksum_of(canonical(document()))


def test_shares_have_six_digits_that_count() -> None:
    assert share(1, 3) == 0.333333
    assert share(1, 30_000_000) == 3.33333e-08
    assert share(0, 0) == 0.0


def test_the_index_takes_what_it_is_given() -> None:
    check(document())
    given = for_index(document())
    assert given == {
        "version": 1,
        "attributes": {
            "country": {"presence": 1.0, "values": [["US", 0.9]]},
            "geo.lat": {"presence": 0.5, "values": [], "histogram": [[-1.5, 2.0, 0.5]]},
            "segments": {"presence": 0.7, "empty": 0.1, "elements": [[12, 0.4]]},
        },
    }
    types = {name: str(stats["type"]) for name, stats in ATTRIBUTES.items()}
    index = Index(Schema([Attribute(name, type) for name, type in types.items()]))
    index.insert(1, "country = 'US' and segments any of (12)")
    index.use_statistics(given)
    [entry] = index.plan(1)["entries"]  # type: ignore[misc]
    assert "12" in entry["access"]  # type: ignore[has-type]


def test_pairs_of_an_older_document_are_kept_and_not_used() -> None:
    older = {**document(), "pairs": PAIRS}
    check(older)
    assert for_index(older) == for_index(document())
    assert checksum_of(canonical(older)) != checksum_of(canonical(document()))


@pytest.mark.parametrize(
    ("pointer", "path", "value"),
    [
        ("/schema", ("schema",), 2),
        ("/window", ("window",), None),
        ("/window", ("window", "to"), "2026-11-01T00:00:00Z"),
        ("/window", ("window", "from"), "yesterday"),
        ("/window/days", ("window", "days"), []),
        ("/requests_by_day", ("requests_by_day",), {"2026-11-17": 1}),
        ("/requests_by_day", ("requests_by_day",), {"2026-11-16": -1}),
        ("/rows", ("rows",), -1),
        ("/rows", ("rows",), True),
        ("/quarantined", ("quarantined",), 1.5),
        ("/requests", ("requests",), float("nan")),
        ("/sample", ("sample",), {"rows": 1}),
        ("/attributes", ("attributes",), []),
        ("/attributes/country", ("attributes", "country"), 7),
        ("/attributes/country/type", ("attributes", "country", "type"), "text"),
        ("/attributes/country/presence", ("attributes", "country", "presence"), 1.1),
        ("/attributes/country/distinct", ("attributes", "country", "distinct"), None),
        ("/attributes/country/values", ("attributes", "country", "values"), [["US", 2]]),
        ("/attributes/segments/empty", ("attributes", "segments", "empty"), -0.1),
        ("/attributes/segments/elements", ("attributes", "segments", "elements"), [[1]]),
        ("/attributes/geo.lat/histogram", ("attributes", "geo.lat", "histogram"), [[1, 0.5]]),
    ],
)
def test_what_a_document_must_not_be(
    pointer: str, path: tuple[str | int, ...], value: object
) -> None:
    wrong: Any = document()
    place = wrong
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InvalidFields) as refused:
        check(wrong)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]
