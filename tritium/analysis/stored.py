"""Which arrays a kernel stores to: surely, whatever its arguments are, or perhaps.

    tt.store %p, %x              // surely into the array of %p
    tt.store %p, %x, %mask       // perhaps: the mask may be false everywhere
    scf.if %c { tt.store ... }   // perhaps
    %r = arith.select %c, %p, %o // a store to %r: perhaps into the array of %p, perhaps into that of %o
    %q = tt.load %table          // a store to %q: perhaps into any array

A launch refuses read-only arrays that are surely stored to. For those that perhaps are it runs code that looks before
each store (`ttc.check_writable`), so that no program is refused which stores nothing, and none that does goes through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from ..support.namedtuples import NamedTuple

__all__ = ["StoredArrays", "stored_arrays"]


class StoredArrays(NamedTuple):
    """The numbers of a kernel's arrays: those that it `surely` stores to, and the others where it `perhaps` does."""

    surely: list[int]
    perhaps: list[int]


class _Stored(NamedTuple):
    """Of one function: its arguments whose arrays are stored to. None among `perhaps` stands for all memory."""

    surely: set[Value]
    perhaps: set[Value | None]


def stored_arrays(module: Any) -> StoredArrays:
    """The arrays that the kernel of a `ttir` module stores to, in order, and those that functions it calls store to.

    An array is an argument that is a pointer or a tensor descriptor; others do not count.
    """
    functions = {op.sym_name: op for op in module.body if isinstance(op, tt.Func)}
    kernels = [op for op in functions.values() if op.sym_visibility == "public"]
    if len(kernels) != 1:
        return StoredArrays([], [])
    stored = _stored_arguments(kernels[0], functions, {})
    arrays = [arg for arg in kernels[0].entry.args if _is_address(arg)]
    surely = [number for number, arg in enumerate(arrays) if arg in stored.surely]
    anywhere = None in stored.perhaps
    perhaps = [n for n, arg in enumerate(arrays) if n not in surely and (anywhere or arg in stored.perhaps)]
    return StoredArrays(surely, perhaps)


def _stored_arguments(function: Any, functions: dict[str, Any], known: dict[str, _Stored]) -> _Stored:
    """What a function stores to, which is `known` from then on. (One that calls itself says nothing new there.)"""
    if function.sym_name in known:
        return known[function.sym_name]
    stored = known[function.sym_name] = _Stored(set(), set())
    for op in () if function.is_declaration else function.walk():
        always = op.parent is function.entry
        for address, sure in _stored_addresses(op, functions, known):
            found = {None} if address is None else _arguments_of(address)
            stored.perhaps.update(found)
            if sure and always and len(found) == 1:
                stored.surely.update(arg for arg in found if arg is not None)
    return stored


def _stored_addresses(
    op: Any, functions: dict[str, Any], known: dict[str, _Stored]
) -> Iterator[tuple[Value | None, bool]]:
    """The addresses that an operation stores to (None: any), and whether it does so whenever it runs."""
    for address in accessed_values(op, WRITE, Memory.GLOBAL):
        # by a descriptor, nothing is stored where the block is out of bounds
        yield address, isinstance(op, PointerAccess) and op.access_mask is None
    if isinstance(op, tt.Call) and (callee := functions.get(op.callee)) is not None:
        stored = _stored_arguments(callee, functions, known)
        if None in stored.perhaps:
            yield None, False
        if stored.perhaps:
            for value, arg in zip(op.operands, callee.entry.args):
                if arg in stored.perhaps:
                    yield value, arg in stored.surely


def _is_address(value: Value) -> bool:
    ty = value.type
    return isinstance(ty, TensorDescType) or isinstance(element_type(ty), tt.PointerType)


def _arguments_of(address: Value) -> set[Value | None]:
    """The function's arguments that an address may come from, and None if it may come from anywhere."""
    found: set[Value | None] = set()
    seen, left = {address}, [address]
    while left:
        value = left.pop()
        if isinstance(value, BlockArgument) and _is_argument(value):
            found.add(value)
            continue
        origins = _origins(value)
        found.update([None] if origins is None else ())
        left += [v for v in origins or () if v not in seen]
        seen.update(origins or ())
    return found


def _is_argument(value: BlockArgument) -> bool:
    function: Any = value.owner.parent_op
    return isinstance(function, tt.Func) and value.owner is function.entry


def _origins(value: Value) -> list[Value] | None:
    """The addresses that an address is one of, or made of; None where that is not known."""
    passed = predecessor_operands(value)
    if passed is not None:
        return [op.operands[i] for op, i in passed]
    op = value.defining_op
    if op is None or op.regions or isinstance(op, (MemoryAccess, tt.Call)):
        return None
    if isinstance(op, arith.Select):
        return [op.operands[1], op.operands[2]]
    addresses = [v for v in op.operands if _is_address(v)]
    return addresses if addresses or not op.operands else None  # a constant, or what is undefined, is no array
