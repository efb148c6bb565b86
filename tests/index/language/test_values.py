"""Versions, addresses and points: what is one, how they compare, and areas on the globe."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Attribute, Index, Schema, parse
from index.language import ExpressionError, from_json, to_json
from index.language.address import address_of, from_stored, largest, network_of
from index.language.geometry import EARTH, in_circle, point_of, sine
from index.language.version import version_of

PARTS = st.lists(st.integers(0, 2**28 - 1) | st.integers(0, 200), min_size=1, max_size=6)


@given(a=PARTS, b=PARTS)
def test_versions_compare_number_by_number(a: list[int], b: list[int]) -> None:
    first, second = (version_of(".".join(map(str, parts))) for parts in (a, b))
    if first is None or second is None:
        return  # more than eight bytes
    width = max(len(a), len(b))
    one, other = (tuple(parts + [0] * (width - len(parts))) for parts in (a, b))
    assert (first < second, first == second) == (one < other, one == other)
    assert version_of(str(first)) == first


@pytest.mark.parametrize("text", ["", "1.", ".1", "v1", "1-beta", "1 ", "²", "268435456", "1." * 9])
def test_what_is_no_version(text: str) -> None:
    assert version_of(text) is None


@given(address=st.ip_addresses(), prefix=st.integers(0, 128))
def test_networks_have_exactly_their_addresses(address: object, prefix: int) -> None:
    found = address_of(str(address))
    assert found is not None
    network = network_of(f"{found.readable}/{min(prefix, found.bits)}")
    assert network is not None
    assert network.has(found)
    assert from_stored(str(network)) == network
    assert network_of(network.readable) == network
    number = int(network.high[1:], 16) + 1
    if number < 1 << network.bits:
        above = f"{network[0]}{number:0{len(found) - 1}x}"
        assert not network.has(above)
    assert largest([network, found]) == (network,)


def test_distances_are_those_of_the_sphere() -> None:
    berlin = point_of(52.52, 13.405)
    assert berlin is not None
    a, b = (math.radians(degrees) for degrees in (52.52, 48.137))
    turn = math.radians(11.575 - 13.405)
    half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(turn / 2) ** 2
    metres = 2 * EARTH * math.asin(math.sqrt(half))
    assert in_circle(berlin, (metres + 0.02, 48.137, 11.575))
    assert not in_circle(berlin, (metres - 0.02, 48.137, 11.575))
    assert math.isclose(sine(1.25), math.sin(1.25), rel_tol=1e-15)


SCHEMA = Schema([Attribute("p", "point"), Attribute("ip", "ip"), Attribute("v", "version")])


@pytest.mark.parametrize(
    ("area", "inside", "outside"),
    [
        ("within 300 km of (89, 0)", [[90, 77], [88.9, 180]], [[86, 180]]),
        ("within 300 km of (0, 179.9)", [[0, -179.9], [0, 180], [0, -180]], [[0, 0]]),
        ("within box ((-90, 10), (-80, 20))", [[-90, 123], [-85, 15]], [[-85, 25]]),
        ("within box ((0, 10), (1, 180))", [[0.5, -180], [0.5, 180]], [[0.5, -179]]),
        ("within polygon ((10, 170), (10, -170), (20, 180))", [[12, 180], [12, -179]], [[12, 0]]),
        ("within polygon ((-70, 0), (-70, 120), (-70, -120))", [[-90, 9], [-80, 55]], [[-60, 0]]),
    ],
)
def test_areas_at_the_poles_and_across_180_degrees(
    area: str, inside: list[list[float]], outside: list[list[float]]
) -> None:
    tree = parse(f"p {area}", SCHEMA)
    assert from_json(to_json(tree), SCHEMA) == tree == parse(str(tree), SCHEMA)
    for engine in ("scan", "reference", "native"):
        index = Index(SCHEMA, engine=engine)
        index.insert(1, tree)
        assert [index.match({"p": point}) for point in inside] == [[1]] * len(inside)
        assert [index.match({"p": point}) for point in outside] == [[]] * len(outside)


def test_the_native_core_finds_areas_by_keys_and_says_so() -> None:
    index = Index(SCHEMA, engine="native")
    index.insert(1, "p within 5 km of (52.52, 13.4)")
    index.insert(2, "ip in network ('10.0.0.0/8')")
    index.insert(3, "v between '14.2' and '17'")
    accesses = [entry["access"] for id in (1, 2, 3) for entry in index.plan(id)["entries"]]  # type: ignore[attr-defined]
    assert "ip between '10.0.0.0' and '10.255.255.255'" in accesses
    assert all("is not null" not in access for access in accesses)


def test_addresses_have_no_order_and_the_hint_says_what_to_use() -> None:
    for op in ("<", "<=", ">", ">="):
        with pytest.raises(ExpressionError) as caught:
            parse(f"ip {op} '10.0.0.0'", SCHEMA)
        assert caught.value.code == "type.operator"
        assert caught.value.hint == "use in network, or between with both ends"
