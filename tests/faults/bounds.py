"""Time limits that the checker enforces. `docs/faults.md` gives the reasons."""

SETTLE_SECONDS = 8.0
"""Workers may take this long to catch up after the last fault: a lost connection is noticed and
retried within a few seconds. A fault of a worker ends when its successor is ready."""

STALE_SECONDS = 4.0
"""After settling, every answer includes writes acknowledged at least this long ago: the log is read
at least every second."""

CALM_SECONDS = SETTLE_SECONDS + 5.0
"""Length of the quiet period after a burst of faults."""

STOPPED_SECONDS = 12.0
"""Longest time a worker is stopped."""

SILENCE_SECONDS = STOPPED_SECONDS + SETTLE_SECONDS
"""Longest time without any answered match of a service that runs, even when all its workers are
stopped."""

HEALTHY_SECONDS = 5.0
"""Longest time without an answered match, and without an acknowledged write, on a host without a
fault of its own, whatever happens to the other one."""

REPEAT_SECONDS = 5.0
"""A create that is repeated with its Idempotency-Key may get 409 for this long: the first request
may still be running."""

REVOKED_SECONDS = 2.0
"""An import may go on for this long after its key was revoked: a second, and one for a busy
machine."""

HEALTH_SECONDS = 5.0
"""Longest time of `/healthz/live` during a burst, on a machine that also runs the clients."""

COMMAND_SECONDS = 60.0
"""Longest time of `copse migrate` beside a running service, with Postgres away for a part of it."""

STEP_SECONDS = 30.0
"""After the last repair, with no more writes, every index must equal the database within this."""

LONGEST_WAIT_MS = 4000
"""The service's setting during a run, so that a busy machine does not count as a fault."""

MATCH_TIMEOUT = 6.0
WRITE_TIMEOUT = 10.0
"""Client timeouts, in seconds."""
