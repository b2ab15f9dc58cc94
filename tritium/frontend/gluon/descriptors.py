"""Tensor descriptors with the layout that their blocks have in shared memory."""

from __future__ import annotations

import ast

from ...dialects import tt
from ...ir import TensorType, Value
from ..aggregate_types import DESCRIPTORS_WITH_LAYOUT, descriptor_argument_type, str_to_type, tuple_type
from ..aggregate_types import tensor_descriptor_type as plain_descriptor_type
from ..errors import LanguageError
from ..scalar_types import block_type, int32, int64
from ..tensor import tensor_descriptor as plain_descriptor
from .layouts import NVMMASharedLayout
from .types import shared_memory_descriptor_type

__all__ = ["host_descriptor", "tensor_descriptor", "tensor_descriptor_type"]


class tensor_descriptor_type(plain_descriptor_type):
    """The type of a descriptor whose blocks have `layout` in shared memory."""

    __slots__ = ("layout",)

    def __init__(
        self, block_type: block_type, shape_type: tuple_type, strides_type: tuple_type, layout: NVMMASharedLayout
    ) -> None:
        super().__init__(block_type, shape_type, strides_type)
        self.layout = layout
        block = self.ir.block
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


def host_descriptor(element: str, shape: list[int], rest: str) -> host_descriptor_type:
    """The type that a signature names: `tensordesc<fp16[64, 64], NVMMASharedLayout(swizzle_byte_width=128, …)>`."""
    before, name, arguments = rest.partition("NVMMASharedLayout")
    try:
        call = ast.parse(name + arguments.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError(arguments)
        fields = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        layout = NVMMASharedLayout(**fields)
    except (SyntaxError, ValueError, TypeError):
        raise LanguageError(f"TypeError: no layout of a descriptor: {rest.strip(' ,')!r}") from None
    said = [word.strip() for word in before.split(",")]
    block = block_type(str_to_type(element), shape)
    return host_descriptor_type(block, "nan" if "nan" in said else "zero", "uneven" in said, layout)


DESCRIPTORS_WITH_LAYOUT[:] = [host_descriptor]
