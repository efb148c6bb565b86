"""What an explanation shows besides the values of the nodes."""

import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from index import Attribute, Explanation, Schema, parse
from index.event import check_event
from index.explain import MOST_ELEMENTS, WORDS, explain
from index.scan import evaluate
from tests.index.strategies import events, schemas, trees

DOCUMENT = Path(__file__).parents[2] / "docs/explain.md"

SCHEMA = Schema(
    [
        Attribute("country", "string"),
        Attribute("age", "int"),
        Attribute("segments", "int list"),
        Attribute("vip", "bool"),
    ]
)


def explained(text: str, event: dict[str, object]) -> Explanation:
    checked, _ = check_event(event, SCHEMA)
    return explain(parse(text, SCHEMA), checked)


def test_a_predicate_shows_the_value_that_decided() -> None:
    found = explained("country = 'US' and not (age < 18 or vip)", {"country": "FR", "vip": True})
    assert found.to_dict() == {
        "kind": "and",
        "text": "country = 'US' and not (age < 18 or vip)",
        "value": "false",
        "children": [
            {
                "kind": "predicate",
                "text": "country = 'US'",
                "value": "false",
                "attribute": "country",
                "got": "FR",
            },
            {
                "kind": "not",
                "text": "not (age < 18 or vip)",
                "value": "false",
                "children": [
                    {
                        "kind": "or",
                        "text": "age < 18 or vip",
                        "value": "true",
                        "children": [
                            {
                                "kind": "predicate",
                                "text": "age < 18",
                                "value": "unknown",
                                "attribute": "age",
                                "got": None,
                            },
                            {
                                "kind": "predicate",
                                "text": "vip",
                                "value": "true",
                                "attribute": "vip",
                                "got": True,
                            },
                        ],
                    }
                ],
            },
        ],
    }


def test_a_list_is_shown_in_order() -> None:
    found = explained("segments any of (5, 9)", {"segments": [7, 3, 7]}).to_dict()
    assert found["got"] == [3, 7]
    assert "got_total" not in found


def test_a_long_list_is_cut_and_what_the_predicate_names_comes_first() -> None:
    found = explained("segments any of (500, 400, 7000)", {"segments": list(range(1000))}).to_dict()
    assert found["got"] == [400, 500, *range(MOST_ELEMENTS - 2)]
    assert found["got_total"] == 1000


def test_a_constant_has_no_value_to_show() -> None:
    assert explained("true", {}).to_dict() == {"kind": "constant", "text": "true", "value": "true"}


def test_the_document_shows_what_happens() -> None:
    text = DOCUMENT.read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)\n```$", text, re.M | re.S)
    code, shown = [block for language, block in blocks if language in ("python", "")][:2]
    names: dict[str, Any] = {}
    exec(code, names)
    assert str(names["index"].explain(7, names["event"])) == shown
    rows = [
        f"| {o.place} | `{o.predicate}` | {WORDS[o.value]} | {WORDS[o.wanted]} | {o.why} |"
        for o in names["index"].obstacles(7, names["event"]).obstacles
    ]
    assert "\n".join(rows) + "\n\n" in text


@given(st.data())
def test_every_node_has_the_value_that_the_oracle_gives_it(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    tree = data.draw(trees(schema))
    event, _ = check_event(data.draw(events(schema)), schema)

    def check(node: Explanation, text: str) -> None:
        assert node.text == text
        assert node.value is evaluate(parse(text, schema), event)
        for child in node.children:
            check(child, child.text)

    check(explain(tree, event), str(tree))
