"""amd-move-up-prologue-loads: Issue the loads of a prologue as early as their addresses allow.

    %p = tt.addptr %a, %o                                   %p = tt.addptr %a, %o
    … other work                                      =>    %x = tt.load %p {amd.pipeliner_part = "prologue"}
    %x = tt.load %p {amd.pipeliner_part = "prologue"}       … other work

The pipeliner marks the loads of its prologues. Each moves, with the operations that it needs, after the
definition of its pointer, and stays after atomics, barriers and loops: these order memory or run for long. More
registers are live between; the loads are the ones that the loop waits for first.
"""

from __future__ import annotations

from ....dialects import gpu, tt, ttg
from ....ir import (
    WRITE,
    Block,
    LoopLike,
    Operation,
    PointerAccess,
    count,
    functions_of,
    may_change,
    memory_effects,
    pass_on,
)

__all__ = ["PART", "amd_move_up_prologue_loads"]

PART = "amd.pipeliner_part"
"""The attribute of operations that the pipeliner moved out of a loop."""

_ORDERS = (tt.AtomicRMW, tt.AtomicCAS, tt.AtomicLoad, tt.AtomicStore, gpu.Barrier, ttg.Barrier)


@pass_on("function", statistics={"loads moved": "loads of prologues that moved up"})
def amd_move_up_prologue_loads(op: Operation) -> bool:
    """Move the marked loads of a function, or of all functions of a module."""
    moved = 0
    for func in functions_of(op):
        loads = [inner for inner in func.walk() if PART in inner.attributes and _is_load(inner)]
        for load in reversed(loads):
            if may_change("amd-move-up-prologue-loads", load):
                moved += _move_up(load)
    count("loads moved", moved)
    return moved > 0


def _is_load(op: Operation) -> bool:
    return isinstance(op, PointerAccess) and not op.atomic and not memory_effects(op) & WRITE


def _move_up(load: Operation) -> bool:
    block = load.parent
    assert block is not None
    assert isinstance(load, PointerAccess)
    pointer = load.pointer.defining_op
    needed = _slice(load, block)
    last = None
    for op in block:
        if op is load:
            break
        if op is pointer or isinstance(op, (*_ORDERS, LoopLike)):
            last = op
    if last is not None:
        needed = [op for op in needed if last.is_before(op)]
    target = block.first if last is None else last.next
    moved = False
    for op in needed:
        if op is target:
            target = op.next
            continue
        assert target is not None
        op.move_before(target)
        moved = True
    return moved


def _slice(load: Operation, block: Block) -> list[Operation]:
    """The operations of a block that a load depends on, and itself, in program order."""
    found = {load}
    work = [load]
    while work:
        for inner in work.pop().walk():
            for value in inner.operands:
                op = value.defining_op
                if op is not None and op.parent is block and op not in found:
                    found.add(op)
                    work.append(op)
    return [op for op in block if op in found]
