"""CSV: rows in pieces of any size, cells by the type of their field, and back."""

import csv
import io
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from app.api.imports.csv_rows import FIELDS, Rows, to_csv
from campaigns.errors import FieldProblem
from tests.app.answers import create_campaign, ok

ROUTE = "/v1/campaigns/import"
CSV = {"content-type": "text/csv"}


def rows_of(text: bytes, size: int = 10**6, longest: int = 1000) -> list[tuple[int, Any]]:
    rows = Rows(longest)
    found = [
        line
        for start in range(0, len(text), size)
        for line in rows.feed(text[start : start + size])
    ]
    return [(line.number, line.value) for line in (*found, *rows.end())]


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=20)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5), st.integers(1, 20))
def test_what_a_spreadsheet_writes_is_read_in_pieces_of_any_size(
    cells: list[tuple[str, str]], size: int
) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([("name", "targeting"), *cells])
    found = rows_of(text.getvalue().encode(), size)
    expected = [{"name": a or None, "targeting": b or None} for a, b in cells]
    assert [value for _, value in found] == [
        {key: value if value and value.strip() else None for key, value in each.items()}
        for each in expected
    ]


def test_cells_have_the_type_of_their_field() -> None:
    text = (
        b"\xef\xbb\xbfname,advertiser_id,status,categories,ends_at,wrong\n"
        b'"Spring, 24",7,active,IAB2 IAB7,,x\n'
        b"\n"
        b"Summer,many,,,2026-11-20T00:00:00Z,\n"
    )
    assert rows_of(text) == [
        (
            2,
            {
                "name": "Spring, 24",
                "advertiser_id": 7,
                "status": "active",
                "categories": ["IAB2", "IAB7"],
                "ends_at": None,
                "wrong": "x",
            },
        ),
        (
            4,
            {
                "name": "Summer",
                "advertiser_id": "many",
                "categories": None,
                "ends_at": "2026-11-20T00:00:00Z",
                "wrong": None,
            },
        ),
    ]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"a,b,c\n", "csv.cells"),
        (b"a\n", "csv.cells"),
        (b'"a"b,c\n', "csv.malformed"),
        (b"\xff,b\n", "csv.malformed"),
        (b'"a,b\nc,d\n', "csv.malformed"),
        (b"x" * 2000 + b",b\n", "line.long"),
        (b'"' + b"x\n" * 2000 + b'",b\n', "line.long"),
    ],
)
def test_a_malformed_row_is_a_problem(row: bytes, code: str) -> None:
    found = rows_of(b"name,targeting\n" + row)
    problems = [value for _, value in found if isinstance(value, FieldProblem)]
    assert code in [problem.code for problem in problems]


def test_a_dry_run_writes_nothing_and_says_what_would_happen(
    client: TestClient, advertiser_id: int
) -> None:
    known = create_campaign(client, advertiser_id, external_id="known", priority=3)
    text = (
        "external_id,advertiser_id,name,status,priority,targeting\n"
        f"known,{advertiser_id},Other,draft,4,true\n"
        f'new,{advertiser_id},New,active,,"country in (""US"", \'CA\')"\n'
        f"bad,{advertiser_id},Bad,active,,contry = 1\n"
    )
    dry = client.post(ROUTE, params={"dry_run": "true"}, content=text, headers=CSV).text
    lines = [json.loads(line) for line in dry.splitlines()]
    assert [(each["line"], each["outcome"], each["changes"]) for each in lines] == [
        (2, "updated", ["name", "priority"]),
        (3, "created", []),
        (4, "failed", []),
    ]
    assert (lines[0]["id"], lines[0]["version"], lines[1]["id"]) == (known["id"], 1, None)
    assert lines[2]["errors"][0]["code"] == "attribute.unknown"
    assert [each["name"] for each in ok(client.get("/v1/campaigns"))["items"]] == ["Spring"]
    assert ok(client.get("/v1/audit", params={"action": "import"}))["items"] == []

    done = client.post(ROUTE, content=text, headers=CSV).text
    assert [line.split('"outcome":"')[1].split('"')[0] for line in done.splitlines()] == [
        *("updated", "created", "failed")
    ]
    listed = ok(client.get("/v1/campaigns"))["items"]
    assert [(each["name"], each["status"]) for each in listed] == [
        ("Other", "draft"),
        ("New", "active"),
    ]


@pytest.mark.parametrize("format", ["csv", "ndjson"])
def test_an_export_can_be_imported_again(
    client: TestClient, advertiser_id: int, format: str
) -> None:
    for n in range(3):
        create_campaign(
            client,
            advertiser_id,
            external_id=f"e{n}",
            name=f'"Line\nbreak", {n}',
            categories=["IAB2", "IAB7-39"],
            targeting="country in ('US')\n  and site.domain contains '\"'",
            ends_at="2099-11-20T00:00:00Z",
        )
    asked = {"format": format, "status": "draft"}
    answer = client.get("/v1/campaigns/export", params=asked)
    assert answer.status_code == 200
    assert f'filename="campaigns.{format}"' in answer.headers["content-disposition"]
    sent = {"content-type": answer.headers["content-type"]}
    results = client.post(ROUTE, content=answer.content, headers=sent).text.splitlines()
    assert len(results) == 3
    assert all('"outcome":"unchanged"' in line for line in results), results
    none = client.get("/v1/campaigns/export", params={"format": format, "status": "active"})
    assert none.text == (",".join(FIELDS) + "\n" if format == "csv" else "")


def test_an_export_of_many_has_one_head_and_all_rows(
    client: TestClient, advertiser_id: int
) -> None:
    text = "advertiser_id,name\n" + f"{advertiser_id},x\n" * 1200
    assert client.post(ROUTE, content=text, headers=CSV).text.count('"created"') == 1200
    exported = client.get("/v1/campaigns/export").text
    assert exported.count("external_id") == 1
    assert len(exported.splitlines()) == 1201


def test_to_csv_has_the_fields_of_an_import() -> None:
    assert FIELDS[:4] == ("external_id", "advertiser_id", "name", "status")
    assert to_csv([], head=True).startswith("external_id,advertiser_id,name,status,")
