"""A tensor with its shape, strides and a block shape, described on the host and passed to kernels as one argument."""

from __future__ import annotations

from typing import Any

from ..support.dataclasses import dataclass
from .arrays import describe
from .errors import ArgumentError

__all__ = ["TensorDescriptor"]

_ALIGNMENT = 16  # bytes: what the copy engines of GPUs ask of the base and of every stride but the last


@dataclass
class TensorDescriptor:
    """`block_shape`-sized blocks of the array `base` of `shape` and `strides` (in elements).

    `padding` ("zero" or "nan") is what loads put in the place of elements outside. Raises ArgumentError where rank
    (1 to 5), alignment (16 bytes), the last stride (1) or the block (powers of two) are not what the hardware asks for,
    the same on every target.
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= 5:
            raise ArgumentError(f"a TensorDescriptor has 1 to 5 dimensions, not {rank}")
        if len(self.strides) != rank or len(self.block_shape) != rank:
            raise ArgumentError(
                f"a TensorDescriptor needs as many strides ({len(self.strides)}) and block sizes "
                f"({len(self.block_shape)}) as dimensions ({rank})"
            )
        if self.strides[-1] != 1:
            raise ArgumentError(f"the last stride of a TensorDescriptor must be 1, not {self.strides[-1]}")
        if self.padding not in ("zero", "nan"):
            raise ArgumentError(f"padding is 'zero' or 'nan', not {self.padding!r}")
        self.check_block()
        self._check_alignment()

    def check_block(self) -> None:
        """ArgumentError unless the block, which may have been set after the descriptor was made, has powers of two."""
        if any(not isinstance(n, int) or n < 1 or n & (n - 1) for n in self.block_shape):
            raise ArgumentError(
                f"the block of a TensorDescriptor must have powers of two, not {list(self.block_shape)}"
            )

    def _check_alignment(self) -> None:
        info = describe(self.base)
        if info is None:
            raise ArgumentError(f"the base of a TensorDescriptor must be an array, not {type(self.base).__name__}")
        if info.address % _ALIGNMENT:
            raise ArgumentError("the base of a TensorDescriptor must be aligned to 16 bytes")
        bits = int("".join(c for c in info.element.split("e")[0] if c.isdigit()) or 8)
        for stride in self.strides[:-1]:
            if stride * max(bits // 8, 1) % _ALIGNMENT:
                raise ArgumentError(f"stride {stride} of a TensorDescriptor is not a multiple of 16 bytes")

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: list[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole tensor with `.shape` and `.stride()` (torch), or of a NumPy array."""
        if hasattr(tensor, "stride"):
            strides = list(tensor.stride())
        else:
            strides = [s // tensor.itemsize for s in tensor.strides]
        return TensorDescriptor(tensor, list(tensor.shape), strides, block_shape, padding, round_f32_to_tf32)
