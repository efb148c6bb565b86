"""The reference engine: which structure holds which expression, and how events are matched.

normal form ──┬── true, or false         ──▶ a set; forgotten
              ├── literals and … and     ──▶ PSTHash   (if one of them covers spaces)
              └── anything else          ──▶ A-Tree, its literals ──▶ Predicates

event ──┬── the set
        ├── PSTHash ──▶ candidates ──▶ ids
        └── Predicates ──▶ satisfied literals ──▶ A-Tree ──▶ ids
"""

from index.event import Event
from index.language.derived import Derived
from index.language.normal_form import Gate, NormalForm, normalize
from index.language.predicate import Literal
from index.language.schema import Schema
from index.language.tree import Constant, Tree
from index.reference.a_tree import ATree
from index.reference.a_tree_expression import Entry
from index.reference.a_tree_match import Matcher
from index.reference.predicates import Predicates
from index.reference.pst_hash import PSTHash
from index.reference.spaces import rank


class ReferenceEngine:
    """The thesis's structures behind the `Engine` protocol."""

    name = "reference"

    def __init__(self) -> None:
        self._always: set[int] = set()
        self._never: set[int] = set()
        self._conjunctions = PSTHash()
        self._predicates = Predicates()
        self._a_tree: ATree[Literal] = ATree(
            rank=lambda literal: float(rank(literal)[0]),
            on_new_leaf=self._predicates.add,
            on_gone_leaf=self._predicates.remove,
        )
        self._matcher = Matcher(self._a_tree)
        self._derived: dict[int, set[Derived]] = {}
        """What the expressions derive from attributes, by id, where they do."""

    def add(self, id: int, tree: Tree, schema: Schema) -> None:
        """Add an expression, or its outer cover if it has calls, under an unused id."""
        form = normalize(tree, schema)
        derived = {node.predicate.derived for node in form.nodes if isinstance(node, Literal)}
        if derived != {None}:
            self._derived[id] = {each for each in derived if each is not None}
        if isinstance(form.root, Constant):
            (self._always if form.root.value else self._never).add(id)
            return
        literals = form.conjunction()
        if literals is not None and self._conjunctions.can_index(literals):
            self._conjunctions.insert(id, literals)
        else:
            self._a_tree.insert(id, _graph_of(form))

    def drop(self, id: int) -> None:
        """Remove an id that is there."""
        self._derived.pop(id, None)
        match self._way(id):
            case "always":
                self._always.remove(id)
            case "never":
                self._never.remove(id)
            case "psthash":
                self._conjunctions.remove(id)
            case _:
                self._a_tree.remove(id)

    def find(self, event: Event) -> set[int]:
        """The ids whose expressions a checked event makes true."""
        event = self._with_derived(event)
        satisfied = self._predicates.satisfied(event)
        return self._always | set(self._conjunctions.match(event)) | self._matcher.match(satisfied)

    def record(self, event: Event) -> None:
        """Count an event, for later choices of access predicates."""
        event = self._with_derived(event)
        self._conjunctions.record(event)
        self._predicates.record(event)

    def _with_derived(self, event: Event) -> Event:
        """The event and what the expressions derive from it, under its own names."""
        names = {name for derived in self._derived.values() for name in derived}
        present = {name: event[name.base] for name in names if name.base in event}
        return event | {name: name.of(value) for name, value in present.items()}

    def plan(self, id: int) -> dict[str, object]:
        """How `find` will look for an expression."""
        way = self._way(id)
        if way == "psthash":
            plan = self._conjunctions.plan(id)
            return {**plan, "way": f"psthash {plan['way']}"}
        if way == "a-tree":
            root = self._a_tree.root(id)
            return {"way": way, "kind": root.kind, "level": root.level}
        return {"way": way}

    def stats(self) -> dict[str, object]:
        """What the engine holds."""
        return {
            "ways": {
                "always": len(self._always),
                "never": len(self._never),
                "psthash": len(self._conjunctions),
                "a-tree": len(self._a_tree),
            },
            "a_tree": {
                "cost": self._a_tree.cost(),
                "nodes": sum(1 for _ in self._a_tree.nodes()),
                "levels": max((node.level for node in self._a_tree.nodes()), default=0),
            },
            "predicates": self._predicates.stats(),
            "psthash": self._conjunctions.stats(),
        }

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an invariant is broken."""
        self._conjunctions.check_invariants()
        self._predicates.check_invariants()
        self._a_tree.check_invariants()
        assert len(self._predicates) == sum(1 for _ in self._a_tree.leaves()), (
            "the literals of the A-Tree and those that are matched differ"
        )

    def _way(self, id: int) -> str:
        if id in self._always:
            return "always"
        if id in self._never:
            return "never"
        return "a-tree" if id in self._a_tree else "psthash"


def _graph_of(form: NormalForm) -> list[Entry[Literal]]:
    """A normal form as the A-Tree takes it."""
    graph: list[Entry[Literal]] = []
    for node in form.nodes:
        if isinstance(node, Gate):
            graph.append((node.kind.value, node.children))
        else:
            assert isinstance(node, Literal)
            graph.append(("leaf", node))
    return graph
