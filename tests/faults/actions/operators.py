"""What operators do beside the running service: migrate, and revoke a key that is in use."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.actions.effect import Effect
from tests.faults.bounds import COMMAND_SECONDS, REVOKED_SECONDS
from tests.faults.revoked_import import RevokedImport
from tests.faults.schedule import SECOND, Fault
from tests.faults.service import COPSE
from tests.faults.stage import ROOT, Stage


@contextmanager
def migrate(stage: Stage, _: Fault) -> Iterator[Effect]:
    """`copse migrate`, again if Postgres is away meanwhile."""
    effect = Effect()
    yield effect
    begin = time.monotonic()
    told = "timed out"
    while (left := begin + COMMAND_SECONDS - time.monotonic()) > 0:
        try:
            done = subprocess.run(
                [*COPSE, "migrate"],
                capture_output=True,
                text=True,
                timeout=left,
                cwd=ROOT,
                env=os.environ | {"COPSE_DATABASE_URL": stage.postgres.url},
                check=False,
            )
        except subprocess.TimeoutExpired:
            break
        if done.returncode == 0:
            effect.message = f"{time.monotonic() - begin:.1f} s"
            return
        told = done.stderr[-300:]
        time.sleep(0.5)
    effect.broken = f"command: copse migrate: {told}"


@contextmanager
def revoke(stage: Stage, _: Fault) -> Iterator[Effect]:
    """An import over several seconds; its key is revoked after the first ones."""
    effect = Effect(host=SECOND)
    yield effect
    sent = RevokedImport(stage).run()
    effect.message = str(sent)
    if sent.seconds > REVOKED_SECONDS:
        effect.broken = f"import: a line was written {sent.seconds:.1f} s after its key was revoked"
