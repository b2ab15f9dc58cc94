"""Which arrays a kernel stores to: those its arguments point to, where a pointer can have come from one of them only.

    %q = tt.addptr %p, %i        // still into the array of %p
    tt.store %q, %x              // so that is stored to
    %r = arith.select %c, %p, %o // into one of two: says nothing of either

Launches refuse read-only arrays that are stored to.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, scf, tt
from ..dialects.tt_descriptor import DescriptorReduce, DescriptorScatter, DescriptorStore
from ..dialects.tt_types import TensorDescType
from ..ir import BlockArgument, Value, element_type

__all__ = ["stored_arrays"]

_STORES = (tt.Store, tt.AtomicRMW, tt.AtomicCAS, DescriptorStore, DescriptorReduce, DescriptorScatter)


def stored_arrays(module: Any) -> list[int]:
    """The numbers of the arrays that the kernel of a `ttir` module has stores to, in order, those of its callees too.

    An array is an argument that is a pointer or a tensor descriptor; others do not count.
    """
    functions = {op.sym_name: op for op in module.body if isinstance(op, tt.Func)}
    kernels = [op for op in functions.values() if op.sym_visibility == "public"]
    if len(kernels) != 1:
        return []
    stored = _stored_arguments(kernels[0], functions)
    arrays = [arg for arg in kernels[0].entry.args if _is_address(arg)]
    return [number for number, arg in enumerate(arrays) if arg in stored]


def _stored_arguments(function: Any, functions: dict[str, Any]) -> set[Value | None]:
    """The arguments of a function into whose arrays it stores; functions do not call themselves."""
    stored: set[Value | None] = set()
    for op in () if function.is_declaration else function.walk():
        for address in _stored_addresses(op, functions):
            found: set[Value | None] = set()
            _follow(address, found, set())
            if len(found) == 1:
                stored |= found
    return stored


def _stored_addresses(op: Any, functions: dict[str, Any]) -> list[Value]:
    if isinstance(op, _STORES):
        return [op.operands[0]]
    if isinstance(op, tt.Call) and (callee := functions.get(op.callee)) is not None:
        stored = _stored_arguments(callee, functions)
        return [v for v, arg in zip(op.operands, callee.entry.args) if arg in stored] if stored else []
    return []


def _is_address(value: Value) -> bool:
    ty = value.type
    return isinstance(ty, TensorDescType) or isinstance(element_type(ty), tt.PointerType)


def _follow(value: Value, found: set[Value | None], seen: set[Value]) -> None:
    """Add the arguments that an address may come from; None where that is not known."""
    if value in seen:
        return
    seen.add(value)
    origins = _origins(value)
    if origins is None:
        found.add(value if isinstance(value, BlockArgument) and _is_argument(value) else None)
    for origin in origins or ():
        _follow(origin, found, seen)


def _is_argument(value: BlockArgument) -> bool:
    function: Any = value.owner.parent_op
    return isinstance(function, tt.Func) and value.owner is function.entry


def _origins(value: Value) -> list[Value] | None:
    """The addresses that an address is made of; None where there is none, or it is not known."""
    op: Any = value.defining_op
    if op is None:
        loop: Any = value.owner.parent_op  # type: ignore[attr-defined]
        if not isinstance(loop, scf.For) or value not in loop.iter_args:
            return None
        number = list(loop.iter_args).index(value)
        return [loop.init_args[number], loop.body.last.operands[number]]
    if isinstance(op, (scf.For, scf.If)):
        number = list(op.results).index(value)
        if isinstance(op, scf.For):
            return [op.init_args[number], op.body.last.operands[number]]
        return [block.last.operands[number] for block in (op.then_block, op.else_block)]
    if op.regions or isinstance(op, (tt.Load, tt.Call)):
        return None
    if isinstance(op, arith.Select):
        return [op.operands[1], op.operands[2]]
    return [v for v in op.operands if _is_address(v)][:1] or None
