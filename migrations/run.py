"""Migrations from inside the service. They run an event loop of their own: call them from a thread.

>>> upgrade("sqlite:///copse.sqlite3")  # doctest: +SKIP
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory


def config_for(url: str) -> Config:
    """Alembic's configuration for a database."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["url"] = url
    return config


def upgrade(url: str, revision: str = "head") -> None:
    """Bring the tables up to a revision, if they are not there yet."""
    command.upgrade(config_for(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Take the tables back to a revision; `base` removes them all."""
    command.downgrade(config_for(url), revision)


def check(url: str) -> None:
    """Raise if the tables differ from `campaigns/database/tables.py`."""
    command.check(config_for(url))


def latest() -> str:
    """The newest revision."""
    return ScriptDirectory.from_config(config_for("")).get_heads()[0]
