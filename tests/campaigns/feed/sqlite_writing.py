"""Writes to a SQLite file as the store makes them, with SQL of the tests' own."""

import json
import secrets
import sqlite3
from pathlib import Path

from index import digest_of
from tests.campaigns.feed.writing import DIGEST, active, ddl


class SqliteWriter:
    """One connection that writes to a file."""

    def __init__(self, path: Path) -> None:
        new = not path.exists()
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = OFF")
        if new:
            for statement in ddl("sqlite"):
                self.connection.execute(statement)
            now = "2026-11-01 00:00:00.000000"
            self.connection.execute(
                "INSERT INTO advertisers (id, name, domain, status, version, rev, "
                "created_at, updated_at) VALUES (1, '', 'a.example', 'active', 1, 0, ?, ?)",
                (now, now),
            )
            self.connection.execute(
                "INSERT INTO attributes (name, type, description, version, rev, created_at, "
                "updated_at) VALUES ('age', 'int', '', 1, 0, ?, ?)",
                (now, now),
            )

    def put(self, id: int, age: int = 0, ends_at: str | None = None) -> int:
        """Create or change an active campaign; its rev."""
        now = "2026-11-01 00:00:00.000000"
        fields = active(id, 0, age)
        self.connection.execute("BEGIN IMMEDIATE")
        (version,) = self.connection.execute(
            "INSERT INTO campaigns (id, advertiser_id, name, status, priority, bid_micros, "
            "ends_at, categories, targeting, tree, attribute_names, fingerprint, version, rev, "
            "created_at, updated_at) VALUES (?, 1, '', 'active', 5, 1000, ?, '[\"IAB1\"]', '', ?, "
            "'[]', '', 1, 0, ?, ?) ON CONFLICT (id) DO UPDATE SET tree = excluded.tree, "
            "version = version + 1 RETURNING version",
            (id, ends_at, json.dumps(fields["tree"]), now, now),
        ).fetchone()
        (rev,) = self.connection.execute(
            "UPDATE feed_head SET rev = rev + 1 RETURNING rev"
        ).fetchone()
        self.connection.execute(
            "INSERT INTO changes VALUES (?, 'campaign', ?, ?, ?, 0.0)",
            (rev, str(id), secrets.token_hex(8), json.dumps(active(id, version, age))),
        )
        self.connection.execute("COMMIT")
        return int(rev)

    def truth(self) -> tuple[str, int, int]:
        """The epoch, the rev and the digest."""
        epoch, rev = self.connection.execute("SELECT epoch, rev FROM feed_head").fetchone()
        return epoch, rev, digest_of(self.connection.execute(DIGEST).fetchall())

    def close(self) -> None:
        self.connection.close()
