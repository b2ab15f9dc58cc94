"""Whether a kernel may run for a launch: conditions on arguments and grid that the compiler wrote down.

`analysis/launch_conditions` describes the text. Expressions are evaluated as intervals, which contain the values of all
programs and iterations; a condition holds where it holds for the whole interval.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import TritiumError

__all__ = ["NEVER", "PLAIN", "LaunchPredicate", "OtherVersion", "allows"]

NEVER = "{'nodes':[['int',0]],'conditions':[['least',0,1]]}"
"""The predicate that no launch meets."""

PLAIN = {"raise_loads": False, "persistent": False, "launch_versions": False}
"""Options of the version of a kernel that any launch can run."""

Row = list[Any]
"""An expression or a condition: a name, and its operands."""

Interval = tuple[int, int]
Arguments = Mapping[int, int] | Sequence[int]
Grid = Sequence[int]

_KEPT = 1024  # results that are memoized, by the grid and the arguments that are no addresses


class _Apart(NamedTuple):
    """Two ranges of bytes that may not overlap: from `low` to below `high`, relative to the address `base`."""

    base: int
    low: int
    high: int
    other: int
    other_low: int
    other_high: int

    def holds(self, arguments: Arguments) -> bool:
        """Whether they do not overlap."""
        one, other = arguments[self.base], arguments[self.other]
        return one + self.high <= other + self.other_low or other + self.other_high <= one + self.low


class LaunchPredicate:
    """`predicate(arguments, grid)`: whether the conditions of a text hold; `arguments` has the indices of those used.

    >>> text = '{"nodes":[["program",0],["sum",[64,0]],["arg",32,1],["below",1,2]],"conditions":[["multiple",2,64]]}'
    >>> LaunchPredicate(text)([0, 128], (4, 1, 1)), LaunchPredicate(text)([0, 100], (4, 1, 1))
    (True, False)
    """

    def __init__(self, text: str) -> None:
        made = json.loads(text.replace("'", '"'))
        self._nodes: list[Row] = made["nodes"]
        self._conditions: list[Row] = made["conditions"]
        self._known: dict[tuple[int, ...], tuple[_Apart, ...] | None] = {}
        self.arguments = sorted({node[2] for node in self._nodes if node[0] == "arg"})
        self._bases = _bases(self._nodes, self._conditions)
        bases = set(self._bases.values())
        self._others = [i for i in self.arguments if i not in bases]

    def __call__(self, arguments: Arguments, grid: Grid) -> bool:
        """Whether all conditions hold for a launch. An empty grid runs nothing, so that they do.

        What does not depend on addresses is memoized: new arrays cost a comparison for each pair of them.
        """
        key = (*grid, *(arguments[i] for i in self._others))
        found = self._known.get(key, ())
        if not found and key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[key] = self._relative(arguments, grid)
        return found is not None and all(condition.holds(arguments) for condition in found)

    def _relative(self, arguments: Arguments, grid: Grid) -> tuple[_Apart, ...] | None:
        """The conditions that are left of addresses; None where another one does not hold."""
        if min(grid) <= 0:
            return ()
        known = dict(enumerate(arguments)) if not isinstance(arguments, Mapping) else dict(arguments)
        for index in self._bases.values():
            known[index] = 0
        values, left = self._values(known, grid), []
        for condition in self._conditions:
            if condition[0] == "apart" and condition[1] in self._bases and condition[3] in self._bases:
                _, one, size, other, other_size = condition
                (low, high), (other_low, other_high) = values[one], values[other]
                bases = self._bases[one], self._bases[other]
                left.append(_Apart(bases[0], low, high + size, bases[1], other_low, other_high + other_size))
            elif not _CONDITIONS[condition[0]](condition, values):
                return None
        return tuple(left)

    def failed(self, arguments: Arguments, grid: Grid) -> Row | None:
        """The first condition that does not hold, with the intervals of its expressions; None without one."""
        values = self._values(arguments, grid)
        for condition in self._conditions:
            if not _CONDITIONS[condition[0]](condition, values):
                return [condition, *(values[i] for i in condition[1:2])]
        return None

    def _values(self, arguments: Arguments, grid: Grid) -> list[Interval]:
        values: list[Interval] = []
        for node in self._nodes:
            values.append(_NODES[node[0]](node, values, arguments, grid))
        return values


def _bases(nodes: Sequence[Row], conditions: Sequence[Row]) -> dict[int, int]:
    """The sums that are an address argument plus an offset, and which one: node -> index of the argument.

    Only sums that nothing but `apart` asks for, of arguments that are used in such sums alone.
    """
    apart = {n for condition in conditions if condition[0] == "apart" for n in (condition[1], condition[3])}
    asked = apart | {condition[1] for condition in conditions}
    apart -= {condition[1] for condition in conditions if condition[0] != "apart"}
    users = [(n, atom) for n, node in enumerate(nodes) for atom in _operands(node)]
    apart -= {atom for _, atom in users}
    found: dict[int, int] = {}
    for number, node in enumerate(nodes):
        if node[0] != "arg" or node[1] != 64 or number in asked:
            continue
        sums = {n for n, atom in users if atom == number}
        if sums <= apart and all(nodes[n].count([1, number]) == 1 and _mentions(nodes[n], number) == 1 for n in sums):
            for n in sums:
                found[n] = node[2]
    dropped: set[int] = set()
    for n in found:
        mentioned = [i for i in _addresses(nodes) if _mentions(nodes[n], i)]
        dropped.update(nodes[i][2] for i in mentioned if len(mentioned) > 1)
    while True:  # both sides of a condition are, or none
        found = {n: index for n, index in found.items() if index not in dropped}
        dropped = set()
        for condition in conditions:
            sides = [n for n in condition[1:4:2] if n in found] if condition[0] == "apart" else []
            if len(sides) == 1:
                dropped.add(found[sides[0]])
        if not dropped:
            return found


def _addresses(nodes: Sequence[Row]) -> list[int]:
    return [n for n, node in enumerate(nodes) if node[0] == "arg" and node[1] == 64]


def _mentions(node: Row, atom: int) -> int:
    """How often a sum has an operand."""
    return sum(term[1:].count(atom) for term in node[1:]) if node[0] == "sum" else 0


def _operands(node: Row) -> list[int]:
    """The nodes that an expression is made of."""
    if node[0] == "sum":
        return [atom for term in node[1:] for atom in term[1:]]
    if node[0] in ("int", "arg", "program", "programs", "index", "any"):
        return []
    return list(node[2:] if node[0] in _BINARY else node[1:])


class OtherVersion(TritiumError):
    """A version that is not compiled, since the launch cannot run it or it is slow; `predicate` says which ones can."""

    def __init__(self, predicate: str) -> None:
        super().__init__("the launch runs the other version of the kernel")
        self.predicate = predicate


def allows(text: str, launch: Mapping[str, Sequence[int]]) -> bool:
    """Whether a launch (`arguments`, and `grid`) may run a kernel with this predicate."""
    return LaunchPredicate(text)(launch["arguments"], launch["grid"])


# -- expressions ------------------------------------------------------------------------------------------------------


def _any(bits: int) -> Interval:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _wrapped(found: Interval, bits: int) -> Interval:
    """An interval of integers of `bits` bits (0: of any size)."""
    if not bits:
        return found
    low, high = _any(bits)
    return found if low <= found[0] and found[1] <= high else (low, high)


def _argument(node: Row, values: list[Interval], arguments: Arguments, grid: Grid) -> Interval:
    half = 1 << (node[1] - 1)
    value = (arguments[node[2]] + half & 2 * half - 1) - half
    return value, value


def _loop(node: Row, values: list[Interval], arguments: Arguments, grid: Grid) -> Interval:
    low, high = values[node[1]][0], values[node[2]][1] - 1
    return low, max(low, high)


def _times(a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _sum(node: Row, values: list[Interval], arguments: Arguments, grid: Grid) -> Interval:
    low = high = 0
    for number, *atoms in node[1:]:
        term = number, number
        for atom in atoms:
            term = _times(term, values[atom])
        low, high = low + term[0], high + term[1]
    return low, high


def _below(node: Row, values: list[Interval], arguments: Arguments, grid: Grid) -> Interval:
    (low, high), limit = values[node[1]], values[node[2]][1] - 1
    return min(low, limit), min(high, limit)


def _quotient(a: int, b: int) -> int:
    """a / b towards zero."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


def _divided(a: Interval, b: Interval) -> Interval:
    """Division by 0 is undefined, so that the divisor is another number."""
    divisors = [n for n in (b[0], b[1], -1, 1) if n and b[0] <= n <= b[1]]
    if not divisors:
        return 0, 0
    ends = [_quotient(x, n) for x in a for n in divisors]
    return min(ends), max(ends)


def _remainder(a: Interval, b: Interval) -> Interval:
    """The sign is that of the dividend; the size is below that of the divisor, and at most that of the dividend."""
    most = max(abs(b[0]), abs(b[1])) - 1
    least = 0 if b[0] <= 0 <= b[1] else min(abs(b[0]), abs(b[1]))
    if a[0] >= 0 and a[1] < least:
        return a
    return (max(a[0], -most) if a[0] < 0 else 0), (min(a[1], most) if a[1] > 0 else 0)


_BINARY: dict[str, Callable[[Interval, Interval], Interval]] = {
    "div": _divided,
    "rem": _remainder,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}


def _binary(node: Row, values: list[Interval], arguments: Arguments, grid: Grid) -> Interval:
    return _wrapped(_BINARY[node[0]](values[node[2]], values[node[3]]), node[1])


_NODES: dict[str, Callable[[Row, list[Interval], Arguments, Grid], Interval]] = {
    "int": lambda node, *_: (node[1], node[1]),
    "arg": _argument,
    "program": lambda node, values, arguments, grid: (0, grid[node[1]] - 1),
    "programs": lambda node, values, arguments, grid: (grid[node[1]], grid[node[1]]),
    "loop": _loop,
    "index": lambda node, *_: (0, node[1] - 1),
    "sum": _sum,
    **dict.fromkeys(_BINARY, _binary),
    "either": lambda node, values, *_: (
        min(values[node[1]][0], values[node[2]][0]),
        max(values[node[1]][1], values[node[2]][1]),
    ),
    "below": _below,
    "any": lambda node, *_: _any(node[1]),
}


# -- conditions -------------------------------------------------------------------------------------------------------


def _fits(condition: Row, values: list[Interval]) -> bool:
    (low, high), (least, most) = values[condition[1]], _any(condition[2])
    return least <= low and high <= most


def _is_multiple(condition: Row, values: list[Interval]) -> bool:
    low, high = values[condition[1]]
    return low == high > 0 and low % condition[2] == 0


def _are_apart(condition: Row, values: list[Interval]) -> bool:
    _, one, size, other, other_size = condition
    return values[one][1] + size <= values[other][0] or values[other][1] + other_size <= values[one][0]


_CONDITIONS: dict[str, Callable[[Row, list[Interval]], bool]] = {
    "fits": _fits,
    "least": lambda condition, values: values[condition[1]][0] >= condition[2],
    "multiple": _is_multiple,
    "apart": _are_apart,
}
