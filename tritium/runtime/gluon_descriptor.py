"""Gluon's tensor descriptors: a tensor, its blocks, and the layout of blocks in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frontend.gluon.layouts import NVMMASharedLayout
from ..support.dataclasses import dataclass
from .arrays import describe
from .errors import DescriptorError
from .tensor_descriptor import TensorDescriptor as PlainDescriptor
from .tensor_descriptor import element_bytes, strides_of

__all__ = ["TensorDescriptor", "TensorDescriptorIm2Col"]

_CORNERS = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}
"""What the corners of a pixel box may be, by the rank of the tensor (CUDA driver API, cuTensorMapEncodeIm2col)."""
_MAX_STEP, _MAX_PIXELS = 8, 1024


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
        check_layout(self.base, self.block_shape, self.layout)

    @property
    def mode(self) -> str:
        """ "tiled" """
        return "tiled"

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


@dataclass
class TensorDescriptorIm2Col(TensorDescriptor):
    """A tensor of images, channels last ([N, D, H, W, C] without some of D and H), that is read in columns of pixels.

    A block has `block_shape` (pixels, channels). Pixels follow each other in a box, from `pixel_box_lower_corner` to
    the last pixel plus `pixel_box_upper_corner` (both of the spatial dimensions), in steps of `element_strides` (of
    all dimensions). `tma.async_load_im2col` copies a block. Raises DescriptorError for what TMA does not support.
    """

    element_strides: Sequence[int] = ()
    pixel_box_lower_corner: Sequence[int] = ()
    pixel_box_upper_corner: Sequence[int] = ()

    def __init__(
        self,
        base: object,
        shape: list[int],
        strides: list[int],
        block_shape: list[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: list[int] | None = None,
        pixel_box_lower_corner: list[int] | None = None,
        pixel_box_upper_corner: list[int] | None = None,
    ) -> None:
        self.element_strides = [1] * len(shape) if element_strides is None else element_strides
        self.pixel_box_lower_corner = pixel_box_lower_corner or ()
        self.pixel_box_upper_corner = pixel_box_upper_corner or ()
        TensorDescriptor.__init__(self, base, shape, strides, block_shape, layout, padding, round_f32_to_tf32)
        self._check_rank()  # the base class takes usual tiles, of rank 2 too, without it
        self._check_windows()

    def _check_rank(self) -> None:
        rank = len(self.shape)
        if rank not in _CORNERS:
            raise DescriptorError(f"im2col mode requires rank 3, 4, or 5, got {rank}: the shape is {list(self.shape)}")
        if len(self.strides) != rank:
            raise DescriptorError(f"rank mismatch: {len(self.strides)} strides for {rank} dimensions")
        if len(self.block_shape) != 2:
            raise DescriptorError(f"im2col: block_shape must be 2D, (pixels, channels), not {list(self.block_shape)}")

    def _check_windows(self) -> None:
        rank = len(self.shape)
        for name, corner in (("lower", self.pixel_box_lower_corner), ("upper", self.pixel_box_upper_corner)):
            if len(corner) != rank - 2:
                raise DescriptorError(
                    f"pixel_box_{name}_corner needs {rank - 2} offsets, one for each spatial dimension"
                )
            least, most = _CORNERS[rank]
            for axis, n in enumerate(corner):
                if not least <= n <= most:
                    raise DescriptorError(f"pixel_box_{name}_corner[{axis}] must be in [{least}, {most}], got {n}")
        steps = self.element_strides
        if len(steps) != rank or any(not 0 < n <= _MAX_STEP for n in steps) or steps[-1] != 1:
            raise DescriptorError(
                f"element_strides are {rank} integers in (0, {_MAX_STEP}], of which the last is 1, got {list(steps)}"
            )
        for axis, n in enumerate(self.block_shape):
            if n & (n - 1):
                raise DescriptorError(f"block_shape[{axis}] must be power of 2, got {n}")
        if self.block_shape[0] > _MAX_PIXELS:
            raise DescriptorError(
                f"one copy has at most {_MAX_PIXELS} pixels, a block of {self.block_shape[0]} has more"
            )

    @property
    def mode(self) -> str:
        """ "im2col" """
        return "im2col"

    @property
    def type_name(self) -> str:
        """The name of the descriptor's type in signatures."""
        return "tensordesc_im2col"

    @property
    def type_suffix(self) -> str:
        """The rank of the tensor and the layout, as they end the descriptor's type in signatures."""
        return f",input_rank={len(self.shape)}, {self.layout!r}"

    def has_uneven_rows(self, size: int) -> bool:
        """False: nothing is written by such descriptors."""
        return False

    @staticmethod
    def from_tensor(  # type: ignore[override]
        tensor: object,
        block_shape: list[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: list[int] | None = None,
        pixel_box_lower_corner: list[int] | None = None,
        pixel_box_upper_corner: list[int] | None = None,
    ) -> TensorDescriptorIm2Col:
        """The descriptor of a whole tensor with `.shape` and `.stride()` (torch), or of a NumPy array."""
        corners = pixel_box_lower_corner, pixel_box_upper_corner
        shape, strides = strides_of(tensor)
        return TensorDescriptorIm2Col(
            tensor, shape, strides, block_shape, layout, padding, round_f32_to_tf32, element_strides, *corners
        )


def check_layout(base: object, block_shape: list[int], layout: object) -> None:
    """DescriptorError for a layout that blocks of a tensor cannot have."""
    if not isinstance(layout, NVMMASharedLayout):
        raise DescriptorError(f"the layout of a TensorDescriptor must be an NVMMASharedLayout, not {layout!r}")
    info = describe(base)
    size = 1 if info is None else element_bytes(info.element)
    if layout.rank != len(block_shape):
        raise DescriptorError(
            f"layout rank must match block shape rank: {layout} has {layout.rank} dimensions, the block"
            f" {list(block_shape)} has {len(block_shape)}"
        )
    if layout.element_bitwidth != 8 * size:
        raise DescriptorError(f"{layout} does not fit a block of {list(block_shape)} with elements of {8 * size} bits")
    row = block_shape[0 if layout.transposed else -1] * size * (2 if layout.fp4_padded else 1)
    if row < layout.swizzle_byte_width:
        raise DescriptorError(
            f"rows of a block have {row} bytes, the swizzle of {layout.swizzle_byte_width} bytes needs as many"
        )
