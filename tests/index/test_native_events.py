"""Valid and invalid events: the native core, given a dictionary or JSON, reports exactly what
`check_event` reports."""

import json
import string
from collections import UserDict
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import Attribute, EventError, Index, Query
from index.event import EventProblem, check_event, read_event
from index.language.types import INT_MAX, INT_MIN
from tests.index.test_native_edges import SCHEMA, TOP


def make() -> Index:
    """An index that tells which attributes an event has."""
    index = Index(SCHEMA, engine="native")
    index.insert(0, "true")
    for id, attribute in enumerate(SCHEMA, 1):
        index.insert(id, f"{attribute.name} is not null")
    return index


def expected_of(event: object) -> list[int]:
    """What such an index answers, by the rules of events alone."""
    checked, _ = check_event(event, SCHEMA)
    return [0, *(id for id, attribute in enumerate(SCHEMA, 1) if attribute.name in checked)]


def problems_of(event: object) -> list[EventProblem]:
    with pytest.raises(EventError) as error:
        check_event(event, SCHEMA)
    return error.value.problems


def native_problems(event: Mapping[str, object]) -> list[EventProblem]:
    with pytest.raises(EventError) as error:
        make().match(event)
    with pytest.raises(EventError) as from_top:
        make().top(event)
    assert from_top.value.problems == error.value.problems
    return error.value.problems


def json_problems(sent: bytes, builtins: dict[str, object] | None = None) -> list[EventProblem]:
    index = make()
    with pytest.raises(EventError) as error:
        index.ask(sent, Query(builtins=builtins))
    with pytest.raises(EventError) as from_top:
        index.ask(sent, Query(limit=10, builtins=builtins))
    assert from_top.value.problems == error.value.problems
    assert index.match({}) == index.match(b"{}") == [0], "nothing stays of a wrong event"
    return error.value.problems


HUGE_INTS = [10**59, -(10**59), 10**60, 2**200 - 1, 1 - 2**200, 2**200, 10**300]
WRONG_VALUES: dict[str, list[object]] = {
    "n": [1.0, True, "1", [], {}, INT_MAX + 1, INT_MIN - 1, *HUGE_INTS],
    "flag": [1, 0.0, "true", [True]],
    "x": [True, "1.5", 2**53 + 1, -(2**53) - 1, INT_MAX, 10**60 + 1, 10**400, [1.5]],
    "s": [1, True, ["a"], {"a": 1}, "a\0b", "\ud800", "a\udfff", "\ud800\0", "\0\ud800"],
    "ns": [1, "1", {}, [1, None], [1, 2.0], [1, True, "x"], [INT_MAX + 1], [[1]]],
    "ss": ["a", ["a", 1], ["a", None], ["a", "b\0"], ["a", "\udc00"], [{"a": 1}]],
}
WRONG: list[dict[str, object]] = [
    *({name: value} for name, values in WRONG_VALUES.items() for value in values),
    {"n": "x", "s": 1, "ns": [None], "flag": None, "x": 1.5, "nobody": object},
    {"nobody": 1, "ss": 5, "n": 5, "ns": ["a"]},
]


@pytest.mark.parametrize("event", WRONG, ids=lambda event: str(event)[:60])
def test_wrong_values_are_reported_as_in_python(event: dict[str, object]) -> None:
    assert native_problems(event) == problems_of(event)
    sent = {name: value for name, value in event.items() if value is not object}
    for ascii_only in (True, False):
        text = json.dumps(sent, ensure_ascii=ascii_only)
        if not ascii_only and any("\ud800" <= char <= "\udfff" for char in text):
            continue
        assert json_problems(text.encode()) == problems_of(sent)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_reported_as_in_python(value: float) -> None:
    assert native_problems({"x": value}) == problems_of({"x": value})
    assert json_problems(b'{"x": 1e999}') == problems_of({"x": float("inf")})
    (problem,) = json_problems(json.dumps({"x": value}).encode())
    assert problem.code == "event.json"


def test_a_name_that_is_no_string_is_reported_as_in_python() -> None:
    event = {1: 2, "n": "x"}
    assert native_problems(event) == problems_of(event)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [2**62, 2**63 - 1024, 2**63, 2**70, -(2**63), -(2**70), 10**22])
def test_integers_that_a_double_holds_exactly_are_doubles(value: int) -> None:
    index = make()
    index.insert(9, f"x = {float(value)!r}")
    event = {"x": value}
    assert index.match(event) == [*expected_of(event), 9]
    assert index.match(json.dumps(event).encode()) == [*expected_of(event), 9]


@pytest.mark.parametrize("kind", [dict, UserDict, MappingProxyType])
def test_any_mapping_is_an_event(kind: type) -> None:
    assert make().match(kind({"n": 1, "ss": ("a",), "nobody": 2})) == [0, 2, 6]
    with pytest.raises(EventError, match="n: expected an int, got a string"):
        make().match(kind({"n": "x"}))


@pytest.mark.parametrize("event", [None, 1, "n", [("n", 1)], 1.5, True, bytearray(b"{}")])
def test_what_is_no_mapping_is_no_event(event: object) -> None:
    assert native_problems(event) == problems_of(event)  # type: ignore[arg-type]


@pytest.mark.parametrize("event", [None, 1, -1, 1.5, -1e3, "n", [], [{"n": 1}], True, False])
def test_json_that_is_no_object_is_no_event(event: object) -> None:
    assert json_problems(f" \n{json.dumps(event)}\t".encode()) == problems_of(event)


WHOLE = (
    b'{"n": -12, "x": 1.5e-3, "s": "a\\n\\u00e9", "ns": [1, 2], "flag": true, '
    b'"u": {"a": [null, 1]}}'
)


def test_json_that_is_cut_short_anywhere_is_an_error() -> None:
    assert make().match(WHOLE) == [0, 1, 2, 3, 4, 5]
    for length in range(len(WHOLE)):
        (problem,) = json_problems(WHOLE[:length])
        assert problem.code == "event.json"
        assert problem.message.startswith("this is not JSON: ")
        assert problem.attribute == ""


@pytest.mark.parametrize(
    "sent",
    [
        b"{}x",
        b"{}{}",
        b'{"n":1,}',
        b'{"n":01}',
        b'{"n":+1}',
        b'{"n":1.}',
        b'{"n":.5}',
        b'{"n":0x1}',
        b'{"n":-}',
        b'{"n" 1}',
        b"{n:1}",
        b"{'n':1}",
        b'{"n":tru}',
        b'{"n":nul}',
        b'{"s":"\xff"}',
        b'{"u":"\xc3"}',
        b'{"s":"a\x00b"}',
        b'{"s":"a\nb"}',
        b'{"s":"\\x"}',
        b'{"s":"\\u12"}',
        b'{"ns":[1,]}',
        b'{"ns":[1 2]}',
        b'{"u":[1}',
        b'{"u":[1,2}',
        b'{"u":{"a":1,"b":2]}',
        b'{"u":{"a":1,}}',
        b'{"u":{"a",1}}',
        b'{"u":[1,2,,3]}',
        b'{"u":[-]}',
        b'{"u":1.e5}',
        b'{"u":1e}',
        b'{"u":00}',
        b'{"u":truE}',
        b'{"u":"\\u12g4"}',
        b'{"u":"0123456789abcdef\n"}',
        b'{"u":1\x00}',
        b'{"u":1}\x00',
        b"\x00{}",
        b"\xff\xfe{}",
        b'\xed\xa0\x80{"n":1}',
        b'{"s":"\xed\xa0\x80"}',
        bytes(range(256)),
    ],
)
def test_what_is_no_json_is_an_error(sent: bytes) -> None:
    (problem,) = json_problems(sent)
    assert problem.code == "event.json"


@pytest.mark.parametrize(
    "sent",
    [
        '{"n": 1, "n": null}',
        '{"n": null, "n": 1}',
        '{"n": 1, "n": null, "n": 2, "s": "a", "s": "b"}',
        '{"ns": [1, 2], "ns": [3]}',
        '{"ns": [1, 2], "ns": [], "ss": ["a"], "ss": null}',
        '{"n": "wrong", "n": 1}',
        '{"n": "wrong", "n": null}',
        '{"ns": ["wrong"], "ns": [1]}',
        '{"n": 1, "\\u006e": null}',
    ],
)
def test_of_a_repeated_key_the_last_counts(sent: str) -> None:
    event = json.loads(sent)
    index = make()
    index.insert(10, "n = 2 or s = 'b' or ns all of (3) or ns is empty")
    scan = Index(SCHEMA, engine="scan")
    scan.insert(10, "n = 2 or s = 'b' or ns all of (3) or ns is empty")
    assert index.match(sent.encode()) == expected_of(event) + scan.match(event)


@pytest.mark.parametrize("sent", ['{"n": 1, "n": "x"}', '{"n": 1.5, "n": "x"}'])
def test_of_a_repeated_key_only_the_last_can_be_wrong(sent: str) -> None:
    assert json_problems(sent.encode()) == problems_of(json.loads(sent))


def test_built_ins_are_added_to_what_was_sent() -> None:
    index = make()

    def match(sent: bytes, builtins: dict[str, object]) -> list[int]:
        return index.ask(sent, Query(builtins=builtins)).ids

    assert match(b'{"n": 1}', {"s": "a", "ns": (1,)}) == [0, 2, 4, 5]
    assert match(b'{"n": null}', {"n": 1}) == [0, 2]
    assert match(b'{"n": null}', {"n": None}) == [0]
    assert match(b'{"n": 1}', {}) == [0, 2]
    assert json_problems(b'{"s": "a"}', {"n": "x"}) == problems_of({"s": "a", "n": "x"})
    for value in (2, None):
        (problem,) = json_problems(b'{"n": 1}', {"n": value})
        assert problem.code == "event.builtin"
    index.insert(10, "n = 2")
    assert match(b"{}", {"n": 2}) == [0, 2, 10]


def test_text_is_read_as_json_says() -> None:
    index = make()
    texts = ["é", TOP, "\U0001f600", '"\\/\b\f\n\r\t', "\u2028", "\x7f", string.printable[:95]]
    for id, text in enumerate(texts, 10):
        index.insert(id, f"s = '{text.replace(chr(39), chr(39) * 2)}'")
        for ascii_only in (True, False):
            sent = json.dumps({"s": text}, ensure_ascii=ascii_only).encode()
            assert index.match(sent) == index.match({"s": text}) == [0, 4, id]
    assert index.match(b'{"s": "\\ud83d\\uDE00"}') == [0, 4, 12]
    assert index.match(b'{"s": "\\u00e9\\/"}') == [0, 4]


def test_json_as_deep_as_it_comes_is_no_crash() -> None:
    index = make()
    deep = b"[" * 100_000 + b"]" * 100_000
    assert index.match(b'{"nobody": ' + deep + b', "n": 1}') == [0, 2]
    (problem,) = json_problems(b'{"ns": ' + deep + b"}")
    assert problem.code == "event.json"
    (problem,) = json_problems(deep)
    assert problem.code == "event.json"
    (problem,) = json_problems(deep[:-1])
    assert problem.code == "event.json"


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=40),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=20), inner, max_size=4)
    ),
    max_leaves=12,
)
_NAMES = st.one_of(
    st.sampled_from([*(each.name for each in SCHEMA), "nobody", 'a"b', "a name of twenty bytes"]),
    st.text(max_size=20),
)
_SPACES = st.text(" \n\t\r", max_size=2)


@pytest.mark.laws
@settings(deadline=None)
@given(
    pairs=st.lists(st.tuples(_NAMES, _VALUES), max_size=8),
    ascii_only=st.booleans(),
    spaces=st.lists(_SPACES, min_size=5, max_size=5),
    damage=st.none() | st.tuples(st.integers(0, 500), st.binary(max_size=2), st.integers(0, 2)),
)
def test_json_is_read_or_refused_as_python_reads_it(
    pairs: list[tuple[str, object]],
    ascii_only: bool,
    spaces: list[str],
    damage: tuple[int, bytes, int] | None,
) -> None:
    """Nested, escaped, repeated and damaged: always what `read_event` and `check_event` say."""
    before, after, colon, comma, end = spaces
    members = comma.join(
        before
        + (json.dumps(name, ensure_ascii=ascii_only) + colon + ":" + after)
        + json.dumps(value, ensure_ascii=ascii_only)
        + ("," if place < len(pairs) else "")
        for place, (name, value) in enumerate(pairs, 1)
    )
    sent = f"{before}{{{members}{end}}}{end}".encode("utf-8", "surrogatepass")
    if damage is not None:
        place, inserted, removed = damage
        place %= len(sent)
        sent = sent[:place] + inserted + sent[place + removed :]
    index = _SHARED
    counted = index.usage()["unknown_attributes"]
    try:
        event = read_event(sent)
        _, unknown = check_event(event, SCHEMA)
        problems = None
    except EventError as error:
        problems = error.problems
    if problems is not None:
        for _ in range(2):
            with pytest.raises(EventError) as refused:
                index.match(sent)
            assert refused.value.problems == problems
        assert index.usage()["unknown_attributes"] == counted
        return
    for _ in range(3):  # names are known from the second time on
        matches = index.match(sent)
        assert [id for id in matches if id <= len(SCHEMA)] == expected_of(event)
        assert matches == index.match(event)
    now = index.usage()["unknown_attributes"]
    if len(now) < 1000:
        # A repeated key counts once more in the native core.
        assert {name for name in now if now[name] > counted.get(name, 0)} == set(unknown)
        assert all(now[name] >= counted.get(name, 0) + 6 for name in unknown)


_SHARED = make()
for _id, _text in enumerate(
    ("n > 0", "x < 0.5", "s < 'a'", "s ends with '0'", "ns all of (0)", "ss any of ('', '0')"), 20
):
    _SHARED.insert(_id, _text)


@pytest.mark.parametrize(
    "value",
    ["[1, 2]", '{"a": 1, "b": [true, {}], "c": []}', '"a\\/b\\u00e9"', "-0.5e+7", "[[], [null]]"],
)
def test_the_core_reads_usual_json_itself(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it refuses is read again in Python: the same answer, at many times the cost."""
    monkeypatch.setattr("index.event.read_event", None)
    index = make()
    sent = f'{{"u": {value}, "n": 1, "ss": ["a", "b\\n"], "x": 1.5, "v": {value}}}'.encode()
    for _ in range(3):
        assert index.match(sent) == [0, 2, 3, 6]
    with pytest.raises(TypeError, match="not callable"):
        index.match(b'{"n": 1.0}')


def test_undeclared_names_are_counted_in_any_order_and_once_declared_no_more() -> None:
    index = make()
    for sent in (b'{"a":1,"b":2,"n":3}', b'{"b":1,"n":2,"a":3}', b'{"n":1}', b'{"a":1,"a":2}'):
        assert index.match(sent) == ([0, 2] if b"n" in sent else [0])
    assert index.usage()["unknown_attributes"] == {"a": 4, "b": 2}
    for _ in range(3):
        index.match(b'{"a":1,"b":2}')
    index.add_attribute(Attribute("a", "int"))
    index.insert(10, "a = 1")
    for _ in range(3):
        assert index.match(b'{"a":1,"b":2}') == [0, 10]
    assert index.usage()["unknown_attributes"] == {"a": 7, "b": 8}


def test_huge_events_are_read() -> None:
    index = make()
    index.insert(10, "ns all of (0, 9999) and ss all of ('0', '9999')")
    event = {"ns": [*range(10_000)], "ss": [str(number) for number in range(10_000)]}
    sent = {**event, **{f"u{number}": [number] for number in range(2000)}, "s": "x" * 1_000_000}
    assert index.match(event) == [0, 5, 6, 10]
    assert index.match(json.dumps(sent).encode()) == index.match(sent) == [0, 4, 5, 6, 10]


def test_unknown_attributes_are_counted_up_to_a_cap_on_both_paths() -> None:
    index = make()
    for number in range(600):
        index.match({f"x{number}": object()})
    for number in range(500, 1100):
        index.match(json.dumps({f"x{number}": [None]}).encode())
    index.ask(b"{}", Query(builtins={"y": 1}))
    counted = index.stats()["unknown_attributes"]
    assert isinstance(counted, dict)
    assert counted.pop("") == 101
    assert counted == {f"x{number}": 2 if 500 <= number < 600 else 1 for number in range(1000)}


def test_a_wrong_event_counts_no_unknown_attribute() -> None:
    index = make()
    with pytest.raises(EventError):
        index.match({"nobody": 1, "n": "x"})
    with pytest.raises(EventError):
        index.match(b'{"nobody": 1, "n": "x"}')
    with pytest.raises(EventError):
        index.match(b'{"nobody": 1')
    assert index.stats()["unknown_attributes"] == {}


def test_names_are_compared_as_text() -> None:
    index = make()
    assert index.match(b'{"\\u006e": 1, "N": 2, " n": 3, "": 4}') == [0, 2]
    assert index.match({"\ud800": 1, "n": 1}) == [0, 2]
    (problem,) = json_problems(b'{"\\ud800": 1, "n": 1}')  # not Unicode, so no name at all
    assert problem.code == "event.json"
