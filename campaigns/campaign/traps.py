"""Traps: targeting that is valid, and probably does not say what was meant.

code              example                                 why
text_version      app.version >= '9'                      text: '10' is below '9'
often_missing     site.domain not in ('bad.example')      apps have no site, and do not match
unlisted_value    country = 'USA'                         requests have 'US'
unseen_value      geo.city = 'Atlantis'                   no request of the statistics had it
mixed_clocks      now.weekday = 1 and local.hour > 17     UTC, and where the user is
sql_wildcard      site.domain like '%.news'               * and ? are the wildcards
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from campaigns.catalogue.knowledge import Knowledge
from index.language import (
    ExpressionWarning,
    Not,
    Op,
    Predicate,
    Tree,
    Type,
    WrittenPredicate,
    Xor,
    children_of,
)
from index.language.derived import Bucket, Folded
from index.language.folding import fold
from index.language.names import written_name
from index.language.predicate import print_value

MOST = 20
"""A set can have 100,000 wrong values; the first warnings are enough to correct them."""

_ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE, Op.BETWEEN, Op.NOT_BETWEEN})
_EQUALS = frozenset({Op.EQ, Op.IN, Op.ANY_OF, Op.ALL_OF})
_EXCLUDES = frozenset({Op.NE, Op.NOT_IN, Op.NONE_OF, Op.NOT_IN_NETWORK})
_INCLUDES = frozenset({Op.EQ, Op.IN, Op.ANY_OF, Op.IN_NETWORK})

_DOTTED = re.compile(r"v?[0-9]+(\.[0-9]+)+", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"v?[0-9]+", re.ASCII | re.IGNORECASE)

_LOCAL = {"now.hour": "local.hour", "now.weekday": "local.weekday"}


def traps_in(
    text: str, tree: Tree, written: Sequence[WrittenPredicate], knowledge: Knowledge
) -> list[ExpressionWarning]:
    """The first traps of an expression, in the order of their kinds; `written` are its predicates
    from left to right."""
    return list(islice(_traps(text, tree, written, knowledge), MOST))


def _traps(
    text: str, tree: Tree, written: Sequence[WrittenPredicate], knowledge: Knowledge
) -> Iterator[ExpressionWarning]:
    for each in written:
        yield from _text_version(each)
        yield from _sql_wildcard(text, each)
    yield from _mixed_clocks(text, written)
    yield from _often_missing(text, tree, written, knowledge)
    for each in written:
        yield from _wrong_values(each, knowledge)


def _text_version(written: WrittenPredicate) -> Iterator[ExpressionWarning]:
    predicate = written.predicate
    if predicate.type is not Type.STRING or predicate.op not in _ORDERED:
        return
    name = predicate.attribute
    pattern = _NUMBER if "version" in name.lower() else _DOTTED
    values = [str(value) for value in predicate.values]
    if any(_DOTTED.fullmatch(value) or pattern.fullmatch(value) for value in values):
        yield ExpressionWarning(
            "text_version",
            f"{name} is text and compares letter by letter: '10' is below '9'",
            written.span,
            f"change the type of {name} to version in the catalogue",
        )


def _sql_wildcard(text: str, written: WrittenPredicate) -> Iterator[ExpressionWarning]:
    for value, (start, end) in written.values():
        before = text[written.name_span[1] : start].strip().lower()
        if before == "like" and "%" in str(value):
            yield ExpressionWarning(
                "sql_wildcard",
                "% is an ordinary character here; the wildcards of like are * and ?",
                (start, end),
                "write * for any text",
                text[start:end].replace("%", "*"),
            )


def _mixed_clocks(text: str, written: Sequence[WrittenPredicate]) -> Iterator[ExpressionWarning]:
    names = {each.predicate.attribute for each in written}
    local = sorted(names.intersection(_LOCAL.values()))
    if not local:
        return
    for each in written:
        name = each.predicate.attribute
        if name in _LOCAL:
            (start, end), (name_start, name_end) = each.span, each.name_span
            yield ExpressionWarning(
                "mixed_clocks",
                f"{name} is in UTC, and {local[0]} is the clock of the user",
                each.span,
                f"use {_LOCAL[name]}",
                text[start:name_start] + _LOCAL[name] + text[name_end:end],
            )


def _often_missing(
    text: str, tree: Tree, written: Sequence[WrittenPredicate], knowledge: Knowledge
) -> Iterator[ExpressionWarning]:
    """An exclusion of values is unknown where there is no value, so such requests do not match. No
    warning if another condition wants the attribute, or asks whether it is there."""
    excluding = [
        (each, negated)
        for each, (predicate, negated) in zip(written, _signed(tree), strict=True)
        if negated is not None and predicate.op in (_INCLUDES if negated else _EXCLUDES)
    ]
    if not excluding:
        return
    excluded = {id(each) for each, _ in excluding}
    wanted = {each.predicate.attribute for each in written if id(each) not in excluded}
    for each, negated in excluding:
        name = each.predicate.attribute
        often = None if name in wanted else knowledge.often_missing(name)
        if often is None:
            continue
        start, end = each.span
        shown = written_name(name)
        more = f"and {shown} is not null" if negated else f"or {shown} is null"
        yield ExpressionWarning(
            "often_missing",
            f"{name} is missing {often}, and this does not match then",
            each.span,
            f"add {more}, if requests without {name} should match",
            f"({text[start:end]} {more})",
        )


def _signed(tree: Tree) -> Iterator[tuple[Predicate, bool | None]]:
    """Every predicate from left to right, and whether it is negated; None below an `xor`, where it
    is neither."""
    pending: list[tuple[Tree, bool | None]] = [(tree, False)]
    while pending:
        node, negated = pending.pop()
        if isinstance(node, Predicate):
            yield node, negated
            continue
        if isinstance(node, Xor):
            negated = None
        elif isinstance(node, Not) and negated is not None:
            negated = not negated
        pending.extend((child, negated) for child in reversed(children_of(node)))


def _wrong_values(written: WrittenPredicate, knowledge: Knowledge) -> Iterator[ExpressionWarning]:
    predicate = written.predicate
    if predicate.op not in _EQUALS and predicate.op not in _EXCLUDES:
        return
    if isinstance(predicate.derived, Bucket):
        return
    folds = isinstance(predicate.derived, Folded)
    name, element = predicate.attribute, predicate.type.element
    numbers = knowledge.numbers_of(name) if element is Type.INT else None
    words = element is Type.STRING and bool(knowledge.values_of(name))
    seen = knowledge.seen.get(name) if element in (Type.STRING, Type.INT) else None
    if predicate.op in _EXCLUDES or folds:
        seen = None  # what never occurs may well be excluded; folded values are not counted
    if numbers is None and not words and seen is None:
        return
    for value, span in written.values():
        if numbers is not None and value not in numbers:
            yield _outside(name, value, numbers, span)
        elif words and isinstance(value, str) and knowledge.is_unlisted(name, value):
            nearest = knowledge.nearest(name, value)
            if folds and nearest is not None and fold(nearest) == fold(value):
                continue
            yield ExpressionWarning(
                "unlisted_value",
                f"{name} does not have the value {_shown(value)}",
                span,
                f"write {print_value(nearest)}" if nearest else _some(knowledge.values_of(name)),
                print_value(nearest) if nearest else None,
            )
        elif seen is not None and seen.never(value):
            yield ExpressionWarning(
                "unseen_value",
                f"no request of {knowledge.days} had the value {_shown(value)} of {name}",
                span,
                "check how it is written",
            )


def _outside(name: str, value: object, numbers: range, span: tuple[int, int]) -> ExpressionWarning:
    """A number that the clock does not have: 24 o'clock is 0, and the day 0 is Sunday, 7."""
    around = {numbers.stop: numbers[0], numbers[0] - 1: numbers[-1]}.get(value)  # type: ignore[call-overload]
    return ExpressionWarning(
        "unlisted_value",
        f"{name} does not have the value {value}, only {numbers[0]} to {numbers[-1]}",
        span,
        f"write {around}" if around is not None else None,
        str(around) if around is not None else None,
    )


def _shown(value: object) -> str:
    shown = print_value(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def _some(words: Sequence[str]) -> str:
    more = ", …" if len(words) > 5 else ""
    return f"it has {', '.join(print_value(word) for word in words[:5])}{more}"
