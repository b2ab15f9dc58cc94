"""What the operations of the tti dialect require; each function is the `verify_op` of a definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir import TensorType, Type, element_type, i1, i8, i32, i64, shape_of, with_element
from .constraints import GOOD, bit_width, is_float, is_integer
from .tt_types import PointerType, TensorDescType
from .ttg_memory import MemDescType
from .ttng_types import TensorDescIm2ColType

Messages = Sequence[str]
Check = Callable[[Type], bool]

#: What an operand of this name must be, in words and as a test.
_KINDS: dict[str, tuple[str, Check]] = {
    "scratch": ("an address", lambda ty: isinstance(ty, PointerType)),
    "lock": ("an address", lambda ty: isinstance(ty, PointerType)),
    "barrier": ("a buffer of i64", lambda ty: isinstance(ty, MemDescType) and ty.element is i64),
    "memdesc": ("a buffer", lambda ty: isinstance(ty, MemDescType)),
    "desc": ("a descriptor", lambda ty: isinstance(ty, (TensorDescType, TensorDescIm2ColType))),
    "coords": ("i32", lambda ty: ty is i32),
    "offset": ("i32", lambda ty: ty is i32),
    "phase": ("i32", lambda ty: ty is i32),
    "pred": ("i1", lambda ty: ty is i1),
    "indices": ("a tensor of i32", lambda ty: isinstance(ty, TensorType) and ty.element is i32),
}


def _operands(op: Any) -> Iterator[str]:
    for f in op.operand_fields:
        words, good = _KINDS.get(f.name, ("", None))
        value = getattr(op, f.name)
        if good is None or value is None:
            continue
        for v in value if f.arity == "*" else [value]:
            if not good(v.type):
                yield f"{f.name} must be {words}, not {v.type}"


def operands(op: Any) -> Messages:
    """Addresses, buffers, descriptors, numbers (i32) and predicates (i1) where they belong."""
    return list(_operands(op))


def condition(op: Any) -> Messages:
    """i1"""
    ty = op.condition.type
    return GOOD if ty is i1 else (f"the condition must be i1, not {ty}",)


def buffer_descriptors(op: Any) -> Messages:
    """As many lengths as offsets, and as many i64 in the result."""
    ty = op.result.type
    if len(op.offsets) != len(op.lengths):
        return (f"{len(op.offsets)} offsets need as many lengths, not {len(op.lengths)}",)
    if not isinstance(ty, TensorType) or ty.element is not i64 or ty.shape != (len(op.offsets),):
        return (f"the result must be a tensor of {len(op.offsets)} i64, not {ty}",)
    return GOOD


def local_gather(op: Any) -> Messages:
    """A buffer, a tensor of integers in the result's shape, an i32 offset for each dimension, an axis there is."""
    src, indices, result = op.src.type, op.indices.type, op.result.type
    if not isinstance(src, MemDescType) or not is_integer[indices]:
        return (f"gathers from a buffer by integers, not from {src} by {indices}",)
    found = []
    if shape_of(indices) != shape_of(result) or element_type(result) is not src.element:
        found.append(f"the result must be of {src.element} in the shape of the indices, not {result}")
    if len(op.offsets) != len(src.shape) or any(v.type is not i32 for v in op.offsets):
        found.append(f"needs an offset (i32) for each of {len(src.shape)} dimensions")
    if not 0 <= op.axis < len(src.shape):
        found.append(f"axis {op.axis} is out of range for {src}")
    return found


def access(op: Any) -> Messages:
    """Pointers, values of the type they point to, and a mask of i1, all in one shape."""
    ty = op.ptr.type
    pointer = element_type(ty)
    if not isinstance(pointer, PointerType):
        return (f"needs pointers, not {ty}",)
    want = {name: with_element(ty, pointer.pointee) for name in ("result", "value", "val", "cmp")}
    want |= {name: with_element(ty, i1) for name in ("mask", "matched")}
    found = []
    for f in op.fields:
        value = getattr(op, f.name) if f.name in want else None
        if value is not None and value.type is not want[f.name]:
            found.append(f"{f.name} must be {want[f.name]}, not {value.type}")
    return found


def dot_i8(op: Any) -> Messages:
    """Matrices of bytes, and of i32 to add to."""
    a, b, c = op.a.type, op.b.type, op.c.type
    if not all(isinstance(ty, TensorType) and len(ty.shape) == 2 for ty in (a, b, c)):
        return (f"multiplies matrices, not {a} and {b} to {c}",)
    found = []
    if a.element is not i8 or b.element is not i8 or c.element is not i32:
        found.append(f"multiplies i8 and adds i32, not {a.element}, {b.element} and {c.element}")
    if (a.shape[0], a.shape[1], b.shape[1]) != (c.shape[0], b.shape[0], c.shape[1]):
        found.append(f"the shapes do not fit to each other: {a} * {b} -> {c}")
    if op.d.type is not c:
        found.append(f"the result must be {c}, not {op.d.type}")
    return found


def embed(op: Any) -> Messages:
    """From floats to integers of one width, or back, in one shape."""
    a, b = op.val.type, op.result.type
    first, second = (is_float, is_integer) if "unembed" not in op.name else (is_integer, is_float)
    if not first[a] or not second[b] or bit_width(a) != bit_width(b) or b is not with_element(a, element_type(b)):
        return (f"there is no such element of a ring: {a} to {b}",)
    return GOOD
