"""Comparisons and selections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnknownInstruction
from ..floats import flush, widen
from ..geometry import Step
from ..ptx import Instruction, Pair
from ..registry import emulates
from ..state import MachineState
from ..steps import assign, only, packed, packed_target
from ..types import TYPES, UNSIGNED, Array, Type, types_of

__all__: list[str] = []

_ORDERED: dict[str, Any] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_FLOAT = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
_COMBINE: dict[str, Any] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
_COMPARISONS = (*_ORDERED, *_UNSIGNED_NAMES, *_FLOAT, "num", "nan")


def comparison(machine: MachineState, i: Instruction, type_: Type, first: int) -> Callable[[], Array]:
    """The function that compares two operands, from number `first` on."""
    name = next((m for m in i.modifiers if m in _COMPARISONS), None)
    if name is None:
        raise UnknownInstruction(f"{i.name} has no comparison", i)
    a, b = (packed(machine, o, type_, i) for o in i.operands[first : first + 2])
    if type_.kind != "f":
        function = _ORDERED[_UNSIGNED_NAMES.get(name, name)]
        if isinstance(a, np.generic) and isinstance(b, np.generic):
            return lambda: np.full(machine.threads, function(a, b))
        return lambda: function(a, b)
    return float_comparison(name, a, b, type_.element or type_.name, "ftz" in i.modifiers)


def float_comparison(name: str, a: Any, b: Any, element: str, ftz: bool) -> Callable[[], Array]:
    """Comparisons are false if an operand is NaN; those that end with u are true then."""

    def values() -> tuple[Any, Any]:
        x, y = widen(element, np.atleast_1d(a)), widen(element, np.atleast_1d(b))
        return (flush(x), flush(y)) if ftz and element != "f16" else (x, y)

    if name in ("num", "nan"):

        def whether() -> Array:
            x, y = values()
            either = np.isnan(x) | np.isnan(y)
            return ~either if name == "num" else either

        return whether
    if name in _FLOAT:
        function = _ORDERED[_FLOAT[name]]

        def unordered() -> Array:
            x, y = values()
            return function(x, y) | np.isnan(x) | np.isnan(y)

        return unordered
    function = _ORDERED[name]
    if name == "ne":

        def differ() -> Array:
            x, y = values()
            return np.not_equal(x, y) & ~np.isnan(x) & ~np.isnan(y)

        return differ
    if element in ("f32", "f64") and not ftz and isinstance(a, np.ndarray):
        return lambda: function(a, b)
    return lambda: function(*values())


@emulates("setp")
def set_predicate(machine: MachineState, i: Instruction) -> Step:
    """p = comparison, perhaps combined with another predicate; p|q: q has the opposite, or p of the upper half."""
    only(i, "ftz", *_COMPARISONS, *_COMBINE)
    (type_,) = types_of(i.modifiers)
    compare = comparison(machine, i, type_, 1)
    out = i.operands[0]
    first = machine.write(out.first if isinstance(out, Pair) else out, TYPES["pred"], i)
    second = machine.write(out.second, TYPES["pred"], i) if isinstance(out, Pair) else None
    combine = next((_COMBINE[m] for m in i.modifiers if m in _COMBINE), None)
    other = machine.predicate(i.operands[3], i) if combine is not None else None

    def combined(value: Array) -> Array:
        return value if combine is None or other is None else combine(value, other())

    if second is None and combine is None and not type_.element:
        return assign(first, compare)

    def run(mask: Any) -> None:
        value = compare()
        if type_.element:
            low, high = combined(value[:, 0]), combined(value[:, 1])
        else:
            low, high = combined(value), combined(~value)
        np.copyto(first, low, where=mask)
        if second is not None:
            np.copyto(second, high, where=mask)

    return run


@emulates("set")
def set_register(machine: MachineState, i: Instruction) -> Step:
    """All ones (or 1.0) where the comparison holds, else 0."""
    only(i, "ftz", *_COMPARISONS, *_COMBINE)
    result, type_ = types_of(i.modifiers)
    compare = comparison(machine, i, type_, 1)
    target = packed_target(machine, i.operands[0], result, i)
    combine = next((_COMBINE[m] for m in i.modifiers if m in _COMBINE), None)
    other = machine.predicate(i.operands[3], i) if combine is not None else None
    ones = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(result.element or result.name, -1)
    bits = 16 if result.element else result.bits
    raw = target.view(UNSIGNED[bits])
    true = UNSIGNED[bits].type(ones & ((1 << bits) - 1))

    def value() -> Array:
        holds = compare()
        if combine is not None and other is not None:
            holds = combine(holds, other() if holds.ndim == 1 else other()[:, None])
        return np.where(holds, true, UNSIGNED[bits].type(0))

    return assign(raw, value)


@emulates("selp")
def select(machine: MachineState, i: Instruction) -> Step:
    """a where the predicate holds, else b"""
    only(i)
    (type_,) = types_of(i.modifiers)
    target = machine.write(i.operands[0], type_, i)
    a, b = (machine.read(o, type_, i) for o in i.operands[1:3])
    predicate = machine.predicate(i.operands[3], i)
    return assign(target, lambda: np.where(predicate(), a, b))


@emulates("slct")
def select_by_sign(machine: MachineState, i: Instruction) -> Step:
    """a where c is not negative, else b; NaN selects b"""
    only(i, "ftz")
    type_, condition = types_of(i.modifiers)
    target = machine.write(i.operands[0], type_, i)
    a, b = (machine.read(o, type_, i) for o in i.operands[1:3])
    c = machine.read(i.operands[3], condition, i)
    return assign(target, lambda: np.where(np.greater_equal(c, 0), a, b))
