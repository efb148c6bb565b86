r"""Patterns of text: regular expressions (`matches`) and wildcards (`like`), in linear time.

    expression = branch { "|" branch }
    branch     = { piece }
    piece      = atom [ ( "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" ) [ "?" ] ]
    atom       = character | "." | class | "(" expression ")" | "(?:" expression ")"
               | "^" | "$" | "\b" | "\B"
    class      = "[" [ "^" ] { character [ "-" character ] | "\d" … } "]"

This is what the usual dialects have in common. `\d`, `\w`, `\s` and `\b` are about ASCII, `.` is
any character but a line feed, `^` and `$` are the ends of the text. There are no references to
groups and no looking around, so a pattern becomes a program that is run over the text once:

    a(b|c)*    0 class a    1 split 2, 7    2 split 3, 5    3 class b    4 jump 6    5 class c …

Its states are a set, and there are at most `LARGEST` of them. The Rust core reads the same syntax
into the same programs (`index/native/src/language/pattern.rs`).
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from index.language.folding import TABLE

LARGEST = 2000
"""Instructions of a program."""
DEEPEST = 50
"""Groups inside each other."""

Ranges = tuple[tuple[int, int], ...]
"""Characters from first to last, ascending and apart from each other."""

LAST = 0x10FFFF
DIGITS: Ranges = ((0x30, 0x39),)
WORDS: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACES: Ranges = ((0x09, 0x0D), (0x20, 0x20))
ANY: Ranges = ((0, LAST),)
_CLASSES = {"d": DIGITS, "w": WORDS, "s": SPACES}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_SPECIAL = frozenset("\\.+*?()|[]{}^$")
_FOLDED_FROM = sorted(TABLE)


class BadPattern(ValueError):
    """A text that is no pattern. `code` is stable."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Place:
    """No character: `begin` or `end` of the text, `edge` of a word, or `inside` (no edge)."""

    kind: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A node at least `least` times and at most `most`, if there is a most."""

    node: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Join:
    """All of these, one after the other."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these."""

    nodes: tuple["Node", ...]


Node = Chars | Place | Repeat | Join | Choice


# Sets of characters.


def union(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """The same characters, ascending and without overlaps."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    found, low = [], 0
    for first, last in ranges:
        if low < first:
            found.append((low, first - 1))
        low = last + 1
    return (*found, (low, LAST)) if low <= LAST else tuple(found)


def folded(ranges: Ranges) -> Ranges:
    """What the folding of a text can have where the text has one of these."""
    found = []
    for low, high in ranges:
        first, last = bisect_right(_FOLDED_FROM, low - 1), bisect_right(_FOLDED_FROM, high)
        for char in _FOLDED_FROM[first:last]:
            found.append((TABLE[char], TABLE[char]))
            if low < char:
                found.append((low, char - 1))
            low = char + 1
        if low <= high:
            found.append((low, high))
    return union(found)


# Reading.


def regular(text: str, fold: bool) -> Node:
    """The tree of a regular expression, or `BadPattern`."""
    return _Reader(text, fold).whole()


class _Reader:
    def __init__(self, text: str, fold: bool) -> None:
        self.text = text
        self.fold = fold
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.choice()
        if self.at < len(self.text):
            self.fail("there is no ( for this )")
        return node

    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def takes(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def fail(self, what: str, hint: str | None = None) -> NoReturn:
        message = f"at character {self.at + 1} of the pattern: {what}"
        raise BadPattern("pattern.syntax", message, hint)

    def choice(self) -> Node:
        branches = [self.branch()]
        while self.takes("|"):
            branches.append(self.branch())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def branch(self) -> Node:
        pieces: list[Node] = []
        while self.next() not in ("", "|", ")"):
            pieces.append(self.piece())
        return pieces[0] if len(pieces) == 1 else Join(tuple(pieces))

    def piece(self) -> Node:
        node = self.atom()
        least, most = 0, None
        char = self.next()
        if char not in ("*", "+", "?", "{") or not char:
            return node
        if isinstance(node, Place):
            self.fail("there is nothing to repeat")
        self.at += 1
        if char == "{":
            least, most = self.counts()
        else:
            least, most = int(char == "+"), 1 if char == "?" else None
        self.takes("?")  # the shortest match or the longest: there is one either way
        if self.next() in ("*", "+", "?", "{") and self.next():
            self.fail("this repeats a repetition", "put the first one in parentheses")
        return Repeat(node, least, most)

    def counts(self) -> tuple[int, int | None]:
        least = self.number()
        most: int | None = least
        if self.takes(","):
            most = None if self.next() == "}" else self.number()
        if not self.takes("}"):
            self.fail("expected {n}, {n,} or {n,m}", "write \\{ for the character itself")
        if most is not None and most < least:
            self.fail("the counts are reversed")
        return least, most

    def number(self) -> int:
        start = self.at
        while self.next() and self.next() in "0123456789":
            self.at += 1
        if not 0 < self.at - start <= 4:
            self.fail("expected {n}, {n,} or {n,m}", "write \\{ for the character itself")
        return int(self.text[start : self.at])

    def atom(self) -> Node:
        char = self.next()
        if char == "(":
            return self.group()
        if char == "[":
            self.at += 1
            return self.brackets()
        if char == "\\":
            self.at += 1
            escaped = self.next()
            if escaped == "b" or escaped == "B":
                self.at += 1
                return Place("edge" if escaped == "b" else "inside")
            return self.chars(self.escape())
        if char in ("*", "+", "?", "{"):
            self.fail("there is nothing to repeat")
        if char in ("]", "}"):
            self.fail(f"this {char} closes nothing", f"write \\{char} for the character itself")
        self.at += 1
        if char == "^" or char == "$":
            return Place("begin" if char == "^" else "end")
        if char == ".":
            return Chars(complement(((10, 10),)))
        return self.chars(((ord(char), ord(char)),))

    def chars(self, ranges: Ranges) -> Chars:
        return Chars(folded(ranges) if self.fold else ranges)

    def group(self) -> Node:
        self.at += 1
        if self.next() == "?" and not self.takes("?:"):
            self.fail("groups have no options, names or conditions", "write (…) or (?:…)")
        self.depth += 1
        if self.depth > DEEPEST:
            raise BadPattern("pattern.large", f"more than {DEEPEST} groups are inside each other")
        node = self.choice()
        if not self.takes(")"):
            self.fail("there is no ) for this (")
        self.depth -= 1
        return Join((node,))

    def escape(self) -> Ranges:
        """What a backslash before the next character means."""
        char = self.next()
        kind = _CLASSES.get(char.lower())
        if kind is None and char not in _CONTROLS and (not char or char.isalnum() or char > "~"):
            shown = f"\\{char}"
            self.fail(f"{shown} has no meaning here", "write \\\\ for a backslash")
        self.at += 1
        if kind is not None:
            return kind if char.islower() else complement(kind)
        code = ord(_CONTROLS.get(char, char))
        return ((code, code),)

    def brackets(self) -> Node:
        negated = self.takes("^")
        found: list[tuple[int, int]] = []
        while not self.takes("]"):
            low = self.member()
            if self.next() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self.member()
                if any(len(end) > 1 or end[0][0] != end[0][1] for end in (low, high)):
                    self.fail("a range goes from a character to a character")
                if low[0][0] > high[0][0]:
                    self.fail("the ends of a range are reversed")
                low = ((low[0][0], high[0][0]),)
            found += low
        if not found:
            self.fail("there is nothing between [ and ]", "write \\] for the character itself")
        ranges = union(found)
        if self.fold:
            ranges = folded(ranges)
        return Chars(complement(ranges) if negated else ranges)

    def member(self) -> Ranges:
        """One character between brackets, or a class of them."""
        char = self.next()
        if not char:
            self.fail("there is no ] for this [")
        if char == "[":
            self.fail("there are no brackets inside brackets", "write \\[ for the character itself")
        self.at += 1
        return self.escape() if char == "\\" else ((ord(char), ord(char)),)


def wildcards(text: str) -> list[str | None]:
    r"""The pieces of a pattern with wildcards: texts, `?` as "" and `*` as None. A run of wildcards
    has its `?` first and at most one `*`. A backslash takes `*`, `?` and `\` for themselves."""
    found: list[str | None] = []
    at, stars = 0, False
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            stars = True
            continue
        if char == "?":
            found.append("")
            continue
        if char == "\\":
            char = text[at : at + 1]
            at += 1
            if char not in ("*", "?", "\\"):
                message = "a backslash stands before *, ? or another backslash"
                raise BadPattern("pattern.syntax", message, "write \\\\ for a backslash")
        if stars:
            found.append(None)
            stars = False
        if found and found[-1]:
            found[-1] += char
        else:
            found.append(char)
    return [*found, None] if stars else found


def written_wildcards(pieces: Sequence[str | None]) -> str:
    """The text of these pieces."""
    texts = []
    for piece in pieces:
        for char in ("\\", "*", "?"):
            piece = piece.replace(char, f"\\{char}") if piece else piece
        texts.append("*" if piece is None else piece or "?")
    return "".join(texts)


def like(text: str) -> Node:
    """The tree of a pattern with wildcards."""
    nodes: list[Node] = [Place("begin")]
    for piece in wildcards(text):
        if piece is None:
            nodes.append(Repeat(Chars(ANY), 0, None))
        elif not piece:
            nodes.append(Chars(ANY))
        else:
            nodes += [Chars(((ord(char), ord(char)),)) for char in piece]
    return Join((*nodes, Place("end")))


# Programs.

CLASS, SPLIT, JUMP, PLACE, DONE = range(5)
Instruction = tuple[int, int, int, Ranges, str]


def program_of(node: Node) -> list[Instruction]:
    """The instructions of a pattern, or `BadPattern` if there are too many."""
    program: list[Instruction] = []
    _write(node, program)
    program.append((DONE, 0, 0, (), ""))
    if len(program) > LARGEST:
        raise _too_large()
    return program


def _too_large() -> BadPattern:
    message = f"the pattern is too large: it has more than {LARGEST} states"
    return BadPattern("pattern.large", message, "repeat less, or divide it into several")


def _write(node: Node, out: list[Instruction]) -> None:
    if len(out) > LARGEST:
        raise _too_large()
    if isinstance(node, Chars):
        out.append((CLASS, 0, 0, node.ranges, ""))
    elif isinstance(node, Place):
        out.append((PLACE, 0, 0, (), node.kind))
    elif isinstance(node, Join):
        for part in node.nodes:
            _write(part, out)
    elif isinstance(node, Choice):
        jumps = []
        for part in node.nodes[:-1]:
            split = len(out)
            out.append((SPLIT, 0, 0, (), ""))
            _write(part, out)
            jumps.append(len(out))
            out.append((JUMP, 0, 0, (), ""))
            out[split] = (SPLIT, split + 1, len(out), (), "")
        _write(node.nodes[-1], out)
        for jump in jumps:
            out[jump] = (JUMP, len(out), 0, (), "")
    else:
        for _ in range(node.least):
            before = len(out)
            _write(node.node, out)
            if len(out) == before:
                return  # repeating nothing is nothing
        if node.most is None:
            split = len(out)
            out.append((SPLIT, 0, 0, (), ""))
            _write(node.node, out)
            out.append((JUMP, split, 0, (), ""))
            out[split] = (SPLIT, split + 1, len(out), (), "")
            return
        splits = []
        for _ in range(node.most - node.least):
            splits.append(len(out))
            out.append((SPLIT, 0, 0, (), ""))
            _write(node.node, out)
        for split in splits:
            out[split] = (SPLIT, split + 1, len(out), (), "")


class Pattern(str):
    """The checked operand of `matches` or `like`: its text. `folds` says that it is for folded
    texts."""

    word: str
    folds: bool

    def __new__(cls, text: str, word: str, folds: bool) -> "Pattern":
        self = super().__new__(cls, text)
        self.word, self.folds = word, folds
        return self

    def __getnewargs__(self) -> tuple[str, str, bool]:  # type: ignore[override]
        return str(self), self.word, self.folds

    def finds(self, text: str) -> bool:
        """Whether a text has a match."""
        return _program(self.word, str(self), self.folds).finds(text)


def pattern_of(text: str, word: str, folds: bool) -> Pattern:
    """The pattern of a text, or `BadPattern`."""
    _program(word, text, folds)
    return Pattern(text, word, folds)


@lru_cache(maxsize=1000)
def _program(word: str, text: str, folds: bool) -> "Program":
    return Program(program_of(like(text) if word == "like" else regular(text, folds)))


class Program:
    """A program that finds out whether a text has a match."""

    def __init__(self, instructions: list[Instruction]) -> None:
        self.instructions = instructions
        self.firsts = [[low for low, _ in each[3]] for each in instructions]

    def finds(self, text: str) -> bool:
        """Whether there is a match anywhere. Takes time proportional to the length of the text and
        to the number of states."""
        before, states = "", set[int]()
        for at in range(len(text) + 1):
            char = text[at : at + 1]
            reached = self.reach([0, *states], before, char)
            if -1 in reached:
                return True
            states = {state + 1 for state in reached if char and self.has(state, ord(char))}
            before = char
        return False

    def has(self, state: int, char: int) -> bool:
        place = bisect_right(self.firsts[state], char) - 1
        return place >= 0 and char <= self.instructions[state][3][place][1]

    def reach(self, pending: list[int], before: str, after: str) -> set[int]:
        """The states with a class that these lead to between two characters; -1 is a match."""
        seen: set[int] = set()
        reached: set[int] = set()
        while pending:
            state = pending.pop()
            if state in seen:
                continue
            seen.add(state)
            op, one, two, _, kind = self.instructions[state]
            if op == CLASS:
                reached.add(state)
            elif op == DONE:
                return {-1}
            elif op == SPLIT:
                pending += (one, two)
            elif op == JUMP:
                pending.append(one)
            elif _is_at(kind, before, after):
                pending.append(state + 1)
        return reached


def _is_at(kind: str, before: str, after: str) -> bool:
    if kind == "begin":
        return not before
    if kind == "end":
        return not after
    edge = _is_word(before) is not _is_word(after)
    return edge is (kind == "edge")


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
