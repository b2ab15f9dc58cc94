"""atom and red: read, change and write in one go. Threads that meet at one place take turns, in the order of their
numbers; every other order would be as good."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..access import Target, elements, space_of
from ..errors import UnknownInstruction
from ..floats import FORMATS, flush, narrow, widen
from ..geometry import Mask, Step
from ..memory import Piece
from ..ptx import Instruction, Operand
from ..registry import emulates
from ..state import MachineState
from ..types import TYPES, UNSIGNED, Array, Type, types_of
from .loads import check_hints, values_of

__all__: list[str] = []

_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
_INTEGER: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
Change = Callable[[Any, Any, Any], Any]


@emulates("atom", "red")
def atomic(machine: MachineState, i: Instruction) -> Step:
    if "async" in i.modifiers:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    check_hints(i, "noftz", "v2", "v4", "v8", *_OPERATIONS)
    name = next((m for m in i.modifiers if m in _OPERATIONS), None)
    if name is None:
        raise UnknownInstruction(f"{i.name} has no operation", i)
    type_ = types_of(i.modifiers)[-1]
    operands: list[Operand] = list(i.operands)
    results = values_of(operands.pop(0)) if i.opcode == "atom" else ()
    if type_.bits == 128:
        return atomic128(machine, i, name, results[0], operands)
    if len(operands) < (3 if name == "cas" else 2):
        raise UnknownInstruction(f"{i.name} with {len(i.operands)} operands", i)
    seen = TYPES[f"b{type_.bits}"] if type_.kind == "b" or type_.element or type_.kind == "f" else type_
    sources = [machine.read(o, seen, i) for o in values_of(operands[1])]
    others = [machine.read(o, seen, i) for o in values_of(operands[2])] if name == "cas" else [None]
    rows = [machine.write(r, seen, i) for r in results if r is not None]
    size = type_.bytes * len(sources)
    target = Target(machine, operands[0], space_of(i), size, i, write=True)
    change = change_of(name, type_, target, i)
    # Where nobody asks for the old value, NumPy's own functions add up; they are exact for integers in any order.
    ufunc = _INTEGER.get(name) if type_.kind in "bus" and not type_.element and not rows else None

    def run(mask: Mask) -> None:
        for piece in target.pieces(mask):
            view, at = elements(piece, seen.dtype)
            machine.shared_memory_changes(piece, view, at, size, i)
            for n, source in enumerate(sources):
                b = np.broadcast_to(source, machine.threads)[piece.lanes]
                if ufunc is not None:
                    ufunc.at(view, at + n, b)
                    continue
                c = None if others[0] is None else np.broadcast_to(others[0], machine.threads)[piece.lanes]
                old = in_turns(view, at + n, b, c, change)
                if rows:
                    rows[n][piece.lanes] = old

    return run


def in_turns(view: Array, at: Array, b: Array, c: Array | None, change: Change) -> Array:
    """view[at] = change(view[at], b, c), one access after the other where several go to one place; the old values."""
    order = np.argsort(at, kind="stable")
    places = at[order]
    first = np.ones(len(places), bool)
    first[1:] = places[1:] != places[:-1]
    if first.all():
        old = view[at]
        view[at] = change(old, b, c)
        return old
    starts = np.nonzero(first)[0]
    turn = np.arange(len(places)) - np.repeat(starts, np.diff(np.append(starts, len(places))))
    old = np.empty(len(at), view.dtype)
    by_turn = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(turn[by_turn], np.arange(int(turn.max()) + 2))
    for low, high in pairwise(bounds):
        some = order[by_turn[low:high]]
        here = at[some]
        old[some] = view[here]
        view[here] = change(old[some], b[some], None if c is None else c[some])
    return old


def change_of(name: str, type_: Type, target: Target, i: Instruction) -> Change:
    """The function that makes the new value from the old one and the operands."""
    if name == "exch":
        return lambda old, b, c: b
    if name == "cas":
        return lambda old, b, c: np.where(old == b, c, old)
    if name == "inc":
        return lambda old, b, c: np.where(old >= b, old.dtype.type(0), old + old.dtype.type(1))
    if name == "dec":
        return lambda old, b, c: np.where((old == 0) | (old > b), b, old - old.dtype.type(1))
    if type_.kind == "f":
        return change_of_floats(name, type_, target, i)
    function = _INTEGER[name]
    return lambda old, b, c: function(old, b)


def change_of_floats(name: str, type_: Type, target: Target, i: Instruction) -> Change:
    """add, min and max of floating-point numbers; f32 in global memory flushes subnormal numbers."""
    element = type_.element or type_.name
    part = TYPES[element]
    if name not in ("add", "min", "max"):
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    flushing = element == "f32" and name == "add" and target.space != "shared"

    def numbers(bits: Array) -> Array:
        bits = np.ascontiguousarray(bits)
        if element in ("f32", "f64"):
            return bits.view(part.dtype)
        return widen(element, bits.view(UNSIGNED[part.bits]))

    def change(old: Array, b: Array, c: Any) -> Array:
        x, y = numbers(old), numbers(b)
        if flushing:
            x, y = flush(x), flush(y)
        if name == "add":
            result = x + y
        else:
            result = np.where(np.isnan(x) | (np.less(y, x) if name == "min" else np.greater(y, x)), y, x)
        bits = narrow(element, flush(result) if flushing else result)
        return np.ascontiguousarray(bits.astype(UNSIGNED[FORMATS[element].bits])).view(old.dtype)

    return change


def atomic128(machine: MachineState, i: Instruction, name: str, result: Operand, operands: list[Operand]) -> Step:
    """exch and cas of 128 bits."""
    type_ = TYPES["b128"]
    if name not in ("exch", "cas"):
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    sources = [machine.read(o, type_, i) for o in operands[1 : 3 if name == "cas" else 2]]
    row = machine.write(result, type_, i)
    target = Target(machine, operands[0], space_of(i), 16, i, write=True)

    def one(piece: Piece, view: Array, at: Array, n: int) -> None:
        thread, k = int(piece.lanes[n]), int(at[n])
        old = view[k : k + 2].copy()
        new = sources[-1][thread]
        if name == "exch" or np.array_equal(old, sources[0][thread]):
            view[k : k + 2] = new
        row[thread] = old

    def run(mask: Mask) -> None:
        for piece in target.pieces(mask):
            view, at = elements(piece, UNSIGNED[64])
            machine.shared_memory_changes(piece, view, at, 16, i)
            for n in range(len(at)):
                one(piece, view, at, n)

    return run
