"""Hosts on one machine: network namespaces on one switch, which can be cut off silently and healed.

    ┌── a ─────────┐     ┌── switch ─────────────┐     ┌── b ─────────┐
    │ lo, eth0 ────┼─────┼─ port1 bridge port2 ──┼─────┼──── eth0, lo │
    │ 10.99.0.1    │     │                       │     │    10.99.0.2 │
    └──────────────┘     └───────────────────────┘     └──────────────┘

A thread that enters a host opens its sockets there, and a process that it starts lives there:

>>> with Network() as network, network.host("a").entered():  # doctest: +SKIP
...     socket.create_connection(…), subprocess.Popen(…)

So servers, services and clients of this package need not know about hosts. The machine's own
network and files are not involved: from outside, hosts are reached only by entering them, and over
Unix sockets. A host that is cut off still has its loopback address. All processes of a host end
with the network.
"""

import ctypes
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from testkit import Failed
from testkit.debian import installed, which

_CLONE_NEWNET = 0x40000000
_END_SECONDS = 10
_NAMESPACES = Path("/run/netns")
_PREFIX = "copse"
_libc = ctypes.CDLL(None, use_errno=True)
_numbers = itertools.count()


class NoHosts(Failed):
    """This machine does not let us make network namespaces; the message says why."""


class Host:
    """A host of a network, made by `Network.host`."""

    def __init__(self, namespace: str, switch: str, port: str, address: str) -> None:
        self.address = address
        self._namespace = namespace
        self._switch = switch
        self._port = port

    @contextmanager
    def entered(self) -> Iterator[None]:
        """In the block, this thread is on the host: its new sockets, processes and threads are too.
        A coroutine must not wait in it."""
        with (
            Path("/proc/thread-self/ns/net").open() as outside,
            (_NAMESPACES / self._namespace).open() as inside,
        ):
            _set_namespace(inside.fileno())
            try:
                yield
            finally:
                _set_namespace(outside.fileno())

    def cut(self) -> None:
        """Take its cable out of the switch: packets vanish in both directions, nobody is told."""
        _ip("-n", self._switch, "link", "set", self._port, "nomaster")

    def heal(self) -> None:
        """Put the cable in again."""
        _ip("-n", self._switch, "link", "set", self._port, "master", "bridge")

    def die(self) -> None:
        """Cut it off, then kill every process on it: no peer hears of their end."""
        self.cut()
        self.kill()

    def kill(self) -> None:
        """Kill every process on it."""
        end = time.monotonic() + _END_SECONDS
        while pids := self.processes():
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            if time.monotonic() > end:
                raise Failed(f"processes {pids} on {self.address} do not end")
            time.sleep(0.01)

    def processes(self) -> list[int]:
        """The processes on it, without this one and without those that have ended."""
        pids = map(int, _ip("netns", "pids", self._namespace).split())
        return [pid for pid in pids if pid != os.getpid() and not _has_ended(pid)]


class Network:
    """A switch and the hosts on it, as long as the `with` block; `NoHosts` if there cannot be."""

    def __init__(self) -> None:
        self._switch = f"{_PREFIX}-{os.getpid()}-{next(_numbers)}"
        self._hosts: list[Host] = []
        self._namespaces: list[str] = []

    def host(self, name: str) -> Host:
        """A new host; the name is for people who run `ip netns`."""
        number = len(self._hosts) + 1
        namespace, port = f"{self._switch}-{name}", f"port{number}"
        self._add(namespace)
        host = Host(namespace, self._switch, port, f"10.99.0.{number}")
        self._hosts.append(host)
        cable = ["link", "add", port, "type", "veth", "peer", "eth0", "netns", namespace]
        _ip("-n", self._switch, *cable)
        _ip("-n", self._switch, "link", "set", port, "up")
        _ip("-n", namespace, "address", "add", f"{host.address}/24", "dev", "eth0")
        _ip("-n", namespace, "link", "set", "eth0", "up")
        host.heal()
        return host

    def __enter__(self) -> Self:
        if os.geteuid() != 0:
            raise NoHosts("hosts are network namespaces, and only root can make those")
        installed("iproute2", lambda: which("ip"))
        _remove_leftovers()
        try:
            self._add(self._switch)
            _ip("-n", self._switch, "link", "add", "bridge", "type", "bridge")
            _ip("-n", self._switch, "link", "set", "bridge", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for host in self._hosts:
            host.kill()
        for namespace in self._namespaces:
            _ip("netns", "delete", namespace)

    def _add(self, namespace: str) -> None:
        try:
            _ip("netns", "add", namespace)
        except Failed as error:
            raise NoHosts(f"this machine allows no network namespaces: {error}") from error
        self._namespaces.append(namespace)
        _ip("-n", namespace, "link", "set", "lo", "up")


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _set_namespace(file: int) -> None:
    if _libc.setns(file, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns: cannot enter the network namespace")


def _has_ended(pid: int) -> bool:
    """Whether it is gone, or waits only for its parent to ask for its status."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _remove_leftovers() -> None:
    """Remove the namespaces of runs that were killed, with the processes on them."""
    for path in _NAMESPACES.glob(f"{_PREFIX}-*"):
        if not Path("/proc", path.name.split("-")[1]).exists():
            Host(path.name, "", "", path.name).kill()
            _ip("netns", "delete", path.name)
