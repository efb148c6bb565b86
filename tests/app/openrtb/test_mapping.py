"""Requests of every shape in the specification, and the attributes they are matched on, by hand."""

import pytest

from app.openrtb import ask
from campaigns.feed.view import View
from tests.app.openrtb.exchange import AT, asked, bid_request, empty_view, event, events, parsed

BANNER_ON_A_SITE = bid_request(
    at=1,
    cur=["USD"],
    imp=[
        {
            "id": "1",
            "bidfloor": 0.03,
            "secure": 1,
            "banner": {"w": 300, "h": 250, "pos": 1, "format": [{"w": 320, "h": 50}, {"w": 1}]},
        }
    ],
    site={
        "id": "102855",
        "cat": ["IAB3-1"],
        "sectioncat": ["IAB7-39"],
        "pagecat": ["iab7"],
        "domain": "WWW.Foobar.com",
        "page": "https://ann:secret@www.foobar.com/a/1.html?mail=ann@example.org#top",
        "publisher": {"id": "8953", "name": "foobar.com"},
        "content": {"cat": ["150"], "cattax": 6},
    },
    device={
        "ua": "Mozilla/5.0",
        "ip": "123.145.167.10",
        "devicetype": 2,
        "os": "Mac OS X",
        "osv": "10.15",
        "make": "Apple",
        "model": "MacBook",
        "language": "en-US",
        "connectiontype": 1,
        "geo": {
            "country": "USA",
            "region": "US-CA",
            "metro": "803",
            "city": "Los Angeles",
            "zip": "90049",
            "lat": 34.1,
            "lon": -118,
            "utcoffset": -420,
        },
    },
    user={
        "id": "55816b39711f9b5acf3b90e313ed29e51665623f",
        "yob": 1984,
        "gender": "m",
        "data": [
            {"id": "6", "name": "provider.example", "segment": [{"id": "12341318394918"}]},
            {"id": "7", "segment": [{"id": "a"}, {"name": "b"}], "ext": {"segtax": 4}},
        ],
    },
    regs={"coppa": 0, "ext": {"gdpr": 0, "us_privacy": "1ynn"}},
)


def test_a_banner_on_a_site() -> None:
    assert event(BANNER_ON_A_SITE) == {
        "age": 42,
        "user.gender": "M",
        "user.segments": ["provider.example|:12341318394918", "7|4:a", "7|4:b"],
        "country": "US",
        "geo.region": "CA",
        "geo.metro": "803",
        "geo.city": "Los Angeles",
        "geo.zip": "90049",
        "geo.lat": 34.1,
        "geo.lon": -118.0,
        "geo.point": [34.1, -118.0],
        "local.hour": 7,
        "local.weekday": 1,
        "device.type": "desktop",
        "device.os": "macos",
        "device.os_version": "10.15",
        "device.make": "Apple",
        "device.ip": "123.145.167.0",
        "device.model": "MacBook",
        "device.language": "en",
        "device.connection": "ethernet",
        "categories": ["IAB3-1", "IAB3", "IAB7-39", "IAB7", "6:150"],
        "site.domain": "www.foobar.com",
        "site.page": "https://www.foobar.com/a/1.html",
        "site.categories": ["IAB3-1", "IAB3"],
        "publisher.id": "8953",
        "publisher.name": "foobar.com",
        "privacy.gdpr": False,
        "privacy.coppa": False,
        "privacy.us": "1YNN",
        "imp.media": ["banner"],
        "imp.sizes": ["300x250", "320x50"],
        "imp.position": 1,
        "imp.secure": True,
        "imp.floor_micros": 30_000,
    }


def test_a_video_in_an_app() -> None:
    document = bid_request(
        imp=[
            {
                "id": "1",
                "video": {"mimes": ["video/mp4"], "w": 640, "h": 480, "pos": 7, "linearity": 1},
                "secure": 0,
            }
        ],
        app={
            "id": "a1",
            "name": "Yahoo Weather",
            "bundle": "628677149",
            "cat": ["IAB15", "IAB15-10"],
            "publisher": {"id": "agltb3B1Yi1pbmNyDAsSA0FwcBiJkfTUCV", "name": "yahoo"},
        },
        device={
            "devicetype": 4,
            "os": "iOS",
            "osv": "17.2",
            "connectiontype": 6,
            "langb": "pt-BR",
            "geo": {"country": "bra"},
        },
    )
    assert event(document) == {
        "country": "BR",
        "device.type": "phone",
        "device.os": "ios",
        "device.os_version": "17.2",
        "device.language": "pt",
        "device.connection": "4g",
        "categories": ["IAB15", "IAB15-10"],
        "app.bundle": "628677149",
        "app.name": "Yahoo Weather",
        "app.categories": ["IAB15", "IAB15-10"],
        "publisher.id": "agltb3B1Yi1pbmNyDAsSA0FwcBiJkfTUCV",
        "publisher.name": "yahoo",
        "imp.media": ["video"],
        "imp.video.mimes": ["video/mp4"],
        "imp.video.linearity": 1,
        "imp.sizes": ["640x480"],
        "imp.position": 7,
        "imp.secure": False,
    }


def test_native_and_audio() -> None:
    document = bid_request(
        imp=[
            {"id": "1", "native": {"request": '{"ver":"1.2"}', "ver": "1.2"}},
            {"id": "2", "audio": {"mimes": ["audio/mp4"]}, "banner": {}, "native": None},
        ]
    )
    assert events(document) == [
        {"imp.media": ["native"]},
        {"imp.media": ["banner"]},
        {"imp.media": ["audio"], "imp.audio.mimes": ["audio/mp4"]},
    ]


def test_out_of_home() -> None:
    document = bid_request(
        imp=[{"id": "1", "banner": {"w": 1080, "h": 1920}, "qty": {"multiplier": 14.2}}],
        dooh={
            "id": "d1",
            "name": "Mall 7",
            "venuetype": ["205"],
            "publisher": {"id": "p", "name": "Screens"},
            "content": {"cat": ["IAB22"]},
        },
        device={"devicetype": 8, "geo": {"country": "GBR", "utcoffset": 60}},
    )
    assert event(document) == {
        "country": "GB",
        "local.hour": 15,
        "local.weekday": 1,
        "device.type": "other",
        "categories": ["IAB22"],
        "dooh.venues": ["205"],
        "publisher.id": "p",
        "publisher.name": "Screens",
        "imp.media": ["banner"],
        "imp.sizes": ["1080x1920"],
    }


def test_what_an_imp_and_its_surroundings_say_beside_size_and_place() -> None:
    document = bid_request(
        imp=[
            {
                "id": "1",
                "instl": 1,
                "rwdd": 0,
                "tagid": "top",
                "ext": {"gpid": "/1/top"},
                "banner": {"mimes": ["image/png"], "api": [3, "5"], "btype": [4], "battr": [1]},
                "video": {
                    "mimes": ["video/mp4", "video/mp4"],
                    "minduration": 5,
                    "maxduration": "30",
                    "protocols": [2, 3],
                    "api": [7],
                    "plcmt": 1,
                    "skip": 1,
                    "startdelay": -1,
                    "playbackmethod": [1],
                },
                "audio": {"minduration": 15, "maxduration": 30, "api": []},
            }
        ],
        app={
            "keywords": "News, sport ,NEWS",
            "content": {
                "title": "Game 7",
                "series": "Finals",
                "genre": "sports",
                "contentrating": "PG",
                "language": "eng",
                "livestream": 1,
                "kwarray": ["Live"],
            },
        },
        device={"carrier": "VERIZON"},
        source={
            "ext": {
                "schain": {
                    "complete": 1,
                    "nodes": [{"asi": "SSP.example", "sid": "1"}, {"asi": "x.example"}],
                }
            }
        },
        user={"ext": {"eids": [{"source": "ID.example", "uids": [{"id": "CANARY"}]}, {}]}},
    )
    around = {
        "content.title": "Game 7",
        "content.series": "Finals",
        "content.genre": "sports",
        "content.rating": "PG",
        "content.language": "en",
        "content.live": True,
        "keywords": ["news", "sport", "live"],
        "device.carrier": "VERIZON",
        "schain.complete": True,
        "schain.nodes": 2,
        "schain.asis": ["ssp.example", "x.example"],
        "user.id_sources": ["id.example"],
        "imp.instl": True,
        "imp.rwdd": False,
        "imp.tagid": "top",
        "imp.ext.gpid": "/1/top",
    }
    assert events(document) == [
        {
            **around,
            "imp.media": ["banner"],
            "imp.banner.mimes": ["image/png"],
            "imp.banner.api": [3, 5],
            "imp.banner.btype": [4],
            "imp.banner.battr": [1],
        },
        {
            **around,
            "imp.media": ["video"],
            "imp.video.mimes": ["video/mp4"],
            "imp.video.minduration": 5,
            "imp.video.maxduration": 30,
            "imp.video.protocols": [2, 3],
            "imp.video.api": [7],
            "imp.video.plcmt": 1,
            "imp.video.skip": True,
            "imp.video.startdelay": -1,
            "imp.video.playbackmethod": [1],
        },
        {
            **around,
            "imp.media": ["audio"],
            "imp.audio.minduration": 15,
            "imp.audio.maxduration": 30,
            "imp.audio.api": [],
        },
    ]


def test_deals_and_several_imps() -> None:
    deals = [{"id": "d1", "bidfloor": 2.5}, {"id": "d2"}, {"id": "d1"}]
    document = bid_request(
        site={"domain": "a.example"},
        imp=[
            {"id": "1", "pmp": {"private_auction": 0, "deals": deals}, "bidfloor": 1.5},
            {"id": "2", "pmp": {"private_auction": 1, "deals": deals}, "bidfloor": 1.5},
            {"id": "3"},
        ],
    )
    of_site = {"site.domain": "a.example"}
    offered = {"imp.deals": ["d1", "d2"]}
    assert events(document) == [
        {**of_site, **offered, "imp.floor_micros": 1_500_000},
        {**of_site, **offered, "imp.floor_micros": 1_500_000, "imp.private_auction": True},
        of_site,
    ]


def test_version_2_5_and_2_6_say_the_same_in_two_places_and_the_new_one_wins() -> None:
    old = {"ext": {"gdpr": 0, "us_privacy": "1---", "coppa": 1}}
    new = {"gdpr": 0, "us_privacy": "1---", "coppa": 1}
    expected = {"privacy.gdpr": False, "privacy.us": "1---", "privacy.coppa": True}
    assert event(bid_request(regs=old)) == event(bid_request(regs=new)) == expected
    both = {"gdpr": 0, "ext": {"gdpr": 1, "gpp": "DBAA", "gpp_sid": [7]}, "gpp": "DBAA"}
    assert event(bid_request(regs=both)) == {"privacy.gdpr": False}
    assert event(bid_request(regs={"gpp_sid": [2, 6]})) == {"privacy.gdpr": True}
    assert event(bid_request(regs={"gpp_sid": [7]})) == {}


def test_the_device_is_where_the_ad_is_and_places_are_never_mixed() -> None:
    home = {"country": "DEU", "city": "Berlin", "utcoffset": 120}
    both = bid_request(device={"geo": {"country": "FRA"}}, user={"geo": home})
    assert event(both) == {"country": "FR", "local.hour": 16, "local.weekday": 1}
    nowhere: list[object] = [{"geo": {}}, {"geo": None}, {}, None]
    for device in nowhere:
        alone = event(bid_request(device=device, user={"geo": home}))
        there = {"local.hour": 16, "local.weekday": 1}
        assert alone == {"country": "DE", "geo.city": "Berlin", **there}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("device.devicetype", 99, {}),
        ("device.devicetype", 6.0, {"device.type": "console"}),
        ("device.connectiontype", 0, {}),
        ("device.language", "EN_gb", {"device.language": "en"}),
        ("user.gender", "X", {}),
        ("user.gender", "O", {"user.gender": "O"}),
        ("user.yob", 2026, {"age": 0}),
        ("site.page", "http://a.example:8080/x?y#z", "a.example"),
        ("site.domain", "a.example.", {"site.domain": "a.example"}),
        ("site.cat", [], {"categories": [], "site.categories": []}),
        ("user.data", [{"segment": [{"id": "s"}]}], {"user.segments": ["|:s"]}),
        ("user.data", [], {"user.segments": []}),
        ("regs.us_privacy", "1yn-", {"privacy.us": "1YN-"}),
        ("device.os", "  Android ", {"device.os": "android"}),
        ("device.os", "Windows NT 10.0", {"device.os": "windows"}),
        ("device.make", "APPLE", {"device.make": "Apple"}),
        ("device.language", "eng", {"device.language": "en"}),
        ("device.geo", {"country": "UK"}, {"country": "GB"}),
        ("user.gender", "female", {"user.gender": "F"}),
        ("app.name", "   ", {}),
    ],
)
def test_codes_and_odd_ways_of_writing(path: str, value: object, expected: object) -> None:
    owner, _, field = path.partition(".")
    found = event(bid_request(**{owner: {field: value}}))
    if isinstance(expected, str):
        assert found == {"site.domain": expected, "site.page": "http://a.example:8080/x"}
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("site", "x"),
        ("device", [1]),
        ("device.geo", 7),
        ("device.devicetype", "four"),
        ("device.osv", [14]),
        ("device.language", "e"),
        ("geo.country", "XYZ"),
        ("geo.lat", 91),
        ("geo.lon", "east"),
        ("geo.lat", True),
        ("user.yob", 1800),
        ("user.yob", "199"),
        ("user.data", {}),
        ("user.gender", 1),
        ("site.cat", {}),
        ("app.bundle", True),
        ("app.name", "a\0b"),
        ("app.name", "n" * 5000),
        ("device.geo.utcoffset", 9999),
        ("regs.us_privacy", 1),
        ("regs.gdpr", {}),
        ("imp.secure", "2"),
        ("imp.banner", []),
        ("imp.banner.pos", "top"),
        ("imp.pmp.deals", {}),
    ],
)
def test_what_is_wrong_is_ignored_and_counted(path: str, value: object) -> None:
    names = ("device." + path if path.startswith("geo.") else path).split(".")
    inner: object = value
    for name in reversed(names[1:]):
        inner = {name: inner}
    if names[0] == "imp":
        assert isinstance(inner, dict)
        document = bid_request(imp=[{"id": "1", **inner}])
    else:
        document = bid_request(**{names[0]: inner})
    assert path in ignored(document)
    still_said = {
        "regs.gdpr": {"privacy.gdpr": True},
        "imp.banner.pos": {"imp.media": ["banner"]},
    }
    assert event(document) == still_said.get(path, {})


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("device.devicetype", "4", {"device.type": "phone"}),
        ("device.osv", 14, {"device.os_version": "14"}),
        (
            "device.geo",
            {"lon": "1.5", "lat": " -3 "},
            {"geo.lon": 1.5, "geo.lat": -3.0, "geo.point": [-3.0, 1.5]},
        ),
        ("user.yob", "1984", {"age": 42}),
        ("user.data", [{"id": 3, "segment": [{"id": 7}]}], {"user.segments": ["3|:7"]}),
        ("site.cat", "IAB1", {"categories": ["IAB1"], "site.categories": ["IAB1"]}),
        ("site.cat", ["IAB1", 7], {"categories": ["IAB1", "7"], "site.categories": ["IAB1", "7"]}),
        ("site.publisher", {"id": 5}, {"publisher.id": "5"}),
        ("app.bundle", 628677149, {"app.bundle": "628677149"}),
        ("imp.secure", "1", {"imp.secure": True}),
        ("imp.banner", {"w": "300", "h": 250.0}, {"imp.sizes": ["300x250"]}),
        ("imp.banner", {"pos": "1"}, {"imp.position": 1}),
        ("imp.pmp", {"deals": [{"id": 7}]}, {"imp.deals": ["7"]}),
    ],
)
def test_what_can_only_mean_one_thing_is_used_and_counted(
    path: str, value: object, expected: dict[str, object]
) -> None:
    owner, _, field = path.partition(".")
    inside = {owner: {field: value}} if owner != "imp" else {"imp": [{"id": "1", field: value}]}
    found = event(bid_request(**inside))
    found.pop("imp.media", None)
    assert found == expected
    request = parsed(bid_request(**inside))
    ask(request, empty_view(), AT)
    assert request.tolerated
    assert request.ignored == {}
    assert all(path.startswith((owner, "geo")) for path in request.tolerated)


def ignored(document: object) -> dict[str, int]:
    """What is counted by the time that the index is asked."""
    request = parsed(document)
    ask(request, empty_view(), AT)
    return request.ignored


def test_wrong_elements_do_not_spoil_the_others() -> None:
    document = bid_request(
        site={"cat": ["IAB1", {}, None, "", "IAB2-3"]},
        user={"data": [None, {"segment": 1}, {"name": "p", "segment": [1, {}, {"id": "x"}]}, {}]},
        imp=[
            {
                "id": "1",
                "banner": {
                    "w": "wide",
                    "h": 250,
                    "format": [3, {"w": 1, "h": 1}, {"w": -1, "h": 9}],
                },
                "pmp": {"deals": [1, {"id": []}, {"id": "d"}]},
            }
        ],
    )
    assert event(document) == {
        "categories": ["IAB1", "IAB2-3", "IAB2"],
        "site.categories": ["IAB1", "IAB2-3", "IAB2"],
        "user.segments": ["p|:x"],
        "imp.media": ["banner"],
        "imp.sizes": ["1x1"],
        "imp.deals": ["d"],
    }


def test_elements_that_are_left_out_are_counted_by_the_path_of_their_list() -> None:
    video = {"mimes": ["video/mp4", None, 7], "api": ["x", 7, "5"], "protocols": {}}
    document = bid_request(
        imp=[{"id": "1", "video": video}],
        site={"cat": ["IAB1", []], "keywords": "a,,b", "kwarray": ["c", {}]},
        source={"schain": {"nodes": [{"asi": "A.example"}, {}, 3]}},
        bcat=["IAB7", None],
    )
    found = event(document)
    assert found["imp.video.mimes"] == ["video/mp4", "7"]
    assert found["imp.video.api"] == [7, 5]
    assert found["keywords"] == ["a", "b", "c"]
    assert found["schain.asis"] == ["a.example"]
    lists = ("imp.video.mimes", "imp.video.api", "imp.video.protocols", "site.cat", "site.kwarray")
    assert ignored(document) == dict.fromkeys((*lists, "source.schain.nodes", "bcat"), 1)


def test_huge_lists_end_somewhere() -> None:
    many = [{"id": f"s{n}"} for n in range(12_000)]
    document = bid_request(user={"data": [{"name": "p", "segment": many}]})
    assert len(event(document)["user.segments"]) == 10_000
    assert ignored(document) == {"user.data.segment": 2000}


def test_an_attribute_that_is_gone_or_of_another_type_is_left_out() -> None:
    view = View.empty({"country": "int list", "age": "int"}, empty_view().index.limits)
    view.arrive("e", 1, "n")
    (imp,) = asked(BANNER_ON_A_SITE, view).imps
    assert imp.event == {"age": 42}


@pytest.mark.parametrize(
    ("osv", "expected"),
    [("14.2", "14.2"), ("v14.2-beta", "14.2"), (" 10.0.19045 ", "10.0.19045"), ("XP", None)],
)
def test_versions_are_the_numbers_at_the_beginning(osv: str, expected: str | None) -> None:
    found = event(bid_request(device={"osv": osv})).get("device.os_version")
    assert found == expected


@pytest.mark.parametrize(
    ("offset", "hour", "weekday"),
    [(0, 14, 1), (600, 0, 2), (-840, 0, 1), (-900, None, None), (585, 23, 1), (840, 4, 2)],
)
def test_the_clock_of_the_user(offset: int, hour: int | None, weekday: int | None) -> None:
    """It is Monday, 14:13 UTC."""
    found = event(bid_request(device={"geo": {"utcoffset": offset}}))
    assert (found.get("local.hour"), found.get("local.weekday")) == (hour, weekday)


def test_tolerance_is_counted_where_it_was_needed() -> None:
    request = parsed(
        bid_request(
            bcat="IAB7",
            cattax="1",
            badv=[7],
            cur="USD",
            regs={"gpc": "1", "gpp_sid": "2"},
            device={"geo": {"region": 75}},
            imp=[{"id": "1", "instl": True, "pmp": {"private_auction": "0", "deals": [{"id": 3}]}}],
        )
    )
    ask(request, empty_view(), AT)
    assert request.ignored == {}
    assert request.tolerated == dict.fromkeys(
        (
            *("regs.gpc", "regs.gpp_sid", "geo.region", "bcat", "cattax", "badv", "cur"),
            *("imp.instl", "imp.pmp.private_auction", "imp.pmp.deals.id"),
        ),
        1,
    )
