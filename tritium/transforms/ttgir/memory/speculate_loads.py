"""speculate-loads: Hoist loads out of branches whose condition depends on memory.

    %n = tt.load %count                              %n = tt.load %count
    %first = arith.cmpi eq, %n, %zero                %x = tt.load %p, %mask
    %s = scf.if %first {                             %first = arith.cmpi eq, %n, %zero
      scf.yield %v                                   %s = scf.if %first {
    } else {                                  =>       scf.yield %v
      %x = tt.load %p, %mask                         } else {
      %y = arith.addf %v, %x                           %y = arith.addf %v, %x
      scf.yield %y                                     scf.yield %y
    }                                                }
    tt.store %p, %s, %mask                           tt.store %p, %s, %mask

Programs that take turns adding to a sum in memory start like this (the weight gradients of layer norm): the holder of
the lock would pay for two dependent memory latencies instead of one. A load is hoisted if

1. the condition depends on an earlier load or atomic operation: otherwise nothing is gained;
2. after the branch a store unconditionally writes the same addresses under the same mask, with nothing in between that
   might end or block the program: the load cannot fault where the store does not;
3. no operation before it in its branch has side effects, so that it reads the same data.
"""

from __future__ import annotations

from typing import Any

from ....analysis.dataflow import reachable
from ....dialects import ttg
from ....dialects.ttg_switches import is_on
from ....ir import (
    PURE,
    READ,
    WRITE,
    IfLike,
    Memory,
    Operation,
    PointerAccess,
    Value,
    accessed_values,
    count,
    functions_of,
    is_pointer_load,
    may_change,
    memory_effects,
    pass_on,
)
from ...regions import is_inside

__all__ = ["speculate_loads"]


@pass_on("module", statistics={"loads": "loads hoisted out of branches"})
def speculate_loads(module: Operation) -> bool:
    """Hoist loads out of branches, where the same memory is written after the branch."""
    if not is_on(module, "speculate-loads"):
        return False
    moved = 0
    for func in functions_of(module):
        for branch in [op for op in func.walk() if isinstance(op, IfLike)]:
            moved += _hoist(branch)
    count("loads", moved)
    return moved > 0


def _hoist(branch: Any) -> int:
    loads = [op for region in branch.regions for op in _first_loads(region)]
    if not loads or not _depends_on_memory(branch):
        return 0
    written = _written_after(branch)
    moved = 0
    for load in loads:
        if (load.pointer, load.access_mask) in written and may_change("speculate-loads", load):
            load.move_before(branch)
            moved += 1
    return moved


def _is_plain_access(op: Operation) -> bool:
    """Whether `op` is a load or store by pointers, neither atomic nor asynchronous."""
    return isinstance(op, PointerAccess) and not op.atomic and op.completes is None


def _first_loads(region: Any) -> list[Any]:
    """The loads of a branch with no side effects before them, and operands from outside of it."""
    out: list[Any] = []
    for block in region.blocks[:1]:
        for op in block:
            if is_pointer_load(op) and memory_effects(op) == READ:
                if not any(v.defining_op is not None and is_inside(v.defining_op, region) for v in op.operands):
                    out.append(op)
            elif not op.traits & PURE:
                break
    return out


def _depends_on_memory(branch: Any) -> bool:
    """Whether the condition depends on a load or an atomic operation in the block of the branch."""

    def operands(value: Value) -> list[Value]:
        op = value.defining_op
        return op.operands if op is not None and op.parent is branch.parent and op.traits & PURE else []

    condition: Value = branch.operands[0]
    makers = [value.defining_op for value in reachable([condition], operands)]
    return any(isinstance(op, PointerAccess) and op.parent is branch.parent for op in makers)


def _written_after(branch: Any) -> set[tuple[Value, Value | None]]:
    """The addresses and masks of stores that are executed unconditionally after the branch."""
    out: set[tuple[Value, Value | None]] = set()
    op = branch.next
    while op is not None and (op.traits & PURE or _is_plain_access(op) or op.__class__ is ttg.Barrier):
        if isinstance(op, PointerAccess):
            out.update((pointer, op.access_mask) for pointer in accessed_values(op, WRITE, Memory.GLOBAL))
        op = op.next
    return out
