"""The table, the catalogue and the guide say the same."""

from pathlib import Path

from app.openrtb.codes import CONNECTION_TYPES, DEVICE_TYPES
from app.openrtb.privacy import FIELDS, WITHHELD_BY
from app.openrtb.table import IMP, NOT_FED, REQUEST
from campaigns.catalogue.vocabulary import OPERATING_SYSTEMS, VALUES
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


def test_the_guide_shows_the_operating_systems() -> None:
    for system, names in OPERATING_SYSTEMS.items():
        others = f" ({', '.join(names)})" if names else ""
        assert f"`{system}`{others}" in GUIDE


def test_the_words_for_codes_are_those_of_the_vocabulary() -> None:
    assert set(DEVICE_TYPES.values()) == set(VALUES["device.type"])
    assert set(CONNECTION_TYPES.values()) == set(VALUES["device.connection"])
    assert VALUES.keys() <= CATALOGUE.keys()
