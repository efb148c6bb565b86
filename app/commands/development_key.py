"""The key for development: made at the first start, in a file that only its owner can read.

The tokens of other keys are shown once and never stored. This one is next to the database, which
anybody who can read the file can read as well.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from campaigns.database.engine import driver_url
from campaigns.keys import service
from campaigns.keys.model import SCOPES, split, verify
from campaigns.store import Store

FILE_NAME = "copse-development.key"
NAME = "development"
ACTOR = "cli"


@dataclass(frozen=True)
class DevelopmentKey:
    """A key with all scopes, in a file."""

    path: Path

    @classmethod
    def beside(cls, database_url: str) -> "DevelopmentKey":
        """In the directory of a SQLite file; for Postgres, in the current directory."""
        url = driver_url(database_url)
        is_file = url.get_backend_name() == "sqlite" and url.database
        directory = Path(url.database or "").parent if is_file else Path()
        return cls(directory.absolute() / FILE_NAME)

    async def ensure(self, store: Store) -> None:
        """Make the key and its file, unless the file has a valid key with all scopes."""
        if not await self._is_valid(store):
            new = await service.create(store, ACTOR, {"name": NAME, "scopes": list(SCOPES)})
            self._write(new.token)

    async def _is_valid(self, store: Store) -> bool:
        try:
            parts = split(self.path.read_text().strip())
        except OSError:
            return False
        if parts is None:
            return False
        prefix, secret = parts
        return any(
            key.prefix == prefix
            and key.revoked_at is None
            and set(key.scopes) == set(SCOPES)
            and verify(secret, key.secret_hash)
            for key in await service.every(store)
        )

    def _write(self, token: str) -> None:
        self.path.unlink(missing_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{token}\n")
