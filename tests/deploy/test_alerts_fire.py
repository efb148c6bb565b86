"""Every alert fires: real faults on real services, seen by a real Prometheus.

The expressions are those that ship, with shorter times (`compressed.py`). All faults are caused at
once, each on a host that no other fault hides it on, and the tests wait for the alerts.
"""

from collections.abc import Iterator

import pytest

from testkit.servers import PostgresServer, RedisServer
from tests.app.answers import eventually
from tests.deploy.alert_faults import HOSTS, faults
from tests.deploy.compressed import rules
from tests.deploy.monitored import Monitored, monitored

WITHIN_SECONDS = 300
ALERTS = [rule["alert"] for rule in rules()]
SLOW = {"CopseStale": pytest.mark.long}
"""It takes half a minute until campaigns are that old."""


@pytest.fixture(scope="module")
def world(
    postgres: PostgresServer, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Monitored]:
    directory = tmp_path_factory.mktemp("monitored")
    with monitored(postgres, redis, directory) as world, faults(world):
        yield world


@pytest.mark.parametrize("alert", [pytest.param(name, marks=SLOW.get(name, ())) for name in ALERTS])
def test_an_alert_fires_when_its_fault_happens(world: Monitored, alert: str) -> None:
    """`alerts_test.yml` tests when they fire, and when not."""
    eventually(lambda: (alert, HOSTS[alert]) in world.fired(), WITHIN_SECONDS)


def test_alertmanager_gets_the_alerts(world: Monitored) -> None:
    def received() -> set[str]:
        alerts = world.alertmanager.get("/api/v2/alerts")
        return {alert["labels"]["alertname"] for alert in alerts}

    eventually(lambda: {"CopseDown", "CopseErrors"} <= received(), WITHIN_SECONDS)
