"""The table, the catalogue and the guide say the same."""

from pathlib import Path

from app.openrtb.countries import ALPHA_2, BY_ALPHA_3
from app.openrtb.privacy import FIELDS, WITHHELD_BY
from app.openrtb.table import IMP, NOT_FED, REQUEST
from tests.app.openrtb.exchange import CATALOGUE

GUIDE = (Path(__file__).parents[3] / "docs" / "openrtb.md").read_text()


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


def test_every_attribute_of_the_first_catalogue_is_fed_with_its_type() -> None:
    fed = {row.attribute: row.type for row in (*REQUEST, *IMP)}
    assert fed.keys().isdisjoint(NOT_FED)
    assert fed | {name: type for name, (type, _) in NOT_FED.items()} == CATALOGUE
    assert len(fed) == len(REQUEST) + len(IMP)


def test_the_guide_shows_the_table() -> None:
    for row in (*REQUEST, *IMP):
        paths = ", ".join(f"`{path}`" for path in row.paths)
        assert f"| `{row.attribute}` | {row.type} | {paths} | {escaped(row.how)} |\n" in GUIDE
    for name, (type, why) in NOT_FED.items():
        assert f"| `{name}` | {type} | none | {why} |\n" in GUIDE
    shown = GUIDE.partition("| attribute | type |")[2].partition("\n\n")[0]
    assert shown.count("\n| `") == len(REQUEST) + len(IMP) + len(NOT_FED)


def test_the_guide_shows_what_each_flag_withholds() -> None:
    for reason, withheld in WITHHELD_BY.items():
        marks = "".join(" withheld |" if kind in withheld else " |" for kind in FIELDS)
        assert f"\n| `{reason}` |{marks}\n" in GUIDE


def test_the_countries_are_those_of_the_standard() -> None:
    assert len(BY_ALPHA_3) == len(ALPHA_2) == 250
    assert all(len(three) == 3 and len(two) == 2 for three, two in BY_ALPHA_3.items())
    zones = Path("/usr/share/zoneinfo/iso3166.tab")
    if zones.exists():
        lines = zones.read_text().splitlines()
        assert {line[:2] for line in lines if not line.startswith("#")} == ALPHA_2 - {"XK"}
    swapped = {"AUT": "AT", "AUS": "AU", "CHE": "CH", "CHN": "CN", "DEU": "DE", "DNK": "DK"}
    assert BY_ALPHA_3.items() >= swapped.items()
