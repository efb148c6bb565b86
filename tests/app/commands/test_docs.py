"""The generated parts of the documentation are up to date."""

from pathlib import Path

import pytest

from app.commands.docs import pages
from app.settings import Settings, variable

ROOT = Path(__file__).parents[3]
PAGES = pages(ROOT / "docs")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_up_to_date(page: Path) -> None:
    assert page.read_text() == PAGES[page], "run: python -m app.commands.docs"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_listed_with_its_default_and_meaning(name: str) -> None:
    field = Settings.model_fields[name]
    row = f"| `{variable(name)}` | {'' if field.default in (None, '') else f'`{field.default}`'} |"
    assert f"{row} {field.description} |" in (ROOT / "docs/settings.md").read_text()


def test_a_changed_table_is_written_anew(tmp_path: Path) -> None:
    for name in ("metrics.md", "openrtb.md"):
        text = (ROOT / "docs" / name).read_text()
        lines = [line for line in text.splitlines(keepends=True) if not line.startswith("| `")]
        (tmp_path / name).write_text("".join(lines))
    written = pages(tmp_path)
    assert written[tmp_path / "metrics.md"] == (ROOT / "docs/metrics.md").read_text()
