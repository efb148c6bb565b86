"""From text to the checked tree, by recursive descent.

    expression = parity { "or" parity }
    parity     = group { ("xor" | "xnor") group }
    group      = unit { "and" unit }
    unit       = "not" unit | "(" expression ")" | "true" | "false" | predicate
    predicate  = subject [ operator operands ] [ "ignoring" "case" ]
    subject    = name | "bucket" "(" name "," string ")" | call
    call       = "call" name "(" name { "," name } ")"

Depth is counted and bounded, so recursion is too.
"""

from index.language.calls import Call
from index.language.checks import BadPredicate, bucket_of, make_predicate
from index.language.derived import Derived, Folded
from index.language.errors import ExpressionError
from index.language.lexer import (
    END,
    NAME,
    brief,
    name_of,
    start_of,
)
from index.language.limits import Limits
from index.language.names import KEYWORDS, MAX_NAME
from index.language.nearest import Names
from index.language.operators import Op, Operands
from index.language.predicate import Predicate
from index.language.schema import Attribute, Schema, called
from index.language.token_reader import TokenReader
from index.language.tree import And, Constant, Not, Or, Tree, Xor
from index.language.types import with_article
from index.language.written import WrittenPredicate


class _Words(dict[str, "_Words"]):
    """Operators by their first word, and below it by the next one; `op` is the one that ends
    here. `in` ends, and `in network` goes on."""

    op: Op | None = None

    def add(self, words: list[str], op: Op) -> None:
        branch = self.setdefault(words[0], _Words())
        if words[1:]:
            branch.add(words[1:], op)
        else:
            branch.op = op

    def endings(self) -> list[str]:
        """The words that may follow."""
        found = []
        for word, branch in self.items():
            if branch.op is not None:
                found.append(word)
            found += [f"{word} {ending}" for ending in branch.endings()]
        return found


_OPERATORS = _Words()
for _op in Op:
    if _op is not Op.HOLDS:
        for _spelling in filter(None, (_op.word, _op.alias)):
            _OPERATORS.add(_spelling.split(), _op)

_AFTER_PREDICATE = frozenset({"and", "or", "xor", "xnor", "(", ")", ","})


def parse(text: str, schema: Schema, limits: Limits = Limits()) -> Tree:  # noqa: B008 (immutable)
    """The checked tree of an expression, or `ExpressionError`."""
    return parse_written(text, schema, limits)[0]


def parse_written(
    text: str,
    schema: Schema,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
) -> tuple[Tree, list[WrittenPredicate]]:
    """The checked tree, and its predicates from left to right with their places in the text."""
    _check_text(text, limits)
    parser = _Parser(text, schema, limits)
    return parser.parse(), parser.written


def _check_text(text: str, limits: Limits) -> None:
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as e:
        raise ExpressionError(
            "value.surrogate", "a lone surrogate is not text", text, e.start, e.start + 1
        ) from None
    if size > limits.text_bytes:
        raise ExpressionError(
            "limit.text",
            f"the expression has {size} bytes; at most {limits.text_bytes} are allowed",
            text,
            0,
            0,
        )
    nul = text.find("\0")
    if nul >= 0:
        raise ExpressionError("value.nul", "the NUL character is not allowed", text, nul, nul + 1)


class _Parser(TokenReader):
    __slots__ = ("depth", "predicates", "written")

    def __init__(self, text: str, schema: Schema, limits: Limits) -> None:
        super().__init__(text, schema, limits)
        self.depth = 0
        self.predicates = 0
        self.written: list[WrittenPredicate] = []

    def parse(self) -> Tree:
        if self.tokens[0].lastindex == END:
            self.fail(
                "syntax.empty",
                "there is no expression",
                0,
                "write true to match every request",
            )
        tree = self.expression()
        if self.tokens[self.next].lastindex != END:
            self.unexpected("and, or, xor, xnor or the end")
        return tree

    # The levels of binding, loosest first.

    def expression(self) -> Tree:
        first = self.parity()
        if self.words[self.next] != "or":
            return first
        children = [first]
        while self.words[self.next] == "or":
            self.next += 1
            children.append(self.parity())
        return Or(tuple(children))

    def parity(self) -> Tree:
        first = self.group()
        word = self.words[self.next]
        if word != "xor" and word != "xnor":
            return first
        children, inverted = [first], []
        while word == "xor" or word == "xnor":
            self.next += 1
            inverted.append(word == "xnor")
            children.append(self.group())
            word = self.words[self.next]
        return Xor(tuple(children), tuple(inverted))

    def group(self) -> Tree:
        first = self.unit()
        if self.words[self.next] != "and":
            return first
        children = [first]
        while self.words[self.next] == "and":
            self.next += 1
            children.append(self.unit())
        return And(tuple(children))

    def unit(self) -> Tree:
        token = self.tokens[self.next]
        name = name_of(token)
        if name is not None:
            word = self.words[self.next]
            if word == "call" and self.is_call():
                return self.call()
            if word == "bucket" and self.words[self.next + 1] == "(":
                return self.predicate(*self.bucket())
            attribute = self.schema.get(name)
            if attribute is not None:
                return self.predicate(attribute)
            if word == "not":
                self.deeper()
                child = self.unit()
                self.depth -= 1
                return Not(child)
            if word == "true" or word == "false":
                self.next += 1
                return Constant(word == "true")
            if word not in KEYWORDS:
                self.unknown(name)
        elif self.words[self.next] == "(":
            self.deeper()
            tree = self.expression()
            if self.words[self.next] != ")":
                self.unexpected("and, or, xor, xnor or )")
            self.next += 1
            self.depth -= 1
            return tree
        self.unexpected("a condition")

    def deeper(self) -> None:
        """Step into a parenthesis or a `not`."""
        self.depth += 1
        if self.depth > self.limits.depth:
            self.fail(
                "limit.depth",
                f"the expression is nested deeper than {self.limits.depth} levels",
                self.next,
                "chains of and, or and xor need no parentheses",
            )
        self.next += 1

    # Predicates.

    def is_call(self) -> bool:
        """Whether `call` is that word here, and not the name of an attribute."""
        following = self.next + 1
        return (
            self.tokens[following].lastindex == NAME
            and self.words[following] not in _OPERATORS
            and self.words[following + 1] == "("
        )

    def call(self) -> Predicate:
        """A predicate on the result of a call."""
        name_at = self.next
        operator = self.schema.operators.get(self.tokens[name_at + 1][NAME])
        if operator is None:
            name = brief(self.tokens[name_at + 1][NAME], MAX_NAME)
            near = Names(self.schema.operators).nearest(name)
            hint = f"did you mean {near}?" if near else "operators are registered at /v1/operators"
            self.fail("operator.unknown", f"there is no operator {name}", name_at + 1, hint)
        self.next += 3
        arguments: list[str] = []
        while True:
            token = self.tokens[self.next]
            attribute = self.schema.get(token[NAME]) if token.lastindex == NAME else None
            if attribute is None:
                if token.lastindex == NAME:
                    self.unknown(token[NAME])
                self.unexpected("an attribute, whose name needs no backticks")
            expected = operator.arguments[len(arguments) : len(arguments) + 1]
            if expected and attribute.type is not expected[0]:
                takes = with_article(expected[0])
                has = f"{attribute.name} is {with_article(attribute.type)}"
                self.fail("type.argument", f"{operator.name} takes {takes} here; {has}", self.next)
            arguments.append(attribute.name)
            self.next += 1
            if self.words[self.next] != ",":
                break
            self.next += 1
        if self.words[self.next] != ")":
            self.unexpected(", or ) after the arguments")
        if len(arguments) != len(operator.arguments):
            takes = f"{operator.name} takes {len(operator.arguments)} arguments"
            self.fail("operator.arguments", f"{takes}, here are {len(arguments)}", name_at + 1)
        result = called(Call(operator.name, tuple(arguments)), operator)
        return self.predicate(result, start=name_at)

    def predicate(
        self, attribute: Attribute, derived: Derived | None = None, start: int | None = None
    ) -> Predicate:
        """A predicate on an attribute, whose name is the next token; or on what is derived from
        it or the result of a call, which began at `start` and ends with the next token."""
        self.predicates += 1
        if self.predicates > self.limits.predicates:
            self.fail(
                "limit.predicates",
                f"the expression has more than {self.limits.predicates} predicates",
                self.next,
            )
        name_at = self.next
        self.next += 1
        op = self.operator()
        op_at, first = name_at + 1, self.next
        self.places = []
        shape = op.operands
        values: list[object]
        if shape is Operands.SET or shape is Operands.NETWORKS:
            values = self.set_of_values(op)
        elif shape is Operands.CIRCLE:
            values = [self.distance(), *self.point("of")]
        elif shape is Operands.BOX or shape is Operands.POLYGON:
            values = self.points(op)
        elif shape is Operands.BOUNDS:
            values = [self.value()]
            if self.words[self.next] != "and":
                self.unexpected(f"and, with the upper bound of {op}")
            self.next += 1
            values.append(self.value())
        elif shape is Operands.NONE:
            values = []
        else:
            values = [self.value()]
        if derived is None and self.words[self.next] == "ignoring":
            self.next += 1
            self.expect("case", "case after ignoring")
            derived = Folded(attribute.name, attribute.type)
        try:
            predicate = make_predicate(attribute, op, values, derived)
        except BadPredicate as bad:
            if bad.operand is not None:
                at = last = self.places[bad.operand]
            elif bad.code.startswith("type."):
                at, last = (name_at, name_at) if op is Op.HOLDS else (op_at, first - 1)
            else:
                at, last = op_at, self.next - 1
            raise ExpressionError(
                bad.code,
                bad.message,
                self.text,
                start_of(self.tokens[at]),
                self.tokens[last].end(),
                bad.hint,
            ) from None
        found = WrittenPredicate(
            predicate,
            values,
            self.tokens,
            name_at if start is None else start,
            self.next - 1,
            self.places,
        )
        self.written.append(found)
        return predicate

    def bucket(self) -> tuple[Attribute, Derived, int]:
        """`bucket(name, 'salt')`; stops before the last parenthesis."""
        start = self.next
        self.next += 2
        name = name_of(self.tokens[self.next])
        if name is None:
            self.unexpected("the attribute of bucket(attribute, 'salt')")
        attribute = self.schema.get(name)
        if attribute is None:
            self.unknown(name)
        self.next += 1
        self.expect(",", ", and the salt of bucket(attribute, 'salt')")
        self.places = []
        salt = self.value()
        if self.words[self.next] != ")":
            self.unexpected(") to close bucket(attribute, 'salt')")
        try:
            derived = bucket_of(attribute, salt)
        except BadPredicate as bad:
            self.fail(bad.code, bad.message, self.next - 1, bad.hint)
        return attribute, derived, start

    def operator(self) -> Op:
        """The operator after a name; `HOLDS` if there is none."""
        word = self.words[self.next]
        found = _OPERATORS.get(word)
        if found is None:
            if word in _AFTER_PREDICATE or self.tokens[self.next].lastindex == END:
                return Op.HOLDS
            self.unexpected("an operator")
        read = word
        self.next += 1
        while True:
            word = self.words[self.next]
            following = found.get(word)
            if following is None:
                break
            read += f" {word}"
            found = following
            self.next += 1
        if found.op is None:
            *most, last = found.endings()
            words = f"{', '.join(most)} or {last}" if most else last
            self.unexpected(f"{words} after {read}")
        return found.op
