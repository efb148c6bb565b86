"""How the impression log writes; the defaults are for a worker at full load."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Times are in seconds."""

    queue_rows: int = 50_000
    """So many rows wait in memory at most; more are lost, and counted."""

    queue_bytes: int = 64 * 2**20
    """The same for their size, as far as it can be told cheaply."""

    row_bytes: int = 512 * 2**10
    """A longer row is lost, and counted."""

    flush_every: float = 0.5
    """What is in memory is written so often: what a crash of the process may lose."""

    sync_every: float = 5.0
    """What is written is forced to the disk so often: what a power cut may lose."""

    part_bytes: int = 64 * 2**20
    """A part that has grown so large is complete."""

    part_seconds: float = 300.0
    """A part that has become so old is complete: how long Spark waits for rows at most."""

    adopt_every: float = 60.0
    """What killed workers leave behind is looked for so often."""

    first_retry: float = 0.1
    last_retry: float = 5.0
    """After a disk error the next attempt waits, at first so long, then twice that, up to this."""
