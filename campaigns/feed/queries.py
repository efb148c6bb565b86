"""The SQL of the feed. `?` stands for the database's own placeholders, in order.

It does not go through SQLAlchemy: without it, streaming a million rows takes half the time, and a
heartbeat is one small statement.
"""

from campaigns.campaign.statuses import ACTIVE
from campaigns.operators.model import SERVED

LOG = """
    SELECT h.epoch, h.rev AS head_rev, h.pruned_rev,
           c.rev, c.kind, c.object_id, c.nonce, c.payload, c.at
      FROM feed_head h
      LEFT JOIN (SELECT * FROM changes WHERE rev >= ? ORDER BY rev LIMIT ?) c ON 1 = 1
     ORDER BY c.rev
"""
"""The head and the changes from a rev on, in one statement and so in one version."""

STREAM_SECRET = "SELECT stream_secret FROM feed_head WHERE epoch = ? AND stream_secret > ''"

ATTRIBUTES = "SELECT name, type FROM attributes ORDER BY name"

OPERATORS = f"SELECT {', '.join(SERVED)} FROM operators"

ADVERTISERS = "SELECT id, status, domain, seat, CAST(apps AS TEXT) FROM advertisers"

COUNT = f"SELECT count(*) FROM campaigns WHERE status = '{ACTIVE}'"


def statistics(postgres: bool) -> str:
    """The active statistics."""
    window_from, window_to = _moment("window_from", postgres), _moment("window_to", postgres)
    return f"SELECT id, checksum, {window_from}, {window_to} FROM statistics WHERE active"


def statistics_document(id: int) -> str:
    """The document of a version."""
    return f"SELECT document FROM statistics WHERE id = {int(id)}"


def campaigns(postgres: bool) -> str:
    """All active campaigns; on SQLite times are text."""
    starts_at, ends_at = _moment("starts_at", postgres), _moment("ends_at", postgres)
    return f"""
        SELECT id, tree, priority, bid_micros, {starts_at}, {ends_at}, advertiser_id, version, rev,
               nullif(CAST(categories AS TEXT), '[]')
          FROM campaigns WHERE status = '{ACTIVE}'
    """


def keys(postgres: bool) -> str:
    """All keys that are not revoked."""
    return f"""
        SELECT id, prefix, secret_hash, CAST(scopes AS TEXT), {_moment("expires_at", postgres)},
               rate, max_body
          FROM api_keys WHERE revoked_at IS NULL
    """


def numbered(sql: str) -> str:
    """The statement with the placeholders of Postgres."""
    for number in range(1, sql.count("?") + 1):
        sql = sql.replace("?", f"${number}", 1)
    return sql


def _moment(column: str, postgres: bool) -> str:
    return f"CAST(extract(epoch FROM {column}) AS double precision)" if postgres else column
