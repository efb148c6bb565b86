"""From text to tokens: one regular expression, one pass.

A token is the match object itself: `lastindex` is its kind, and its position in the text is
computed only for an error. White space and comments (`--` to the end of the line) belong to the
token that follows them.
"""

import re

from index.language.errors import ExpressionError
from index.language.names import PLAIN
from index.language.operators import Op

Token = re.Match[str]

NAME, NUMBER, STRING, SYMBOL, END, QUOTED, BAD_STRING, BAD_NUMBER, BAD = range(1, 10)

_SYMBOLS = sorted(
    {word for op in Op for word in (op.word, op.alias) if word and not word[0].isalpha()},
    key=lambda symbol: (-len(symbol), symbol),
)

_TOKEN = re.compile(
    rf"""
    (?: \s+ | --[^\n]* )*
    (?:
        ( {PLAIN} )
      | ( [+-]? (?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+) (?:[eE][+-]?[0-9]+)? (?![A-Za-z0-9_.]) )
      | ( '[^']*(?:''[^']*)*' | "[^"]*(?:""[^"]*)*" )
      | ( {"|".join(map(re.escape, _SYMBOLS))} | [(),] )
      | ( \Z )
      | ( `[^`]*(?:``[^`]*)*` )
      | ( ['"`] )
      | ( [+-]? \.? [0-9] [A-Za-z0-9_.]* )
      | ( . )
    )
    """,
    re.VERBOSE | re.DOTALL,
)

_HINTS = {
    "&": "write and",
    "|": "write or",
    "!": "write not, or != for not equal",
    "^": "write xor",
    "[": "write a set in parentheses: (1, 2, 3)",
    "{": "write a set in parentheses: (1, 2, 3)",
    "‘": "use straight quotes: '",
    "’": "use straight quotes: '",
    "“": 'use straight quotes: "',
    "”": 'use straight quotes: "',
    ";": "an expression ends where its text ends",
}


def tokens_of(text: str) -> tuple[list[Token], list[str]]:
    """All tokens of a text, the last one `END`, and the *word* of each: a name in lower case,
    a symbol as it is, "" for values. Raises `ExpressionError` at the first non-token."""
    tokens = []
    words = []
    # A `list` of all matches would hold the interpreter's lock for all of a long text.
    for token in _TOKEN.finditer(text):
        tokens.append(token)
        kind = token.lastindex
        if kind == NAME:
            words.append(token[NAME].lower())
        elif kind == SYMBOL:
            words.append(token[SYMBOL])
        elif kind >= BAD_STRING:  # type: ignore[operator]  # some group always matches
            raise _error(text, token)
        else:
            words.append("")
    return tokens, words


def name_of(token: Token) -> str | None:
    """The name that a token is, with or without backticks."""
    if token.lastindex == QUOTED:
        return token[QUOTED][1:-1].replace("``", "`")
    return token[NAME]


def start_of(token: Token) -> int:
    """Where the token itself begins, after white space and comments."""
    assert token.lastindex is not None
    return token.start(token.lastindex)


def _error(text: str, token: Token) -> ExpressionError:
    start, word = start_of(token), token[token.lastindex or 0]
    if token.lastindex == BAD_STRING:
        end, close = len(text), f"close it with {word}; a quote inside it is doubled: {word * 2}"
        if word == "`":
            what = "this name never ends"
            return ExpressionError("syntax.unterminated_name", what, text, start, end, close)
        what = "this string never ends"
        return ExpressionError("syntax.unterminated_string", what, text, start, end, close)
    if token.lastindex == BAD_NUMBER:
        return ExpressionError(
            "syntax.bad_number",
            f"{brief(word)} is not a number",
            text,
            start,
            token.end(),
            "strings take quotes, and names do not start with a digit",
        )
    shown = word if word.isprintable() else f"U+{ord(word):04X}"
    return ExpressionError(
        "syntax.bad_character",
        f"{shown} has no meaning here",
        text,
        start,
        token.end(),
        _HINTS.get(word),
    )


def brief(word: str, most: int = 40) -> str:
    """A word of the text, for a message: shortened if it is long."""
    return word if len(word) <= most else word[: most - 3] + "…"
