"""The array arguments that a kernel writes: always, whatever their values, or possibly.

    tt.store %p, %x              // always writes the array of %p
    tt.store %p, %x, %mask       // possibly: the mask may be false everywhere
    scf.if %c { tt.store ... }   // possibly
    %r = arith.select %c, %p, %o // a store to %r: possibly writes the array of %p, possibly that of %o
    %q = tt.load %table          // a store to %q: possibly writes any array

A launch refuses read-only arrays that are always written. For those that are possibly written it runs code that checks
each store (`ttc.check_writable`), so that a program that writes nothing is not refused, and no forbidden write happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..dialects import arith, tt
from ..dialects.tt_types import TensorDescType
from ..ir import (
    WRITE,
    BlockArgument,
    Memory,
    MemoryAccess,
    PointerAccess,
    Value,
    accessed_values,
    element_type,
    predecessor_operands,
)
from .dataflow import reachable

__all__ = ["WrittenArguments", "arguments_of", "written_arguments"]


class WrittenArguments(NamedTuple):
    """Indices among a kernel's arrays: those that it `always` writes, and the others that it `possibly` writes."""

    always: list[int]
    possibly: list[int]


class _Written(NamedTuple):
    """Arguments of one function whose arrays are written. None among `possibly` stands for all memory."""

    always: set[Value]
    possibly: set[Value | None]


def written_arguments(module: Any) -> WrittenArguments:
    """The arrays that the kernel of a `ttir` module writes, itself or in functions that it calls, in order.

    An array is an argument that is a pointer or a tensor descriptor; others do not count.
    """
    functions = {op.sym_name: op for op in module.body if isinstance(op, tt.Func)}
    kernels = [op for op in functions.values() if op.sym_visibility == "public"]
    if len(kernels) != 1:
        return WrittenArguments([], [])
    written = _written_by(kernels[0], functions, {})
    arrays = [arg for arg in kernels[0].entry.args if _is_address(arg)]
    always = [i for i, arg in enumerate(arrays) if arg in written.always]
    anywhere = None in written.possibly
    possibly = [i for i, arg in enumerate(arrays) if i not in always and (anywhere or arg in written.possibly)]
    return WrittenArguments(always, possibly)


def _written_by(function: Any, functions: dict[str, Any], known: dict[str, _Written]) -> _Written:
    """What a function writes, memoized in `known`. (A recursive call adds nothing to what its function writes.)"""
    if function.sym_name in known:
        return known[function.sym_name]
    written = known[function.sym_name] = _Written(set(), set())
    for op in () if function.is_declaration else function.walk():
        unconditional = op.parent is function.entry
        for address, certain in _written_addresses(op, functions, known):
            found = {None} if address is None else arguments_of(address)
            written.possibly.update(found)
            if certain and unconditional and len(found) == 1:
                written.always.update(arg for arg in found if arg is not None)
    return written


def _written_addresses(
    op: Any, functions: dict[str, Any], known: dict[str, _Written]
) -> Iterator[tuple[Value | None, bool]]:
    """The addresses that an operation writes (None: any), and whether it does so whenever it runs."""
    for address in accessed_values(op, WRITE, Memory.GLOBAL):
        # by a descriptor, nothing is written where the block is out of bounds
        yield address, isinstance(op, PointerAccess) and op.access_mask is None
    if isinstance(op, tt.Call) and (callee := functions.get(op.callee)) is not None:
        written = _written_by(callee, functions, known)
        if None in written.possibly:
            yield None, False
        if written.possibly:
            for value, arg in zip(op.operands, callee.entry.args):
                if arg in written.possibly:
                    yield value, arg in written.always


def _is_address(value: Value) -> bool:
    ty = value.type
    return isinstance(ty, TensorDescType) or isinstance(element_type(ty), tt.PointerType)


def arguments_of(address: Value) -> set[Value | None]:
    """The function's arguments that an address may come from, and None if it may come from anywhere."""
    found: set[Value | None] = set()

    def origins(value: Value) -> Sequence[Value]:
        if isinstance(value, BlockArgument) and _is_argument(value):
            found.add(value)
            return ()
        known = _origins(value)
        if known is None:
            found.add(None)
        return known or ()

    reachable([address], origins)
    return found


def _is_argument(value: BlockArgument) -> bool:
    function: Any = value.owner.parent_op
    return isinstance(function, tt.Func) and value.owner is function.entry


def _origins(value: Value) -> list[Value] | None:
    """The addresses that an address is one of, or computed from; None where that is not known."""
    passed = predecessor_operands(value)
    if passed is not None:
        return [op.operands[i] for op, i in passed]
    op = value.defining_op
    if op is None or op.regions or isinstance(op, (MemoryAccess, tt.Call)):
        return None
    if isinstance(op, arith.Select):
        return [op.operands[1], op.operands[2]]
    addresses = [v for v in op.operands if _is_address(v)]
    return addresses if addresses or not op.operands else None  # a constant or an undefined value is no array
