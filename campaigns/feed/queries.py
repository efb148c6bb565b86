"""The SQL of the feed. `?` stands for the database's own placeholders, in order.

It is apart from the repository's, since it does not go through SQLAlchemy: streaming a million rows
takes half the time without it, and a heartbeat is one small statement.
"""

LOG = """
    SELECT h.epoch, h.rev AS head_rev, h.pruned_rev,
           c.rev, c.kind, c.object_id, c.nonce, c.payload, c.at
      FROM feed_head h
      LEFT JOIN (SELECT * FROM changes WHERE rev >= ? ORDER BY rev LIMIT ?) c ON 1 = 1
     ORDER BY c.rev
"""
"""The head and the changes from a rev on: one statement, so one version of both."""

ATTRIBUTES = "SELECT name, type FROM attributes ORDER BY name"

ADVERTISERS = "SELECT id, status, domain FROM advertisers"

COUNT = "SELECT count(*) FROM campaigns WHERE status = 'active'"

_CAMPAIGNS = """
    SELECT id, tree, priority, bid_micros, {starts_at}, {ends_at}, advertiser_id, version, rev,
           nullif(CAST(categories AS TEXT), '[]')
      FROM campaigns WHERE status = 'active'
"""

_KEYS = """
    SELECT id, prefix, secret_hash, CAST(scopes AS TEXT), {expires_at}, rate, max_body
      FROM api_keys WHERE revoked_at IS NULL
"""


_STATISTICS = """
    SELECT id, checksum, {window_from}, {window_to} FROM statistics WHERE active
"""


def statistics(postgres: bool) -> str:
    """The statistics that should steer, if there are any."""
    return _STATISTICS.format(
        window_from=_moment("window_from", postgres), window_to=_moment("window_to", postgres)
    )


def statistics_document(id: int) -> str:
    """The document of a version."""
    return f"SELECT document FROM statistics WHERE id = {int(id)}"


def campaigns(postgres: bool) -> str:
    """Every active campaign; on SQLite moments are text."""
    return _CAMPAIGNS.format(
        starts_at=_moment("starts_at", postgres), ends_at=_moment("ends_at", postgres)
    )


def keys(postgres: bool) -> str:
    """Every key that is not revoked."""
    return _KEYS.format(expires_at=_moment("expires_at", postgres))


def numbered(sql: str) -> str:
    """With the placeholders of Postgres."""
    for number in range(1, sql.count("?") + 1):
        sql = sql.replace("?", f"${number}", 1)
    return sql


def _moment(column: str, postgres: bool) -> str:
    return f"CAST(extract(epoch FROM {column}) AS double precision)" if postgres else column
