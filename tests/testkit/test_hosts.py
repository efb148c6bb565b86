"""Hosts are cut off silently, healed, and die without a word to their peers."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from testkit.hosts import Host, Network, NoHosts
from testkit.servers import postgres_server, redis_server
from tests.app.answers import eventually


@pytest.fixture
def hosts(network: Network) -> tuple[Host, Host]:
    return network.host("a"), network.host("b")


def connected(a: Host, b: Host) -> tuple[socket.socket, socket.socket]:
    """The two ends of a connection from `a` to `b`."""
    with b.entered(), socket.create_server((b.address, 0)) as listener:
        with a.entered():
            ours = socket.create_connection(listener.getsockname(), timeout=5)
        theirs, _ = listener.accept()
        theirs.settimeout(5)
        return ours, theirs


def test_a_host_that_is_cut_off_hears_and_says_nothing_until_it_is_healed(
    hosts: tuple[Host, Host],
) -> None:
    a, b = hosts
    ours, theirs = connected(a, b)
    with ours, theirs:
        ours.sendall(b"before")
        assert theirs.recv(64) == b"before"
        a.cut()
        ours.sendall(b"after")
        theirs.settimeout(0.5)
        with pytest.raises(TimeoutError):
            theirs.recv(64)
        a.heal()
        theirs.settimeout(10)
        assert theirs.recv(64) == b"after"


def test_nobody_hears_of_a_host_that_dies(hosts: tuple[Host, Host]) -> None:
    a, b = hosts
    with b.entered(), socket.create_server((b.address, 0)) as listener:
        port = listener.getsockname()[1]
        with a.entered():
            talk = f"exec 3<>/dev/tcp/{b.address}/{port}; exec sleep 600"
            process = subprocess.Popen(["bash", "-c", talk])
        theirs, _ = listener.accept()
    with theirs:
        assert process.pid in a.processes()
        a.die()
        assert process.wait(5) == -9
        theirs.settimeout(0.5)
        with pytest.raises(TimeoutError):
            theirs.recv(1)


def test_postgres_and_redis_can_run_on_a_host(hosts: tuple[Host, Host]) -> None:
    a, b = hosts
    with (
        postgres_server(on=b) as postgres,
        redis_server(on=b) as redis,
        a.entered(),
        socket.create_connection((redis.host, redis.port), timeout=5) as client,
    ):
        client.sendall(b"PING\r\n")
        assert client.recv(64) == b"+PONG\r\n"
        query: list[str | Path] = [postgres.bin / "psql", postgres.url, "--command", "select 1"]
        subprocess.run(query, check=True, capture_output=True)


def test_a_network_leaves_nothing_behind_and_removes_what_a_killed_run_left() -> None:
    try:
        with Network() as network:
            leftover = f"copse-{2**22 + 1}-0"  # no process has this number
            subprocess.run(["ip", "netns", "add", leftover], check=True)
            sleep = ["ip", "netns", "exec", leftover, "sleep", "600"]
            orphan = subprocess.Popen(sleep)
            eventually(lambda: Host(leftover, "", "", "").processes() == [orphan.pid])
            with network.host("a").entered():
                process = subprocess.Popen(["sleep", "600"])
            with Network():
                assert not Path("/run/netns", leftover).exists()
                assert orphan.wait(5) == -9
    except NoHosts as error:
        pytest.skip(str(error))
    assert process.wait(5) == -9
    assert not [*Path("/run/netns").glob(f"copse-{os.getpid()}-*")]
