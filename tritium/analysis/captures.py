"""How the partitions of a `ttg.warp_specialize` get the values that they capture.

Other warps have computed them, so in general a value goes through shared memory, eight bytes a part. What every thread
can know by itself does not: arguments of the kernel, constants, places of buffers, and scalars that are computed from
such things without effects and by few operations.

    %i = tt.get_program_id x : i32
    %n = arith.muli %i, %k : i32                 // computed again in the partition
    %x = tt.load %p : !tt.ptr<i32>               // goes through shared memory
    ttg.warp_specialize(%n, %x, %buffer) …
"""

from __future__ import annotations

from typing import Any

from ..dialects import tt, ttg
from ..dialects.ttg_memory import AsyncTokenType, MemDescType
from ..ir import PURE, BlockArgument, Operation, TensorType, Value

__all__ = ["PART_BYTES", "capture_scratch", "sent"]

PART_BYTES = 8
"""Of shared memory for each part of a value: no scalar is larger."""

MAX_OPERATIONS = 16
"""Operations that are done again for one value at most: about what a round trip through shared memory takes."""

_DIALECTS = frozenset(("arith", "math", "tt", "ttg", "ttng"))
_DIFFER = (ttg.WarpId,)  # pure, but other warps would get another result


def is_recomputed(value: Value) -> bool:
    """Whether other warps know a value, or compute it themselves."""
    return _cost(value, 0) <= MAX_OPERATIONS


def _cost(value: Value, known: int) -> int:
    """How many operations lead to a value, `known` included; more than the most where it cannot be had so."""
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


def sent(op: Any) -> list[tuple[int, Value]]:
    """The captures of a `ttg.warp_specialize` that go through shared memory, with their numbers."""
    return [(i, v) for i, v in enumerate(op.partitions.operands) if not is_recomputed(v)]


def words_of(value: Value) -> int:
    """The parts of a value: of a buffer its address and an offset for each dimension; a token has none."""
    if isinstance(value.type, MemDescType):
        return 1 + len(value.type.shape)
    return 0 if isinstance(value.type, AsyncTokenType) else 1


def capture_scratch(op: Operation) -> int:
    """Bytes of scratch for the captures of a `ttg.warp_specialize` that go through shared memory."""
    return PART_BYTES * sum(words_of(v) for _, v in sent(op))
