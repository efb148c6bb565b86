r"""The syntax of patterns: regular expressions (`matches`) and wildcards (`like`), as trees.

    expression = branch { "|" branch }
    branch     = { piece }
    piece      = atom [ ( "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" ) [ "?" ] ]
    atom       = character | "." | class | "(" expression ")" | "(?:" expression ")"
               | "^" | "$" | "\b" | "\B"
    class      = "[" [ "^" ] { character [ "-" character ] | "\d" … } "]"

This is what the usual dialects have in common. `\d`, `\w`, `\s` and `\b` are about ASCII, `.` is
any character but a line feed, `^` and `$` are the ends of the text.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from index.language.folding import TABLE

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
            is_flag = self.text.startswith("?i", self.at)
            hint = "write ignoring case behind the pattern" if is_flag else "write (…) or (?:…)"
            self.fail("groups have no options, names or conditions", hint)
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
