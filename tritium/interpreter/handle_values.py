"""IR values that carry a handle: what the language's semantics see of the values of the patchable interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects import tt
from ..frontend.dtypes import get_int_dtype
from ..ir import IntegerType, TensorType, Type, element_type
from .evaluator import BlockPointer, TensorDesc, UndefinedError
from .handles import BlockPointerHandle, TensorDescHandle, TensorHandle, retyped, to_array
from .immediate import Computed

__all__ = ["Held", "held"]


def _number(handle: Any) -> int:
    return int(np.asarray(handle.data).reshape(-1)[0])


class Held(Computed):
    """A value of type `type` whose elements are those of `handle`.

    A client may have put an object of its own in the place of a handle: it is passed to the builder's methods as it is,
    and only an operation that needs the elements refuses it.
    """

    __slots__ = ("handle",)

    def __init__(self, ty: Type, handle: Any, op: Any = None) -> None:
        self.type, self.op, self.users, self.hint = ty, op, {}, None
        element = element_type(ty)
        if handle.__class__ is TensorHandle and isinstance(element, IntegerType) and not handle.dtype.is_int():
            if not handle.dtype.scalar.is_ptr():  # the bits of a type that the IR does not have
                handle = retyped(handle, get_int_dtype(element.width, True))
        self.handle = handle

    @property
    def data(self) -> Any:  # type: ignore[override]
        """The elements, as the evaluator has them. UndefinedError for the object of a client."""
        handle = self.handle
        if isinstance(handle, TensorHandle):
            return to_array(handle, self.type)
        if isinstance(handle, TensorDescHandle):
            shape, strides = tuple(map(_number, handle.shape)), tuple(map(_number, handle.strides))
            padding = "nan" if handle.padding == tt.PaddingOption.pad_nan else "zero"
            return TensorDesc(_number(handle.base), shape, strides, padding)
        if isinstance(handle, BlockPointerHandle):
            parts = [tuple(map(_number, part)) for part in (handle.shape, handle.strides, handle.offsets)]
            return BlockPointer(_number(handle.base), *parts)
        raise UndefinedError(f"the elements of a {type(handle).__name__} are not known, and this operation needs them")


def held(handle: TensorHandle) -> Held:
    """The IR value of a handle: a tensor of the shape of its data."""
    return Held(TensorType(tuple(handle.data.shape), handle.dtype.scalar.to_ir()), handle)
