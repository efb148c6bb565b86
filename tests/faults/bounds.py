"""Time limits that the checker enforces. `docs/faults.md` gives the reasons."""

SETTLE_SECONDS = 8.0
"""Workers may take this long to catch up after the last fault: a lost connection is noticed and
retried within a few seconds."""

STALE_SECONDS = 4.0
"""After settling, every answer includes writes acknowledged at least this long ago: the log is read
at least every second."""

CALM_SECONDS = SETTLE_SECONDS + 5.0
"""Length of the quiet period after a burst of faults."""

STOPPED_SECONDS = 12.0
"""Longest time a worker is stopped."""

SILENCE_SECONDS = STOPPED_SECONDS + SETTLE_SECONDS
"""Longest time without any answered match, even when both workers are stopped."""

STEP_SECONDS = 30.0
"""After the last repair, with no more writes, every index must equal the database within this."""

LONGEST_WAIT_MS = 4000
"""The service's setting during a run, so that a busy machine does not count as a fault."""

MATCH_TIMEOUT = 6.0
WRITE_TIMEOUT = 10.0
"""Client timeouts, in seconds."""
