"""The key for development, in its file."""

from pathlib import Path

import pytest

from app.commands.development_key import DevelopmentKey
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from tests.app.conftest import on_store


@pytest.mark.parametrize(
    ("url", "directory"),
    [
        ("sqlite:////var/lib/copse/copse.sqlite3", "/var/lib/copse"),
        ("sqlite:///data/copse.sqlite3", "data"),
        ("sqlite:///copse.sqlite3", "."),
        ("postgresql://host/copse", "."),
    ],
)
def test_it_lies_beside_the_database(url: str, directory: str) -> None:
    path = DevelopmentKey.beside(url).path
    assert path == Path(directory).absolute() / "copse-development.key"


def test_it_is_made_once_and_only_its_owner_reads_it(url: str, tmp_path: Path) -> None:
    kept = DevelopmentKey.beside(url)
    assert kept.path.parent == tmp_path
    on_store(url, kept.ensure)
    token = kept.path.read_text()
    assert kept.path.stat().st_mode & 0o777 == 0o600
    on_store(url, kept.ensure)
    assert kept.path.read_text() == token
    made = [each for each in on_store(url, key.every) if each.name == "development"]
    assert [each.scopes for each in made] == [SCOPES]


@pytest.mark.parametrize("spoilt", ["", "nonsense", "copse_none_none"])
def test_a_file_that_does_not_fit_the_database_is_made_anew(url: str, spoilt: str) -> None:
    kept = DevelopmentKey.beside(url)
    kept.path.write_text(spoilt)
    on_store(url, kept.ensure)
    assert kept.path.read_text() != spoilt
    assert kept.path.stat().st_mode & 0o777 == 0o600


def test_a_revoked_one_is_made_anew(url: str) -> None:
    kept = DevelopmentKey.beside(url)
    on_store(url, kept.ensure)
    token = kept.path.read_text()
    (made,) = [each for each in on_store(url, key.every) if each.name == "development"]
    on_store(url, lambda store: key.revoke(store, "test", made.id))
    on_store(url, kept.ensure)
    assert kept.path.read_text() != token


def test_one_that_lacks_a_scope_is_made_anew(url: str) -> None:
    kept = DevelopmentKey.beside(url)
    fields = {"name": "development", "scopes": list(SCOPES[:-1])}
    old = on_store(url, lambda store: key.create(store, "test", fields)).token
    kept.path.write_text(old)
    on_store(url, kept.ensure)
    assert kept.path.read_text() != old
