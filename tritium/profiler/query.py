r"""Queries for paths of frames: which frames are on a path that a query matches.

As a text, in the part of hatchet's language (after Cypher) that profiles are asked in:

    MATCH ("*")->(".", p)->("*") WHERE p."name" =~ "matmul.*" AND p."time (ns)" > 1000 OR p IS LEAF

A path begins and ends anywhere. "." is one frame, "*" any number, "+" at least one, an integer so many. Conditions of
a name hold for each of its frames; AND binds more closely than OR. As a list: `["*", {"name": "matmul.*", "time (ns)":
"> 1000"}, (2, {"depth": "<= 3"})]`, where texts are regular expressions of the whole value, or comparisons.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..support import OptionError

__all__ = ["Query", "QueryError", "matching"]

Query = str | Sequence[Any]
Condition = Callable[[Any, Mapping[str, Any]], bool]  # of a frame and its cells

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


class QueryError(OptionError):
    """A query that is not understood."""


class _Step(NamedTuple):
    """One frame of a path, or any number of frames, and what holds for them."""

    repeated: bool
    holds: Condition


def matching(query: Query, roots: Sequence[Any], rows: Mapping[Any, Mapping[str, Any]]) -> set[Any]:
    """The frames on paths that `query` matches; QueryError for one that is not understood."""
    steps = _parse_text(query) if isinstance(query, str) else _parse_list(query)
    found: set[Any] = set()
    for root in roots:
        _search(root, steps, rows, frozenset(), found)
    return found


def _closed(steps: Sequence[_Step], at: int) -> set[int]:
    """The steps that a path may be at: repeated ones may be left at once."""
    found = {at}
    while at < len(steps) and steps[at].repeated:
        at += 1
        found.add(at)
    return found


def _search(
    node: Any, steps: Sequence[_Step], rows: Mapping[Any, Mapping[str, Any]], above: frozenset[int], found: set[Any]
) -> frozenset[int]:
    """Add the frames from `node` on that are on matching paths; the steps from which a path through it ends well.

    `above`: the steps that paths which end at the parent are at. A path may begin here.
    """
    cells = rows[node]
    after: dict[int, set[int]] = {}
    for at in above | _closed(steps, 0):
        if at < len(steps) and steps[at].holds(node, cells):
            after[at] = _closed(steps, at if steps[at].repeated else at + 1)
    reached = frozenset(at for targets in after.values() for at in targets)
    good = {len(steps)} | {at for child in node.children for at in _search(child, steps, rows, reached, found)}
    ending = frozenset(at for at, targets in after.items() if targets & good)
    if ending:
        found.add(node)
    return ending


# ---- lists -----------------------------------------------------------------------------------------------------------


def _always(node: Any, cells: Mapping[str, Any]) -> bool:
    return True


def _steps(quantifier: Any, holds: Condition) -> list[_Step]:
    """The steps of a quantifier: "." , "*", "+" or an integer."""
    if isinstance(quantifier, int):
        return [_Step(False, holds)] * quantifier
    known = {".": [_Step(False, holds)], "*": [_Step(True, holds)], "+": [_Step(False, holds), _Step(True, holds)]}
    if quantifier not in known:
        raise QueryError(f"a query has '.', '*', '+' or an integer where this one has {quantifier!r}")
    return known[quantifier]


def _parse_list(query: Sequence[Any]) -> list[_Step]:
    found: list[_Step] = []
    for part in query:
        quantifier, wanted = part if isinstance(part, tuple) else (part, None)
        if isinstance(quantifier, Mapping):
            quantifier, wanted = ".", quantifier
        found += _steps(quantifier, _always if wanted is None else _from_mapping(wanted))
    return found


def _from_mapping(wanted: Any) -> Condition:
    if callable(wanted):
        return lambda node, cells: bool(wanted(cells))
    conditions = [_from_value(name, value) for name, value in wanted.items()]
    return lambda node, cells: all(holds(node, cells) for holds in conditions)


def _from_value(name: str, wanted: Any) -> Condition:
    if not isinstance(wanted, str):
        return _compared(name, operator.eq, wanted)
    number = re.fullmatch(r"\s*(<=|>=|==|<|>)\s*(\S+)\s*", wanted)
    if number:
        return _compared(name, _COMPARISONS[number[1]], _number(number[2]))
    pattern = re.compile(wanted)
    return _of_text(name, lambda text: pattern.fullmatch(text) is not None)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise QueryError(f"{text!r} is no number") from None


def _value(name: str, node: Any, cells: Mapping[str, Any]) -> Any:
    return node.depth if name == "depth" else node.number if name == "node_id" else cells.get(name)


def _compared(name: str, compare: Callable[[Any, Any], bool], wanted: Any) -> Condition:
    def holds(node: Any, cells: Mapping[str, Any]) -> bool:
        value = _value(name, node, cells)
        return value is not None and isinstance(value, str) == isinstance(wanted, str) and compare(value, wanted)

    return holds


def _of_text(name: str, test: Callable[[str], bool]) -> Condition:
    def holds(node: Any, cells: Mapping[str, Any]) -> bool:
        value = _value(name, node, cells)
        return isinstance(value, str) and test(value)

    return holds


# ---- texts -----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>\w+)"""
    r"""|(?P<sign>->|=~|<=|>=|[=<>().,]))"""
)


class _Text:
    """The tokens of a query, and the place of the next one."""

    def __init__(self, query: str) -> None:
        self.query, self.tokens, at = query, [], 0
        stripped = query.rstrip()
        while at < len(stripped):
            found = _TOKEN.match(stripped, at)
            if found is None:
                raise QueryError(f"{stripped[at:].strip()!r} is not understood in the query {query!r}")
            kind = str(found.lastgroup)
            text = found[kind]
            self.tokens.append((kind, text[1:-1] if kind == "text" else text))
            at = found.end()

    def peek(self, *words: str) -> bool:
        """Whether these are the next tokens, none of them in quotes."""
        there = [text for kind, text in self.tokens[: len(words)] if kind != "text"]
        return there == list(words)

    def accept(self, *words: str) -> bool:
        """The same, and advance past them."""
        if not self.peek(*words):
            return False
        del self.tokens[: len(words)]
        return True

    def expect(self, word: str) -> None:
        """Skip `word`; QueryError if it is not next."""
        if not self.accept(word):
            raise self.error(f"{word!r}")

    def take(self, *kinds: str) -> tuple[str, str]:
        """The next token, QueryError if it is of another kind."""
        if not self.tokens or self.tokens[0][0] not in kinds:
            raise self.error(f"a {' or a '.join(kinds)}")
        return self.tokens.pop(0)

    def error(self, wanted: str) -> QueryError:
        """The syntax error at the next token."""
        found = repr(self.tokens[0][1]) if self.tokens else "the end"
        return QueryError(f"a query needs {wanted} where there is {found}: {self.query!r}")


def _parse_text(query: str) -> list[_Step]:
    text = _Text(query)
    text.expect("MATCH")
    parts = [_node(text)]
    while text.accept("->"):
        parts.append(_node(text))
    groups: dict[str, list[list[Condition]]] = {}
    if text.accept("WHERE"):
        _conditions(text, groups)
    if text.tokens:
        raise text.error("the end")
    unknown = set(groups) - {name for _, name in parts}
    if unknown:
        raise QueryError(f"the query names {', '.join(sorted(unknown))} in WHERE alone: {query!r}")
    return [step for quantifier, name in parts for step in _steps(quantifier, _any_group(groups.get(name)))]


def _node(text: _Text) -> tuple[Any, str]:
    """A part of the path: its quantifier, "." without one, and its name, "" without one."""
    text.expect("(")
    kind, found = text.take("text", "number", "word")
    quantifier: Any = "." if kind == "word" else int(found) if kind == "number" else found
    name = found if kind == "word" else text.take("word")[1] if text.accept(",") else ""
    text.expect(")")
    return quantifier, name


def _any_group(groups: list[list[Condition]] | None) -> Condition:
    if groups is None:
        return _always
    return lambda node, cells: any(all(holds(node, cells) for holds in group) for group in groups)


def _conditions(text: _Text, groups: dict[str, list[list[Condition]]]) -> None:
    """Conditions by name; those joined by AND are a group, of which one has to hold."""
    joined = ""
    while True:
        negated = text.accept("NOT")
        name, holds = _condition(text)
        own = groups.setdefault(name, [[]])
        if joined == "OR":
            own.append([])
        own[-1].append(_negated(holds) if negated else holds)
        joined = next((word for word in ("AND", "OR") if text.accept(word)), "")
        if not joined:
            return


def _negated(holds: Condition) -> Condition:
    return lambda node, cells: not holds(node, cells)


def _swapped(compare: Callable[[str, str], bool], wanted: str, value: str) -> bool:
    return compare(value, wanted)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "NONE": lambda value: value is None,
    "NAN": lambda value: isinstance(value, float) and math.isnan(value),
    "INF": lambda value: isinstance(value, float) and math.isinf(value),
}
_TEXT_TESTS: dict[tuple[str, ...], Callable[[str, str], bool]] = {
    ("STARTS", "WITH"): str.startswith,
    ("ENDS", "WITH"): str.endswith,
    ("CONTAINS",): lambda value, wanted: wanted in value,
    ("=~",): lambda value, wanted: re.match(wanted, value) is not None,
}


def _condition(text: _Text) -> tuple[str, Condition]:
    name = text.take("word")[1]
    if text.accept("IS"):
        negated = text.accept("NOT")
        text.expect("LEAF")
        return name, lambda node, cells: bool(node.children) == negated
    text.expect(".")
    metric = text.take("text")[1]
    if text.accept("IS"):
        negated = text.accept("NOT")
        test = _KINDS.get(text.take("word")[1])
        if test is None:
            raise text.error("NONE, NAN or INF")
        return name, lambda node, cells: test(_value(metric, node, cells)) != negated
    for words, compare in _TEXT_TESTS.items():
        if text.accept(*words):
            return name, _of_text(metric, partial(_swapped, compare, text.take("text")[1]))
    sign = text.take("sign")[1]
    if sign not in _COMPARISONS:
        raise text.error("a comparison")
    kind, value = text.take("number", "text")
    return name, _compared(metric, _COMPARISONS[sign], value if kind == "text" else float(value))
