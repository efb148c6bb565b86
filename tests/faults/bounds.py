"""What a run is held to. `docs/faults.md` gives the reasons."""

SETTLE_SECONDS = 8.0
"""So long after the last fault everybody may still be catching up: a lost connection is found out
and tried again within a few seconds."""

STALE_SECONDS = 4.0
"""After that, a write that was acknowledged so long ago is in every answer: the log is read every
second at least."""

CALM_SECONDS = SETTLE_SECONDS + 5.0
"""How long a schedule is calm after a burst of faults."""

STOPPED_SECONDS = 12.0
"""A worker is stopped for so long at most."""

SILENCE_SECONDS = STOPPED_SECONDS + SETTLE_SECONDS
"""So long no match may be answered at all, even when both workers are stopped at once."""

STEP_SECONDS = 30.0
"""At the end, when all is mended and nobody writes, every index is the database within this."""

LONGEST_WAIT_MS = 4000
"""The service's own setting, in a run: a machine that is busy with other work is no fault."""

MATCH_TIMEOUT = 6.0
WRITE_TIMEOUT = 10.0
"""After so long a client gives up on an answer."""
