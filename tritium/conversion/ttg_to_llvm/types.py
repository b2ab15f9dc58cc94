"""How values lie in registers: a list of parts, each of an LLVM type.

| value | parts |
|---|---|
| a scalar | one |
| a tensor | one a register of its layout, in the order of the register's number |
| a buffer (`!ttg.memdesc`) | the address in shared memory, then one i32 a dimension: the offset of what is seen |
| a tensor descriptor | its generic address: in global memory, or among the parameters of the kernel |
| a token | none |
"""

from __future__ import annotations

import functools
from typing import Any

from ...dialects.tt_types import PointerType, is_descriptor
from ...dialects.ttg_maps import linear_layout_of
from ...dialects.ttg_memory import AsyncTokenType, MemDescType
from ...ir import (
    Attribute,
    DenseElementsAttr,
    FloatAttr,
    FloatType,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    Type,
)
from ...ir.attributes import float_bits
from ...support import InternalError

__all__ = ["bit_width", "byte_width", "is_float", "literal", "llvm_type", "mangled", "registers_of", "types_of"]

_FLOATS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
SHARED = "ptr addrspace(3)"


@functools.lru_cache(256)
def llvm_type(ty: Type) -> str:
    """The LLVM type of a scalar, or of an element of a tensor; 8-bit floats are their bits."""
    if isinstance(ty, TensorType):
        return llvm_type(ty.element)
    if isinstance(ty, IntegerType):
        return f"i{ty.width}"
    if isinstance(ty, FloatType):
        return _FLOATS.get(ty.name, "i8")
    if isinstance(ty, IndexType):
        return "i32"
    if isinstance(ty, PointerType):
        return f"ptr addrspace({ty.address_space})" if ty.address_space else "ptr"
    if is_descriptor(ty):
        return "ptr"
    raise InternalError(f"no LLVM type for {ty}")


@functools.lru_cache(1024)
def registers_of(ty: TensorType) -> int:
    """The registers per thread of a tensor, copies included."""
    return linear_layout_of(ty).ins["register"]


def types_of(ty: Type) -> list[str]:
    """The LLVM types of the parts of a value."""
    if isinstance(ty, TensorType):
        return [llvm_type(ty.element)] * registers_of(ty)
    if isinstance(ty, MemDescType):
        return [SHARED, *["i32"] * len(ty.shape)]
    if isinstance(ty, AsyncTokenType):
        return []
    return [llvm_type(ty)]


def is_float(ty: Type) -> bool:
    """True for floats that LLVM has instructions for, and tensors of them."""
    element = ty.element if isinstance(ty, TensorType) else ty
    return isinstance(element, FloatType) and element.name in _FLOATS


def bit_width(ty: Type) -> int:
    """Bits of a scalar or an element; 64 for pointers (32 into shared memory)."""
    element = ty.element if isinstance(ty, TensorType) else ty
    if isinstance(element, (IntegerType, FloatType)):
        return element.width
    if isinstance(element, IndexType):
        return 32
    return 32 if isinstance(element, PointerType) and element.address_space == 3 else 64


def byte_width(ty: Type) -> int:
    """Bytes an element takes in memory; i1 takes one."""
    return max(1, bit_width(ty) // 8)


def mangled(ty: Type) -> str:
    """The suffix of an overloaded intrinsic for an element: `f32`, `i32`, `bf16`."""
    element = ty.element if isinstance(ty, TensorType) else ty
    if isinstance(element, FloatType) and element.name in _FLOATS:
        return element.name
    if isinstance(element, PointerType):
        return f"p{element.address_space}"
    return f"i{bit_width(element)}"


def literal(attr: Attribute) -> list[str]:
    """A constant as LLVM operands: one for a scalar and for a tensor that has one value everywhere."""
    if isinstance(attr, DenseElementsAttr):
        return [_scalar(v, attr.type.element) for v in attr.values]
    if isinstance(attr, (IntegerAttr, FloatAttr)):
        return [_scalar(attr.value, attr.type)]
    raise InternalError(f"no LLVM constant for {attr}")


def _scalar(value: Any, ty: Type) -> str:
    if not isinstance(ty, FloatType):
        return ("true" if value else "false") if ty == IntegerType(1) else str(value)
    bits = float_bits(value, ty)
    if ty.name == "f64":
        return f"0x{bits:016X}"
    if ty.name == "f32":
        return f"0x{_doubled(bits):016X}"
    return {"f16": f"0xH{bits:04X}", "bf16": f"0xR{bits:04X}"}.get(ty.name, str(bits))


def _doubled(bits: int) -> int:
    """The f64 pattern that LLVM writes for an f32 pattern: the same number, or NaN with the same payload."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return sign << 63 | 0x7FF << 52 | fraction << 29
    if exponent == 0 and fraction:
        shift = 24 - fraction.bit_length()
        return sign << 63 | (1023 - 126 - shift) << 52 | (fraction << shift & 0x7FFFFF) << 29
    return sign << 63 | ((exponent + 1023 - 127) << 52 if exponent else 0) | fraction << 29
