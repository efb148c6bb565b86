"""Warnings about targeting that is valid and probably does not say what was meant."""

import pickle
import re
from importlib import import_module
from pathlib import Path

import pytest

from campaigns.campaign.targeting import read
from campaigns.campaign.traps import MOST, traps_in
from campaigns.catalogue.knowledge import NOTHING, Knowledge, seen_in
from campaigns.catalogue.model import schema_of
from campaigns.catalogue.vocabulary import OFTEN_MISSING, VALUES
from index import Limits
from index.language import ExpressionWarning, parse, parse_written
from tests.app.openrtb.exchange import CATALOGUE
from tests.campaigns.statistics.traffic import request, statistics

SCHEMA = schema_of({**CATALOGUE, "app.version": "string", "tier": "string"}.items())
BUILT_IN = Knowledge()
GUIDE = (Path(__file__).parents[3] / "docs" / "language.md").read_text()


def warnings(text: str, known: Knowledge = BUILT_IN) -> list[tuple[str, str, str | None]]:
    """The code, the words and what should be there instead."""
    found = traps_in(text, *parse_written(text, SCHEMA), known)
    return [(each.code, text[slice(*(each.span or ()))], each.replacement) for each in found]


def corrected(text: str, known: Knowledge = BUILT_IN) -> str:
    """The text with the replacements of all warnings, the last first."""
    found = traps_in(text, *parse_written(text, SCHEMA), known)
    for each in sorted(found, key=lambda each: each.span or (0, 0), reverse=True):
        if each.replacement is not None and each.span is not None:
            text = text[: each.span[0]] + each.replacement + text[each.span[1] :]
    return text


@pytest.mark.parametrize(
    ("text", "code", "words", "replacement"),
    [
        ("app.version >= '14.2'", "text_version", "app.version >= '14.2'", None),
        ("app.version >= '9'", "text_version", "app.version >= '9'", None),
        ("tier between '1.0' and '2'", "text_version", "tier between '1.0' and '2'", None),
        ("country = 'us'", "unlisted_value", "'us'", "'US'"),
        ('country in ("DE", "USA")', "unlisted_value", '"USA"', "'US'"),
        ("country != 'UK'", "unlisted_value", "'UK'", "'GB'"),
        ("country = 'Germany'", "unlisted_value", "'Germany'", None),
        ("device.os = 'iOS'", "unlisted_value", "'iOS'", "'ios'"),
        ("country = 'usa' ignoring case", "unlisted_value", "'usa'", "'US'"),
        ("site.domain like '%.news'", "sql_wildcard", "'%.news'", "'*.news'"),
        ("device.os = 'Mac OS X'", "unlisted_value", "'Mac OS X'", "'macos'"),
        ("device.type = 'phnoe'", "unlisted_value", "'phnoe'", "'phone'"),
        ("imp.media any of ('Video')", "unlisted_value", "'Video'", "'video'"),
        ("device.language = 'en-US'", "unlisted_value", "'en-US'", "'en'"),
        ("user.gender = 'female'", "unlisted_value", "'female'", "'F'"),
        ("now.weekday in (0, 6)", "unlisted_value", "0", "7"),
        ("local.hour = 24", "unlisted_value", "24", "0"),
        ("now.hour = 99", "unlisted_value", "99", None),
        (
            "site.domain not in ('a.example')",
            "often_missing",
            "site.domain not in ('a.example')",
            "(site.domain not in ('a.example') or site.domain is null)",
        ),
        (
            "country = 'US' and not (categories any of ('IAB25'))",
            "often_missing",
            "categories any of ('IAB25')",
            "(categories any of ('IAB25') and categories is not null)",
        ),
        (
            "now.weekday = 1 and local.hour > 17",
            "mixed_clocks",
            "now.weekday = 1",
            "local.weekday = 1",
        ),
    ],
)
def test_traps(text: str, code: str, words: str, replacement: str | None) -> None:
    assert warnings(text) == [(code, words, replacement)]
    if replacement is not None:
        assert warnings(corrected(text)) == []
    else:
        parse(corrected(text), SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "device.os_version >= '14.2'",
        "app.version = '14.2'",
        "geo.zip between '90000' and '90999'",
        "country in ('US', 'GB')",
        "device.os = 'haiku'",
        "device.os is null",
        "site.domain not in ('a.example') or site.domain is null",
        "site.domain ends with '.news' and site.domain != 'bad.news'",
        "segments any of (1) and segments none of (2)",
        "country not in ('US')",
        "country not in ('US') xor site.domain != 'a.example'",
        "now.hour between 9 and 17 and now.weekday <= 5",
        "local.hour not between 6 and 21 and local.weekday in (6, 7)",
        "now.hour <= 24",
    ],
)
def test_what_is_no_trap(text: str) -> None:
    assert warnings(text) == []


def test_statistics_know_what_is_missing_and_what_was_never_seen() -> None:
    rows = [request(country="US", tier="gold", site_domain="a.example")] * 19
    document, _ = statistics([*rows, request(country="us", age=30)])
    document["attributes"]["geo.city"] = {
        "type": "string", "presence": 0.9, "distinct": 5000, "values": [["Berlin", 0.1]],
    }  # fmt: skip
    document["attributes"]["age"]["histogram"] = [[18, 64, 0.5]]
    known = Knowledge({}, *seen_in(document))
    assert warnings("tier = 'glod'", known) == [("unseen_value", "'glod'", None)]
    assert warnings("tier = 'gold' or age in (30, 40)", known) == []
    assert warnings("age in (17, 64, 65)", known) == [
        ("unseen_value", "17", None),
        ("unseen_value", "65", None),
    ]
    assert warnings("tier != 'glod' or tier is null", known) == []
    assert warnings("geo.city = 'Atlantis'", known) == [], "the list is not complete"
    assert warnings("country = 'us'", known) == [], "requests have it"
    assert [code for code, *_ in warnings("tier != 'gold'", known)] == ["often_missing"]
    assert warnings("country != 'US'", known) == [], "no request lacks it"
    found = traps_in("tier != 'gold'", *parse_written("tier != 'gold'", SCHEMA), known)
    assert "in 5% of the requests" in found[0].message


def test_the_catalogue_says_which_values_there_are() -> None:
    known = Knowledge({"tier": ("gold", "silver"), "country": (), "device.os": ("iOS",)})
    assert warnings("tier in ('Gold', 'bronze')", known) == [
        ("unlisted_value", "'Gold'", "'gold'"),
        ("unlisted_value", "'bronze'", None),
    ]
    assert warnings("country = 'USA'", known) == []
    assert warnings("device.os = 'ios'", known) == [("unlisted_value", "'ios'", "'iOS'")]


def test_attributes_that_are_not_of_the_catalogue_are_not_known_by_name() -> None:
    assert warnings("country = 'USA' and segments none of (1) and now.hour = 24", NOTHING) == []


def test_the_first_wrong_values_of_a_large_set_are_enough() -> None:
    values = ", ".join(f"'x{n}'" for n in range(1000))
    text = f"country in ({values})"
    assert len(warnings(text)) == MOST


def test_it_travels_to_another_process() -> None:
    document, _ = statistics([request(country="US")])
    known = Knowledge({"tier": ("gold",)}, *seen_in(document))
    again = pickle.loads(pickle.dumps(known))
    assert again == known
    assert pickle.loads(pickle.dumps(known)) is again, "unpacked once"


def test_the_names_are_those_of_the_first_catalogue() -> None:
    assert CATALOGUE.keys() >= OFTEN_MISSING
    assert VALUES.keys() <= CATALOGUE.keys()
    assert import_module("migrations.versions.0008_values").NAME in CATALOGUE


def test_all_warnings_of_a_text_come_with_its_targeting() -> None:
    found = read("country = 'us' and country = 'DE'", SCHEMA, Limits(), BUILT_IN).targeting
    assert [each.code for each in found.warnings] == ["never_true", "unlisted_value"]
    assert found.warnings[1] == ExpressionWarning(
        "unlisted_value", "country does not have the value 'us'", (10, 14), "write 'US'", "'US'"
    )


def test_the_guide_has_every_code() -> None:
    table = GUIDE.partition("| code | example | why |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", table, re.MULTILINE)
    assert len(rows) >= 9
    for code, text in rows:
        found = read(text, SCHEMA, Limits(), BUILT_IN).targeting.warnings
        assert [each.code for each in found] == [code], text


@pytest.mark.parametrize(
    "text",
    [
        "country = 'us' ignoring case",
        "device.os in ('iOS', 'ANDROID') ignoring case",
        "bucket(now.hour, 'spring') = 5000",
        "site.page contains '100%'",
    ],
)
def test_what_ignores_case_or_is_derived_is_no_trap(text: str) -> None:
    assert warnings(text) == []
