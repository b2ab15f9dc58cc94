"""Who does what: the part of a block that two kinds of warps run at once, and the loads that the producer does.

The *span* is what stands between the first and the last loop of a block that asks for `tt.warp_specialize`, these
included; everything in it is the consumer's but the loads. Two loops in a row (attention with a causal mask: full
blocks, then those on the diagonal) are one span, so that the producer loads for the second while the consumer is still
in the first.

The loads are every `tt.descriptor_load` in a loop of the span, whose addresses the producer must be able to compute
(`producer_slice`). Those by pointers stay with the consumer, as they are.

**When not.** The producer runs ahead, so loads happen before what stands in front of them in the program. That must
not be seen: in the span nobody may write through a descriptor that is loaded from, nor wait for others (atomics, calls,
inline assembly, loops of an unknown number of iterations). What is written through pointers or other descriptors is
taken to be elsewhere, as for every load that is started ahead of its iteration.
"""

from __future__ import annotations

from typing import Any

from ....dialects import scf, tt, ttg, ttng
from ....dialects.ttg_maps import linear_layout_of
from ....dialects.ttg_memory import MemDescType, MemoryLayout
from ....ir import READ, WRITE, Block, Operation, Value, memory_effects
from ..tma.copies import buffer_type, expected_bytes
from .producer_slice import Slice

__all__ = ["Load", "Refused", "Span", "marked_loops", "span_of"]

MARK = "tt.warp_specialize"

_WRITES = (
    tt.Store,
    tt.DescriptorStore,
    tt.DescriptorReduce,
    tt.DescriptorScatter,
    tt.Assert,
    tt.Print,
    ttg.LocalAlloc,
    ttg.LocalStore,
    ttng.FenceAsyncShared,
)
"""Operations with effects that do not wait for what others do."""


class Refused(Exception):
    """A loop stays as it is; `op` is why, and the message says it."""

    def __init__(self, op: Operation, why: str) -> None:
        super().__init__(why)
        self.op = op


class Load:
    """A `tt.descriptor_load` of the producer, and who takes it from its buffer.

    `buffers` are the `ttg.local_alloc` that would hold it as it comes; `in_registers` says that others use it, too.
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
        """How many bytes a copy brings."""
        return expected_bytes(self.buffer_type())

    @property
    def shared_by(self) -> int:
        """The bits of a block's number in its cluster that make no difference to what it gets."""
        return linear_layout_of(self.buffer_type()).redundant().get("block", 0)


def _holds(user: Any, ty: MemDescType) -> bool:
    if user.__class__ is not ttg.LocalAlloc:
        return False
    have: Any = user.result.type
    return not have.mutable and have.shape == ty.shape and have.encoding is ty.encoding


class Span:
    """Operations of one block, `ops`, in which `loads` are the producer's; `slice` is what it needs for them."""

    def __init__(self, ops: list[Operation]) -> None:
        self.ops = ops
        self.slice = Slice(ops)
        self.loads: list[Load] = []


def marked_loops(func: Operation) -> dict[Block, list[Any]]:
    """The outermost loops of a function that ask for specialization, by their blocks."""
    found: dict[Block, list[Any]] = {}

    def visit(block: Block) -> None:
        for op in block:
            if op.__class__ is scf.For and MARK in op.attributes:
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
    loads = [op for loop in ops if loop.__class__ is scf.For for op in loop.walk() if op.__class__ is tt.DescriptorLoad]
    if not loads:
        raise Refused(loops[0], "it loads no blocks of tensor descriptors")
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
        raise Refused(where, f"warps of their own cannot load ahead: {why}")
    for made in span.slice.ops:
        if made.__class__ is tt.MakeTensorDescriptor:
            raise Refused(
                made, "loads by a descriptor that an iteration makes must end before the next one makes its own"
            )
    span.loads.append(Load(op))


def _check_writes(ops: list[Operation], loads: list[Any]) -> None:
    """Nothing that loads ahead would be seen by."""
    read = {_root(op.desc) for op in loads}
    for outer in ops:
        for op in outer.walk():
            if op.__class__ in (scf.For, scf.If) or not memory_effects(op) & _watched(op):
                continue
            if not isinstance(op, _WRITES) and not (op.__class__ is tt.AtomicRMW and not op.results[0].uses):
                raise Refused(op, f"loads must not be done ahead of {op.name}")
            target = op.operands[0] if op.operands else None
            if isinstance(op, tt.DESCRIPTOR_WRITES) and _root(target) in read:
                raise Refused(op, "loads must not be done ahead of a store through the same descriptor")


def _watched(op: Operation) -> int:
    """The effects by which an operation may wait for others: a loop with an open end does so by reading alone."""
    return READ | WRITE if op.__class__ is scf.While else WRITE


def _root(desc: Any) -> Value:
    """The pointer that a descriptor is made from, or the descriptor."""
    op = desc.defining_op
    return op.base if op is not None and op.__class__ is tt.MakeTensorDescriptor else desc
