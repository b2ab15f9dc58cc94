"""Values of the patchable interpreter: NumPy arrays tagged with a type of the language.

The conventions are those of Triton's interpreter, which its clients rely on: a scalar is an array of shape (1,), an
address a uint64, int1 a bool; bf16 and the 8-bit floats are arrays of their bits. `to_array` and `from_array` convert
between these and the arrays that the evaluator computes with (`numbers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..frontend import dtypes
from ..frontend.dtypes import dtype, get_int_dtype, pointer_type
from ..ir import FloatType, IntegerType, ShapedType, TensorType, Type, element_type
from .numbers import UNSIGNED, byte_size, decode, dtype_of, encode, fit, is_narrow

__all__ = [
    "BlockPointerHandle",
    "TensorDescHandle",
    "TensorHandle",
    "from_array",
    "language_type",
    "numpy_dtype",
    "pointee",
    "retyped",
    "signed_numpy_dtype",
    "to_array",
]

_NUMPY = {
    dtypes.int1: np.bool_,
    dtypes.int8: np.int8,
    dtypes.int16: np.int16,
    dtypes.int32: np.int32,
    dtypes.int64: np.int64,
    dtypes.uint8: np.uint8,
    dtypes.uint16: np.uint16,
    dtypes.uint32: np.uint32,
    dtypes.uint64: np.uint64,
    dtypes.float16: np.float16,
    dtypes.bfloat16: np.uint16,
    dtypes.float32: np.float32,
    dtypes.float64: np.float64,
}


def numpy_dtype(ty: dtype) -> np.dtype:
    """The NumPy type of the data of handles whose elements are of type `ty`."""
    scalar = ty.scalar
    if scalar.is_ptr():
        return np.dtype(np.uint64)
    return np.dtype(np.uint8 if scalar.is_fp8() else _NUMPY[scalar])


def signed_numpy_dtype(ty: Any) -> Any:
    """The signed NumPy type of the width of an unsigned one; others unchanged."""
    kind = np.dtype(ty)
    return np.dtype(f"i{kind.itemsize}") if kind.kind == "u" else ty


def pointee(ty: dtype) -> dtype:
    """The type of the elements that pointers of type `ty` (a scalar or a block) point to."""
    scalar = ty.scalar
    return scalar.element_ty.scalar if scalar.is_ptr() else scalar


@dataclass(eq=False)
class TensorHandle:
    """A scalar or a block: `data` is an array, `dtype` the type of its elements, `attr` what clients attach to it.

    ValueError where the elements of `data` are wider than `dtype`.
    """

    data: np.ndarray
    dtype: dtype
    attr: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scalar = self.dtype.scalar
        wanted = 64 if scalar.is_ptr() else max(8, scalar.primitive_bitwidth)
        if not scalar.is_ptr() and self.data.itemsize * 8 > wanted:
            raise ValueError(f"elements of {self.data.itemsize * 8} bits do not fit {self.dtype}, which has {wanted}")

    def __bool__(self) -> bool:
        return bool(self.data.all())

    def get_element_ty(self) -> dtype:
        """The type of the elements; for pointers, of the elements that they point to."""
        return pointee(self.dtype)

    def clone(self) -> TensorHandle:
        """A handle with a copy of the data."""
        return TensorHandle(self.data.copy(), self.dtype)

    def set_attr(self, key: str, value: Any) -> None:
        """Attach `value` under the name `key`."""
        self.attr[key] = value


def _tile(
    base: TensorHandle, shape: Sequence[Any], strides: Sequence[Any], offsets: Sequence[Any], block: Sequence[int],
    checked: Sequence[int],
) -> tuple[TensorHandle, TensorHandle]:  # fmt: skip
    """The pointers to the elements of a tile at `offsets`, and which are in bounds along the dimensions `checked`."""
    pointers = np.broadcast_to(base.data.reshape(-1)[0].astype(np.int64), block)
    inside = np.ones(block, bool)
    size = byte_size(pointee(base.dtype).to_ir())
    for d, extent in enumerate(block):
        at = offsets[d].data.reshape(-1)[0].astype(np.int64) + np.arange(extent, dtype=np.int64)
        at = at.reshape([-1 if d == k else 1 for k in range(len(block))])
        pointers = pointers + at * strides[d].data.reshape(-1)[0].astype(np.int64) * size
        if d in checked:
            inside = inside & (at >= 0) & (at < shape[d].data.reshape(-1)[0])
    return TensorHandle(pointers.astype(np.uint64), base.dtype.scalar), TensorHandle(inside, dtypes.int1)


class TensorDescHandle:
    """A tensor descriptor: `base`, `shape` and `strides` are handles of scalars; `padding` is that of the dialect."""

    def __init__(
        self,
        base: TensorHandle,
        shape: list[TensorHandle],
        strides: list[TensorHandle],
        block_shape: list[int],
        padding: Any,
        round_f32_to_tf32: bool = False,
    ) -> None:
        self.base, self.shape, self.strides = base, shape, strides
        self.ndim = len(shape)
        self.block_shape, self.padding, self.round_f32_to_tf32 = block_shape, padding, round_f32_to_tf32

    def validate(self) -> None:
        """ValueError unless a TMA descriptor of this shape can exist."""
        size = byte_size(pointee(self.base.dtype).to_ir())
        if not 0 < self.ndim == len(self.strides) == len(self.block_shape):
            raise ValueError("a descriptor has one stride and one tile size for each of its dimensions, at least one")
        if int(self.base.data.item()) % 16:
            raise ValueError("the base of a descriptor must be 16-byte aligned")
        if any(int(s.data.item()) * size % 16 for s in self.strides[:-1]):
            raise ValueError("the strides of a descriptor must be multiples of 16 bytes")
        if int(self.strides[-1].data.item()) != 1:
            raise ValueError("the last dimension of a descriptor must be contiguous")

    def materialize_pointers(self, offsets: list[TensorHandle]) -> tuple[TensorHandle, TensorHandle]:
        """(pointers, mask) of the tile at `offsets`."""
        return _tile(self.base, self.shape, self.strides, offsets, self.block_shape, range(self.ndim))


class BlockPointerHandle:
    """A block pointer: `base`, `shape`, `strides` and `offsets` are handles of scalars."""

    def __init__(
        self,
        base: TensorHandle,
        shape: list[TensorHandle],
        strides: list[TensorHandle],
        offsets: list[TensorHandle],
        block_shape: list[int],
        order: Sequence[int],
    ) -> None:
        self.base, self.shape, self.strides, self.offsets = base, shape, strides, offsets
        self.block_shape, self.order = block_shape, order

    def materialize_pointers(self, boundary_check: Sequence[int]) -> tuple[TensorHandle, TensorHandle]:
        """(pointers, mask) of the tile; the mask covers the dimensions of `boundary_check`."""
        return _tile(self.base, self.shape, self.strides, self.offsets, self.block_shape, boundary_check)


# -- conversions --------------------------------------------------------------------------------------------------

_FP8 = (dtypes.float8e5, dtypes.float8e5b16, dtypes.float8e4nv, dtypes.float8e4b8)
_SCALARS = {ty.to_ir(): ty for ty in (*_NUMPY, *_FP8)
            if not ty.is_int() or ty.is_int_signed() or ty.is_bool()}  # fmt: skip


def language_type(ty: Type, unsigned: bool = False) -> dtype:
    """The type of the language that an IR type stands for; integers are signed unless `unsigned`."""
    element = element_type(ty)
    scalar: dtype
    if isinstance(element, IntegerType):
        scalar = get_int_dtype(element.width, not unsigned) if element.width > 1 else dtypes.int1
    elif isinstance(element, FloatType):
        scalar = _SCALARS[element]
    else:
        scalar = pointer_type(language_type(element.pointee), element.address_space)  # type: ignore[attr-defined]
    return dtypes.block_type(scalar, ty.shape) if isinstance(ty, ShapedType) and ty.shape else scalar


def retyped(handle: Any, scalar: dtype) -> Any:
    """The bits of a handle as elements of type `scalar`, of the same width; what is no TensorHandle unchanged."""
    if handle.__class__ is not TensorHandle or handle.dtype is scalar:
        return handle
    wanted = numpy_dtype(scalar)
    data = handle.data
    if data.dtype != wanted:
        data = data.view(wanted) if data.dtype.itemsize == wanted.itemsize else data.astype(wanted)
    return TensorHandle(data, scalar, handle.attr)


def to_array(handle: TensorHandle, ty: Type) -> np.ndarray:
    """The elements as the evaluator has those of an IR type; a scalar has rank 0."""
    data = np.asarray(handle.data)
    if is_narrow(ty):
        array = decode(data.view(UNSIGNED[data.dtype.itemsize]), ty)
    elif dtype_of(ty).kind == "i" and data.dtype.kind == "u":
        array = data.view(f"i{data.dtype.itemsize}").astype(dtype_of(ty), copy=False)
    else:
        array = data.astype(dtype_of(ty), copy=False)
    return array if isinstance(ty, TensorType) else array.reshape(())


def from_array(array: Any, ty: Type, scalar: dtype | None = None) -> TensorHandle:
    """A computed array, rounded to the IR type `ty`, as a handle of elements of type `scalar`."""
    scalar = language_type(element_type(ty)) if scalar is None else scalar.scalar
    array = np.asarray(array)
    array = array.reshape(1) if array.ndim == 0 else array
    wanted = numpy_dtype(scalar)
    bits = encode(array, ty) if is_narrow(ty) else fit(array, ty)
    if bits.dtype != wanted:
        bits = bits.view(wanted) if bits.dtype.itemsize == wanted.itemsize else bits.astype(wanted)
    return TensorHandle(bits, scalar)
