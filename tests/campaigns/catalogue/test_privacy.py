"""What never gets into the log."""

import pytest

from campaigns.catalogue.privacy import Denylist


@pytest.mark.parametrize(
    "name",
    ["ip", "IP", "device.ip", "device.ipv6", "user.id", "user.buyeruid", "device.ifa", "email"],
)
def test_the_names_of_persons_and_devices_are_denied(name: str) -> None:
    assert not Denylist().permits(name)


@pytest.mark.parametrize(
    "name", ["country", "device.type", "user.segments", "ship", "site.id", "zip", "script\nip"]
)
def test_other_names_are_permitted(name: str) -> None:
    denylist = Denylist()
    assert denylist.permits(name)
    assert denylist.permits(name)  # as remembered


def test_the_patterns_can_be_chosen() -> None:
    denylist = Denylist(["secret*"])
    assert denylist.permits("ip")
    assert not denylist.permits("secret.plan")
    assert Denylist([]).permits("ip")


def test_any_number_of_names_takes_bounded_memory() -> None:
    denylist = Denylist()
    for number in range(10_000):
        assert denylist.permits(f"n{number}")
    assert len(denylist._known) < 5_000
