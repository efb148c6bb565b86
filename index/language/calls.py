"""Calls: the result of a registered operator, in the place of an attribute.

    call brand_safety(site.page) >= 0.8

A predicate on a call has `call brand_safety(site.page)` for its attribute, spelt like this, and the
operator's result for its type. An event never has it: whoever makes the calls adds the results. As
with any attribute, without a result the predicate is unknown.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from index.language.names import CALL
from index.language.predicate import Predicate
from index.language.tree import Tree, predicates_of
from index.language.types import Type

RESULTS = (Type.BOOL, Type.INT, Type.FLOAT, Type.STRING)
"""The types of results."""

_CALL = re.compile(r"call ([A-Za-z_][A-Za-z0-9_]*)\(([^()]+)\)")


@dataclass(frozen=True, slots=True)
class Operator:
    """What a schema knows of a registered operator."""

    name: str
    arguments: tuple[Type, ...]
    result: Type


@dataclass(frozen=True, slots=True)
class Call:
    """An operator and the names of the attributes that it gets."""

    operator: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{CALL}{self.operator}({', '.join(self.arguments)})"


@lru_cache(maxsize=10_000)
def call_of(name: str) -> Call | None:
    """The call that an attribute's name in a predicate stands for, if it is one."""
    found = _CALL.fullmatch(name)
    return None if found is None else Call(found[1], tuple(found[2].split(", ")))


def is_call(predicate: Predicate) -> bool:
    """Whether a predicate is about the result of a call."""
    return predicate.attribute.startswith(CALL)


def calls_of(tree: Tree) -> dict[str, Call]:
    """The calls in a tree, by their spelling."""
    names = {each.attribute: None for each in predicates_of(tree) if is_call(each)}
    return {name: call for name in names if (call := call_of(name)) is not None}


def attributes_of(tree: Tree) -> set[str]:
    """The attributes of an event that a tree depends on: also those that calls get."""
    names: set[str] = set()
    for name in {each.attribute for each in predicates_of(tree)}:
        call = call_of(name)
        names.update((name,) if call is None else call.arguments)
    return names
