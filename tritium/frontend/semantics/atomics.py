"""Atomic operations on memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..constexpr import unwrap
from ..dtypes import (
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    get_int_dtype,
    int1,
    int8,
    int16,
    pointer_type,
    uint16,
    uint64,
)
from ..tensor import tensor
from .errors import dtype_spelling, type_error, value_error
from .memory import boolean_mask, check_one_address, check_writable, choice

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["INTEGER_OPS", "atomic_cas", "atomic_load", "atomic_poll", "atomic_rmw", "atomic_store", "order_and_scope"]

SEM = {
    "acquire": tt.MemSemantic.acquire,
    "release": tt.MemSemantic.release,
    "acq_rel": tt.MemSemantic.acq_rel,
    "relaxed": tt.MemSemantic.relaxed,
}
SCOPE = {"gpu": tt.MemSyncScope.gpu, "cta": tt.MemSyncScope.cta, "sys": tt.MemSyncScope.sys}


def order_and_scope(sem_text: Any, scope_text: Any) -> tuple[Any, Any]:
    """The memory semantic and scope of these names; by default acq_rel and gpu."""
    return (
        choice(SEM, sem_text, "Memory semantic") or tt.MemSemantic.acq_rel,
        choice(SCOPE, scope_text, "Memory scope") or tt.MemSyncScope.gpu,
    )


def _converted(sem: SemanticContext, val: Any, element: dtype, name: str) -> tensor:
    """`val` as a tensor of `element`; floats are not converted to integers, except integral constants."""
    number = unwrap(val)
    if element.is_int() and isinstance(number, (int, float)):
        width = element.primitive_bitwidth
        if not (-(1 << (width - 1)) <= number < 1 << width and number == int(number)):
            raise type_error(f"{name} through a pointer to {element} takes integers of {width} bits, not {number!r}")
    val = sem.to_tensor(val)
    if element.is_int() and val.dtype.is_floating() and not isinstance(number, float):
        raise type_error(
            f"{name} through a pointer to {element} takes integers, not {val.dtype}",
            f"convert the value: value.to({dtype_spelling(element)})",
        )
    return sem.cast(val, element)


def _check_pointer(ptr: Any, name: str) -> dtype:
    if ptr.__class__ is not tensor or not ptr.dtype.is_ptr():
        kind = ptr.type if ptr.__class__ is tensor else type(ptr).__name__
        raise value_error(f"Pointer argument of {name} is {kind}")
    if ptr.dtype.element_ty.is_block():
        raise value_error(f"{name} does not take block pointers", "use a block of pointers")
    check_writable(ptr)
    return ptr.dtype.element_ty


def atomic_cas(sem: SemanticContext, ptr: tensor, cmp: Any, val: Any, order: Any = None, scope: Any = None) -> tensor:
    """The old value; where it equals `cmp` it is replaced by `val`."""
    order, scope = order_and_scope(order, scope)
    element = _check_pointer(ptr, "atomic_cas")
    if element.primitive_bitwidth not in (16, 32, 64):
        raise value_error(f"atomic_cas only supports elements with width {{16, 32, 64}}, got {element}")
    cmp, val = (_converted(sem, v, element, "atomic_cas") for v in (cmp, val))
    if ptr.type.is_block():
        cmp = sem.broadcast_like(cmp, ptr.type, ("cmp", "pointer"))
        val = sem.broadcast_like(val, ptr.type, ("val", "pointer"))
    elif cmp.type.is_block() or val.type.is_block():
        raise value_error("atomic_cas through one pointer takes scalar values")
    op = tt.AtomicCAS(ptr.handle, cmp.handle, val.handle, order, scope, result=val.type.ir)
    return tensor(sem.builder.insert(op).results[0], val.type)


def _operands(sem: SemanticContext, ptr: tensor, val: Any, mask: Any, name: str) -> tuple[tensor, tensor]:
    element = _check_pointer(ptr, f"atomic_{name}")
    small = element.primitive_bitwidth < 16 or element in (int16, uint16)
    if small or (element in (float16, bfloat16) and name != "add"):
        known = "32- and 64-bit types" + ", fp16 and bf16" * (name == "add")
        raise value_error(f"atomic_{name} does not support {element}", f"it takes {known}")
    val = _converted(sem, val, element, f"atomic_{name}")
    mask = sem.scalar_constant(True, int1) if mask is None else boolean_mask(sem, mask)
    if ptr.type.is_block():
        return sem.broadcast_like(val, ptr.type, ("val", "pointer")), sem.broadcast_like(
            mask, ptr.type, ("mask", "pointer")
        )
    if val.type.is_block() or mask.type.is_block():
        raise value_error(f"atomic_{name} through one pointer takes a scalar value and mask")
    return val, mask


INTEGER_OPS = {
    "add": (tt.AtomicOp.add, tt.AtomicOp.add),
    "and": (tt.AtomicOp._and, tt.AtomicOp._and),
    "or": (tt.AtomicOp._or, tt.AtomicOp._or),
    "xor": (tt.AtomicOp.xor, tt.AtomicOp.xor),
    "max": (tt.AtomicOp.max, tt.AtomicOp.umax),
    "min": (tt.AtomicOp.min, tt.AtomicOp.umin),
    "xchg": (tt.AtomicOp.exch, tt.AtomicOp.exch),
}
"""The operations on signed and unsigned integers, by name."""


def atomic_rmw(sem: SemanticContext, name: str, ptr: tensor, val: Any, mask: Any, order: Any, scope: Any) -> tensor:
    """The old value, replaced by op(old, val) where `mask` holds; `name` is add, and, or, xor, max, min or xchg."""
    order, scope = order_and_scope(order, scope)
    val, mask = _operands(sem, ptr, val, mask, name)
    kind = val.dtype
    if kind.is_floating():
        if name in ("max", "min"):
            return _float_extremum(sem, name, ptr, val, mask, order, scope)
        if name not in ("add", "xchg"):
            return _float_bits(sem, name, ptr, val, mask, order, scope)
        return _emit(sem, tt.AtomicOp.fadd if name == "add" else tt.AtomicOp.exch, ptr, val, mask, order, scope)
    signed, unsigned = INTEGER_OPS[name]
    return _emit(sem, signed if kind.is_int_signed() else unsigned, ptr, val, mask, order, scope)


def _emit(sem: SemanticContext, op: Any, ptr: tensor, val: tensor, mask: tensor, order: Any, scope: Any) -> tensor:
    rmw = tt.AtomicRMW(op, ptr.handle, val.handle, mask.handle, order, scope, result=val.type.to_ir())
    return tensor(sem.builder.insert(rmw).results[0], val.type)


def _float_extremum(
    sem: SemanticContext, name: str, ptr: tensor, val: tensor, mask: tensor, order: Any, scope: Any
) -> tensor:
    """Floats of one sign compare like their bits: signed ones if positive, reversed unsigned ones if negative."""
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


def _float_bits(
    sem: SemanticContext, name: str, ptr: tensor, val: tensor, mask: tensor, order: Any, scope: Any
) -> tensor:
    """The bitwise operation on the bits of floats."""
    kind = val.dtype
    bits = get_int_dtype(kind.primitive_bitwidth, False)
    at = sem.bitcast(ptr, pointer_type(bits))
    return sem.bitcast(_emit(sem, INTEGER_OPS[name][1], at, sem.bitcast(val, bits), mask, order, scope), kind)


# -- loads, stores, polls -----------------------------------------------------------------------------------------


def _one_way(text: Any, name: str, default: str) -> Any:
    """The memory order of an atomic load or store."""
    order = choice(SEM, text, "Memory semantic") or SEM[default]
    if order not in (SEM[default], tt.MemSemantic.relaxed):
        raise value_error(f"atomic_{name} only supports {default} and relaxed semantics")
    return order


def _pointer(sem: SemanticContext, ptr: Any, name: str) -> tuple[tensor, bool]:
    """(pointer, whether it points to int1, which is stored as a byte)"""
    if ptr.__class__ is not tensor or not ptr.dtype.is_ptr() or ptr.dtype.element_ty.is_block():
        kind = ptr.type if ptr.__class__ is tensor else type(ptr).__name__
        raise value_error(f"Unsupported ptr type {kind} in `tl.atomic_{name}`")
    element = ptr.dtype.element_ty
    if name != "poll" and not (element.is_int() or element.is_floating()):
        raise value_error(f"atomic_{name} only supports integer and floating-point elements")
    if element is not int1:
        return ptr, False
    assert isinstance(ptr.dtype, pointer_type)
    return sem.cast(ptr, pointer_type(int8, ptr.dtype.address_space, ptr.dtype.const)), True


def _mask_like(sem: SemanticContext, ptr: tensor, mask: Any) -> tensor:
    if mask is None:
        return sem.broadcast_like(sem.scalar_constant(True, int1), ptr.type)
    mask = boolean_mask(sem, mask)
    if ptr.type.is_block():
        return sem.broadcast_like(mask, ptr.type, ("mask", "pointer"))
    check_one_address(mask=mask)
    return mask


def _value_like(sem: SemanticContext, ptr: tensor, value: Any, name: str) -> tensor:
    value = _converted(sem, value, ptr.dtype.element_ty, name)
    if ptr.type.is_block():
        return sem.broadcast_like(value, ptr.type, ("val", "pointer"))
    check_one_address(value=value)
    return value


def atomic_load(sem: SemanticContext, ptr: tensor, mask: Any, order: Any, scope: Any) -> tensor:
    """Atomic load of the elements at `ptr` where `mask` holds."""
    order = _one_way(order, "load", "acquire")
    scope = choice(SCOPE, scope, "Memory scope") or tt.MemSyncScope.gpu
    ptr, is_bool = _pointer(sem, ptr, "load")
    mask = _mask_like(sem, ptr, mask)
    result = ptr.type.with_element_ty(ptr.dtype.element_ty)
    op = tt.AtomicLoad(ptr.handle, mask.handle, order, scope, result=result.to_ir())
    value = tensor(sem.builder.add(op), result)
    return sem.cast(value, int1) if is_bool else value


def atomic_store(sem: SemanticContext, ptr: tensor, value: Any, mask: Any, order: Any, scope: Any) -> None:
    """Atomic store of `value` where `mask` holds."""
    order = _one_way(order, "store", "release")
    scope = choice(SCOPE, scope, "Memory scope") or tt.MemSyncScope.gpu
    if ptr.__class__ is tensor and ptr.dtype.is_ptr():
        check_writable(ptr)
    ptr, _ = _pointer(sem, ptr, "store")
    value, mask = _value_like(sem, ptr, value, "atomic_store"), _mask_like(sem, ptr, mask)
    sem.builder.insert(tt.AtomicStore(ptr.handle, value.handle, mask.handle, order, scope))


def atomic_poll(sem: SemanticContext, ptr: tensor, expected: Any, order: Any, scope: Any, timeout: Any) -> tensor:
    """Poll `ptr` until it holds `expected`, at most `timeout` nanoseconds; whether it did."""
    order = _one_way(order, "poll", "acquire")
    scope = choice(SCOPE, scope, "Memory scope") or tt.MemSyncScope.gpu
    ptr, _ = _pointer(sem, ptr, "poll")
    element = ptr.dtype.element_ty
    if not element.is_int() or element.primitive_bitwidth not in (16, 32, 64):
        raise value_error("atomic_poll only supports integer elements with width {16, 32, 64}")
    expected = _value_like(sem, ptr, expected, "atomic_poll")
    if isinstance(timeout, int) and timeout < 0:
        raise value_error("atomic_poll timeout_ns must be non-negative")
    if timeout is not None:
        timeout = sem.to_tensor(timeout)
        if timeout.type.is_block() or not timeout.dtype.is_int():
            raise value_error("atomic_poll timeout_ns must be a scalar integer")
        timeout = sem.cast(timeout, uint64).handle
    result = expected.type.with_element_ty(int1)
    op = tt.AtomicPoll(ptr.handle, expected.handle, timeout, order, scope, result=result.to_ir())
    return tensor(sem.builder.add(op), result)
