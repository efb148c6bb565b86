"""Advisory locks have one number space for the whole database."""

import re
from pathlib import Path

from campaigns.database import locks
from campaigns.database.locks import AdvisoryLock

ROOT = Path(__file__).parents[3]


def test_every_use_has_a_number_of_its_own() -> None:
    written = re.findall(r"^    [A-Z_]+ = (\S+)", Path(locks.__file__).read_text(), re.M)
    numbers = [int(number, 0) for number in written]
    assert sorted(numbers) == sorted(AdvisoryLock)
    assert len(set(numbers)) == len(numbers) > 1


def test_no_other_module_has_a_number() -> None:
    """Who takes a lock takes its number from the one place."""
    for package in ("app", "campaigns", "migrations", "spark"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text()
            if re.search(r"pg_\w*advisory\w*lock", text):
                assert "AdvisoryLock." in text, path
                assert not re.search(r"advisory\w*lock\w*\(\d", text), path
