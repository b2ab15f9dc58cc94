"""Arguments made of a signature: random arrays and numbers of plausible sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...frontend.aggregate_types import str_to_type
from ...frontend.gluon.descriptors import host_descriptor_type, host_im2col_type
from ...interpreter.numbers import encode
from ...runtime.arrays import reinterpret
from ...runtime.gluon_descriptor import TensorDescriptor as GluonDescriptor
from ...runtime.tensor_descriptor import TensorDescriptor
from ..kernel_file import CommandError
from ..signature import Entry, split_items
from .compare import format_of
from .launch import bits_of

__all__ = ["arguments_of"]


def arguments_of(entries: Mapping[str, Entry], given: Mapping[str, Any], size: int, seed: int = 0) -> list[Any]:
    """A value for each entry of a signature.

    Integers are `size`, up to what they are divisible by; floats are random; an array holds `size` rows of as
    many elements at multiples of 16: numbers of a normal distribution, or integers below `size` (they may be indices).
    `given` says otherwise: numbers, and for arrays their shape.
    """
    rng = np.random.default_rng(seed)
    return [_value(entry, given.get(name), size, rng) for name, entry in entries.items()]


def _value(entry: Entry, given: Any, size: int, rng: np.random.Generator) -> Any:
    if entry.is_constant:
        return entry.constant
    if entry.type.startswith("tensordesc"):
        return _descriptor(entry, given, size, rng)
    if entry.type[0] == "*":
        extent = -(-size // 16) * 16
        shape = (extent * extent,) if given is None else given if isinstance(given, tuple) else (int(given),)
        return _array(entry.type.lstrip("*").removeprefix("k"), shape, size, rng)
    if given is not None:
        return given
    if format_of(entry.type) is not None:
        return float(rng.standard_normal(dtype=np.float32))
    limit = (1 << bits_of(entry.type) - 1) - 1 if entry.type not in ("i1", "u1") else 1
    step = entry.hint or 1
    return min(-(-size // step) * step, limit // step * step)


def _array(element: str, shape: tuple[int, ...], size: int, rng: np.random.Generator) -> Any:
    """An array that begins at a multiple of 128 bytes."""
    ty = format_of(element)
    if ty is None:
        high = 2 if element in ("i1", "u1") else min(size, 127)
        values = rng.integers(0, max(high, 1), shape)
        dtype = "?" if high == 2 else f"{element[0]}{bits_of(element) // 8}"
        return _aligned(values.astype(np.dtype(dtype)))
    numbers = rng.standard_normal(shape)
    if element in ("fp16", "fp32", "fp64"):
        return _aligned(numbers.astype(np.dtype(f"f{bits_of(element) // 8}")))
    return reinterpret(_aligned(encode(numbers.astype(np.float32), ty)), element)


def _aligned(values: np.ndarray) -> np.ndarray:
    raw = np.empty(values.nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 128
    copy = raw[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def _descriptor(entry: Entry, given: Any, size: int, rng: np.random.Generator) -> TensorDescriptor:
    """A descriptor of a dense array with `size` elements a dimension, or at least a block."""
    element, _, rest = entry.type.partition("<")[2].partition("[")
    block = [int(n) for n, _ in split_items(rest.partition("]")[0])]
    if given is not None and (not isinstance(given, tuple) or len(given) != len(block)):
        raise CommandError(f"{entry.name} describes an array of {len(block)} dimensions: say {entry.name}=64x64")
    shape = list(given or [max(size, n) for n in block])
    shape[-1] = -(-shape[-1] // 16) * 16  # rows begin at multiples of 16 bytes
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    base = _array(element, tuple(shape), size, rng)
    ty = str_to_type(entry.type) if "Layout(" in entry.type else None
    if isinstance(ty, host_im2col_type):
        raise CommandError(f"{entry.name} is an im2col descriptor: launch the kernel in a script, and check that")
    if isinstance(ty, host_descriptor_type):
        return GluonDescriptor(base, shape, strides, block, ty.layout)
    return TensorDescriptor(base, shape, strides, block)
