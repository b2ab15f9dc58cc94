"""Types of Gluon's values: tensors with a layout, and buffers in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ClassVar

from ...dialects.ttg_memory import MemDescType, SharedMemorySpace
from ...ir import TensorType, Type, Value
from ..errors import LanguageError
from ..scalar_types import BaseType, block_type, dtype
from .layout_base import DistributedLayout, SharedLayout, plain
from .layouts import SharedLinearLayout, shape_per_cta

__all__ = ["distributed_type", "shared_memory_descriptor_type"]


class distributed_type(block_type):
    """`distributed_type(float32, [16, 32], layout)`: a block of `shape` whose elements are held as `layout` says."""

    __slots__ = ("layout",)
    layout: DistributedLayout
    _distributed: ClassVar[dict[Any, distributed_type]] = {}

    def __new__(cls, element_ty: dtype, shape: Any, layout: Any) -> distributed_type:
        shape, layout = tuple(plain(list(shape))), plain(layout)
        if not isinstance(layout, DistributedLayout):
            raise LanguageError(
                f"TypeError: a tensor's layout must be a DistributedLayout, got {layout!r}",
                "such as gl.BlockedLayout, gl.SliceLayout or gl.AutoLayout",
            )
        key = (element_ty, shape, layout)
        found = cls._distributed.get(key)
        if found is not None:
            return found
        if layout.is_chosen and layout.rank != len(shape):
            raise LanguageError(
                f"ValueError: tensor shape and layout rank mismatch: the shape {list(shape)} has {len(shape)}"
                f" dimensions, {layout} has {layout.rank}"
            )
        self: distributed_type = cls._of(element_ty, shape)
        self.layout = layout
        self.name = f"<{list(shape)}, {element_ty}, {layout}>"
        self.ir = TensorType(shape, element_ty.to_ir(), layout.attribute())
        self.short_name = f"{element_ty.mangle()}S{'_'.join(map(str, shape))}SL{layout.mangle()}L"
        return cls._distributed.setdefault(key, self)

    def with_element_ty(self, element: dtype) -> distributed_type:
        """The same shape and layout with other elements."""
        return distributed_type(element, self.shape, self.layout)

    def with_layout(self, layout: DistributedLayout) -> distributed_type:
        """The same shape and elements in another layout."""
        return distributed_type(self.element_ty, self.shape, layout)

    def __reduce__(self) -> Any:
        return (distributed_type, (self.element_ty, self.shape, self.layout))


class shared_memory_descriptor_type(BaseType):
    """The type of a buffer in shared memory: a part of `shape` of an allocation of `alloc_shape`."""

    __slots__ = ("alloc_shape", "element_ty", "ir", "layout", "shape")
    make_descriptor: ClassVar[Callable[..., Any]]  # the value's class, which imports this module

    def __init__(self, element_ty: dtype, shape: Any, layout: Any, alloc_shape: Any) -> None:
        self.element_ty = element_ty
        self.shape: list[int] = plain(list(shape))
        self.alloc_shape: list[int] = plain(list(alloc_shape))
        self.layout: SharedLayout = plain(layout)
        if not isinstance(self.layout, SharedLayout):
            raise LanguageError(
                f"TypeError: expected 'layout' to be a SharedLayout but got {self.layout!r}",
                "such as gl.SwizzledSharedLayout or gl.NVMMASharedLayout",
            )
        try:
            self.ir = MemDescType(
                tuple(self.shape),
                element_ty.to_ir(),
                self.layout.attribute(),
                SharedMemorySpace(),
                True,
                tuple(self.alloc_shape),
            )
        except ValueError as error:
            raise LanguageError(f"ValueError: a buffer of shape {self.shape} in {self.layout}: {error}") from None

    def to_ir(self, builder: Any = None) -> Type:
        """The IR type."""
        return self.ir

    def _flatten_ir_types(self, out: list[Type]) -> None:
        out.append(self.ir)

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        return shared_memory_descriptor_type.make_descriptor(handles[at], self), at + 1

    def mangle(self) -> str:
        """`MD`, the fields, `MD`"""
        shape, whole = ("_".join(map(str, dims)) for dims in (self.shape, self.alloc_shape))
        return f"MD{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}LAS{whole}ASMD"

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes that each CTA of a cluster holds."""
        bases = self.layout.block_bases if isinstance(self.layout, SharedLinearLayout) else self.layout.cga_layout  # type: ignore[attr-defined]
        return prod(shape_per_cta(self.shape, bases)) * self.element_ty.primitive_bitwidth // 8

    def _key(self) -> tuple[Any, ...]:
        return (self.element_ty, *self.shape, *self.alloc_shape, self.layout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, shared_memory_descriptor_type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"shared_memory_descriptor<{self.element_ty}, {self.shape}, {self.layout}, {self.alloc_shape}>"


def is_int_list(values: Sequence[Any]) -> bool:
    """Whether all are integers."""
    return all(isinstance(v, int) and not isinstance(v, bool) for v in values)
