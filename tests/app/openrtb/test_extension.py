"""More fields by a file, and the command that shows what a request becomes."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.openrtb import ask
from app.openrtb.extension import BadMapping, read
from campaigns.feed.view import View
from index import Limits
from tests.app.openrtb.exchange import AT, bid_request, parsed

GOOD = """
[[attribute]]
name = "site.section"
type = "string"
paths = ["site.ext.section", "app.ext.section"]

[[attribute]]
name = "imp.ext.levels"
type = "int list"
paths = ["imp.banner.ext.levels"]
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "mapping.toml"
    file.write_text(text)
    return file


def test_fields_of_the_file_become_attributes(tmp_path: Path) -> None:
    table = read(written(tmp_path, GOOD))
    view = View.empty(dict(table.types), Limits())
    document = bid_request(
        app={"ext": {"section": 7}, "name": "A"},
        imp=[{"id": "1", "banner": {"ext": {"levels": [1, "2"]}}, "video": {}}],
    )
    request = parsed(document)
    (imp,) = ask(request, view, AT, table=table).imps
    found = [(e.event["site.section"], e.event.get("imp.ext.levels")) for e in imp.formats]
    assert found == [("7", [1, 2]), ("7", None)]
    assert imp.event["app.name"] == "A"
    assert request.tolerated == {"app.ext.section": 1, "imp.banner.ext.levels": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[attribute", "mapping.toml: "),
        ("x = 1", "expected tables"),
        ("[attribute]", "expected tables"),
        ('[[attribute]]\nname = "a"', "attribute 1: expected name, type and paths"),
        (GOOD.replace("int list", "date"), "attribute 2: "),
        (GOOD.replace("site.section", "country"), "country is mapped already"),
        (GOOD.replace("site.ext.section", "user.ext.x"), "user.ext.x is about the user"),
        (GOOD.replace("site.ext.section", "device.geo.x"), "is about the user"),
        (GOOD.replace("site.ext.section", "imp.x"), "either all paths begin with imp"),
        (GOOD.replace("site.ext.section", "site"), "'site' is not a path"),
        (GOOD.replace('["imp.banner.ext.levels"]', "[]"), "at least one path"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadMapping) as refused:
        read(written(tmp_path, text))
    assert said in str(refused.value)


def test_the_command_prints_what_a_request_becomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COPSE_OPENRTB_MAPPING", str(written(tmp_path, GOOD)))
    file = tmp_path / "bid.json"
    document = bid_request(site={"ext": {"section": "sport"}}, device={"geo": {"country": "UK"}})
    file.write_text(json.dumps(document))
    assert main(["openrtb", "attributes", str(file)]) == 0
    (imp,) = json.loads(capsys.readouterr().out)["imps"]
    attributes = imp["formats"][0]["attributes"]
    assert (attributes["site.section"], attributes["country"]) == ("sport", "GB")
    file.write_text("{}")
    assert main(["openrtb", "attributes", str(file)]) == 1
    assert "/id: expected a string" in capsys.readouterr().err
    assert main(["openrtb", "attributes", str(tmp_path / "none")]) == 1
    monkeypatch.setenv("COPSE_OPENRTB_MAPPING", str(tmp_path / "none.toml"))
    assert main(["settings"]) == 2
    assert "none.toml" in capsys.readouterr().err
