"""The limit on the elements of a tensor, which Triton's verifier checks too."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..ir import SURROUNDINGS, Operation, TensorType
from ..support.limits import MAX_TENSOR_ELEMENTS

__all__ = ["padded_elements", "tensor_sizes"]

_fitting: set[object] = set()


def padded_elements(shape: tuple[int, ...]) -> int:
    """The elements of a tensor whose sizes are rounded up to powers of two.

    >>> padded_elements((3, 100))
    512
    """
    return math.prod(1 << (size - 1).bit_length() if size > 0 else 0 for size in shape)


def tensor_sizes(root: Operation) -> Iterator[tuple[Operation, str]]:
    """Operations whose results have too many elements, and the message."""
    for op in root.walk():
        for result in op.results:
            ty = result.type
            if ty in _fitting:
                continue
            if ty.__class__ is TensorType and padded_elements(ty.shape) > MAX_TENSOR_ELEMENTS:
                yield op, f"a result has {math.prod(ty.shape):,} elements, more than {MAX_TENSOR_ELEMENTS:,}"
                break
            _fitting.add(ty)


SURROUNDINGS.append(tensor_sizes)
