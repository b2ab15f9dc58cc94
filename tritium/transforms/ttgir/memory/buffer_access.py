"""What conversions to buffer operations ask about an access: masks, offsets, strides, vector widths, and atomics.

A buffer atomic has a single instruction of 32 or 64 bits, or none:

    i32, i64        add, and, or, xor, exch, umax, umin, compare-and-swap; signed extremes have other lowerings
    f32, f64        add and extremes, where the architecture has them
    f16, bf16       add, two adjacent elements at a time (bf16 not on CDNA 3)
"""

from __future__ import annotations

from functools import cached_property

from ....analysis.axis_info import AxisInfoAnalysis
from ....analysis.global_access import vector_groups
from ....dialects import arith, tt
from ....dialects.tt_types import AtomicOp, MemSyncScope, PointerType
from ....dialects.ttg_maps import linear_layout_of
from ....dialects.ttg_memory import element_bits
from ....hardware.amd import amd_gpu
from ....ir import (
    Builder,
    DenseElementsAttr,
    FloatAttr,
    FloatType,
    IntegerAttr,
    IntegerType,
    Operation,
    TensorType,
    Value,
    constant_of,
    element_type,
    i32,
)

__all__ = ["BufferFacts", "block_stride", "is_atomic", "is_zero", "narrowed", "significant_mask"]

_EXTREMES = (AtomicOp.max, AtomicOp.min)


def is_atomic(op: Operation) -> bool:
    """Whether an operation is an atomic that may have a buffer instruction."""
    return isinstance(op, (tt.AtomicRMW, tt.AtomicCAS))


def is_zero(value: Value) -> bool:
    """Whether a value is the constant zero, or a tensor of it."""
    return _splat_number(value) == 0


def _splat_number(value: Value) -> float | None:
    attr = constant_of(value)
    if isinstance(attr, DenseElementsAttr) and len(set(attr.values)) == 1:
        number = attr.values[0]
        return number if isinstance(number, (int, float)) else None
    return attr.value if isinstance(attr, (IntegerAttr, FloatAttr)) else None


def significant_mask(op: Operation) -> Value | None:
    """The mask of an access, where it is not all true."""
    mask: Value | None = getattr(op, "mask", None)
    return None if mask is None or _splat_number(mask) in (1, -1) else mask


def narrowed(b: Builder, offsets: Value) -> Value:
    """Offsets of 32 bits; wider ones are known to fit."""
    ty = offsets.type
    assert isinstance(ty, TensorType)
    if ty.element is i32:
        return offsets
    made: Value = b.add(arith.TruncI(offsets, out=TensorType(ty.shape, i32, ty.encoding)))
    return made


def block_stride(b: Builder, offsets: Value) -> Value | None:
    """The scalar stride of the rows of a block, `broadcast(i * splat(stride)) + …`; None for other offsets."""
    op = offsets.defining_op
    if isinstance(op, arith.TruncI):
        op = op.operands[0].defining_op
    for term in op.operands if isinstance(op, arith.AddI) else ():
        row = term.defining_op
        scaled = row.operands[0].defining_op if isinstance(row, tt.Broadcast) else None
        for factor in scaled.operands if isinstance(scaled, arith.MulI) else ():
            if isinstance(splat := factor.defining_op, tt.Splat):
                stride = splat.src
                if isinstance(stride.type, IntegerType) and stride.type.width == 64:
                    narrow: Value = b.add(arith.TruncI(stride, out=i32))
                    return narrow
                return stride
    return None


class BufferFacts:
    """Alignments and vector widths of the accesses of a function."""

    def __init__(self, func: Operation) -> None:
        self.func = func

    @cached_property
    def axes(self) -> AxisInfoAnalysis:
        """Axis info of the function."""
        return AxisInfoAnalysis(self.func)

    def vector_width(self, pointer: Value, mask: Value | None, most: int = 16) -> int:
        """The number of adjacent elements that one instruction of up to `most` bytes may access."""
        ty = pointer.type
        assert isinstance(ty, TensorType) and isinstance(ty.element, PointerType)
        size = max(1, element_bits(ty.element.pointee) // 8)
        masks = None if mask is None else self.axes.of(mask)
        return len(vector_groups(linear_layout_of(ty), self.axes.of(pointer), masks, size, most)[0])

    def has_buffer_atomic(self, op: Operation, arch: str) -> bool:
        """Whether an atomic has a buffer instruction on an architecture."""
        if isinstance(op, tt.AtomicCAS):
            ty = element_type(op.val.type)
            return op.scope is not MemSyncScope.sys and isinstance(ty, IntegerType) and ty.width in (32, 64)
        return isinstance(op, tt.AtomicRMW) and self._has_buffer_rmw(op, arch)

    def _has_buffer_rmw(self, op: tt.AtomicRMW, arch: str) -> bool:
        gpu, ty = amd_gpu(arch), element_type(op.val.type)
        width, kind = getattr(ty, "width", 0), op.atomic_rmw_op
        if not gpu.has_buffer_atomics or op.scope is MemSyncScope.sys:
            return False
        if isinstance(ty, IntegerType):
            return width in (32, 64) and kind not in _EXTREMES
        if not isinstance(ty, FloatType) or width < 16:
            return False
        if kind in _EXTREMES:
            return gpu.has_buffer_float_extremes(width)
        if kind is AtomicOp.fadd and not gpu.has_buffer_float_add(str(ty)):
            return False
        return width >= 32 or self.vector_width(op.ptr, op.mask) % 2 == 0
