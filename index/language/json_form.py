"""The JSON form of a checked tree: compact, versioned, and the same tree back.

    [1, ["and", ["in","country","US","CA"], ["not", ["between","age",18,34]],
                ["xor","xn",["holds","vip"],["is null","ref"],true]]]

The first element is the version. A predicate is its operator, its attribute and its operands; in
place of the attribute there may be what is derived from it, `["fold","country"]` (with folded
operands) or `["bucket","user.id","spring"]`. A constant is a JSON bool; `and`, `or` and `not` are
followed by their children; `xor` by a letter for each operator of the chain (x for `xor`, n for
`xnor`) and the children. Addresses are in the form that sorts (`address.py`); areas are their
numbers, one after the other. It has no types: reading it needs the schema and checks everything
again, since stored trees may be old or foreign.
"""

import json
from typing import NoReturn

from index.language.address import from_stored
from index.language.checks import BadPredicate, bucket_of, make_predicate
from index.language.derived import Derived, Folded
from index.language.errors import TreeError
from index.language.folding import fold
from index.language.limits import Limits
from index.language.operators import OPERATORS, Op, Operands
from index.language.predicate import Literal, Predicate
from index.language.schema import Schema
from index.language.tree import And, Constant, Not, Or, Tree, Xor
from index.language.types import Scalar, Type
from index.language.version import Version

VERSION = 1

_OPERAND_COUNT = {
    Operands.NONE: 0,
    Operands.ONE: 1,
    Operands.TEXT: 1,
    Operands.PATTERN: 1,
    Operands.BOUNDS: 2,
    Operands.CIRCLE: 3,
    Operands.BOX: 4,
}
_SUBJECTS = (("", 0), ("fold", 0), ("bucket", 1))
"""What may be in the place of an attribute: what is derived from it, and the number of salts."""
_LEVELS_PER_DEPTH = 3
"""One level of parentheses can hold an `or` of an `xor` of an `and`."""


def to_json(tree: Tree) -> str:
    """The JSON form of a tree."""
    return json.dumps([VERSION, _to_list(tree)], ensure_ascii=False, separators=(",", ":"))


def from_json(data: str | bytes, schema: Schema, limits: Limits = Limits()) -> Tree:  # noqa: B008
    """The tree of a JSON form, checked against a schema, or `TreeError`."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise TreeError("tree.json", f"this is not JSON: {e}") from None
    if not isinstance(document, list) or len(document) != 2:
        raise TreeError("tree.shape", "expected [version, tree]")
    if document[0] != VERSION or isinstance(document[0], bool):
        raise TreeError("tree.version", f"expected version {VERSION}, found {document[0]!r}", "/0")
    return _Reader(schema, limits).tree(document[1], "/1", 0)


def literal_to_list(literal: Literal) -> list[object]:
    """The JSON form of a literal: its predicate, below `not` if it is negative."""
    predicate = _to_list(literal.predicate)
    assert isinstance(predicate, list)
    return predicate if literal.positive else ["not", predicate]


def _to_list(tree: Tree) -> object:
    if isinstance(tree, Predicate):
        return [tree.op.word, _subject(tree), *map(_stored, tree.values)]
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Not):
        return ["not", _to_list(tree.child)]
    children = [_to_list(child) for child in tree.children]
    if isinstance(tree, Xor):
        return ["xor", "".join("n" if inverted else "x" for inverted in tree.inverted), *children]
    return ["and" if isinstance(tree, And) else "or", *children]


def _subject(predicate: Predicate) -> object:
    derived = predicate.derived
    if derived is None:
        return predicate.attribute
    return [derived.kind, predicate.attribute, *derived.arguments]


def _stored(value: Scalar) -> object:
    """A version by its text; an address in the form that sorts, which it is already."""
    return str(value) if isinstance(value, Version) else value


class _Reader:
    def __init__(self, schema: Schema, limits: Limits) -> None:
        self.schema = schema
        self.limits = limits
        self.predicates = 0

    def tree(self, data: object, at: str, level: int) -> Tree:
        if level > (self.limits.depth + 1) * _LEVELS_PER_DEPTH:
            self.fail("limit.depth", "the tree is too deep", at)
        if isinstance(data, bool):
            return Constant(data)
        if not isinstance(data, list) or not data or not isinstance(data[0], str):
            self.fail("tree.shape", "expected true, false, or a list that starts with a word", at)
        word = data[0]
        if word == "not":
            if len(data) != 2:
                self.fail("tree.shape", "not takes one child", at)
            return Not(self.tree(data[1], f"{at}/1", level + 1))
        if word == "and":
            return And(self.children(data, 1, at, level))
        if word == "or":
            return Or(self.children(data, 1, at, level))
        if word == "xor":
            return self.xor(data, at, level)
        if word in OPERATORS:
            return self.predicate(OPERATORS[word], data, at)
        self.fail("tree.shape", f"{word!r} is not an operator", f"{at}/0")

    def children(self, data: list[object], first: int, at: str, level: int) -> tuple[Tree, ...]:
        if len(data) < first + 2:
            self.fail("tree.shape", f"{data[0]} takes at least two children", at)
        return tuple(self.tree(data[i], f"{at}/{i}", level + 1) for i in range(first, len(data)))

    def xor(self, data: list[object], at: str, level: int) -> Xor:
        letters = data[1] if len(data) > 1 else None
        if not isinstance(letters, str) or not set(letters) <= {"x", "n"}:
            self.fail("tree.shape", "xor takes a letter x or n for each operator", at)
        if len(letters) != len(data) - 3:
            self.fail("tree.shape", "xor takes one child more than it has letters", at)
        return Xor(self.children(data, 2, at, level), tuple(c == "n" for c in letters))

    def predicate(self, op: Op, data: list[object], at: str) -> Predicate:
        self.predicates += 1
        if self.predicates > self.limits.predicates:
            self.fail("limit.predicates", f"more than {self.limits.predicates} predicates", at)
        subject = data[1] if len(data) > 1 else None
        kind, name, *salts = (
            subject if isinstance(subject, list) and len(subject) > 1 else ("", subject)
        )
        if not isinstance(name, str) or (kind, len(salts)) not in _SUBJECTS:
            self.fail("tree.shape", f"{op} takes an attribute", at)
        attribute = self.schema.term(name)
        if attribute is None:
            self.fail("attribute.unknown", f"there is no attribute {name}", f"{at}/1")
        operands = data[2:]
        if op.operands in (Operands.SET, Operands.NETWORKS):
            if len(operands) > self.limits.set_values:
                self.fail("limit.set_values", f"more than {self.limits.set_values} values", at)
        elif op.operands is Operands.POLYGON:
            if len(operands) % 2:
                self.fail("tree.shape", f"{op} takes pairs of numbers", at)
        else:
            expected = _OPERAND_COUNT[op.operands]
            if len(operands) != expected:
                self.fail("tree.shape", f"{op} takes {expected} operands", at)
        if attribute.type is Type.IP and Type.IP in op.types:
            operands = self.addresses(op, operands, at)
        derived: Derived | None = None
        try:
            if kind == "fold":
                derived = Folded(name, attribute.type)
            elif kind:
                derived = bucket_of(attribute, *salts)
        except BadPredicate as bad:
            self.fail(bad.code, bad.message, f"{at}/1")
        try:
            predicate = make_predicate(attribute, op, operands, derived)
        except BadPredicate as bad:
            where = at if bad.operand is None else f"{at}/{bad.operand + 2}"
            self.fail(bad.code, bad.message, where)
        if predicate.op is not op or (op is Op.LIKE and predicate.operand != operands[0]):
            message = "this pattern is stored as another operator"
            self.fail("pattern.plain", message, f"{at}/2")
        if kind == "fold" and op is not Op.MATCHES:
            for place, text in enumerate(operands, 2):
                if text != fold(str(text)):
                    self.fail("value.case", "this text is not folded", f"{at}/{place}")
        return predicate

    def addresses(self, op: Op, operands: list[object], at: str) -> list[object]:
        """The addresses or networks that are stored."""
        found: list[object] = []
        for place, text in enumerate(operands):
            address = from_stored(text)
            if address is None or ("/" in address and op.operands is not Operands.NETWORKS):
                self.fail("value.ip", "this is not a stored address", f"{at}/{place + 2}")
            found.append(address)
        return found

    @staticmethod
    def fail(code: str, message: str, pointer: str) -> NoReturn:
        raise TreeError(code, message, pointer)
