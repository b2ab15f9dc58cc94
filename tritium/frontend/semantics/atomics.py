"""Atomic operations on memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..dtypes import bfloat16, dtype, float16, float32, float64, get_int_dtype, int1, int16, pointer_type, uint16
from ..tensor import tensor
from .errors import type_error, value_error
from .memory import choice

if TYPE_CHECKING:
    from .semantic import Semantic

__all__ = ["atomic_cas", "atomic_rmw"]

SEM = {
    "acquire": tt.MemSemantic.acquire,
    "release": tt.MemSemantic.release,
    "acq_rel": tt.MemSemantic.acq_rel,
    "relaxed": tt.MemSemantic.relaxed,
}
SCOPE = {"gpu": tt.MemSyncScope.gpu, "cta": tt.MemSyncScope.cta, "sys": tt.MemSyncScope.sys}


def _order(sem_text: Any, scope_text: Any) -> tuple[Any, Any]:
    return (
        choice(SEM, sem_text, "Memory semantic") or tt.MemSemantic.acq_rel,
        choice(SCOPE, scope_text, "Memory scope") or tt.MemSyncScope.gpu,
    )


def _check_pointer(ptr: Any, name: str) -> dtype:
    if ptr.__class__ is not tensor or not ptr.dtype.is_ptr():
        kind = ptr.type if ptr.__class__ is tensor else type(ptr).__name__
        raise value_error(f"Pointer argument of {name} is {kind}")
    if ptr.dtype.element_ty.is_block():
        raise value_error(f"{name} does not take block pointers", "use a block of pointers")
    if ptr.dtype.is_const():
        raise value_error("Cannot store to a constant pointer", "remove tl.const from the parameter's annotation")
    return ptr.dtype.element_ty


def atomic_cas(sem: Semantic, ptr: tensor, cmp: Any, val: Any, order: Any = None, scope: Any = None) -> tensor:
    """The old value; where it equals `cmp` it is replaced by `val`."""
    order, scope = _order(order, scope)
    element = _check_pointer(ptr, "atomic_cas")
    if element.primitive_bitwidth not in (16, 32, 64):
        raise value_error(f"atomic_cas only supports elements with width {{16, 32, 64}}, got {element}")
    cmp, val = sem.cast(sem.to_tensor(cmp), element), sem.cast(sem.to_tensor(val), element)
    if ptr.type.is_block():
        cmp, val = (sem.broadcast_to(v, ptr.type.shape) for v in (cmp, val))
    op = tt.AtomicCAS(ptr.handle, cmp.handle, val.handle, order, scope, result=val.type.ir)
    return tensor(sem.builder.insert(op).results[0], val.type)


def _operands(sem: Semantic, ptr: tensor, val: Any, mask: Any, name: str) -> tuple[tensor, tensor]:
    element = _check_pointer(ptr, f"atomic_{name}")
    small = element.primitive_bitwidth < 16 or element in (int16, uint16)
    if small or (element in (float16, bfloat16) and name != "add"):
        raise value_error(f"atomic_{name} does not support {element}")
    val = sem.cast(sem.to_tensor(val), element)
    mask = sem.scalar_constant(True, int1) if mask is None else sem.to_tensor(mask)
    if not mask.dtype.is_bool():
        raise value_error(f"Mask must have boolean scalar type, got {mask.dtype}")
    if ptr.type.is_block():
        return sem.broadcast_to(val, ptr.type.shape), sem.broadcast_to(mask, ptr.type.shape)
    if val.type.is_block() or mask.type.is_block():
        raise value_error(f"atomic_{name} through one pointer takes a scalar value and mask")
    return val, mask


_INTEGER = {
    "add": (tt.AtomicOp.add, tt.AtomicOp.add),
    "and": (tt.AtomicOp._and, tt.AtomicOp._and),
    "or": (tt.AtomicOp._or, tt.AtomicOp._or),
    "xor": (tt.AtomicOp.xor, tt.AtomicOp.xor),
    "max": (tt.AtomicOp.max, tt.AtomicOp.umax),
    "min": (tt.AtomicOp.min, tt.AtomicOp.umin),
    "xchg": (tt.AtomicOp.exch, tt.AtomicOp.exch),
}


def atomic_rmw(sem: Semantic, name: str, ptr: tensor, val: Any, mask: Any, order: Any, scope: Any) -> tensor:
    """The old value, replaced by op(old, val) where `mask` holds; `name` is add, and, or, xor, max, min or xchg."""
    order, scope = _order(order, scope)
    val, mask = _operands(sem, ptr, val, mask, name)
    kind = val.dtype
    if kind.is_floating():
        if name in ("max", "min"):
            return _float_extremum(sem, name, ptr, val, mask, order, scope)
        if name not in ("add", "xchg"):
            raise type_error(f"atomic_{name} not supported for dtype {kind}", "it takes integers")
        return _emit(sem, tt.AtomicOp.fadd if name == "add" else tt.AtomicOp.exch, ptr, val, mask, order, scope)
    signed, unsigned = _INTEGER[name]
    return _emit(sem, signed if kind.is_int_signed() else unsigned, ptr, val, mask, order, scope)


def _emit(sem: Semantic, op: Any, ptr: tensor, val: tensor, mask: tensor, order: Any, scope: Any) -> tensor:
    rmw = tt.AtomicRMW(op, ptr.handle, val.handle, mask.handle, order, scope, result=val.type.to_ir())
    return tensor(sem.builder.insert(rmw).results[0], val.type)


def _float_extremum(sem: Semantic, name: str, ptr: tensor, val: tensor, mask: tensor, order: Any, scope: Any) -> tensor:
    """Floats of one sign order as their bits do: signed integers for positive ones, reversed unsigned for negative."""
    kind = val.dtype
    if kind not in (float32, float64):
        raise type_error(f"atomic_{name} not supported for dtype {kind}")
    width = kind.primitive_bitwidth
    signed, unsigned = get_int_dtype(width, True), get_int_dtype(width, False)
    i_val, u_val = sem.bitcast(val, signed), sem.bitcast(val, unsigned)
    i_ptr, u_ptr = sem.bitcast(ptr, pointer_type(signed)), sem.bitcast(ptr, pointer_type(unsigned))
    negative = sem.ne(sem.lshr(u_val, width - 1), 0)
    positive = sem.not_(negative)
    ops = (tt.AtomicOp.max, tt.AtomicOp.umin) if name == "max" else (tt.AtomicOp.min, tt.AtomicOp.umax)
    upper = _emit(sem, ops[0], i_ptr, i_val, sem.and_(mask, positive), order, scope)
    lower = _emit(sem, ops[1], u_ptr, u_val, sem.and_(mask, negative), order, scope)
    lower = tensor(lower.handle, upper.type)  # the same bits
    return sem.bitcast(sem.where(positive, upper, lower), kind)
