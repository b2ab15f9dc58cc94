"""Run-time values: `tl.tensor` (scalars and blocks) and tensor descriptors.

Their methods and operators are functions of the language, attached to the classes where they are defined
(`language`): a value itself only pairs an IR value with its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..ir import Value
from ..ir.attributes import IntegerAttr
from ..ir.folding import constant_of
from . import scalar_types
from .aggregate_types import tensor_descriptor_type
from .constexpr import constexpr, unwrap
from .scalar_types import BaseType
from .tuples import tuple as tl_tuple

__all__ = ["tensor", "tensor_descriptor", "tensor_descriptor_base", "unwrap_literal", "value_text"]

_SCALAR_SHAPE = tl_tuple([])


class tensor:
    """A value at run time: `handle` is its IR value, `type` its type (a dtype, pointer_type or block_type).

    `dtype` is the type of the elements, `shape` a tuple of constexpr (empty for a scalar).
    """

    __slots__ = ("dtype", "handle", "type")
    handle: Any
    type: Any
    __getitem__: ClassVar[Callable[..., tensor]]  # this and the operators below are defined in `language`
    __neg__: ClassVar[Callable[..., tensor]]
    __invert__: ClassVar[Callable[..., tensor]]
    __not__: ClassVar[Callable[..., tensor]]
    logical_and: ClassVar[Callable[..., tensor]]
    logical_or: ClassVar[Callable[..., tensor]]
    to: ClassVar[Callable[..., tensor]]
    reduce: ClassVar[Callable[..., tensor | tl_tuple]]
    associative_scan: ClassVar[Callable[..., tensor | tl_tuple]]
    dtype: scalar_types.dtype

    def __init__(self, handle: Value | None, type: scalar_types.dtype) -> None:
        self.handle = handle
        self.type = type
        self.dtype = type.scalar

    @property
    def shape(self) -> tl_tuple:
        """The dimensions."""
        ty = self.type
        if not ty.is_block():
            return _SCALAR_SHAPE
        if ty.shape_value is None:
            ty.shape_value = tl_tuple([constexpr(d) for d in ty.shape])
        return ty.shape_value

    @property
    def numel(self) -> constexpr:
        """The number of elements."""
        return constexpr(self.type.numel if self.type.is_block() else 1)

    def _flatten_ir(self, out: list[Any]) -> None:
        out.append(self.handle)

    def __repr__(self) -> str:
        text = f"{self.dtype}[{', '.join(map(str, self.type.shape))}]"
        data = getattr(self.handle, "data", None)  # set when a kernel is interpreted
        return text if data is None else f"{text} {data}"

    def __str__(self) -> str:
        """As Triton prints it, whose sizes are compile-time constants: `int32[constexpr[128]]`."""
        if getattr(self.handle, "data", None) is not None:
            return repr(self)
        return f"{self.dtype}[{', '.join(f'constexpr[{size}]' for size in self.type.shape)}]"

    def __bool__(self) -> bool:
        raise TypeError("the truth of a run-time value is not known while compiling")


def unwrap_literal(x: object) -> Any:
    """The integer or truth of a constexpr or of a run-time scalar that is a literal; anything else unchanged.

    A plain assignment makes run-time values of compile-time integers. `BLOCK, STAGES = SIZES` kept them compile-time in
    Triton before 3.9, so what needs a compile-time integer accepts a scalar that is a constant of the IR.
    """
    if isinstance(x, tensor) and not x.type.is_block() and (x.dtype.is_int_signed() or x.dtype.is_bool()):
        attribute = constant_of(x.handle)
        if isinstance(attribute, IntegerAttr):
            return bool(attribute.value) if x.dtype.is_bool() else attribute.value
        return x
    return unwrap(x)


def value_text(x: object) -> str:
    """A value where another was expected, in error messages: a run-time value by its type, a constant as written."""
    x = x.value if isinstance(x, constexpr) else x
    return f"a run-time value of type {x.type}" if isinstance(x, tensor) else repr(x)


class tensor_descriptor:
    """A strided tensor in memory that is read and written in blocks.

    `shape` (i32) and `strides` (i64) are tuples of run-time values, `block_shape` of constexpr.
    """

    __slots__ = ("handle", "shape", "strides", "type")
    load: ClassVar[Callable[..., tensor]]  # these are defined in `language`
    store: ClassVar[Callable[..., None]]
    gather: ClassVar[Callable[..., tensor]]
    scatter: ClassVar[Callable[..., None]]

    def __init__(self, handle: Value, shape: Any, strides: Any, type: tensor_descriptor_type) -> None:
        self.handle: Any = handle
        self.shape = shape
        self.strides = strides
        self.type = type

    @property
    def block_type(self) -> Any:
        """The type of a block."""
        return self.type.block_type

    @property
    def block_shape(self) -> tl_tuple:
        """The dimensions of a block."""
        return tl_tuple([constexpr(d) for d in self.type.block_type.shape])

    @property
    def dtype(self) -> scalar_types.dtype:
        """The type of the elements."""
        return self.type.block_type.element_ty

    def _flatten_ir(self, out: list[Any]) -> None:
        out.append(self.handle)
        self.shape._flatten_ir(out)
        self.strides._flatten_ir(out)

    def __repr__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


tensor_descriptor_base = tensor_descriptor
BaseType.make_tensor = tensor
tensor_descriptor_type.make_descriptor = tensor_descriptor
