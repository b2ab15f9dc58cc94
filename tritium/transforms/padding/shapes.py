"""Shapes rounded up to powers of two, and masks of the elements that are not padding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ...dialects import arith, tt
from ...ir import Builder, FunctionType, Operation, TensorType, Type, Value, element_type, functions_of, i1, i8, i64
from ..rules.constants import constant_attr

__all__ = [
    "Padder",
    "Shape",
    "has_uneven_descriptors",
    "has_uneven_shapes",
    "is_uneven",
    "padded",
    "padded_type",
    "uneven",
]

Shape = tuple[int, ...]


def uneven(shape: Iterable[int]) -> bool:
    """Whether a dimension is not a power of two."""
    return any(d & (d - 1) for d in shape)


def padded(shape: Iterable[int]) -> Shape:
    """Each dimension rounded up to a power of two."""
    return tuple(1 << (d - 1).bit_length() if d else 0 for d in shape)


class _Padded(dict[Type, Type]):
    """The padded form of each type; most types are unchanged."""

    def __missing__(self, ty: Type) -> Type:
        found = ty
        if isinstance(ty, TensorType) and ty.encoding is None and uneven(ty.shape):
            found = TensorType(padded(ty.shape), ty.element)
        elif isinstance(ty, FunctionType):
            found = FunctionType(tuple(self[t] for t in ty.inputs), tuple(self[t] for t in ty.results))
        self[ty] = found
        return found


_PADDED = _Padded()


def padded_type(ty: Type) -> Type:
    """A tensor type with its shape padded, also within function types; other types are unchanged."""
    return _PADDED[ty]


def is_uneven(ty: Type) -> bool:
    """Whether padding changes a type."""
    return _PADDED[ty] is not ty


def has_uneven_shapes(module: Operation) -> bool:
    """For `when` of a row: some tile has a dimension that is not a power of two."""
    known = _PADDED
    for op in module.walk():
        for r in op.results:
            if known[r.type] is not r.type:
                return True
        for region in op.regions:
            for block in region.blocks:
                if any(known[a.type] is not a.type for a in block.args):
                    return True
    return False


def has_uneven_descriptors(module: Operation) -> bool:
    """For `when` of a row: some descriptor has such tiles."""
    for op in module.walk():
        if op.__class__ is tt.MakeTensorDescriptor and uneven(op.result.type.block.shape):  # type: ignore[attr-defined]
            return True
    arguments = (a.type for f in functions_of(module) for a in f.regions[0].blocks[0].args)
    return any(ty.__class__ is tt.TensorDescType and uneven(ty.block.shape) for ty in arguments)  # type: ignore[attr-defined]


class Padder(Builder):
    """A builder before an operation whose values have been padded.

    `sources` and `results`: the original shapes of its operands and results, () for scalars. `lanes`: one-dimensional
    tiles with the elements of a padded tile in order, and its shape; `filled`: the value in all padding of a tile,
    where known.
    """

    __slots__ = ("filled", "lanes", "op", "results", "sources")

    def __init__(self, lanes: dict[Value, Shape], filled: dict[Value, float]) -> None:
        super().__init__()
        self.lanes = lanes
        self.filled = filled

    def at(self, op: Operation, sources: list[Shape], results: list[Shape]) -> Padder:
        """Continue with `op`."""
        self.op, self.sources, self.results = op, sources, results
        self.block, self.before, self.loc = op.parent, op, op.loc
        return self

    def replace(self, value: Any) -> None:
        """Replace the only result of the operation by `value`."""
        value.hint = self.op.results[0].hint
        self.op.replace_with([value])

    # -- values -----------------------------------------------------------------------------------------------------

    def number(self, value: float, ty: Type) -> Value:
        """A scalar, or a tile filled with a constant."""
        return self.add(arith.Constant.create([], [ty], {"value": constant_attr(value, ty)}))  # type: ignore[no-any-return]

    def range(self, size: int) -> Value:
        """0, 1, …, size - 1 in i32."""
        return self.add(tt.MakeRange(0, size))  # type: ignore[no-any-return]

    def each(self, op: Callable[..., Operation], x: Value, number: int) -> Value:
        """`op` of a tile and a constant."""
        return self.add(op(x, self.number(number, x.type)))  # type: ignore[no-any-return]

    def along(self, vector: Value, axis: int, shape: Shape) -> Value:
        """A one-dimensional tile as dimension `axis` of a tile of `shape`, broadcast along the others."""
        for d in range(len(shape)):
            if d != axis:
                vector = self.add(tt.ExpandDims(vector, d))
        full = TensorType(shape, element_type(vector.type))
        return vector if vector.type is full else self.add(tt.Broadcast(vector, result=full))

    def reshaped(self, value: Value, shape: Shape) -> Value:
        """The elements in row-major order, in another shape of the same size."""
        ty = TensorType(shape, element_type(value.type))
        return value if value.type is ty else self.add(tt.Reshape(value, result=ty))

    # -- masks --------------------------------------------------------------------------------------------------------

    def inside(self, shape: Shape, axes: Iterable[int] | None = None) -> Value | None:
        """Which elements of the padded tile are within `shape` along `axes` (all of them for None).

        None where all are.
        """
        mask: Value | None = None
        full = padded(shape)
        for d in sorted(range(len(shape)) if axes is None else axes):
            if full[d] != shape[d]:
                steps = self.range(full[d])
                below = arith.CmpI(arith.CmpIPredicate.slt, steps, self.number(shape[d], steps.type))
                one = self.along(self.add(below), d, full)
                mask = one if mask is None else self.add(arith.AndI(mask, one))
        return mask

    def both(self, mask: Value | None, inside: Value | None) -> Value | None:
        """The conjunction of optional masks."""
        if mask is None or inside is None:
            return inside if mask is None else mask
        return self.add(arith.AndI(mask, inside))  # type: ignore[no-any-return]

    def fill(self, value: Value, shape: Shape, number: float, axes: Iterable[int] | None = None) -> Value:
        """`value` with `number` in its padding along `axes`."""
        known = self.filled.get(value)
        if known is not None and known == number and math.copysign(1, known) == math.copysign(1, number):
            return value
        inside = self.inside(shape, axes)
        if inside is None:
            return value
        made = self.add(arith.Select(inside, value, self.number(number, value.type)))
        if axes is None:
            self.filled[made] = number
        return made  # type: ignore[no-any-return]

    def repeat(self, value: Value, shape: Shape) -> Value:
        """`value` with copies of elements of the program in its padding: where no constant will do."""
        full = padded(shape)
        for d, (size, most) in enumerate(zip(shape, full)):
            if size != most:
                steps = self.range(most)
                below = self.add(arith.CmpI(arith.CmpIPredicate.slt, steps, self.number(size, steps.type)))
                index = self.add(arith.Select(below, steps, self.number(0, steps.type)))
                value = self.gather(value, self.along(index, d, full), d)
        return value

    def gather(self, value: Value, index: Value, axis: int) -> Value:
        """Elements by their index along `axis`, also of pointers and i1."""
        ty: Any = value.type
        shape = index.type.shape  # type: ignore[attr-defined]
        if isinstance(ty.element, tt.PointerType):
            found = self.gather(self.add(tt.PtrToInt(value, result=TensorType(ty.shape, i64))), index, axis)
            return self.add(tt.IntToPtr(found, result=TensorType(shape, ty.element)))  # type: ignore[no-any-return]
        if ty.element is i1:
            found = self.gather(self.add(arith.ExtUI(value, out=TensorType(ty.shape, i8))), index, axis)
            return self.add(arith.TruncI(found, out=TensorType(shape, i1)))  # type: ignore[no-any-return]
        return self.add(tt.Gather(value, index, axis, result=TensorType(shape, ty.element)))  # type: ignore[no-any-return]
