"""speculate-loads: a branch's loads begin before it is known whether it is taken, where it hangs on memory itself.

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

So do sums in memory begin that several programs add to in turns (layer norm's gradients of weights): whoever has the
lock pays for two trips to memory, one behind the other, of which one will do. A load moves if

1. the branch hangs on what a load or an atomic operation in front of it brings: otherwise there is nothing to gain;
2. behind the branch a store writes the same addresses under the same mask, whatever the branch did, with nothing in
   between that might end or hold up the program: what may be written there may be read here;
3. nothing in front of it in its branch has effects, so that it reads what it would have read.
"""

from __future__ import annotations

from typing import Any

from ....dialects import scf, tt, ttg
from ....dialects.ttg_switches import is_on
from ....ir import PURE, Operation, Value, count, functions_of, may_change, pass_on
from ...regions import is_inside

__all__ = ["speculate_loads"]

_BRINGS = (tt.Load, tt.AtomicCAS, tt.AtomicRMW)
_PASSED = (tt.Load, tt.Store, ttg.Barrier)
"""What may stand between a branch and the store behind it, besides operations without effects."""


@pass_on("module", statistics={"loads": "loads in front of their branches"})
def speculate_loads(module: Operation) -> bool:
    """Begin loads of branches in front of these, where memory is written behind them anyway."""
    if not is_on(module, "speculate-loads"):
        return False
    moved = 0
    for func in functions_of(module):
        for branch in [op for op in func.walk() if op.__class__ is scf.If]:
            moved += _hoist(branch)
    count("loads", moved)
    return moved > 0


def _hoist(branch: Any) -> int:
    loads = [op for region in branch.regions for op in _first_loads(region)]
    if not loads or not _hangs_on_memory(branch):
        return 0
    written = _written_behind(branch)
    moved = 0
    for load in loads:
        if (load.ptr, load.mask) in written and may_change("speculate-loads", load):
            load.move_before(branch)
            moved += 1
    return moved


def _first_loads(region: Any) -> list[Any]:
    """The loads of a branch in front of which nothing has effects, and whose operands come from outside."""
    out: list[Any] = []
    for block in region.blocks[:1]:
        for op in block:
            if op.__class__ is tt.Load and not op.isVolatile:
                if not any(v.defining_op is not None and is_inside(v.defining_op, region) for v in op.operands):
                    out.append(op)
            elif not op.traits & PURE:
                break
    return out


def _hangs_on_memory(branch: Any) -> bool:
    """Whether a load or an atomic operation in the block of the branch decides about it."""
    seen: set[Value] = set()
    work: list[Value] = [branch.operands[0]]
    while work:
        value = work.pop()
        op = value.defining_op
        if value in seen or op is None or op.parent is not branch.parent:
            continue
        if op.__class__ in _BRINGS:
            return True
        seen.add(value)
        work += op.operands if op.traits & PURE else []
    return False


def _written_behind(branch: Any) -> set[tuple[Value, Value | None]]:
    """The addresses and masks of stores that follow for certain."""
    out: set[tuple[Value, Value | None]] = set()
    op = branch.next
    while op is not None and (op.traits & PURE or op.__class__ in _PASSED):
        if op.__class__ is tt.Store:
            out.add((op.ptr, op.mask))
        op = op.next
    return out
