"""Captures of `ttg.warp_specialize`: which the partitions rematerialize, and which pass through shared memory.

A captured value is computed by other warps, so in general it passes through shared memory, eight bytes a part. Kernel
arguments, constants, offsets of buffers, and scalars computed from these by few operations without side effects are
rematerialized instead:

    %i = tt.get_program_id x : i32
    %n = arith.muli %i, %k : i32                 // rematerialized in the partition
    %x = tt.load %p : !tt.ptr<i32>               // passes through shared memory
    ttg.warp_specialize(%n, %x, %buffer) …
"""

from __future__ import annotations

from ..dialects import tt, ttg
from ..dialects.ttg_memory import AsyncTokenType, MemDescType
from ..ir import PURE, BlockArgument, TensorType, Value

__all__ = ["PART_BYTES", "capture_scratch", "sent"]

PART_BYTES = 8
"""Bytes of shared memory for each part of a value: the largest scalar."""

MAX_OPERATIONS = 16
"""Operations rematerialized for one value: about the cost of a round trip through shared memory."""

_DIALECTS = frozenset(("arith", "math", "tt", "ttg", "ttng"))
_DIFFER = (ttg.WarpId,)  # pure, but different in other warps


def is_recomputed(value: Value) -> bool:
    """Whether partitions rematerialize a value."""
    return _cost(value, 0) <= MAX_OPERATIONS


def _cost(value: Value, known: int) -> int:
    """The number of operations that compute a value, plus `known`; above the maximum if it cannot be rematerialized."""
    if known > MAX_OPERATIONS or isinstance(value.type, TensorType):
        return MAX_OPERATIONS + 1
    op = value.defining_op
    if op is None:
        assert isinstance(value, BlockArgument)
        parent = value.owner.parent_op
        first = parent is not None and value.owner is parent.regions[0].blocks[0]
        return known if first and isinstance(parent, tt.Func) else MAX_OPERATIONS + 1
    if isinstance(op, ttg.LocalAlloc) and op.src is None:
        return known
    if not op.traits & PURE or op.regions or isinstance(op, _DIFFER) or op.name.partition(".")[0] not in _DIALECTS:
        return MAX_OPERATIONS + 1
    if op.operands:
        known += 1
    for operand in op.operands:
        known = _cost(operand, known)
    return known


def sent(op: ttg.WarpSpecialize) -> list[tuple[int, Value]]:
    """The captures of a `ttg.warp_specialize` that pass through shared memory, with their indices."""
    return [(i, v) for i, v in enumerate(op.partitions.operands) if not is_recomputed(v)]


def words_of(value: Value) -> int:
    """The number of parts of a value: for a buffer its address and an offset per dimension; none for a token."""
    if isinstance(value.type, MemDescType):
        return 1 + len(value.type.shape)
    return 0 if isinstance(value.type, AsyncTokenType) else 1


def capture_scratch(op: ttg.WarpSpecialize) -> int:
    """Bytes of scratch for the captures of a `ttg.warp_specialize` that pass through shared memory."""
    return PART_BYTES * sum(words_of(v) for _, v in sent(op))
