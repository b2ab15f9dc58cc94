"""A tensor with its shape, strides and a block shape, described on the host and passed to kernels as one argument."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..support.dataclasses import dataclass
from .arrays import ArrayInfo, describe
from .errors import DescriptorError

__all__ = ["MAX_RANK", "TensorDescriptor", "element_bytes", "strides_of"]

MAX_RANK = 5
_MAX_ELEMENTS = 1 << 20  # of a tensor in a kernel
_WITHOUT_MEMORY = ("FakeTensor", "FunctionalTensor")  # of torch while tracing
_ALIGNMENT = 16  # bytes: the alignment that TMA requires of the base and of every stride but the last


@lru_cache(maxsize=64)
def element_bytes(element: str) -> int:
    """The size of an element by the name of its type in signatures.

    >>> element_bytes("fp8e4nv"), element_bytes("bf16"), element_bytes("i1")
    (1, 2, 1)
    """
    return max(int("".join(c for c in element.split("e")[0] if c.isdigit()) or 8) // 8, 1)


def strides_of(tensor: Any) -> tuple[list[int], list[int]]:
    """Shape and strides in elements of a tensor with `.shape` and `.stride()` (torch), or of a NumPy array."""
    stride = getattr(tensor, "stride", None)
    if stride is not None:
        return list(tensor.shape), list(stride())
    return list(tensor.shape), [s // tensor.itemsize for s in tensor.strides]


@dataclass
class TensorDescriptor:
    """`block_shape`-sized blocks of the array `base` of `shape` and `strides` (in elements).

    `padding` ("zero" or "nan") is the value of elements out of bounds. Raises DescriptorError where rank (1 to 5),
    alignment (16 bytes), sizes, the last stride (1) or the block (positive sizes) do not meet the hardware's
    requirements, which are the same on every target.
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        base = self.base
        size = _size_of(base)
        if size and self._is_valid(_address_of(base), size):
            return
        info = describe(base)
        if info is None or not self._is_valid(info.address, element_bytes(info.element)):
            self._refuse(info)
        if info is not None and type(base).__module__ in _TORCH:
            _sizes.setdefault(type(base), {})[base.dtype] = element_bytes(info.element)

    def _is_valid(self, address: int, size: int) -> bool:
        """Whether the requirements are met, except those of unusual descriptors: False sends these to `_refuse`."""
        shape, strides, block = self.shape, self.strides, self.block_shape
        rank, bits = len(shape), 0
        if address % _ALIGNMENT or not 0 < rank <= MAX_RANK or not len(strides) == len(block) == rank:
            return False
        for n, extent in zip(block, shape):
            if n.__class__ is not int or n < 1 or extent.__class__ is not int or extent < 1:
                return False
            bits += (n - 1).bit_length()
        for stride in strides[:-1]:
            if stride.__class__ is not int or stride * size % _ALIGNMENT:
                return False
        usual = self.padding == "zero" and not self.round_f32_to_tf32
        return usual and strides[-1] == 1 and 1 << bits <= _MAX_ELEMENTS

    def _refuse(self, info: ArrayInfo | None) -> None:
        """DescriptorError for the first requirement that is not met."""
        self._check_rank()
        if info is None:
            raise DescriptorError(f"the base of a TensorDescriptor must be an array, not {type(self.base).__name__}")
        if info.address % _ALIGNMENT and type(self.base).__name__ not in _WITHOUT_MEMORY:
            raise DescriptorError(f"base must be 16-byte aligned: that of a TensorDescriptor is at {info.address:#x}")
        self.check_block()
        self._check_strides(element_bytes(info.element))
        self._check_loads(info.element)

    @property
    def type_name(self) -> str:
        """The name of the descriptor's type in signatures."""
        return "tensordesc"

    @property
    def type_suffix(self) -> str:
        """The end of the descriptor's type in signatures, where there is more to say than its block."""
        return ""

    def _check_rank(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= MAX_RANK:
            what = "cannot be more than 5" if rank else "must not be zero"
            raise DescriptorError(f"rank {what}: the shape of a TensorDescriptor is {list(self.shape)}")
        if len(self.strides) != rank or len(self.block_shape) != rank:
            raise DescriptorError(
                f"rank mismatch: a TensorDescriptor needs as many strides ({len(self.strides)}) and block sizes "
                f"({len(self.block_shape)}) as dimensions ({rank})"
            )

    def check_block(self) -> None:
        """DescriptorError for an invalid block, which may have been assigned later."""
        count = 1
        for axis, n in enumerate(self.block_shape):
            if not isinstance(n, int) or n < 1:
                raise DescriptorError(
                    f"Shape element {axis} must be a positive integer: the block of a TensorDescriptor is "
                    f"{list(self.block_shape)}"
                )
            count *= 1 << (n - 1).bit_length()
        if count > _MAX_ELEMENTS:
            raise DescriptorError(
                f"numel ({count}) exceeds the {_MAX_ELEMENTS} elements that a tensor may have: the block of a "
                f"TensorDescriptor is {list(self.block_shape)}"
            )

    def _check_strides(self, size: int) -> None:
        for axis, stride in enumerate(self.strides[:-1]):
            if not hasattr(stride, "__index__"):
                raise DescriptorError(f"strides must be integers: that of dimension {axis} is {stride!r}")
            if stride * size % _ALIGNMENT:
                raise DescriptorError(
                    f"strides must be 16-byte aligned: that of dimension {axis} of a TensorDescriptor is {stride} "
                    f"elements of {size} bytes"
                )
        if any(n <= 0 for n in self.shape):
            raise DescriptorError(f"shape must be positive: that of a TensorDescriptor is {list(self.shape)}")
        if self.strides[-1] != 1:
            raise DescriptorError(
                f"Last dimension must be contiguous: the last stride of a TensorDescriptor is {self.strides[-1]}, not 1"
            )

    def _check_loads(self, element: str) -> None:
        if self.padding not in ("zero", "nan"):
            raise DescriptorError(f"Illegal value for padding: it is 'zero' or 'nan', not {self.padding!r}")
        if self.padding == "nan" and not element.startswith(("fp", "bf")):
            raise DescriptorError(
                f"Padding option `nan` is only supported for floating point tensors, not for {element}"
            )
        if self.round_f32_to_tf32 and element != "fp32":
            raise DescriptorError(f"round_f32_to_tf32 is only supported for float32 tensors, not for {element}")

    def has_uneven_rows(self, size: int) -> bool:
        """Whether the last dimension, in elements of `size` bytes, is not a multiple of 16 bytes.

        TMA stores end at such a multiple, so that separate kernels are compiled for these.
        """
        return self.shape[-1] * size % _ALIGNMENT != 0

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: list[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole tensor with `.shape` and `.stride()` (torch), or of a NumPy array."""
        sizes = _sizes.get(tensor.__class__)  # as `_size_of`, without its call
        size = sizes.get(tensor.dtype) if sizes is not None else None
        if size is None or padding != "zero" or round_f32_to_tf32:
            return TensorDescriptor(tensor, *strides_of(tensor), block_shape, padding, round_f32_to_tf32)
        shape, strides = [*tensor.shape], [*tensor.stride()]
        # launches refuse a tensor with the negative bit, which is asked for by a call of its own
        offset = tensor.data_ptr() if tensor.is_cuda or tensor.is_cpu else 1
        if len(shape) == 2 == len(block_shape):  # most descriptors: what the loops below check
            m, n = block_shape
            valid = m.__class__ is int is n.__class__ and m > 0 < n and m * n <= _MAX_ELEMENTS >> 2
            valid = valid and not (offset | strides[0] * size) % _ALIGNMENT
        else:
            valid = _is_usual(offset, strides, size, block_shape)
        if not valid or strides[-1] != 1 or 0 in shape:
            return TensorDescriptor(tensor, shape, strides, block_shape)
        made: TensorDescriptor = _new(TensorDescriptor)  # the requirements are met
        made.base, made.shape, made.strides, made.block_shape = tensor, shape, strides, block_shape
        made.padding, made.round_f32_to_tf32 = "zero", False
        return made


def _is_usual(address: int, strides: Sequence[int], size: int, block: Sequence[int]) -> bool:
    """Whether rank, alignment and block meet the requirements by a wide margin: a block is counted as if each of its
    sizes were rounded up to twice of it."""
    count, offset = 1 << len(block), address
    for n in block:
        if n.__class__ is not int or n < 1:
            return False
        count *= n
    for stride in strides[:-1]:
        offset |= stride * size
    return not offset % _ALIGNMENT and count <= _MAX_ELEMENTS and 0 < len(strides) == len(block) <= MAX_RANK


_new = object.__new__


#: the sizes of elements by class and element type of torch's tensors of which there has been a descriptor
_sizes: dict[type, dict[Any, int]] = {}

_TORCH = ("torch", "torch.nn.parameter")  # modules of classes that override nothing


def _size_of(base: Any) -> int:
    """The size of an element of a tensor whose kind is known, else 0."""
    sizes = _sizes.get(base.__class__)
    return 0 if sizes is None else sizes.get(base.dtype, 0)


def _address_of(tensor: Any) -> int:
    """The address of a torch tensor; 1 for those that `describe` refuses."""
    return tensor.data_ptr() if (tensor.is_cuda or tensor.is_cpu) and not tensor.is_neg() else 1  # type: ignore[no-any-return]
