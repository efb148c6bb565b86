"""Patterns of text, `matches` and `like`, in linear time.

There are no references to groups and no looking around, so a pattern (`pattern_syntax.py`) becomes
a program that is run over the text once:

    a(b|c)*    0 class a    1 split 2, 7    2 split 3, 5    3 class b    4 jump 6    5 class c …

Its states are a set, and there are at most `LARGEST` of them. The Rust core reads the same syntax
into the same programs (`index/native/src/language/pattern.rs`).
"""

from bisect import bisect_right
from functools import lru_cache

from index.language.pattern_syntax import (
    BadPattern,
    Chars,
    Choice,
    Join,
    Node,
    Place,
    Ranges,
    like,
    regular,
)

LARGEST = 2000
"""Instructions of a program."""

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
