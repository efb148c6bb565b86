"""The words of the first catalogue, and how requests write them."""

from pathlib import Path

import pytest

from campaigns.catalogue.countries import ALPHA_2, BY_ALPHA_3, alpha_2
from campaigns.catalogue.vocabulary import MAKERS, gender, language, maker, operating_system


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("iphone", "ios"),
        ("ipad", "ios"),
        ("iPadOS", "ios"),
        ("iPhone OS 17.1.2", "ios"),
        ("iOS17", "ios"),
        ("Windows 10", "windows"),
        ("Windows NT", "windows"),
        ("Windows NT 10.0; Win64", "windows"),
        ("Windows Phone 8.1", "windows phone"),
        ("MACOSX", "macos"),
        ("Mac OS X 10_15_7", "macos"),
        ("macOS", "macos"),
        ("Android 11", "android"),
        ("android/13", "android"),
        ("  Android ", "android"),
        ("Android TV 12", "android"),
        ("CHROME OS", "chromeos"),
        ("Tizen 6.5", "tizen"),
        ("webOS TV", "webos"),
        ("Symbian S60", "symbian s60"),
        ("OS/2", "os/2"),
        ("BeOS", "beos"),
        ("7", "7"),
    ],
)
def test_an_operating_system_has_one_name(sent: str, expected: str) -> None:
    assert operating_system(sent) == expected


def test_the_case_of_a_maker_does_not_count() -> None:
    for each in (*MAKERS, "Acme Phones"):
        assert maker(each) == maker(each.lower()) == maker(each.upper()) == each


def test_languages() -> None:
    sent = ["en", "EN-us", "en_GB", "eng", "deu", "ger", "zh-Hant-TW", "fil"]
    assert [language(each) for each in sent] == ["en"] * 4 + ["de", "de", "zh", "fil"]
    assert [language(each) for each in ("e", "", "english", "ü-x", "12")] == [None] * 5


def test_genders() -> None:
    assert [gender(each) for each in ("m", "Male", " FEMALE ", "f", "Other")] == list("MMFFO")
    assert [gender(each) for each in ("?", "", "unknown")] == [None] * 3


def test_countries_in_the_ways_of_people() -> None:
    sent = ["uk", "GB", "gbr", "EL", "usa", "US", " De "]
    assert [alpha_2(each) for each in sent] == ["GB", "GB", "GB", "GR", "US", "US", "DE"]
    assert alpha_2("XX") is None


def test_the_countries_are_those_of_the_standard() -> None:
    assert len(BY_ALPHA_3) == len(ALPHA_2) == 250
    assert all(len(three) == 3 and len(two) == 2 for three, two in BY_ALPHA_3.items())
    zones = Path("/usr/share/zoneinfo/iso3166.tab")
    if zones.exists():
        lines = zones.read_text().splitlines()
        assert {line[:2] for line in lines if not line.startswith("#")} == ALPHA_2 - {"XK"}
    swapped = {"AUT": "AT", "AUS": "AU", "CHE": "CH", "CHN": "CN", "DEU": "DE", "DNK": "DK"}
    assert BY_ALPHA_3.items() >= swapped.items()
