"""What the README shows is what happens."""

import json
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings, variable

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_first_command_gives_the_answer_below_it() -> None:
    asked = re.search(r"curl -s \S+?:8080(/\S+) .*<<'JSON'\n(.*?)\nJSON\n", README, re.DOTALL)
    answered = re.search(r"```json\n(.*?)\n```", README, re.DOTALL)
    assert asked
    assert answered
    with TestClient(create_app(Settings())) as client:
        response = client.post(asked[1], json=json.loads(asked[2]))
    assert response.text == answered[1]


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_listed_with_its_default(name: str) -> None:
    row = f"| `{variable(name)}` | `{Settings.model_fields[name].default}` |"
    assert row in README
