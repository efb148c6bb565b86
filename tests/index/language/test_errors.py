"""Invalid expressions: the code, position, message and hint of each error."""

import pytest

from index.language import Attribute, ExpressionError, Limits, Schema, SchemaError, Type, parse
from tests.index.language.test_parser import SCHEMA

SMALL = Limits(text_bytes=200, predicates=3, depth=3, set_values=3)

# text, code, the offending words, message, hint
BROKEN: list[tuple[str, str, str, str, str | None]] = [
    # There is nothing, or it stops too early.
    ("", "syntax.empty", "", "there is no expression", "write true to match every request"),
    ("   ", "syntax.empty", "", "there is no expression", "write true to match every request"),
    ("-- all", "syntax.empty", "", "there is no expression", "write true to match every request"),
    ("not", "syntax.unexpected", "", "expected a condition, found the end", None),
    ("vip and", "syntax.unexpected", "", "expected a condition, found the end", None),
    ("vip or", "syntax.unexpected", "", "expected a condition, found the end", None),
    ("vip xnor", "syntax.unexpected", "", "expected a condition, found the end", None),
    ("(vip", "syntax.unexpected", "", "expected and, or, xor, xnor or ), found the end", None),
    ("age =", "syntax.unexpected", "", "expected a value, found the end", None),
    ("age between 1", "syntax.unexpected", "",
     "expected and, with the upper bound of between, found the end", None),
    ("age between 1 and", "syntax.unexpected", "", "expected a value, found the end", None),
    ("age in (1", "syntax.unexpected", "", "expected , or ) in the set, found the end", None),
    ("age in (1,", "syntax.unexpected", "", "expected a value, found the end", None),
    ("age is", "syntax.unexpected", "",
     "expected empty, not empty, not null or null after is, found the end", None),
    # There is something else than should be.
    ("()", "syntax.unexpected", ")", "expected a condition, found )", None),
    ("and vip", "syntax.unexpected", "and", "expected a condition, found and", None),
    ("vip)", "syntax.unexpected", ")",
     "expected and, or, xor, xnor or the end, found )", None),
    ("vip vip", "syntax.unexpected", "vip", "expected an operator, found vip",
     "write and or or between two conditions"),
    ("age = 1 age = 2", "syntax.unexpected", "age",
     "expected and, or, xor, xnor or the end, found age",
     "write and or or between two conditions"),
    ("age == 1", "syntax.unexpected", "=", "expected a value, found =", "equality is a single ="),
    ("age >= = 1", "syntax.unexpected", "=", "expected a value, found =",
     "equality is a single ="),
    ("country = US", "syntax.unexpected", "US", "expected a value, found US",
     "put quotes around strings: 'US'"),
    ("country = null", "syntax.unexpected", "null", "expected a value, found null",
     "use is null, or is not null"),
    ("country = age", "syntax.unexpected", "age", "expected a value, found age", None),
    ("age in 1", "syntax.unexpected", "1", "expected ( to open the set after in, found 1", None),
    ("age in (1,)", "syntax.unexpected", ")", "expected a value, found )", None),
    ("age in (1 2)", "syntax.unexpected", "2", "expected , or ) in the set, found 2", None),
    ("segments any (1)", "syntax.unexpected", "(", "expected of after any, found (", None),
    ("country starts 'a'", "syntax.unexpected", "'a'",
     "expected with after starts, found 'a'", None),
    ("country ilike 'U%'", "syntax.unexpected", "ilike", "expected an operator, found ilike",
     "write like '…' ignoring case, with * and ?"),
    ("lower(country) = 'us'", "attribute.unknown", "lower", "there is no attribute lower",
     "compare the attribute itself, and write ignoring case behind the value"),
    ("length(country) = 2", "attribute.unknown", "length", "there is no attribute length",
     "the only functions are bucket(attribute, 'salt') and call operator(attribute)"),
    ("country is 'US'", "syntax.unexpected", "'US'",
     "expected empty, not empty, not null or null after is, found 'US'", "write = 'US'"),
    ("18 <= age", "syntax.unexpected", "18", "expected a condition, found 18",
     "the attribute comes first: age >= 18"),
    ("age =< 18", "syntax.unexpected", "<", "expected a value, found <", "write <="),
    ("vip country = 'US'", "syntax.unexpected", "country", "expected an operator, found country",
     "write and or or between two conditions"),
    ("age > 3 country = 'US'", "syntax.unexpected", "country",
     "expected and, or, xor, xnor or the end, found country",
     "write and or or between two conditions"),
    ("age not 5", "syntax.unexpected", "5",
     "expected in, in network or between after not, found 5", None),
    ("age not between 1 or 2", "syntax.unexpected", "or",
     "expected and, with the upper bound of not between, found or", None),
    ("age is 5", "syntax.unexpected", "5",
     "expected empty, not empty, not null or null after is, found 5", "write = 5"),
    ("age is not 5", "syntax.unexpected", "5", "expected empty or null after is not, found 5",
     None),
    ("age 5", "syntax.unexpected", "5", "expected an operator, found 5", None),
    ("5 = age", "syntax.unexpected", "5", "expected a condition, found 5",
     "the attribute comes first: age = 5"),
    ("'US' = country", "syntax.unexpected", "'US'", "expected a condition, found 'US'",
     "the attribute comes first: country = 'US'"),
    ("true = vip", "syntax.unexpected", "=",
     "expected and, or, xor, xnor or the end, found =", "equality is a single ="),
    ("age = 5-3", "syntax.unexpected", "-3",
     "expected and, or, xor, xnor or the end, found -3", None),
    # Not even a token.
    ("country = 'US", "syntax.unterminated_string", "'US", "this string never ends",
     "close it with '; a quote inside it is doubled: ''"),
    ('country = "US', "syntax.unterminated_string", '"US', "this string never ends",
     'close it with "; a quote inside it is doubled: ""'),
    ("country = 'it's'", "syntax.unterminated_string", "'", "this string never ends",
     "close it with '; a quote inside it is doubled: ''"),
    ("`country = 'US'", "syntax.unterminated_name", "`country = 'US'", "this name never ends",
     "close it with `; a quote inside it is doubled: ``"),
    ("vip && vip", "syntax.bad_character", "&", "& has no meaning here", "write and"),
    ("vip || vip", "syntax.bad_character", "|", "| has no meaning here", "write or"),
    ("!vip", "syntax.bad_character", "!", "! has no meaning here",
     "write not, or != for not equal"),
    ("age in [1]", "syntax.bad_character", "[", "[ has no meaning here",
     "write a set in parentheses: (1, 2, 3)"),
    ("country = ‘US’", "syntax.bad_character", "‘", "‘ has no meaning here",
     "use straight quotes: '"),
    ("vip;", "syntax.bad_character", ";", "; has no meaning here",
     "an expression ends where its text ends"),
    ("vip \x07", "syntax.bad_character", "\x07", "U+0007 has no meaning here", None),
    ("größe = 1", "syntax.bad_character", "ö", "ö has no meaning here", None),
    ("age = 5years", "syntax.bad_number", "5years", "5years is not a number",
     "strings take quotes, and names do not start with a digit"),
    ("price = 1.2.3", "syntax.bad_number", "1.2.3", "1.2.3 is not a number",
     "strings take quotes, and names do not start with a digit"),
    ("price = 1.", "syntax.bad_number", "1.", "1. is not a number",
     "strings take quotes, and names do not start with a digit"),
    ("price = 0x10", "syntax.bad_number", "0x10", "0x10 is not a number",
     "strings take quotes, and names do not start with a digit"),
    # Names.
    ("contry = 'US'", "attribute.unknown", "contry", "there is no attribute contry",
     "did you mean country?"),
    ("DEVICE.TYPE = 'phone'", "attribute.unknown", "DEVICE.TYPE",
     "there is no attribute DEVICE.TYPE", "did you mean device.type?"),
    ("zzz = 1", "attribute.unknown", "zzz", "there is no attribute zzz", None),
    # Types.
    ("age = 'old'", "type.mismatch", "'old'", "age is an int; this is a string",
     "leave out the quotes"),
    ("age = 30.0", "type.mismatch", "30.0", "age is an int; this is a float", None),
    ("age = 1e3", "type.mismatch", "1e3", "age is an int; this is a float", None),
    ("age = true", "type.mismatch", "true", "age is an int; this is a bool", None),
    ("price = true", "type.mismatch", "true", "price is a float; this is a bool", None),
    ("vip = 1", "type.mismatch", "1", "vip is a bool; this is an int", None),
    ("country = 5", "type.mismatch", "5", "country is a string; this is an int",
     "put quotes around strings"),
    ("age in (1, 'b', 3)", "type.mismatch", "'b'", "age is an int; this is a string",
     "leave out the quotes"),
    ("age between 1 and 'b'", "type.mismatch", "'b'", "age is an int; this is a string",
     "leave out the quotes"),
    ("segments any of (1, 'x')", "type.mismatch", "'x'",
     "segments is an int list, its elements are ints; this is a string", "leave out the quotes"),
    ("country", "type.bare", "country", "country is a string; only a bool can stand alone",
     "compare it with a value, or ask whether it is null"),
    ("not age", "type.bare", "age", "age is an int; only a bool can stand alone",
     "compare it with a value, or ask whether it is null"),
    ("segments = 1", "type.operator", "=", "= does not work on segments, which is an int list",
     "use any of"),
    ("segments in (1)", "type.operator", "in", "in does not work on segments, which is an int list",
     "use any of"),
    ("segments not in (1)", "type.operator", "not in",
     "not in does not work on segments, which is an int list", "use none of"),
    ("segments > 1", "type.operator", ">", "> does not work on segments, which is an int list",
     None),
    ("age any of (1)", "type.operator", "any of", "any of does not work on age, which is an int",
     "use in"),
    ("age none of (1)", "type.operator", "none of",
     "none of does not work on age, which is an int", "use not in"),
    ("age is empty", "type.operator", "is empty", "is empty does not work on age, which is an int",
     "use is null"),
    ("age starts with 'a'", "type.operator", "starts with",
     "starts with does not work on age, which is an int", None),
    ("tags contains 'a'", "type.operator", "contains",
     "contains does not work on tags, which is a string list", "use any of"),
    ("vip > true", "type.operator", ">", "> does not work on vip, which is a bool", None),
    ("vip between false and true", "type.operator", "between",
     "between does not work on vip, which is a bool", None),
    # Operands.
    ("age in ()", "set.empty", "()", "the set after in is empty", None),
    ("segments all of ()", "set.empty", "()", "the set after all of is empty", None),
    ("age between 3 and 1", "range.reversed", "between 3 and 1",
     "the bounds of between are reversed: the first must not be above the second", "swap them"),
    ("country between 'b' and 'a'", "range.reversed", "between 'b' and 'a'",
     "the bounds of between are reversed: the first must not be above the second", "swap them"),
    ("age not between 3 and 1", "range.reversed", "not between 3 and 1",
     "the bounds of not between are reversed: the first must not be above the second",
     "swap them"),
    ("vip not between false and true", "type.operator", "not between",
     "not between does not work on vip, which is a bool", None),
    ("age not between 1 and 'b'", "type.mismatch", "'b'", "age is an int; this is a string",
     "leave out the quotes"),
    ("country starts with ''", "pattern.empty", "''",
     "the text after starts with is empty, which every string would satisfy",
     "use is not null to ask for any value"),
    ("country ends with ''", "pattern.empty", "''",
     "the text after ends with is empty, which every string would satisfy",
     "use is not null to ask for any value"),
    ("country contains ''", "pattern.empty", "''",
     "the text after contains is empty, which every string would satisfy",
     "use is not null to ask for any value"),
    ("age = 9223372036854775808", "value.int_range", "9223372036854775808",
     "9223372036854775808 does not fit in 64 bits", None),
    ("age = -9223372036854775809", "value.int_range", "-9223372036854775809",
     "-9223372036854775809 does not fit in 64 bits", None),
    ("price = 9007199254740993", "value.inexact", "9007199254740993",
     "a double cannot hold 9007199254740993 exactly", None),
    ("price = 1e309", "value.not_finite", "1e309", "NaN and infinities are not allowed", None),
    ("price = -1e309", "value.not_finite", "-1e309", "NaN and infinities are not allowed", None),
    ("price = nan", "syntax.unexpected", "nan", "expected a value, found nan",
     "put quotes around strings: 'nan'"),
    ("country = 'a\0b'", "value.nul", "\0", "the NUL character is not allowed", None),
    ("country = '\ud800'", "value.surrogate", "\ud800", "a lone surrogate is not text", None),
    # Limits.
    ("age in (1, 2, 2, 2)", "limit.set_values", "(1, 2, 2, 2)",
     "the set has 4 values; at most 3 are allowed", None),
    ("vip and vip and vip and vip", "limit.predicates", "vip",
     "the expression has more than 3 predicates", None),
    ("((((vip))))", "limit.depth", "(", "the expression is nested deeper than 3 levels",
     "chains of and, or and xor need no parentheses"),
    ("not not not not vip", "limit.depth", "not", "the expression is nested deeper than 3 levels",
     "chains of and, or and xor need no parentheses"),
    ("not (not (vip))", "limit.depth", "(", "the expression is nested deeper than 3 levels",
     "chains of and, or and xor need no parentheses"),
    ("vip" + " " * 198, "limit.text", "", "the expression has 201 bytes; at most 200 are allowed",
     None),
    ("country = '" + "é" * 100 + "'", "limit.text", "",
     "the expression has 212 bytes; at most 200 are allowed", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words", "message", "hint"), BROKEN)
def test_a_broken_expression_says_what_and_where(
    text: str, code: str, words: str, message: str, hint: str | None
) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA, SMALL)
    error = caught.value
    assert (error.code, error.message, error.hint) == (code, message, hint)
    assert text[error.start : error.end] == words
    assert error.render() == str(error)


def test_the_expressions_above_are_distinct_and_many() -> None:
    assert len({text for text, *_ in BROKEN}) == len(BROKEN) >= 60


def test_the_caret_stands_below_the_words_with_line_and_column() -> None:
    text = "country = 'US'\n  and\tage = 'old' -- really\n  and vip"
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA)
    assert (caught.value.line, caught.value.column) == (2, 13)
    assert str(caught.value) == (
        "line 2, column 13: age is an int; this is a string\n"
        "2 |   and\tage = 'old' -- really\n"
        "  |      \t      ^^^^^\n"
        "hint: leave out the quotes"
    )


def test_wide_characters_push_the_caret_further() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("country = '日本' and age = 'x'", SCHEMA)
    line, caret = str(caught.value).split("\n")[1:3]
    assert caret.index("^") == line.index("'x'") + 2


def test_a_long_line_is_cut_around_the_error() -> None:
    text = " and ".join(["vip"] * 100) + " and age = 'x' and " + " and ".join(["vip"] * 100)
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA)
    line, caret = str(caught.value).split("\n")[1:3]
    assert len(line) < 120
    assert line[caret.index("^") :].startswith("'x'")


def test_an_error_on_the_last_line_end_points_behind_it() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("vip and\n", SCHEMA)
    assert (caught.value.line, caught.value.column) == (2, 1)


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "not " * 100_000, "vip and (" * 50_000, "(" * 100_000 + "vip" + ")" * 100_000],
)
def test_deep_nesting_is_an_error_not_a_crash(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA, Limits(text_bytes=1_000_000))
    assert caught.value.code == "limit.depth"


def test_a_number_of_endless_digits_is_an_error_not_a_crash() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("age = " + "9" * 50_000, SCHEMA)
    assert caught.value.code == "value.too_long"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "attribute.name"),
        ("a\nb", "attribute.name"),
        ("a\0b", "attribute.name"),
        ("a\ud800", "attribute.name"),
        ("x" * 129, "attribute.name"),
        (7, "attribute.name"),
        ("and", "attribute.keyword"),
        ("Null", "attribute.keyword"),
    ],
)
def test_what_is_no_name_is_refused(name: str, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Attribute(name, "int")
    assert caught.value.code == code


def test_a_schema_refuses_unknown_types_and_repeated_names() -> None:
    with pytest.raises(SchemaError, match="must be one of bool, int, float, string, int list"):
        Attribute("a", "integer")
    with pytest.raises(SchemaError, match="declared twice") as caught:
        Schema([Attribute("a", "int"), Attribute("b", "int"), Attribute("a", Type.BOOL)])
    assert (caught.value.code, caught.value.index) == ("attribute.repeated", 2)


def test_limits_must_make_sense() -> None:
    with pytest.raises(ValueError, match="depth must be at most 64"):
        Limits(depth=65)
    with pytest.raises(ValueError, match="predicates must be at least 1"):
        Limits(predicates=0)
