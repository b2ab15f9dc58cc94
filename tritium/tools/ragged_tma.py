"""Rows of a tensor that belong together, read and written through one descriptor, whatever their number.

A tensor holds groups of rows one behind another, `T[offset : offset + size]`. A block that reaches beyond its group
must not touch the next one, and a descriptor knows only one bound. So the descriptor of `create_ragged_descriptor` has
two dimensions more in front, and the bound that counts is far above all rows:

    address(i, j, r) = base + i * (2**34 - s) + j * s + r * s       for a row stride of s elements, r < 2**30

With i = 2**30, j = offset + size and r = 2**30 - size + row, the multiples of 2**30 * s cancel, 2**64 is 0 to an
address, and what is left is row `offset + row`, while r < 2**30 says that row < size. Rows before the group have r < 0
only where they are more than 2**30 before: a block must begin inside its group.
"""

from __future__ import annotations

from typing import Any

from .. import language as tl
from ..runtime.jit import jit
from ..runtime.tensor_descriptor import TensorDescriptor
from ..support import TritiumError

__all__ = ["atomic_add_ragged", "create_ragged_descriptor", "load_ragged", "store_ragged", "to_ragged_indices"]

_ROWS = 1 << 30
_UNBOUNDED = 0x7FFF0000  # of the dimensions in front, whose indices are always inside
LIMIT = tl.constexpr(_ROWS)


class RaggedError(TritiumError, ValueError, AssertionError):
    """A tensor, or a block, that no ragged descriptor can have."""


def create_ragged_descriptor(T: Any, block_shape: Any, ragged_dim: int = 0) -> TensorDescriptor:
    """The descriptor of a tensor of rank 2 or 3 whose groups lie along `ragged_dim`, for blocks of `block_shape`.

    RaggedError where `ragged_dim` is the last dimension, or the block has another rank; rows are at most 2**30.
    """
    shape, block = list(T.shape), list(block_shape)
    rank = len(shape)
    axis = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    if not 0 <= axis < rank - 1:
        raise RaggedError(f"last dimension cannot be ragged: ragged_dim is {ragged_dim} of a tensor of rank {rank}")
    if rank > 3:
        raise RaggedError(f"read-write ragged descriptors must have at most 3 dimensions, and the tensor has {rank}")
    if len(block) != rank:
        raise RaggedError(f"block shape must have same length as tensor shape: {block} for {shape}")
    if shape[axis] > _ROWS:
        raise RaggedError(f"number of rows may not exceed 2**30: there are {shape[axis]}")
    shape[axis] = _ROWS
    strides = [T.stride(i) for i in range(rank)]
    front = [(1 << 34) - strides[axis], strides[axis]]
    return TensorDescriptor(T, [_UNBOUNDED, _UNBOUNDED, *shape], front + strides, [1, 1, *block])


@jit
def to_ragged_indices(slice_off, slice_size, row):  # type: ignore[no-untyped-def]
    """The three indices that stand for `row` of the group `slice_off : slice_off + slice_size`."""
    return LIMIT, slice_off + slice_size, LIMIT - slice_size + row


@jit
def _ragged(slice_off, slice_size, coords, ragged_dim: tl.constexpr):  # type: ignore[no-untyped-def]
    """All indices of a block whose first element is at `coords` of a group."""
    i, j, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    return [i, j] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :]


@jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):  # type: ignore[no-untyped-def]
    """The tile at `coords` of a group; elements outside of the group are zero."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "TMA must be a read-write ragged descriptor")
    data = TMA.load(_ragged(slice_off, slice_size, coords, ragged_dim))
    return tl.reshape(data, data.shape[2:])


@jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):  # type: ignore[no-untyped-def]
    """Store a tile at `coords` of a group; elements outside of the group are not written."""
    TMA.store(_ragged(slice_off, slice_size, coords, ragged_dim), tl.reshape(data, [1, 1] + data.shape))


@jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):  # type: ignore[no-untyped-def]
    """Add a tile atomically at `coords` of a group; elements outside of the group are not changed."""
    TMA.atomic_add(_ragged(slice_off, slice_size, coords, ragged_dim), tl.reshape(data, [1, 1] + data.shape))
