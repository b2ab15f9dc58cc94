"""Tensor descriptors with the layout that their blocks have in shared memory."""

from __future__ import annotations

import ast

from ...dialects import tt
from ...dialects.ttng_types import TensorDescIm2ColType
from ...ir import TensorType, Type, Value
from ..aggregate_types import DESCRIPTORS_WITH_LAYOUT, descriptor_argument_type, str_to_type, tuple_type, with_sign
from ..aggregate_types import tensor_descriptor_type as plain_descriptor_type
from ..errors import LanguageError
from ..scalar_types import block_type, int32, int64
from ..tensor import tensor_descriptor as plain_descriptor
from .layouts import NVMMASharedLayout
from .types import shared_memory_descriptor_type

__all__ = [
    "host_descriptor",
    "host_im2col_descriptor",
    "tensor_descriptor",
    "tensor_descriptor_im2col",
    "tensor_descriptor_im2col_type",
    "tensor_descriptor_type",
]


class tensor_descriptor_type(plain_descriptor_type):
    """The type of a descriptor whose blocks have `layout` in shared memory."""

    __slots__ = ("layout",)

    def __init__(
        self, block_type: block_type, shape_type: tuple_type, strides_type: tuple_type, layout: NVMMASharedLayout
    ) -> None:
        super().__init__(block_type, shape_type, strides_type)
        self.layout = layout
        block = with_sign(block_type)
        self.ir = tt.TensorDescType(TensorType(block.shape, block.element, layout.attribute()))

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes of a block that each CTA of a cluster holds."""
        return shared_memory_descriptor_type(
            self.block_type.element_ty, self.block_type.shape, self.layout, self.block_type.shape
        ).nbytes_per_cta

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[tensor_descriptor, int]:
        handle = handles[at]
        shape, at = self.shape_type._unflatten_ir(handles, at + 1)
        strides, at = self.strides_type._unflatten_ir(handles, at)
        return tensor_descriptor(handle, shape, strides, self), at

    def mangle(self) -> str:
        """`TD`, the block and the layout, `TD`"""
        return f"TD{self.block_type.mangle()}_{self.layout.mangle()}TD"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_type) and plain_descriptor_type.__eq__(self, other)
        ) and self.layout == other.layout

    def __hash__(self) -> int:
        return hash((self.block_type, self.layout))

    def __repr__(self) -> str:
        return f"tensor_descriptor<{self.block_type}, {self.layout}>"


class tensor_descriptor(plain_descriptor):
    """A descriptor of a tensor in global memory, whose blocks TMA copies to and from buffers in its layout."""

    __slots__ = ()
    type: tensor_descriptor_type

    @property
    def layout(self) -> NVMMASharedLayout:
        """The layout of blocks in shared memory."""
        return self.type.layout

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes of a block that each CTA of a cluster holds."""
        return self.type.nbytes_per_cta


class tensor_descriptor_im2col_type(tensor_descriptor_type):
    """The type of a descriptor of images, whose columns of pixels have `layout` in shared memory.

    `shape_type` and `strides_type` are those of the tensor, which has 3 to 5 dimensions; a block has two.
    """

    __slots__ = ()

    def __init__(
        self, block_type: block_type, shape_type: tuple_type, strides_type: tuple_type, layout: NVMMASharedLayout
    ) -> None:
        super().__init__(block_type, shape_type, strides_type, layout)
        block = with_sign(block_type)
        self.ir = TensorDescIm2ColType(block.shape, block.element, layout.attribute())

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[tensor_descriptor, int]:
        made, at = super()._unflatten_ir(handles, at)
        return tensor_descriptor_im2col(made.handle, made.shape, made.strides, self), at

    def mangle(self) -> str:
        """`TDI`, the block and the layout, `TDI`"""
        return f"TDI{self.block_type.mangle()}_{self.layout.mangle()}TDI"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tensor_descriptor_im2col_type) and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.block_type, self.layout, "im2col"))

    def __repr__(self) -> str:
        return f"tensor_descriptor_im2col<{self.block_type}, {self.layout}>"


class tensor_descriptor_im2col(tensor_descriptor):
    """A descriptor of images in global memory, whose columns of pixels TMA copies to buffers in its layout."""

    __slots__ = ()


class host_descriptor_type(descriptor_argument_type):
    """A descriptor with a layout that the host passes to a kernel."""

    __slots__ = ("layout",)

    def __init__(self, block: block_type, padding: str, uneven: bool, layout: NVMMASharedLayout) -> None:
        super().__init__(block, padding, uneven)
        self.layout = layout

    @property
    def native(self) -> tensor_descriptor_type:
        """The type of the argument on targets with TMA."""
        rank = len(self.block_type.shape)
        return tensor_descriptor_type(
            self.block_type, tuple_type([int32] * rank), tuple_type([int64] * rank), self.layout
        )


class host_im2col_type(host_descriptor_type):
    """A descriptor of images that the host passes to a kernel."""

    __slots__ = ("rank",)

    def __init__(self, block: block_type, padding: str, rank: int, layout: NVMMASharedLayout) -> None:
        super().__init__(block, padding, False, layout)
        self.rank = rank

    @property
    def native(self) -> tensor_descriptor_im2col_type:
        """The type of the argument."""
        shape, strides = tuple_type([int32] * self.rank), tuple_type([int64] * self.rank)
        return tensor_descriptor_im2col_type(self.block_type, shape, strides, self.layout)

    def _flatten_ir_types(self, out: list[Type]) -> None:
        raise LanguageError("NotImplementedError: im2col descriptors need TMA, which GPUs have since Hopper (sm_90)")

    def mangle(self) -> str:
        """`HDI` and the block."""
        return f"HDI{self.block_type.mangle()}"

    def __repr__(self) -> str:
        return f"tensordesc_im2col<{self.block_type}>"


def host_descriptor(element: str, shape: list[int], rest: str) -> host_descriptor_type:
    """The type that a signature names: `tensordesc<fp16[64, 64], NVMMASharedLayout(swizzle_byte_width=128, …)>`."""
    layout, said = _said(rest)
    block = block_type(str_to_type(element), shape)
    return host_descriptor_type(block, "nan" if "nan" in said else "zero", "uneven" in said, layout)


def host_im2col_descriptor(element: str, shape: list[int], rest: str) -> host_im2col_type:
    """The same of `tensordesc_im2col<fp16[64, 64],input_rank=4, NVMMASharedLayout(…)>`."""
    layout, said = _said(rest)
    rank = next((int(word.partition("=")[2]) for word in said if word.startswith("input_rank=")), 0)
    if not 3 <= rank <= 5 or len(shape) != 2:
        raise LanguageError(
            "TypeError: an im2col descriptor has blocks of 2 dimensions and an input_rank of 3 to 5, got"
            f" {element}{shape}{rest}"
        )
    block = block_type(str_to_type(element), shape)
    return host_im2col_type(block, "nan" if "nan" in said else "zero", rank, layout)


def _said(rest: str) -> tuple[NVMMASharedLayout, list[str]]:
    """The layout at the end of a descriptor's type, and the words before it."""
    before, name, arguments = rest.partition("NVMMASharedLayout")
    try:
        call = ast.parse(name + arguments.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError(arguments)
        fields = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        layout = NVMMASharedLayout(**fields)
    except (SyntaxError, ValueError, TypeError):
        raise LanguageError(f"TypeError: no layout of a descriptor: {rest.strip(' ,')!r}") from None
    return layout, [word.strip() for word in before.split(",")]


DESCRIPTORS_WITH_LAYOUT[:] = [host_descriptor, host_im2col_descriptor]
