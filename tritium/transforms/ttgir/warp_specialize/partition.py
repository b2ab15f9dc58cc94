"""Select the operations to partition, and the loads of the producer.

The *span* is the range of operations in a block from the first to the last loop with `tt.warp_specialize`; all of it
but the loads belongs to the consumer. Two consecutive loops (attention with a causal mask: full tiles, then those on
the diagonal) are one span, so that the producer loads for the second while the consumer is still in the first.

The loads are every `tt.descriptor_load` in a loop of the span, whose addresses the producer must be able to compute
(`producer_slice`). Loads through pointers stay in the consumer.

**Legality.** The producer runs ahead, so loads execute before operations that precede them in program order. This must
not be observable: no operation in the span may write through a descriptor that is loaded from, or wait for other
programs (atomics, calls, inline assembly, loops with an unknown trip count). Writes through pointers or other
descriptors are assumed not to alias, as for every pipelined load.
"""

from __future__ import annotations

from typing import Any

from ....dialects import llvm, tt, ttg, ttng
from ....dialects.ttg_maps import linear_layout_of
from ....dialects.ttg_memory import MemDescType, MemoryLayout
from ....ir import (
    DEBUG,
    READ,
    WRITE,
    Block,
    CountedLoop,
    IfLike,
    Memory,
    MemoryAccess,
    Operation,
    Value,
    is_descriptor_store,
    is_pointer_store,
    is_unbounded_loop,
    memory_effects,
)
from ..tma.copies import buffer_type, expected_bytes
from .producer_slice import Slice

__all__ = ["Load", "Refused", "Span", "marked_loops", "span_of"]

MARK = "tt.warp_specialize"


class Refused(Exception):
    """A loop is not specialized; `op` is the reason, and the message explains it."""

    def __init__(self, op: Operation, why: str) -> None:
        super().__init__(why)
        self.op = op


class Load:
    """A `tt.descriptor_load` of the producer, and the users of its buffer.

    `buffers`: the `ttg.local_alloc` that the buffer replaces; `in_registers`: there are other users.
    """

    def __init__(self, op: Any) -> None:
        self.op = op
        ty, users = self.buffer_type(), op.result.users
        self.buffers = [user for user in users if _holds(user, ty)]
        self.in_registers = len(self.buffers) < len(users)

    def buffer_type(self, copies: int | None = None) -> MemDescType:
        """The type of its buffer, or of several."""
        return buffer_type(self.op.desc, self.op.result.type, copies)

    @property
    def bytes(self) -> int:
        """The bytes of one copy."""
        return expected_bytes(self.buffer_type())

    @property
    def shared_by(self) -> int:
        """The bits of the CTA rank on which the loaded data does not depend."""
        return linear_layout_of(self.buffer_type()).redundant().get("block", 0)


def _holds(user: Any, ty: MemDescType) -> bool:
    if user.__class__ is not ttg.LocalAlloc:
        return False
    have: Any = user.result.type
    return not have.mutable and have.shape == ty.shape and have.encoding is ty.encoding


class Span:
    """Operations of one block, `ops`, in which `loads` belong to the producer; `slice` is what it needs for them."""

    def __init__(self, ops: list[Operation]) -> None:
        self.ops = ops
        self.slice = Slice(ops)
        self.loads: list[Load] = []


def marked_loops(func: Operation) -> dict[Block, list[Any]]:
    """The outermost loops of a function that request specialization, by block."""
    found: dict[Block, list[Any]] = {}

    def visit(block: Block) -> None:
        for op in block:
            if isinstance(op, CountedLoop) and MARK in op.attributes:
                found.setdefault(block, []).append(op)
                continue
            for region in op.regions:
                for inner in region.blocks:
                    visit(inner)

    for region in func.regions:
        for block in region.blocks:
            visit(block)
    return found


def span_of(loops: list[Any]) -> Span:
    """The span from the first to the last of some loops of a block; raises Refused."""
    ops: list[Operation] = []
    op: Any = loops[0]
    while True:
        ops.append(op)
        if op is loops[-1]:
            break
        op = op.next
    span = Span(ops)
    loads = [
        op for loop in ops if isinstance(loop, CountedLoop) for op in loop.walk() if op.__class__ is tt.DescriptorLoad
    ]
    if not loads:
        raise Refused(loops[0], "it has no loads through tensor descriptors")
    _check_writes(ops, loads)
    for op in loads:
        _add(span, op)
    return span


def _add(span: Span, op: Any) -> None:
    if not isinstance(op.desc.type.block.encoding, MemoryLayout):
        raise Refused(op, "the descriptor of this load has no layout in shared memory")
    if not op.result.uses:
        return
    if not span.slice.need_at(op, [op.desc, *op.indices]):
        assert span.slice.problem is not None
        where, why = span.slice.problem
        raise Refused(where, f"the producer warp cannot load ahead: {why}")
    for made in span.slice.ops:
        if made.__class__ is tt.MakeTensorDescriptor:
            raise Refused(
                made, "loads through a descriptor that is rebuilt in each iteration must complete before that"
            )
    span.loads.append(Load(op))


def _check_writes(ops: list[Operation], loads: list[Any]) -> None:
    """Check that executing the loads early is not observable."""
    read = {_root(op.desc) for op in loads}
    for outer in ops:
        for op in outer.walk():
            if isinstance(op, (CountedLoop, IfLike)) or not memory_effects(op) & _watched(op):
                continue
            if not _is_independent(op):
                raise Refused(op, f"loads must not be moved before {op.name}")
            target = op.operands[0] if op.operands else None
            if is_descriptor_store(op) and _root(target) in read:
                raise Refused(op, "loads must not be moved before a store through the same descriptor")


def _writes_shared_only(op: Operation) -> bool:
    """Whether the only effects of an operation are plain writes to shared memory, or a fence after these."""
    if op.__class__ is ttng.FenceAsyncShared:
        return True
    return isinstance(op, MemoryAccess) and not op.traits & READ and all(a.memory is Memory.SHARED for a in op.accesses)


def _is_independent(op: Operation) -> bool:
    """Whether an operation with effects does not wait for what other threads do."""
    if _writes_shared_only(op) or is_pointer_store(op) or is_descriptor_store(op) or op.traits & DEBUG:
        return True
    return op.__class__ is llvm.Assume or (op.__class__ is tt.AtomicRMW and not op.results[0].uses)


def _watched(op: Operation) -> int:
    """The effects by which an operation may wait for other programs: a loop with an unknown trip count does so by
    reads."""
    return READ | WRITE if is_unbounded_loop(op) else WRITE


def _root(desc: Any) -> Value:
    """The pointer that a descriptor is built from, or the descriptor."""
    op = desc.defining_op
    return op.base if op is not None and op.__class__ is tt.MakeTensorDescriptor else desc
