"""What never gets into the log."""

import pytest

from campaigns.catalogue.privacy import Denylist, truncate_ip


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


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("203.0.113.77", "203.0.113.0"),
        (" 203.0.113.77 ", "203.0.113.0"),
        ("2001:db8:1:2ff::1", "2001:db8:1:200::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:203.0.113.77", "203.0.113.0"),
        ("203.0.113", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_an_address_keeps_24_or_56_bits(address: str, kept: str | None) -> None:
    assert truncate_ip(address) == kept
