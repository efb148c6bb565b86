"""Targeting that needs more of an address than requests have."""

import ipaddress
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.openrtb.privacy import truncated
from campaigns.campaign.targeting import check_texts, read
from campaigns.catalogue.knowledge import NOTHING, Knowledge
from campaigns.catalogue.model import schema_of
from campaigns.catalogue.vocabulary import KEPT_BITS
from campaigns.errors import FieldProblem
from index import ExpressionError, Limits, parse
from index.event import check_event
from index.scan import evaluate
from tests.app.openrtb.exchange import CATALOGUE

SCHEMA = schema_of({**CATALOGUE, "client.ip": "ip"}.items())
GUIDE = (Path(__file__).parents[3] / "docs" / "language.md").read_text()


BUILT_IN = Knowledge()


def refused(text: str, known: Knowledge = BUILT_IN) -> ExpressionError | None:
    try:
        read(text, SCHEMA, Limits(), known)
    except ExpressionError as error:
        return error
    return None


def guide() -> list[tuple[str, str]]:
    table = GUIDE.partition("| refused | hint |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(.+?)` \| (.+?) \|$", table, re.MULTILINE)


def test_the_guide_shows_what_is_refused() -> None:
    assert len(guide()) == 4
    for text, hint in guide():
        error = refused(text)
        assert error is not None, text
        assert (error.code, error.hint) == ("value.narrow", hint)


def test_the_error_names_the_value_and_the_reason() -> None:
    error = refused("age > 3 and device.ip in network ('10.0.0.0/8', '203.0.113.128/25')")
    assert error is not None
    assert str(error).splitlines()[0] == (
        "line 1, column 49: for privacy, requests have only the first 24 bits of an IPv4 address "
        "in device.ip, and '203.0.113.128/25' needs more"
    )
    assert error.text[error.start : error.end] == "'203.0.113.128/25'"
    problem = check_texts([error.text], SCHEMA, Limits(), BUILT_IN)[error.text]
    assert isinstance(problem, FieldProblem)
    assert problem.code == "value.narrow"


@pytest.mark.parametrize(
    "text",
    [
        "device.ip in network ('203.0.113.0/24', '2001:db8:1:2300::/56', '0.0.0.0/0')",
        "not (device.ip in network ('10.0.0.0/8'))",
        "device.ip between '203.0.113.0' and '203.0.114.255'",
        "device.ip not between '2001:db8::' and '2001:db8:0:ff:ffff:ffff:ffff:ffff'",
        "device.ip is null",
        "client.ip = '203.0.113.7' and client.ip in network ('203.0.113.7/32')",
    ],
)
def test_what_requests_can_show_is_accepted(text: str) -> None:
    assert refused(text) is None


def test_only_the_catalogue_knows_what_is_kept() -> None:
    assert refused("device.ip = '203.0.113.7'", NOTHING) is None
    text = schema_of({**CATALOGUE, "device.ip": "string"}.items())
    read("device.ip = '203.0.113.7'", text, Limits(), BUILT_IN)


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Few networks, so that events and networks meet."""
    if draw(st.booleans()):
        first = draw(st.sampled_from([0xCB007100, 0xCB007200, 0xCB007000]))
        return str(ipaddress.IPv4Address(first + draw(st.integers(0, 255))))
    first = 0x20010DB8 << 96 | draw(st.sampled_from([0, 1, 256])) << 72
    return str(ipaddress.IPv6Address(first + draw(st.sampled_from([0, 1, 1 << 71, (1 << 72) - 1]))))


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def neighbours(address: Address) -> list[Address]:
    """The first and the last address that requests show as the same, and itself."""
    kept = KEPT_BITS["device.ip"][address.version == 6]
    network = ipaddress.ip_network(f"{address}/{kept}", strict=False)
    found = [network[0], address, network[-1]]
    assert {truncated(str(each)) for each in found} == {str(network[0])}
    return found


def depends_on_cut_bits(text: str, near: Address) -> bool:
    """Whether addresses that requests show as the same have different results."""
    tree = parse(text, SCHEMA)
    events = (check_event({"device.ip": str(each)}, SCHEMA)[0] for each in neighbours(near))
    return len({evaluate(tree, event) for event in events}) > 1


@given(addresses(), st.integers(0, 128), st.booleans())
def test_a_network_is_refused_exactly_if_it_depends_on_bits_that_are_cut(
    address: str, prefix: int, negated: bool
) -> None:
    whole = ipaddress.ip_address(address)
    network = ipaddress.ip_network(f"{address}/{min(prefix, whole.max_prefixlen)}", strict=False)
    text = f"device.ip {'not ' * negated}in network ('{network}')"
    assert (refused(text) is not None) == depends_on_cut_bits(text, whole)


@given(addresses(), addresses(), st.booleans())
def test_a_range_is_refused_exactly_if_it_depends_on_bits_that_are_cut(
    one: str, other: str, negated: bool
) -> None:
    low, high = ipaddress.ip_address(one), ipaddress.ip_address(other)
    assume(low.version == high.version)
    if int(low) > int(high):
        low, high = high, low
    text = f"device.ip {'not ' * negated}between '{low}' and '{high}'"
    depends = depends_on_cut_bits(text, low) or depends_on_cut_bits(text, high)
    assert (refused(text) is not None) == depends
