"""The normal form: negations at the leaves, in a shared graph, in canonical order.

    not (a = 1 and (b = 2 xor c))

    0  a != 1          3  c = true           6  and(2, 3)
    1  b = 2           4  c = false … (the leaves in order, then the gates by height)
    2  b != 2          5  and(1, 4) …        last: the root

A node represents when it is *true*, nothing else. `normalize(e)` is true exactly when e is true,
and `normalize(Not(e))` exactly when e is false; if neither is true, e is unknown. With three
values these two are independent: `a = 1 and a = 2` is never true, but when `a` is missing it is
not false either. So folding happens after negations have been pushed down, the two signs of a
node are folded separately, and a folded node is never negated.

- `and` in `and` and `or` in `or` are flattened, repeated children removed;
- `true` and `false` disappear, unless they are the whole expression;
- an `and` whose literals contradict each other on some attribute is false, an `or`
  of `a is null` and `a is not null` is true; the pairs of an `xor` never cancel;
- a chain of `xor` becomes two gates a step for each sign, sharing the step before,
  so it stays linear.

Nodes are ordered by height, then kind, then children; leaves by attribute, operator and operand.
The order depends on structure alone, so expressions that differ only in how they were written
have equal normal forms, node by node.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from index.language.calls import call_of, is_call
from index.language.contradiction import contradict
from index.language.json_form import literal_to_list
from index.language.literals import literal_of, order_of
from index.language.operators import Op
from index.language.predicate import Literal, Predicate
from index.language.schema import Schema
from index.language.tree import And, Constant, Not, Tree, Xor

VERSION = 1


class Kind(Enum):
    """The operator of a gate."""

    AND = "and"
    OR = "or"


@dataclass(frozen=True, slots=True)
class Gate:
    """An `and` or an `or` of at least two other nodes, by ascending position."""

    kind: Kind
    children: tuple[int, ...]


Node = Constant | Literal | Gate


@dataclass(frozen=True, slots=True)
class NormalForm:
    """The nodes, children before parents, the root last. A constant is the only node."""

    nodes: tuple[Node, ...]

    @property
    def root(self) -> Node:
        """The node of the whole expression."""
        return self.nodes[-1]

    @property
    def literal_count(self) -> int:
        """The number of distinct literals."""
        return sum(isinstance(node, Literal) for node in self.nodes)

    def conjunction(self) -> tuple[Literal, ...] | None:
        """The literals of a single `and` (or a single literal), else None."""
        root = self.root
        if isinstance(root, Literal):
            return (root,)
        leaves = self.nodes[:-1]
        if isinstance(root, Gate) and root.kind is Kind.AND and len(leaves) == len(root.children):
            literals = tuple(node for node in leaves if isinstance(node, Literal))
            return literals if len(literals) == len(leaves) else None
        return None

    def to_text(self, max_chars: int = 16_384) -> str | None:
        """The normal form as an expression, shared nodes repeated; None if it would be longer
        than `max_chars`."""
        sizes: list[int] = []
        for node in self.nodes:
            if isinstance(node, Gate):
                sizes.append(sum(sizes[c] + len(node.kind.value) + 4 for c in node.children))
            else:
                sizes.append(len(str(node)))
        if sizes[-1] > max_chars:
            return None
        texts: list[str] = []
        for node in self.nodes:
            if isinstance(node, Gate):
                parts = (
                    f"({texts[c]})" if isinstance(self.nodes[c], Gate) else texts[c]
                    for c in node.children
                )
                texts.append(f" {node.kind.value} ".join(parts))
            else:
                texts.append(str(node))
        return texts[-1]

    def to_json(self) -> str:
        """`[1, [node, …]]`: a literal in its JSON form, a gate as its kind and the positions
        of its children."""
        nodes: list[object] = []
        for node in self.nodes:
            if isinstance(node, Gate):
                nodes.append([node.kind.value, *node.children])
            elif isinstance(node, Literal):
                nodes.append(literal_to_list(node))
            else:
                nodes.append(node.value)
        return json.dumps([VERSION, nodes], ensure_ascii=False, separators=(",", ":"))


def normalize(tree: Tree, schema: Schema | None = None) -> NormalForm:
    """The normal form of a checked tree. Linear for chains of `xor`; at worst quadratic in the
    number of predicates, when folding merges gates.

    With a schema, of its *outer cover*, which engines index: in place of a predicate on a call it
    has that the arguments are present, whether it is negated or not. So the cover is true wherever
    results of calls could make the tree true."""
    graph = _Graph(schema)
    root = graph.node(tree, True)
    return graph.in_order(root)


_FALSE, _TRUE = 0, 1


class _Graph:
    """Nodes under construction, each made once: the position in `nodes` identifies a node."""

    def __init__(self, schema: Schema | None = None) -> None:
        self.schema = schema
        self.nodes: list[bool | Literal | tuple[Kind, frozenset[int]]] = [False, True]
        self.places: dict[object, int] = {}
        self.done: dict[tuple[int, bool], int] = {}

    def node(self, tree: Tree, positive: bool) -> int:
        """The position of the node that is true when `tree` is true, or when it is false."""
        # By identity, not by value: the tree outlives this graph, and an `xor` needs both
        # signs of its operands, which would double with every level of nesting.
        key = (id(tree), positive)
        place = self.done.get(key)
        if place is None:
            place = self.done[key] = self.make(tree, positive)
        return place

    def make(self, tree: Tree, positive: bool) -> int:
        if isinstance(tree, Predicate):
            if self.schema is not None and is_call(tree):
                return self.gate(Kind.AND, self.arguments(tree, self.schema))
            literal = literal_of(tree, positive)
            if isinstance(literal, bool):
                return _TRUE if literal else _FALSE
            return self.place_of(literal)
        if isinstance(tree, Not):
            return self.node(tree.child, not positive)
        if isinstance(tree, Constant):
            return _TRUE if tree.value is positive else _FALSE
        if isinstance(tree, Xor):
            return self.chain(tree)[0 if positive else 1]
        children = [self.node(child, positive) for child in tree.children]
        return self.gate(Kind.AND if isinstance(tree, And) is positive else Kind.OR, children)

    def arguments(self, predicate: Predicate, schema: Schema) -> Iterator[int]:
        """That the arguments of a call are present."""
        call = call_of(predicate.attribute)
        for name in () if call is None else call.arguments:
            is_null = Predicate(name, schema[name].type, Op.IS_NULL)
            yield self.place_of(Literal(is_null, False))

    def chain(self, tree: Xor) -> tuple[int, int]:
        """Both signs of a chain, step by step from the left."""
        first = tree.children[0]
        yes, no = self.node(first, True), self.node(first, False)
        for child, inverted in zip(tree.children[1:], tree.inverted, strict=True):
            more, less = self.node(child, True), self.node(child, False)
            differ = self.gate(
                Kind.OR, [self.gate(Kind.AND, [yes, less]), self.gate(Kind.AND, [no, more])]
            )
            agree = self.gate(
                Kind.OR, [self.gate(Kind.AND, [yes, more]), self.gate(Kind.AND, [no, less])]
            )
            yes, no = (agree, differ) if inverted else (differ, agree)
        self.done[id(tree), True], self.done[id(tree), False] = yes, no
        return yes, no

    def gate(self, kind: Kind, children: Iterable[int]) -> int:
        """The gate over these nodes, flattened and folded."""
        neutral, dominant = (_TRUE, _FALSE) if kind is Kind.AND else (_FALSE, _TRUE)
        flat: set[int] = set()
        for child in children:
            if child == dominant:
                return dominant
            if child == neutral:
                continue
            node = self.nodes[child]
            if isinstance(node, tuple) and node[0] is kind:
                flat |= node[1]
            else:
                flat.add(child)
        if not flat:
            return neutral
        if len(flat) == 1:
            return flat.pop()
        if self.folds(kind, flat):
            return dominant
        return self.place_of((kind, frozenset(flat)))

    def folds(self, kind: Kind, children: set[int]) -> bool:
        """Whether the literals among the children decide the gate by themselves."""
        by_attribute: dict[str, list[Literal]] = {}
        for child in children:
            node = self.nodes[child]
            if isinstance(node, Literal):
                by_attribute.setdefault(node.predicate.attribute, []).append(node)
        groups = (group for group in by_attribute.values() if len(group) > 1)
        if kind is Kind.AND:
            return any(contradict(group) for group in groups)
        return any(
            sum(literal.predicate.op is Op.IS_NULL for literal in group) == 2 for group in groups
        )

    def place_of(self, node: Literal | tuple[Kind, frozenset[int]]) -> int:
        place = self.places.setdefault(node, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(node)
        return place

    def in_order(self, root: int) -> NormalForm:
        """The nodes that the root needs, in canonical order."""
        if root in (_FALSE, _TRUE):
            return NormalForm((Constant(root == _TRUE),))
        levels = self.levels(root)
        leaves = sorted(levels[0], key=lambda place: order_of(self.nodes[place]))  # type: ignore[arg-type]
        rank = {place: i for i, place in enumerate(leaves)}
        ordered: list[Node] = [self.nodes[place] for place in leaves]  # type: ignore[misc]
        for level in levels[1:]:
            gates = []
            for place in level:
                kind, children = self.nodes[place]  # type: ignore[misc]
                gates.append((kind.value, tuple(sorted(rank[c] for c in children)), place))
            for word, children, place in sorted(gates):
                rank[place] = len(ordered)
                ordered.append(Gate(Kind(word), children))
        return NormalForm(tuple(ordered))

    def levels(self, root: int) -> list[list[int]]:
        """The positions that the root reaches, by height. Children come before parents in
        `nodes`, so no recursion is needed: a chain of `xor` may have thousands of levels."""
        reached = {root}
        for place in range(root, _TRUE, -1):
            node = self.nodes[place]
            if place in reached and isinstance(node, tuple):
                reached |= node[1]
        height: dict[int, int] = {}
        levels: list[list[int]] = []
        for place in sorted(reached):
            node = self.nodes[place]
            gate = isinstance(node, tuple)
            height[place] = 1 + max(height[c] for c in node[1]) if gate else 0  # type: ignore[index]
            while len(levels) <= height[place]:
                levels.append([])
            levels[height[place]].append(place)
        return levels
