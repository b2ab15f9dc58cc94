"""LLVM's spelling of our types and constants."""

from __future__ import annotations

import struct
from typing import Any

from ...dialects import ttc
from ...dialects.tt import PointerType
from ...ir import (
    Attribute,
    DenseElementsAttr,
    FloatAttr,
    FloatType,
    IndexType,
    IntegerAttr,
    IntegerType,
    Type,
    VectorType,
    element_type,
)
from ...ir.attributes import float_bits
from ...support import InternalError

__all__ = ["bit_width", "byte_width", "is_float", "lanes_of", "literal", "llvm_type", "mangled"]

_FLOATS = {"f16": "half", "f32": "float", "f64": "double"}
_PATTERNS = {"bf16": "i16"}  # as integers: LLVM legalizes `bfloat` through calls of a library where it has no unit


def llvm_type(ty: Type) -> str:
    """`<16 x float>`, `i32`, `ptr`, …; bf16 and the 8-bit floats are their bits."""
    if isinstance(ty, VectorType):
        return f"<{ty.numel} x {llvm_type(ty.element)}>"
    if isinstance(ty, IntegerType):
        return f"i{ty.width}"
    if isinstance(ty, FloatType):
        return _FLOATS.get(ty.name) or _PATTERNS.get(ty.name, "i8")
    if isinstance(ty, IndexType):
        return "i64"
    if isinstance(ty, (PointerType, ttc.BufferType)):
        return "ptr"
    raise InternalError(f"no LLVM type for {ty}")


def is_float(ty: Type) -> bool:
    """True for floats that LLVM has instructions for, and vectors of them."""
    element = element_type(ty)
    return isinstance(element, FloatType) and element.name in _FLOATS


def bit_width(ty: Type) -> int:
    """Bits of the element type; 64 for pointers."""
    element = element_type(ty)
    if isinstance(element, (IntegerType, FloatType, IndexType)):
        return element.width
    return 64


def byte_width(ty: Type) -> int:
    """Bytes an element takes in memory; i1 takes one."""
    return max(1, bit_width(ty) // 8)


def lanes_of(ty: Type) -> int:
    """Number of lanes; 1 for a scalar."""
    return ty.numel if isinstance(ty, VectorType) else 1


def mangled(ty: Type) -> str:
    """The suffix of an overloaded intrinsic: `v16f32`, `i32`, `v16p0`."""
    element = element_type(ty)
    if isinstance(element, FloatType):
        name = element.name if element.name in _FLOATS else f"i{element.width}"
    elif isinstance(element, PointerType):
        name = "p0"
    else:
        name = f"i{bit_width(element)}"
    return f"v{lanes_of(ty)}{name}" if isinstance(ty, VectorType) else name


def literal(attr: Attribute) -> str:
    """A constant as an LLVM operand (without its type)."""
    if isinstance(attr, DenseElementsAttr):
        element = attr.type.element
        ty = llvm_type(element)
        if attr.is_splat:
            return f"splat ({ty} {_scalar(attr.values[0], element)})"
        return "<" + ", ".join(f"{ty} {_scalar(v, element)}" for v in attr.values) + ">"
    if isinstance(attr, (IntegerAttr, FloatAttr)):
        return _scalar(attr.value, attr.type)
    raise InternalError(f"no LLVM constant for {attr}")


def _scalar(value: Any, ty: Type) -> str:
    if not isinstance(ty, FloatType):
        if isinstance(ty, IntegerType) and ty.width == 1:
            return "true" if value else "false"
        return str(value)
    if ty.name == "f64":
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if ty.name == "f32":
        single = struct.unpack("<f", struct.pack("<I", float_bits(value, ty)))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', single))[0]:016X}"
    if ty.name == "f16":
        return f"0xH{float_bits(value, ty):04X}"
    return str(float_bits(value, ty))
