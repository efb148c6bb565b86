"""The statuses of a campaign and of an advertiser, and the ways between them: the one place.

    draft ──▶ active ◀──▶ paused          active ◀──▶ paused
      │         │           │             (an advertiser: paused takes all its campaigns out)
      └─────────┴───────────┴──▶ archived

Only an active campaign is in the index. An archived one changes no more, and no longer holds on to
the attributes that it speaks of. Deleting is possible from every status but active.
"""

DRAFT = "draft"
ACTIVE = "active"
PAUSED = "paused"
ARCHIVED = "archived"

CAMPAIGN_STATUSES = (DRAFT, ACTIVE, PAUSED, ARCHIVED)
ADVERTISER_STATUSES = (ACTIVE, PAUSED)

CAMPAIGN_TRANSITIONS: dict[str, frozenset[str]] = {
    DRAFT: frozenset({ACTIVE, ARCHIVED}),
    ACTIVE: frozenset({PAUSED, ARCHIVED}),
    PAUSED: frozenset({ACTIVE, ARCHIVED}),
    ARCHIVED: frozenset(),
}

ADVERTISER_TRANSITIONS: dict[str, frozenset[str]] = {
    ACTIVE: frozenset({PAUSED}),
    PAUSED: frozenset({ACTIVE}),
}

DELETABLE = frozenset(CAMPAIGN_STATUSES) - {ACTIVE}
"""From where a campaign may be deleted: one that serves is taken out first."""
