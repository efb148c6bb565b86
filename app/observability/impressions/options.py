"""The options of the impression log; the defaults are for a worker at full load."""

from dataclasses import dataclass

from campaigns.backoff import Backoff

RETRY = Backoff(0.1, 5.0)


@dataclass(frozen=True, slots=True)
class Options:
    """Times are in seconds."""

    queue_rows: int = 50_000
    """Most rows in memory; more are lost, and counted."""

    queue_bytes: int = 64 * 2**20
    """Most bytes in memory, as a cheap estimate."""

    row_bytes: int = 512 * 2**10
    """Most bytes of a row; a longer one is lost, and counted."""

    flush_every: float = 0.5
    """Time between writes: what a crash of the process may lose."""

    sync_every: float = 5.0
    """Time between syncs to the disk: what a power cut may lose."""

    part_bytes: int = 64 * 2**20
    """Size at which a part is complete."""

    part_seconds: float = 300.0
    """Age at which a part is complete: the longest that Spark waits for rows."""

    adopt_every: float = 60.0
    """Time between searches for leftovers of killed workers."""

    retry: Backoff = RETRY
    """The delay before the next attempt after a disk error."""
