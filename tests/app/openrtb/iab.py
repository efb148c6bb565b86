"""The example requests of the IAB's OpenRTB 2.6, section 6.2 and the implementation notes.

Shortened: fields that nobody reads are left out, and so are repetitions. Facts are as they are
there, mistakes included (`apis` for `api`, `long` for `lon`, a number as a string).
"""

from typing import Any

Document = dict[str, Any]

_FOOBAR: Document = {
    "id": "102855",
    "cat": ["IAB3-1"],
    "domain": "www.foobar.com",
    "page": "http://www.foobar.com/1234.html",
    "publisher": {"id": "8953", "name": "foobar.com", "cat": ["IAB3-1"], "domain": "foobar.com"},
}
_BANNER: Document = {"h": 250, "w": 300, "pos": 0}
_MIMES = ["video/mp4", "video/ogg", "video/webm"]

SIMPLE_BANNER: Document = {
    "id": "80ce30c53c16e6ede735f123ef6e32361bfc7b22",
    "at": 1,
    "cur": ["USD"],
    "imp": [{"id": "1", "bidfloor": 0.03, "banner": _BANNER}],
    "site": {**_FOOBAR, "user": {"id": "55816b39711f9b5acf3b90e313ed29e51665623f"}},
}

EXPANDABLE: Document = {
    "id": "123456789316e6ede735f123ef6e32361bfc7b22",
    "at": 2,
    "cur": ["USD"],
    "imp": [
        {
            "id": "1",
            "bidfloor": 0.03,
            "iframebuster": ["vendor1.com", "vendor2.com"],
            "banner": {**_BANNER, "battr": [13], "expdir": [2, 4]},
        }
    ],
    "site": _FOOBAR,
    "user": {
        "id": "55816b39711f9b5acf3b90e313ed29e51665623f",
        "buyeruid": "545678765467876567898765678987654",
        "data": [
            {"id": "12341318394918", "name": "auto intenders"},
            {"id": "23423424", "name": "data-provider1-age", "value": "30-40"},
        ],
    },
}

MOBILE: Document = {
    "id": "IxexyLDIIk",
    "at": 2,
    "bcat": ["IAB25", "IAB7-39", "IAB8-18", "IAB8-5", "IAB9-9"],
    "badv": ["apple.com", "go-text.me", "heywire.com"],
    "imp": [
        {
            "id": "1",
            "bidfloor": 0.5,
            "instl": 0,
            "tagid": "agltb3B1Yi1pbmNyDQsSBFNpdGUY7fD0FAw",
            "banner": {"w": 728, "h": 90, "pos": 1, "btype": [4], "battr": [14], "api": [3]},
        }
    ],
    "app": {
        "id": "agltb3B1Yi1pbmNyDAsSA0FwcBiJkfIUDA",
        "name": "Yahoo Weather",
        "cat": ["IAB15", "IAB15-10"],
        "bundle": "12345",
        "publisher": {"id": "agltb3B1Yi1pbmNyDAsSA0FwcBiJkfTUCV", "name": "yahoo"},
    },
    "device": {
        "dnt": 0,
        "ifa": "AA000DFE74168477C70D291f574D344790E0BB11",
        "carrier": "VERIZON",
        "language": "en",
        "make": "Apple",
        "model": "iPhone",
        "os": "iOS",
        "osv": "6.1",
        "connectiontype": 3,
        "devicetype": 1,
    },
    "user": {"id": "ffffffd5135596709273b3a1a07e466ea2bf4fff"},
}

VIDEO: Document = {
    "id": "1234567893",
    "at": 2,
    "tmax": 120,
    "imp": [
        {
            "id": "1",
            "bidfloor": 0.03,
            "video": {
                "w": 640,
                "h": 480,
                "pos": 1,
                "startdelay": 0,
                "minduration": 5,
                "maxduration": 30,
                "apis": [1, 2],
                "protocols": [2, 3],
                "mimes": ["video/x-flv", "video/mp4", "application/javascript"],
                "linearity": 1,
                "playbackmethod": [1, 3],
                "battr": [13, 14],
                "companionad": [
                    {"id": "1234567893-1", "w": 300, "h": 250, "pos": 1, "battr": [13, 14]},
                    {"id": "1234567893-2", "w": 728, "h": 90, "pos": 1},
                ],
            },
        }
    ],
    "site": {
        "id": "1345135123",
        "domain": "siteabcd.com",
        "cat": ["IAB2-1", "IAB2-2"],
        "page": "http://siteabcd.com/page.htm",
        "publisher": {"id": "pub12345", "name": "Publisher A"},
        "content": {
            "series": "All About Cars",
            "season": "2",
            "episode": 23,
            "title": "Car Show",
            "cat": ["IAB2-2"],
            "keywords": "keyword-a,keyword-b,keyword-c",
        },
    },
    "device": {"os": "OS X", "js": 1},
    "user": {
        "id": "456789876567897654678987656789",
        "data": [
            {
                "id": "6",
                "name": "Data Provider 1",
                "segment": [
                    {"id": "12341318394918", "name": "auto intenders"},
                    {"id": "1234131839491234", "name": "auto enthusiasts"},
                ],
            }
        ],
    },
}

DIRECT_DEAL: Document = {
    "id": "80ce30c53c16e6ede735f123ef6e32361bfc7b22",
    "at": 1,
    "cur": ["USD"],
    "imp": [
        {
            "id": "1",
            "bidfloor": 0.03,
            "banner": _BANNER,
            "pmp": {
                "private_auction": 1,
                "deals": [
                    {"id": "AB-Agency1-0001", "at": 1, "bidfloor": 2.5, "wseat": ["Agency1"]},
                    {"id": "XY-Agency2-0001", "at": 2, "bidfloor": 2, "wseat": ["Agency2"]},
                ],
            },
        }
    ],
    "site": _FOOBAR,
    "user": {"id": "55816b39711f9b5acf3b90e313ed29e51665623f"},
}


def _slot(id: str, pod: str, slot: int, longest: int, floor: float, **more: int) -> Document:
    video = {"podid": pod, "slotinpod": slot, "mimes": _MIMES, "linearity": 1, **more}
    video |= {"maxduration": longest, "minduration": more.get("minduration", 0)}
    return {"id": id, "video": video, "exp": 7200, "bidfloor": floor, "bidfloorcur": "USD"}


STRUCTURED_POD: Document = {
    "id": "structured",
    "imp": [
        _slot("1", "pod_1", 1, 60, 8, podseq=1),
        _slot("2", "pod_1", 0, 30, 8, podseq=1),
        _slot("3", "pod_2", 1, 30, 8, podseq=0),
        _slot("4", "pod_2", 0, 60, 8, podseq=0),
    ],
}
DYNAMIC_POD: Document = {
    "id": "dynamic",
    "imp": [_slot("1", "preroll_pod", 2, 60, 8, maxseq=4, poddur=60)],
}
HYBRID_POD: Document = {
    "id": "hybrid",
    "imp": [
        _slot("1", "pod_1", 1, 15, 15, minduration=15),
        _slot("2", "pod_1", 0, 60, 8, maxseq=4, poddur=60),
    ],
}

DOOH_BANNER: Document = {
    "id": "162059897743978051070",
    "at": 1,
    "imp": [
        {
            "id": "007",
            "secure": 1,
            "bidfloor": 5.0,
            "bidfloorcur": "GBP",
            "banner": {
                "w": 1080,
                "h": 1920,
                "format": [{"w": 1080, "h": 1920}, {"w": 720, "h": 1366}],
                "mimes": ["image/jpg", "image/png", "text/html"],
            },
            "pmp": {
                "private_auction": 0,
                "deals": [
                    {"id": "123", "at": 1, "bidfloor": 4.50},
                    {"id": "333", "at": 1, "bidfloor": 3.00},
                    {"id": "444", "at": 1, "bidfloor": 2.00},
                ],
            },
            "qty": {"multiplier": 14.2, "sourcetype": 1, "vendor": "route.org.uk"},
        }
    ],
    "device": {
        "geo": {"lat": 0.0001, "long": -0.1235, "lastfix": 0},
        "devicetype": 8,
        "ifa": "1235461904",
    },
    "dooh": {
        "content": {},
        "id": "15790",
        "keywords": "Roadside, Billboard, D96",
        "publisher": {"id": "G1", "name": "Global"},
        "venuetax": 1,
        "venuetypeid": 30101,
    },
    "cur": ["GBP"],
}
DOOH_VIDEO: Document = {
    "id": "873465983764395",
    "at": 1,
    "imp": [
        {
            "id": "123456",
            "secure": 1,
            "bidfloor": 4.8,
            "bidfloorcur": "GBP",
            "video": {
                "w": 960,
                "h": 480,
                "maxduration": 20,
                "minduration": 20,
                "mimes": ["video/jpeg", "video/mp4", "video/mov"],
            },
            "pmp": {
                "private_auction": 1,
                "deals": [{"id": "V123", "at": 1, "bidfloor": 4.50}],
            },
        }
    ],
    "device": {"geo": {"lat": 51.51112, "long": -0.09043}, "devicetype": 8},
    "dooh": {
        "keywords": "LargeFormat,CANNON STREET STN,CANNON STREET,MAIN CONCOURSE",
        "publisher": {"id": "VJCDUK", "name": "viooh"},
        "venuetypeid": 10602,
    },
    "cur": ["GBP"],
}

SKIPPABLE: Document = {
    "id": "skip",
    "imp": [
        {"id": "1", "video": {"skip": 1, "skipafter": 5}},
        {"id": "2", "video": {"skip": 1, "skipmin": 15, "skipafter": 5}},
        {"id": "3", "video": {"skip": 0}},
        {"id": "4", "video": {}},
    ],
}
INSTREAM: Document = {
    "id": "plcmt",
    "imp": [
        {"id": "1", "video": {"placement": "1", "plcmt": "1"}},
        {"id": "2", "video": {"placement": "3", "plcmt": "4"}},
    ],
}

EXAMPLES: tuple[Document, ...] = (
    SIMPLE_BANNER,
    EXPANDABLE,
    MOBILE,
    VIDEO,
    DIRECT_DEAL,
    STRUCTURED_POD,
    DYNAMIC_POD,
    HYBRID_POD,
    DOOH_BANNER,
    DOOH_VIDEO,
    SKIPPABLE,
    INSTREAM,
)
