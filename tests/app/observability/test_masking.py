"""No form of a password is shown; everything else is."""

import pytest

from app.observability.masking import without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:hidden@host:5432/db", "postgresql://me:***@host:5432/db"),
        ("postgresql://me:hid@d/en?x#y@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:hidd%40en@host/db", "postgresql://me:***@host/db"),
        ("postgresql://h/db?user=me&password=hidden", "postgresql://h/db?user=me&password=***"),
        ("postgresql://h/db?sslpassword=hidden&a=1", "postgresql://h/db?sslpassword=***&a=1"),
        ("redis://:hidden@host/0", "redis://:***@host/0"),
        ("redis://host/0?password=hidd%26en&db=1", "redis://host/0?password=***&db=1"),
        ("unix://me:hidden@/run/redis.sock?db=0", "unix://me:***@/run/redis.sock?db=0"),
        ("host=db password=hidden user=me", "host=db password=*** user=me"),
        (r"host=db PASSWORD = 'hid\'d en' user=me", "host=db PASSWORD = *** user=me"),
        ("PGPASSWORD=hidden psql", "PGPASSWORD=*** psql"),
        ("{'password': 'hidden', 'port': 1}", "{'password': ***, 'port': 1}"),
        ("Bearer copse_1f6c2a9b04d7_hid-den_1", "Bearer copse_1f6c2a9b04d7_***"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("sqlite:///copse.sqlite3", "sqlite:///copse.sqlite3"),
    ],
)
def test_a_password_is_never_shown(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
    assert "hid" not in without_secrets(text)
