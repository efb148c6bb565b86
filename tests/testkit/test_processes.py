"""The memory of processes that share it."""

import os
import subprocess
import sys

from testkit.processes import memory_of, share_of_memory

_FORKED = """
import os, sys
held = bytearray(b"x") * 100_000_000
child = os.fork()
if not child:
    sys.stdin.read()
    os._exit(0)
print(child, flush=True)
sys.stdin.read()
os.waitpid(child, 0)
"""


def test_what_a_fork_shares_counts_once() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _FORKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        both = [parent.pid, int(parent.stdout.readline())]
        assert sum(map(memory_of, both)) > 200_000_000
        assert 100_000_000 < sum(map(share_of_memory, both)) < 150_000_000
        parent.stdin.close()


def test_a_process_that_has_ended_has_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        assert share_of_memory(process.pid) == 0
    assert share_of_memory(os.getpid()) > 0
