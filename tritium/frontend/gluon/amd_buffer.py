"""Buffer operations of AMD GPUs: accesses of global memory by one base address and a tensor of 32-bit offsets.

Offsets count elements of the type that the base points to.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dialects import amdg
from ...dialects.tt_types import AtomicOp
from ...ir import Value
from ..constexpr import unwrap
from ..dtypes import bfloat16, dtype, float16, float32, float64, int1, int32, int64, uint32, uint64
from ..errors import LanguageError
from ..language.builtin import builtin
from ..semantics.atomics import INTEGER_OPS, order_and_scope
from ..semantics.context import Operand
from ..semantics.memory import CACHE_LOAD, CACHE_STORE, boolean_mask, cache_policy, check_writable
from ..tensor import tensor
from .mma import Semantics
from .semantic import GluonSemantic, checked
from .types import distributed_type

__all__ = ["ATOMICS", "base_of", "buffer_load", "buffer_store", "cdna4_buffer_atomic_add", "handle_of", "offsets_of"]

_INTEGERS = (int32, int64, uint32, uint64)
_FLOATS = (float16, float32, float64)


def base_of(ptr: object, name: str) -> tensor:
    """The base address. Raises LanguageError for another value."""
    if not isinstance(ptr, tensor) or not ptr.type.is_ptr() or ptr.type.element_ty.is_block():
        kind = ptr.type if isinstance(ptr, tensor) else repr(unwrap(ptr))
        raise LanguageError(
            f"TypeError: ptr of {name} must be one pointer, got {kind}",
            "the base address alone; offsets are a tensor of int32",
        )
    return ptr


def offsets_of(offsets: object, name: str) -> tensor:
    """The offsets: a tensor of 32-bit integers."""
    found = checked(offsets, name)
    if found.dtype not in (int32, uint32):
        raise LanguageError(
            f"TypeError: offsets of {name} must be int32 or uint32, got {found.dtype}", "offsets.to(gl.int32)"
        )
    return found


def handle_of(x: tensor | None) -> Value | None:
    """The value of a tensor, None for none."""
    return None if x is None else x.handle


@builtin
def buffer_load(
    ptr: object,
    offsets: object,
    mask: object = None,
    other: Operand | None = None,
    cache: object = None,
    _semantic: Semantics = None,
) -> tensor:
    """ptr[offsets] where `mask`, elsewhere `other` (or undefined), in the layout of the offsets."""
    sem: GluonSemantic = _semantic
    base, at = base_of(ptr, "buffer_load"), offsets_of(offsets, "buffer_load")
    element = base.dtype.element_ty
    where, instead = None, None
    if unwrap(mask) is not None:
        at, where = sem.broadcast_value(at, boolean_mask(sem, mask))
    if other is not None and unwrap(other) is not None:
        if where is None:
            raise LanguageError("ValueError: buffer_load: other is given without a mask", "mask=…, or leave out other")
        at, instead = sem.broadcast_value(at, sem.cast(sem.to_tensor(other), element))
    policy = cache_policy(CACHE_LOAD, unwrap(cache) or "", "")
    ty: distributed_type = at.type.with_element_ty(element)
    op = amdg.BufferLoad(base.handle, at.handle, None, handle_of(where), handle_of(instead), policy, result=ty.ir)
    return sem.emit(op, ty)


@builtin
def buffer_store(
    stored_value: Operand,
    ptr: object,
    offsets: object,
    mask: object = None,
    cache: object = None,
    _semantic: Semantics = None,
) -> None:
    """ptr[offsets] = stored_value where `mask`."""
    sem: GluonSemantic = _semantic
    base, at = base_of(ptr, "buffer_store"), offsets_of(offsets, "buffer_store")
    check_writable(base)
    shape = at.type.shape
    value, element = sem.to_tensor(stored_value), base.dtype.element_ty
    if value.dtype is not element:
        raise LanguageError(
            f"TypeError: buffer_store of {value.dtype} through a pointer to {element}", f"cast it: x.to({element})"
        )
    where = None
    if unwrap(mask) is None:
        at, value = sem.broadcast_tensors(at, value)
    else:
        at, value, where = sem.broadcast_tensors(at, value, boolean_mask(sem, mask))
    if at.type.shape != shape:
        raise LanguageError(
            f"ValueError: offsets of buffer_store have the shape {list(shape)}, value and mask {list(at.type.shape)}"
        )
    policy = cache_policy(CACHE_STORE, unwrap(cache) or "", "")
    op = amdg.BufferStore(value.handle, base.handle, at.handle, None, handle_of(where), policy)
    sem.builder.insert(op)


# -- atomic operations --------------------------------------------------------------------------------------------


def _atomic_op(name: str, element: dtype, floats: tuple[dtype, ...]) -> AtomicOp:
    """The operation on elements of this type. Raises LanguageError where there is none."""
    if element in _INTEGERS:
        signed, unsigned = INTEGER_OPS[name]
        return signed if element.is_int_signed() else unsigned
    if name == "add" and element in floats:
        return AtomicOp.fadd
    known = ", ".join(map(str, (*_INTEGERS, *(floats if name == "add" else ()))))
    hint = "cdna4.buffer_atomic_add adds bfloat16" if name == "add" and element is bfloat16 else f"it takes {known}"
    raise LanguageError(f"TypeError: buffer_atomic_{name} of {element} is not supported", hint)


def _atomic(name: str, floats: tuple[dtype, ...] = _FLOATS) -> Callable[..., tensor]:
    """The function `buffer_atomic_<name>`."""
    function = f"buffer_atomic_{name}"

    def buffer_atomic(
        ptr: object,
        offsets: object,
        value: Operand,
        mask: Operand | None = None,
        sem: object = None,
        scope: object = None,
        _semantic: Semantics = None,
    ) -> tensor:
        emitter: GluonSemantic = _semantic
        base, at = base_of(ptr, function), offsets_of(offsets, function)
        check_writable(base)
        element = base.dtype.element_ty
        kind = _atomic_op(name, element, floats)
        where = None
        if mask is not None and unwrap(mask) is not None:
            condition = emitter.cast(emitter.to_tensor(mask), int1)
            at, where = emitter.broadcast_value(at, condition)
        at, new = emitter.broadcast_value(at, emitter.to_tensor(value))
        if new.dtype is not element:
            new = emitter.cast(new, element)
        ty: distributed_type = at.type.with_element_ty(element)
        order = order_and_scope(sem, scope)
        op = amdg.BufferAtomicRMW(
            kind, base.handle, at.handle, new.handle, None, handle_of(where), *order, result=ty.ir
        )
        return emitter.emit(op, ty)

    buffer_atomic.__name__ = function
    buffer_atomic.__doc__ = f"""The elements ptr[offsets] before, and each updated in one atomic step: {name}.

    Where `mask` is false nothing is written and the result is undefined. `sem` is acq_rel by default, `scope` gpu."""
    return builtin(buffer_atomic)


ATOMICS = {f"buffer_atomic_{name}": _atomic(name) for name in ("add", "and", "max", "min", "or", "xchg", "xor")}
"""The atomic operations of CDNA3 by name."""
cdna4_buffer_atomic_add = _atomic("add", (*_FLOATS, bfloat16))
"""That of CDNA4, which adds bfloat16, too."""
