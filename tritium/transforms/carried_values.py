"""Values that loops carry though nothing needs them, found for a whole function at once.

    scf.for … iter_args(%a = %x) {              scf.for … {
      %b = scf.for … iter_args(%c = %a) {         scf.for … {
        %d = arith.addi %c, %c            =>      }
        scf.yield %d                            }
      }
      scf.yield %b
    }                                           %a, %b, %c only feed each other

A value is needed when an operation with an effect takes it, or one whose result is needed; what a block hands on is
needed when what it becomes is. Rules of single loops do not get there, since each loop needs what the other carries.
"""

from __future__ import annotations

from typing import Any

from ..dialects import scf
from ..ir import WRITE, Operation, Value, memory_effects
from .regions import rebuild_for

__all__ = ["drop_dead_carried", "needed_values"]


def drop_dead_carried(func: Operation) -> bool:
    """Remove carried values of `scf.for` that nothing needs; operations that are dead then are left."""
    loops = [op for op in func.walk_post() if op.results and op.__class__ is scf.For]
    if not loops:
        return False
    needed = needed_values(func)
    dropped = [_drop_carried(loop, needed) for loop in loops]
    return any(dropped)


def _drop_carried(loop: Any, needed: set[Value]) -> bool:
    args, results = loop.body.args[1:], loop.results
    dead = {i: loop.init_args[i] for i in range(len(results)) if args[i] not in needed and results[i] not in needed}
    if not dead:
        return False
    needed.update(r for i, r in enumerate(results) if i not in dead)
    new, spread = rebuild_for(loop, dead)
    loop.parent.insert_before(new, loop)
    needed.update(v for v in spread if v is not None)
    loop.replace_with([dead[i] if v is None else v for i, v in enumerate(spread)])
    return True


def needed_values(func: Operation) -> set[Value]:
    """The values of a function that something needs."""
    needed: set[Value] = set()
    work: list[Value] = []
    for op in func.walk():
        work += _needs_anyway(op)
    while work:
        value = work.pop()
        if value not in needed:
            needed.add(value)
            work += _needed_for(value)
    return needed


def _needs_anyway(op: Any) -> list[Value]:
    """The operands that are needed whether or not a result is."""
    cls = op.__class__
    if cls is scf.For:
        return op.operands[:3]  # type: ignore[no-any-return]
    if cls is scf.If or cls is scf.Condition:
        return op.operands[:1]  # type: ignore[no-any-return]
    if cls is scf.Yield and op.parent_op.__class__ in (scf.For, scf.If, scf.While):
        return []
    if cls is scf.While:
        return []
    keep = not op.results or op.regions or memory_effects(op) & WRITE
    return op.operands if keep else []  # type: ignore[no-any-return]


def _needed_for(value: Any) -> list[Value]:
    """What a needed value is made of."""
    op = value.defining_op
    if op is None:
        return _incoming(value.owner.parent_op, value.owner, value.index)
    cls = op.__class__
    i = value.index
    if cls is scf.For:
        return [op.operands[i + 3], op.body.last.operands[i], op.body.args[i + 1]]
    if cls is scf.If:
        return [region.blocks[0].last.operands[i] for region in op.regions]
    if cls is scf.While:
        return [op.before_block.last.operands[i + 1]]
    return op.operands  # type: ignore[no-any-return]


def _incoming(loop: Any, block: Any, i: int) -> list[Value]:
    """What an argument of a block may be."""
    if loop.__class__ is scf.For:
        return [loop.operands[i + 2], block.last.operands[i - 1], loop.results[i - 1]] if i else []
    if loop.__class__ is scf.While:
        if block is loop.before_block:
            return [loop.operands[i], loop.after_block.last.operands[i]]
        return [loop.before_block.last.operands[i + 1]]
    return []
