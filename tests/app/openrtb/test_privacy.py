"""What is withheld under which flag, and that nothing of who the user is ever comes out."""

import json
from typing import Any

import pytest

from app.openrtb import answer, ask
from app.openrtb.logged import log_attributes
from app.openrtb.privacy import truncated
from tests.app.openrtb.exchange import (
    AT,
    NOW,
    Document,
    bid_request,
    campaign,
    empty_view,
    event,
    parsed,
    view_of,
)
from tests.app.openrtb.test_tcf import core

SEGMENTS = {"user.segments"}
PERSON = {"age", "user.gender"}
PRECISE = {"geo.zip", "device.ip"}
COORDINATES = {"geo.lat", "geo.lon"}
OPTED_OUT = SEGMENTS | PRECISE | COORDINATES
ALL = SEGMENTS | PERSON | PRECISE | COORDINATES

GOOD = core({1, 2, 3, 4}, special={1})


def personal(**fields: Any) -> Document:
    """A request that says much about the user, with some fields changed."""
    document = bid_request(
        device={
            "ip": "203.0.113.77",
            "ipv6": "2001:db8:1234:5678:9abc::77",
            "ifa": "CANARY-IFA",
            "didsha1": "CANARY-DID",
            "dpidmd5": "CANARY-DPID",
            "macsha1": "CANARY-MAC",
            "ua": "CANARY-UA",
            "ext": {"id": "CANARY-DEVICE-EXT"},
            "geo": {"country": "DEU", "zip": "10115", "lat": 52.532123, "lon": 13.384123},
        },
        user={
            "id": "CANARY-USER",
            "buyeruid": "CANARY-BUYER",
            "customdata": "CANARY-CUSTOM",
            "eids": [{"source": "x", "uids": [{"id": "CANARY-EID"}]}],
            "ext": {"eids": [{"uids": [{"id": "CANARY-OLD-EID"}]}]},
            "keywords": "CANARY-KEYWORDS",
            "yob": 1990,
            "gender": "F",
            "data": [{"name": "p", "segment": [{"id": "s1"}]}],
        },
        site={"domain": "a.example", "page": "https://a.example/?uid=CANARY-QUERY"},
    )
    for path, value in fields.items():
        owner, *between, field = path.split("__")
        inside = document.setdefault(owner, {})
        for name in between:
            inside = inside.setdefault(name, {})
        inside[field] = value
    return document


@pytest.mark.parametrize(
    ("fields", "withheld"),
    [
        ({}, set()),
        ({"regs__gdpr": 0}, set()),
        ({"regs__gdpr": 0, "user__consent": ""}, set()),
        ({"regs__gdpr": 1}, ALL),
        ({"regs__ext__gdpr": 1}, ALL),
        ({"regs__gdpr": True}, ALL),
        ({"regs__gdpr": "1"}, ALL),
        ({"regs__gdpr": "yes"}, ALL),
        ({"regs__gdpr": [0]}, ALL),
        ({"regs__gdpr": "0"}, set()),
        ({"regs__gdpr": 0, "regs__ext__gdpr": 1}, set()),
        ({"regs__gdpr": 1, "regs__ext__gdpr": 0}, ALL),
        ({"regs__gpp_sid": [2]}, ALL),
        ({"regs__gpp_sid": [2], "regs__gdpr": 0}, ALL),
        ({"regs__gpp_sid": [2], "regs__gdpr": 0, "user__consent": GOOD}, set()),
        ({"regs__gpp_sid": [6], "regs__gpp": "DBABTA~1YNN", "regs__gdpr": 1}, ALL),
        ({"regs__gpp_sid": "2"}, ALL),
        ({"regs__gpp_sid": ["2"]}, ALL),
        ({"regs__gpp_sid": 2}, ALL),
        ({"regs__gpp_sid": 2, "user__consent": GOOD}, set()),
        ({"regs__gpp_sid": [2], "regs__gpp": f"DBABMA~{GOOD}"}, set()),
        ({"regs__gpp_sid": [2], "regs__gpp": "DBABMA~CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYg"}, ALL),
        ({"regs__gpp_sid": [], "regs__gpp": "DBABMA~"}, set()),
        ({"regs__gpp_sid": [-1]}, set()),
        ({"regs__gpp": "DBABzYAA~1YYN", "regs__gpp_sid": [6]}, OPTED_OUT),
        ({"regs__gpp": "DBABTA~1YYN"}, OPTED_OUT),
        ({"regs__gpp": "DBABzYAA~1YNN"}, ALL),  # its header also names 7 and 8
        ({"regs__gpp": "DBABTA~1YNN~BVQqAAAAAgA"}, ALL),
        ({"regs__gpp": ""}, set()),
        ({"regs__gpp": "", "regs__gpp_sid": []}, set()),
        ({"regs__gpp": "", "regs__gpp_sid": [7]}, ALL),
        ({"regs__gpp": "DBABzYAA~1YNN", "regs__gpp_sid": [6]}, set()),
        ({"regs__gpp": "DBABzYAA~1YYN", "regs__gpp_sid": [7]}, ALL),
        ({"regs__gpp_sid": [6], "regs__us_privacy": "1YNN"}, set()),
        ({"regs__gpp": "DBAA", "regs__us_privacy": "1N"}, OPTED_OUT),
        ({"regs__gpp_sid": [6]}, ALL),
        ({"regs__gpp": "DBABTA~1YNN", "regs__gpp_sid": ["x"]}, ALL),
        ({"regs__gpp": "not a string of it"}, ALL),
        ({"regs__gpp": 7, "regs__gpp_sid": []}, ALL),
        ({"regs__ext": {"gpp": "DBABzYAA~1YYN", "gpp_sid": [6]}}, OPTED_OUT),
        ({"regs__ext": {"gpc": "1"}}, OPTED_OUT),
        ({"regs__ext": {"gpc": 1}}, OPTED_OUT),
        ({"regs__gpc": True}, OPTED_OUT),
        ({"regs__ext": {"gpc": "0"}}, set()),
        ({"regs__gdpr": 1, "user__consent": GOOD}, set()),
        ({"regs__gdpr": 1, "user__ext__consent": GOOD}, set()),
        ({"regs__ext__gdpr": 1, "user__ext__consent": GOOD}, set()),
        ({"regs__gdpr": 1, "user__consent": "bad", "user__ext__consent": GOOD}, ALL),
        ({"regs__gdpr": 1, "user__consent": "", "regs__gpp": f"DBABMA~{GOOD}"}, set()),
        ({"regs__gdpr": 1, "user__consent": core({1, 2, 3, 4})}, COORDINATES),
        ({"regs__gdpr": 1, "user__consent": core({1, 2, 3}, special={1})}, ALL),
        ({"regs__gdpr": 1, "user__consent": core({2, 3, 4}, {1}, {1})}, ALL),
        ({"regs__gdpr": 1, "user__consent": core({1, 2, 3, 4}, version=1)}, ALL),
        ({"regs__gdpr": 1, "user__consent": GOOD[:35]}, ALL),
        ({"regs__gdpr": 1, "user__consent": 5}, ALL),
        ({"regs__coppa": 1}, ALL),
        ({"regs__coppa": 0}, set()),
        ({"regs__us_privacy": "1YYN"}, ALL - PERSON),
        ({"regs__ext__us_privacy": "1-y-"}, ALL - PERSON),
        ({"regs__us_privacy": "1YNY"}, set()),
        ({"regs__us_privacy": "1---"}, set()),
        ({"regs__us_privacy": "1N"}, ALL - PERSON),
        ({"regs__us_privacy": 1}, ALL - PERSON),
        ({"regs__us_privacy": ""}, set()),
        ({"device__lmt": 1}, ALL - PERSON),
        ({"device__lmt": 0, "device__dnt": 0}, set()),
        ({"device__dnt": 1}, ALL - PERSON),
        ({"device__lmt": "true"}, ALL - PERSON),
        ({"device__lmt": 1, "regs__gdpr": 1, "user__consent": GOOD}, ALL - PERSON),
        ({"device__lmt": 1, "regs__coppa": 1}, ALL),
    ],
)
def test_what_may_not_be_used_is_not_there(fields: dict[str, Any], withheld: set[str]) -> None:
    found = event(personal(**fields)).keys()
    assert found & ALL == ALL - withheld
    assert {"country", "site.domain"} <= found


@pytest.mark.parametrize("regs", ["gdpr=1", 1, [{"gdpr": 1}], {"ext": "gdpr=1"}])
def test_regs_that_cannot_be_read_withhold_everything(regs: object) -> None:
    request = parsed({**personal(), "regs": regs})
    assert request.privacy.reasons == ("regs",)
    assert list(request.ignored) == ["regs.ext" if isinstance(regs, dict) else "regs"]


@pytest.mark.parametrize("regs", [None, [], "", {"ext": []}])
def test_empty_regs_say_nothing(regs: object) -> None:
    assert parsed({**personal(), "regs": regs}).privacy.reasons == ()


def test_the_home_of_a_user_is_of_the_user() -> None:
    home = {"geo": {"country": "DEU", "city": "Berlin", "lat": 52.5, "lon": 13.4, "utcoffset": 120}}
    assert event(bid_request(user=home)).keys() == {
        *("country", "geo.city", "geo.lat", "geo.lon", "geo.point", "local.hour"),
        "local.weekday",
    }
    assert event(bid_request(user=home, regs={"gdpr": 1})).keys() == {"privacy.gdpr"}
    withheld = event(bid_request(user=home, device={"lmt": 1}))
    assert withheld.keys().isdisjoint({"geo.lat", "geo.lon", "geo.point"})


def test_which_purposes_are_required_is_a_setting() -> None:
    document = personal(regs__gdpr=1, user__consent=core({2, 7}, special={1}))
    assert parsed(document, required_purposes={2, 7}).privacy.reasons == ()
    assert parsed(document, required_purposes={2, 4}).privacy.reasons == ("gdpr",)
    assert parsed(document, required_purposes=()).privacy.reasons == ()
    nothing = personal(regs__gdpr=1)
    assert parsed(nothing, required_purposes=()).privacy.reasons == ("gdpr",)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0"),
        ("2001:db8:1234:5678:9abc::77", "2001:db8:1234:5600::"),
        ("::ffff:203.0.113.77", "203.0.113.0"),
        ("::ffff:0:203.0.113.77", "::"),
        ("fe80::1%eth0", None),
        ("203.0.113", None),
        ("203.0.113.77, 10.0.0.1", None),
        ("x\0", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_an_address_is_cut_to_its_network(address: object, network: str | None) -> None:
    assert truncated(address) == network


@pytest.mark.parametrize(
    ("sent", "network", "ignored"),
    [
        ({"ip": "203.0.113.77"}, "203.0.113.0", []),
        ({"ip": "203.0.113.77", "ipv6": "2001:db8::1"}, "203.0.113.0", []),
        ({"ip": "2001:db8:1:2345::7"}, "2001:db8:1:2300::", []),
        ({"ipv6": "2001:db8:1:2345::7"}, "2001:db8:1:2300::", []),
        ({"ip": "", "ipv6": "::ffff:10.1.2.3"}, "10.1.2.0", []),
        ({"ip": None, "ipv6": None}, None, []),
        ({"ip": "CANARY", "ipv6": "2001:db8::1"}, "2001:db8::", ["device.ip"]),
        ({"ip": 7, "ipv6": ["2001:db8::1"]}, None, ["device.ip", "device.ipv6"]),
    ],
)
def test_the_attribute_is_the_network(
    sent: Document, network: str | None, ignored: list[str]
) -> None:
    document = bid_request(device=sent)
    assert event(document).get("device.ip") == network
    assert list(parsed(document).ignored) == ignored
    for flags in ({"lmt": 1}, {"dnt": "1"}):
        assert "device.ip" not in event(bid_request(device=sent | flags))
    for regs in ({"gdpr": 1}, {"coppa": 1}, {"gpc": 1}, {"us_privacy": "1YYN"}, {"gpp": "?"}):
        withheld = parsed(bid_request(device=dict(sent), regs=regs))
        assert withheld.document["device"].keys().isdisjoint({"ip", "ipv6"})


@pytest.mark.parametrize("fields", [{}, {"regs__gdpr": 1}, {"device__lmt": 1}])
def test_no_trace_of_who_it_was_in_anything_that_comes_out(fields: dict[str, Any]) -> None:
    request = parsed(personal(**fields))
    view = view_of(campaign(1))
    question = ask(request, view, AT)
    result = answer(question, view, AT, NOW)
    logged = [log_attributes(imp.event) for imp in question.imps]
    for text in (json.dumps(logged), repr(request), repr(question), repr(result)):
        assert "CANARY" not in text
        assert "203.0.113.77" not in text
        assert "9abc" not in text
    assert "CANARY" not in json.dumps([request.document["user"], request.document["device"]])
    assert request.document["device"].get("ip") == (None if fields else "203.0.113.0")


def test_coordinates_are_logged_to_a_kilometre() -> None:
    question = ask(parsed(personal()), empty_view(), AT)
    matched = question.imps[0].event
    assert (matched["geo.lat"], matched["geo.lon"]) == (52.532123, 13.384123)
    logged = log_attributes(matched)
    assert (logged["geo.lat"], logged["geo.lon"]) == (52.53, 13.38)
    assert log_attributes({"age": 3}) == {"age": 3}


@pytest.mark.parametrize("field", ["zip", "lat"])
def test_a_withheld_place_of_the_device_does_not_bring_in_that_of_the_user(field: str) -> None:
    home = {"country": "DEU", "city": "Berlin"}
    where = {"zip": {"zip": "10115"}, "lat": {"lat": 52.5, "lon": 13.4}}[field]
    for flags in ({"lmt": 0}, {"lmt": 1}, {"dnt": 1}):
        question = ask(
            parsed(bid_request(device={**flags, "geo": where}, user={"geo": home})),
            empty_view(),
            AT,
        )
        assert question.imps[0].event.keys().isdisjoint({"country", "geo.city"})
