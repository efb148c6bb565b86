"""Settings come from the environment, and wrong ones are named."""

import pytest

from app.settings import Settings, SettingsError


def test_nothing_set_is_the_defaults() -> None:
    settings = Settings.from_environment({"PATH": "/bin", "PORT": "1"})
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert settings.limits.text_bytes == 65_536
    assert settings.limits.predicates == 4096
    assert settings.limits.depth == 64
    assert settings.limits.set_values == 100_000


def test_what_is_set_counts() -> None:
    settings = Settings.from_environment({"COPSE_PORT": "9000", "COPSE_MAX_DEPTH": "10"})
    assert settings.port == 9000
    assert settings.limits.depth == 10


def test_every_wrong_variable_is_named() -> None:
    environment = {"COPSE_PORT": "http", "COPSE_MAX_DEPTH": "101", "COPSE_LOG_LEVEL": "loud"}
    with pytest.raises(SettingsError) as raised:
        Settings.from_environment(environment)
    lines = str(raised.value).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "COPSE_PORT='http'",
        "COPSE_LOG_LEVEL='loud'",
        "COPSE_MAX_DEPTH='101'",
    ]


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    settings = Settings.from_environment({"COPSE_REDIS_URL": "", "COPSE_PORT": ""})
    assert (settings.redis_url, settings.port) == (None, 8080)


@pytest.mark.parametrize(
    "url", ["sqlite:///x", "postgres://h/d", "postgresql://h/d", "postgresql+asyncpg://h/d"]
)
def test_a_database_can_be_postgres_or_sqlite(url: str) -> None:
    assert Settings(database_url=url).database_url == url


def test_a_password_is_never_shown() -> None:
    settings = Settings(
        database_url="postgresql://me:p@ss@host:5432/copse", redis_url="redis://:secret@host/0"
    )
    assert settings.shown("database_url") == "postgresql://me:***@host:5432/copse"
    assert settings.shown("redis_url") == "redis://:***@host/0"
    assert Settings().shown("database_url") == "sqlite:///copse.sqlite3"
    assert Settings().shown("redis_url") == "None"
