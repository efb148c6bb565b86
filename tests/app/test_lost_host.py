"""A host that vanishes without a word must not stop the others: real processes, two hosts."""

import time

from testkit.hosts import Network
from tests.app.answers import eventually
from tests.app.lost_host import WITHIN, Loss, Served, two_hosts


def check(loss: Loss, other: Served) -> None:
    assert loss.writes < WITHIN
    assert loss.lease < WITHIN
    assert loss.matches < WITHIN
    assert not other.matches.bad


def test_losing_a_host_stops_neither_writes_nor_matches_on_the_other(network: Network) -> None:
    with two_hosts(network) as pair:
        a, b = pair.a, pair.b
        with pair.clients(busy=a):
            eventually(lambda: len(a.writes.good) > 50 and len(b.writes.good) > 5)
            check(pair.lose(a, b), b)
            assert not a.matches.bad, "it answers from memory while it is cut off"
            healed = time.monotonic()
            a.host.heal()
            eventually(lambda: a.writes.good[-1] > healed, within=WITHIN)
        with pair.clients(busy=b):
            writes = len(b.writes.good)
            eventually(lambda: len(b.writes.good) > writes + 50)
            check(pair.lose(b, a, killed=True), a)
        written = set(map(int, pair.asked("SELECT id FROM campaigns")))
        assert written >= {*a.writes.ids, *b.writes.ids}, "no acknowledged write is lost"
