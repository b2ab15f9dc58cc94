"""cluster-loads: Issue global loads before the stores to shared memory of earlier loads.

    %x = tt.load %p                                  %x = tt.load %p
    %a = ttg.local_alloc %x                          %y = tt.load %q
    %y = tt.load %q                           =>     %a = ttg.local_alloc %x
    %b = ttg.local_alloc %y                          %b = ttg.local_alloc %y

The store of `%x` waits for its load, and in a loop a barrier precedes it: other warps may still read what the previous
iteration stored. No load crosses a barrier in ptxas, so that the second would be issued only after the barrier, and its
latency would add to the first one's. A load moves up if

1. between it and the copy are only other copies of loads and pure operations without scratch memory, which its address
   and mask take along; so it crosses no barrier of the program, no dot, and no write to global memory;
2. the results moved over a copy fit `MAX_REGISTERS` registers per thread, and the loop around is not marked as one of
   high register pressure.

A grouped matmul of unaligned matrices (`examples/grouped_matmul.py`, four of 2,047 x 2,047 in f16, loads of 16 bits)
takes 1,361 us instead of 1,615 (H200, November 2026); aligned ones take the same time, as do 40 kernels of public
repositories.
"""

from __future__ import annotations

from ....analysis.register_pressure import is_marked_high_pressure
from ....analysis.scratch import scratch_bytes
from ....dialects import ttg
from ....dialects.ttg_memory import element_bits
from ....dialects.ttg_switches import is_on
from ....ir import (
    PURE,
    READ,
    Block,
    LoopLike,
    Operation,
    count,
    functions_of,
    is_pointer_load,
    may_change,
    memory_effects,
    pass_on,
)
from ...layout_flow import elements_per_thread, layout_of

__all__ = ["MAX_REGISTERS", "cluster_loads"]

MAX_REGISTERS = 32
"""Registers of a thread for results that are live at a copy because their loads moved above it: two tiles of 64 x 64
f16 with 4 warps. ptxas itself has as many loads in flight where there is no barrier between them."""


@pass_on("module", statistics={"loads": "loads moved above stores to shared memory"})
def cluster_loads(module: Operation) -> bool:
    """Issue global loads before the stores to shared memory of earlier loads."""
    if not is_on(module, "cluster-loads"):
        return False
    moved = 0
    for func in functions_of(module):
        for block in {op.parent: None for op in func.walk() if _is_copy_of_load(op)}:
            if block is not None and not _has_high_pressure(block):
                moved += _cluster(block)
    count("loads", moved)
    return moved > 0


def _cluster(block: Block) -> int:
    """Move the loads of a block above the first copy of the copies before them."""
    moved = used = 0
    first: Operation | None = None  # the copy above which loads move
    for op in list(block):
        if _is_plain_load(op):
            slice_ = None if first is None else _slice_after(first, op)
            registers = _registers(op)
            if slice_ is None or used + registers > MAX_REGISTERS or not may_change("cluster-loads", op):
                first = None
                continue
            for part in slice_:
                part.move_before(first)
            moved, used = moved + 1, used + registers
        elif _is_copy_of_load(op):
            if first is None:
                first, used = op, 0
        elif not op.traits & PURE or scratch_bytes(op):
            first = None
    return moved


def _is_plain_load(op: Operation) -> bool:
    """Whether `op` is a load by pointers that neither synchronizes nor is volatile."""
    return is_pointer_load(op) and memory_effects(op) == READ


def _is_copy_of_load(op: Operation) -> bool:
    """Whether `op` copies the result of a load in its block to shared memory."""
    if not isinstance(op, (ttg.LocalAlloc, ttg.LocalStore)) or op.src is None:
        return False
    load = op.src.defining_op
    return load is not None and load.parent is op.parent and is_pointer_load(load)


def _slice_after(first: Operation, load: Operation) -> list[Operation] | None:
    """The load and what it depends on from `first` on, in order; None if it depends on other than pure operations."""
    wanted, out = {load}, []
    op: Operation | None = load
    while op is not first:
        assert op is not None
        if op in wanted:
            if op is not load and (not op.traits & PURE or op.regions):
                return None
            out.append(op)
            wanted.update(v.defining_op for v in op.operands if v.defining_op is not None)
        op = op.prev
    return None if first in wanted else out[::-1]


def _registers(load: Operation) -> int:
    """The 32-bit registers per thread of a load's result."""
    ty = load.results[0].type
    layout = layout_of(load.results[0])
    if layout is None:  # a scalar
        return 1
    return -(-elements_per_thread(ty, layout) * element_bits(ty) // 32)


def _has_high_pressure(block: Block) -> bool:
    """Whether the innermost loop around is marked as one of high register pressure."""
    around = block.parent_op
    while around is not None and not isinstance(around, LoopLike):
        around = around.parent_op
    return around is not None and is_marked_high_pressure(around)
