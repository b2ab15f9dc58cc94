"""Gluon's tensor descriptors: a tensor, its blocks, and the layout of blocks in shared memory."""

from __future__ import annotations

from typing import Any

from ..frontend.gluon.layouts import NVMMASharedLayout
from ..support.dataclasses import dataclass
from .arrays import describe
from .errors import DescriptorError
from .tensor_descriptor import TensorDescriptor as PlainDescriptor
from .tensor_descriptor import element_bytes, strides_of

__all__ = ["TensorDescriptor"]


@dataclass
class TensorDescriptor(PlainDescriptor):
    """`block_shape`-sized blocks of `base`, which have `layout` in shared memory; else as in the Triton language."""

    layout: Any = None

    def __init__(
        self,
        base: object,
        shape: list[int],
        strides: list[int],
        block_shape: list[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> None:
        self.layout = layout
        PlainDescriptor.__init__(self, base, shape, strides, block_shape, padding, round_f32_to_tf32)
        self._check_layout()

    def _check_layout(self) -> None:
        layout = self.layout
        if not isinstance(layout, NVMMASharedLayout):
            raise DescriptorError(f"the layout of a TensorDescriptor must be an NVMMASharedLayout, not {layout!r}")
        info = describe(self.base)
        size = 1 if info is None else element_bytes(info.element)
        if layout.rank != len(self.block_shape):
            raise DescriptorError(
                f"layout rank must match block shape rank: {layout} has {layout.rank} dimensions, the block"
                f" {list(self.block_shape)} has {len(self.block_shape)}"
            )
        if layout.element_bitwidth != 8 * size:
            raise DescriptorError(
                f"{layout} does not fit a block of {list(self.block_shape)} with elements of {8 * size} bits"
            )
        row = self.block_shape[0 if layout.transposed else -1] * size * (2 if layout.fp4_padded else 1)
        if row < layout.swizzle_byte_width:
            raise DescriptorError(
                f"rows of a block have {row} bytes, the swizzle of {layout.swizzle_byte_width} bytes needs as many"
            )

    @property
    def type_suffix(self) -> str:
        """The layout, as it ends the descriptor's type in signatures."""
        return f", {self.layout!r}"

    @staticmethod
    def from_tensor(  # type: ignore[override]
        tensor: object,
        block_shape: list[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """The descriptor of a whole tensor with `.shape` and `.stride()` (torch), or of a NumPy array."""
        shape, strides = strides_of(tensor)
        return TensorDescriptor(tensor, shape, strides, block_shape, layout, padding, round_f32_to_tf32)
