"""Whatever is sent, there is an answer or a `MalformedBidRequest`, and nothing else."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.openrtb import MalformedBidRequest, answer, ask, parse
from app.openrtb.logged import log_attributes
from app.openrtb.response import bid_response, matches
from app.openrtb.table import IMP, REQUEST
from tests.app.openrtb.exchange import AT, CATALOGUE, NOW, campaign, view_of

VIEW = view_of(
    campaign(1),
    campaign(2, "imp.deals any of ('d1')", categories=("IAB7-39",)),
    campaign(3, "user.segments is not empty or geo.lat > 0"),
)

leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["1", "0", "USA", "IAB7-39", "d1", "USD", "300", "a.example", "1YYN", "\0"]),
    st.sampled_from([0, 1, 2, 4, 5, 1984, 300, -480]),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["id", "name", "segment", "ext", "segtax", "w", "h", "bidfloor", "x"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
paths = sorted(
    {path for row in (*REQUEST, *IMP) for path in row.paths}
    | {"bcat", "badv", "acat", "cattax", "cur", "tmax", "test", "device", "user.consent"}
    | {"wseat", "bseat", "bapp", "imp.bidfloor", "imp.video", "imp.banner", "imp.pmp.deals"}
    | {"user.ext.consent", "device.ip", "device.lmt", "imp.bidfloorcur", "imp.banner.format"}
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A request with anything at the places that are read."""
    imp: dict[str, Any] = {"id": "1"}
    document: dict[str, Any] = {"id": "r", "imp": [imp]}
    for path in draw(st.lists(st.sampled_from(paths), max_size=12)):
        names = path.replace("geo.", "device.geo.", 1).replace("device.device.", "device.")
        if names == "imp":
            continue
        inside: Any = document
        *owners, field = names.split(".")
        for name in owners:
            found = imp if inside is document and name == "imp" else inside.setdefault(name, {})
            if not isinstance(found, dict):
                break
            inside = found
        else:
            inside[field] = draw(values)
    return document


@given(documents())
def test_anything_at_the_places_that_are_read_is_answered(document: dict[str, Any]) -> None:
    request = parse(json.dumps(document).encode())
    question = ask(request, VIEW, AT, rates={"EUR": 1.1})
    result = answer(question, VIEW, AT, NOW)
    for imp in question.imps:
        for each in imp.formats:
            assert each.event.keys() <= CATALOGUE.keys()
            json.dumps(log_attributes(each.event))
    sent = matches(question, result, VIEW, {})
    if sent is not None:
        assert json.loads(sent)["id"] == "r"
        assert json.loads(bid_response(question, result, VIEW) or b"")["id"] == "r"


@given(st.one_of(st.binary(), values.map(lambda value: json.dumps(value).encode())))
def test_anything_at_all_is_parsed_or_malformed(body: bytes) -> None:
    with suppress(MalformedBidRequest):
        parse(body)
