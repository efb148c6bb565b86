"""Expressions for an A-Tree as nested values, which are easier to write than graphs."""

from hypothesis import strategies as st

from index.reference.a_tree_expression import Entry, GateKind

Nested = str | tuple[GateKind, tuple["Nested", ...]]
"""The key of a predicate, or an operator over expressions."""


def all_of(*children: Nested) -> Nested:
    return "and", children


def any_of(*children: Nested) -> Nested:
    return "or", children


def graph_of(expression: Nested) -> list[Entry[str]]:
    """A nested expression as a graph: equal parts shared, gates flattened."""
    places: dict[Entry[str], int] = {}
    entries: list[Entry[str]] = []

    def put(entry: Entry[str]) -> int:
        if entry not in places:
            places[entry] = len(entries)
            entries.append(entry)
        return places[entry]

    def flattened(kind: GateKind, child: int) -> tuple[int, ...]:
        entry = entries[child]
        return entry[1] if entry[0] != "leaf" and entry[0] == kind else (child,)

    def place(part: Nested) -> int:
        if isinstance(part, str):
            return put(("leaf", part))
        kind, children = part
        operands = sorted({one for child in children for one in flattened(kind, place(child))})
        if len(operands) == 1:  # x and x is x
            return operands[0]
        return put((kind, tuple(operands)))

    root = place(expression)
    return entries[: root + 1]


KEYS = "abcdef"


def gates(
    children: st.SearchStrategy[Nested], most: int, unique: bool
) -> st.SearchStrategy[Nested]:
    several = st.lists(children, min_size=2, max_size=most, unique=unique).map(tuple)
    return st.tuples(st.sampled_from(["and", "or"]), several)


keys: st.SearchStrategy[Nested] = st.sampled_from(KEYS)
flat = gates(keys, 5, unique=True)


def nested(max_leaves: int) -> st.SearchStrategy[Nested]:
    """Flat gates, and gates of gates."""

    def grow(children: st.SearchStrategy[Nested]) -> st.SearchStrategy[Nested]:
        return gates(children, 4, unique=False)

    return st.one_of(flat, st.recursive(keys | flat, grow, max_leaves=max_leaves))
