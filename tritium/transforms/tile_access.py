"""Build loads and stores of a tile of a strided tensor, with pointers and masks.

    pointer[r0, r1, …] = (base + Σ o_d · s_d) + Σ r_d · s_d        r_d = make_range(0, B_d)
    inside[r0, r1, …]  = all of  low_d <= r_d < high_d             low_d  = clamp(-o_d, 0, B_d)
                                                                   high_d = clamp(n_d - o_d, 0, B_d)

The offset of the whole tile is scalar, so that a loop that advances it has one addition; per-element offsets are affine
in ranges, from which later passes derive contiguity. The bounds are clamped as i64 scalars, exact for any offset,
including negative ones, and compared as i32.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, tt
from ..ir import Builder, FloatType, TensorType, Type, Value, i1, i32, i64
from .rules.constants import constant_attr, splat_of

__all__ = ["Tile"]


class Tile:
    """A tile in memory: build the tensors of pointers and of masks for it."""

    def __init__(
        self, b: Builder, ty: TensorType, base: Value, shape: list[Value], strides: list[Value], offsets: list[Value]
    ) -> None:
        """`ty`: the tile's type; shape, strides, offsets: one i64 per dimension; everything is inserted through `b`."""
        self.b = b
        self.ty = ty
        self.base = base
        self.shape = shape
        self.strides = strides
        self.offsets = offsets

    def number(self, value: int, ty: Type) -> Value:
        """A constant."""
        return self.b.add(arith.Constant.of(value, ty))  # type: ignore[no-any-return]

    def along(self, vector: Value, axis: int) -> Value:
        """A one-dimensional tensor as the tile's dimension `axis`, broadcast along the others."""
        b = self.b
        for d in range(len(self.ty.shape)):
            if d != axis:
                vector = b.add(tt.ExpandDims(vector, d))
        full = TensorType(self.ty.shape, vector.type.element)  # type: ignore[attr-defined]
        return vector if vector.type is full else b.add(tt.Broadcast(vector, result=full))

    def pointers(self) -> Value:
        """The address of every element."""
        b, ty = self.b, self.ty
        start: Value | None = None
        for offset, stride in zip(self.offsets, self.strides):
            term = b.add(arith.MulI(offset, stride))
            start = term if start is None else b.add(arith.AddI(start, term))
        base = self.base if start is None else b.add(tt.AddPtr(self.base, start))
        pointers = b.add(tt.Splat(base, result=TensorType(ty.shape, self.base.type)))
        for d, (size, stride) in enumerate(zip(ty.shape, self.strides)):
            if size == 1:
                continue
            wide = TensorType((size,), i64)
            steps = b.add(arith.ExtSI(b.add(tt.MakeRange(0, size)), out=wide))
            if splat_of(stride) != 1:
                steps = b.add(arith.MulI(steps, b.add(tt.Splat(stride, result=wide))))
            pointers = b.add(tt.AddPtr(pointers, self.along(steps, d)))
        return pointers  # type: ignore[no-any-return]

    def inside(self, axes: tuple[int, ...]) -> Value | None:
        """Which elements are within the tensor along `axes`; None when there are none to check."""
        mask: Value | None = None
        for d in sorted(set(axes)):
            both = self.along(self.inside_axis(d), d)
            mask = both if mask is None else self.b.add(arith.AndI(mask, both))
        return mask

    def inside_axis(self, d: int) -> Value:
        """low <= r < high for r along dimension `d`: tensor<B x i1>."""
        b, size = self.b, self.ty.shape[d]
        zero = self.number(0, i64)
        low = self.clamp(b.add(arith.SubI(zero, self.offsets[d])), zero, size)
        high = self.clamp(b.add(arith.SubI(self.shape[d], self.offsets[d])), zero, size)
        ty = TensorType((size,), i32)
        steps = b.add(tt.MakeRange(0, size))
        above = b.add(arith.CmpI(arith.CmpIPredicate.sge, steps, b.add(tt.Splat(low, result=ty))))
        below = b.add(arith.CmpI(arith.CmpIPredicate.slt, steps, b.add(tt.Splat(high, result=ty))))
        return b.add(arith.AndI(above, below))  # type: ignore[no-any-return]

    def clamp(self, value: Value, zero: Value, size: int) -> Value:
        """min(max(value, 0), size) as i32."""
        b = self.b
        clamped = b.add(arith.MinSI(b.add(arith.MaxSI(value, zero)), self.number(size, i64)))
        return b.add(arith.TruncI(clamped, out=i32))  # type: ignore[no-any-return]

    def load(self, axes: tuple[int, ...], padding: Value | None, kept: dict[str, Any]) -> Value:
        """The tile's elements; `padding` (a tensor) for those out of bounds along `axes`."""
        mask = self.inside(axes)
        other = padding if mask is not None else None
        return self.b.add(tt.Load(self.pointers(), mask, other, attributes=kept))  # type: ignore[no-any-return]

    def store(self, value: Value, axes: tuple[int, ...], kept: dict[str, Any]) -> None:
        """Write the elements in bounds along `axes`."""
        self.b.insert(tt.Store(self.pointers(), value, self.inside(axes), attributes=kept))

    def filler(self, nan: bool) -> Value:
        """A tile of NaN, or of zeros; integers have no NaN."""
        nan = nan and isinstance(self.ty.element, FloatType)
        attr = constant_attr(float("nan") if nan else 0, self.ty)
        return self.b.add(arith.Constant.create([], [self.ty], {"value": attr}))  # type: ignore[no-any-return]

    def filler_chosen(self, nan: Value) -> Value:
        """`filler` by an i1 known only at run time, or a constant."""
        known = splat_of(nan)
        if known is not None or not isinstance(self.ty.element, FloatType):
            return self.filler(bool(known))
        assert nan.type is i1
        return self.b.add(arith.Select(nan, self.filler(True), self.filler(False)))  # type: ignore[no-any-return]
