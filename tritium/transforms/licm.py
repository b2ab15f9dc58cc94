"""licm: what a loop computes anew each time though nothing in it changes moves in front of the loop.

An operation moves when all its operands come from outside and
- it has no effect and cannot trap, or the loop is known to run it at least once; or
- it reads memory, the loop writes none, and the loop is known to run it at least once.
Inner loops come first, so that something can move out of several. Loops that ask for it are left alone: the
attribute `llvm.loop_annotation` says `licm = <disable = true>`.
"""

from __future__ import annotations

from ..dialects import scf
from ..ir import (
    LOOP,
    PURE,
    READ,
    TERMINATOR,
    TRAPS,
    WRITE,
    Operation,
    Region,
    count,
    element_type,
    functions_of,
    memory_effects,
    pass_on,
)
from .regions import defined_in
from .rules.constants import ones, splat_of
from .rules.scf import trip_count

__all__ = ["licm"]


@pass_on("function")
def licm(op: Operation) -> bool:
    """Move invariant operations out of the loops of a function, or of all functions of a module."""
    moved = 0
    for func in functions_of(op):
        for loop in [inner for inner in func.walk_post() if inner.traits & LOOP]:
            moved += _hoist(loop)
    count("operations moved", moved)
    return moved > 0


def _hoist(loop: Operation) -> int:
    annotation = loop.attributes.get("llvm.loop_annotation")
    if annotation is not None and "licm" in str(annotation):
        return 0
    runs = loop.__class__ is scf.For and (trip_count(loop) or 0) > 0
    writes = bool(memory_effects(loop) & WRITE)
    moved = 0
    for region in loop.regions:
        moved += _hoist_region(loop, region, runs, writes)
    return moved


def _hoist_region(loop: Operation, region: Region, runs: bool, writes: bool) -> int:
    moved = 0
    for block in region.blocks:
        for op in block:
            if op.traits & TERMINATOR or not _may_move(op, runs, writes) or _depends_on(op, loop):
                continue
            op.move_before(loop)
            moved += 1
    return moved


def _may_move(op: Operation, runs: bool, writes: bool) -> bool:
    if op.traits & PURE:
        return runs or not op.traits & TRAPS or _cannot_trap(op)
    if op.regions:
        return False
    effects = memory_effects(op)
    if effects == 0:
        return True
    return effects == READ and runs and not writes


def _cannot_trap(op: Operation) -> bool:
    """A division by a constant that is neither 0 nor -1."""
    divisor = splat_of(op.operands[1])
    return divisor is not None and divisor not in (0, ones(element_type(op.operands[1].type)), -1)


def _depends_on(op: Operation, loop: Operation) -> bool:
    """True when `op`, or an operation in its regions, takes a value that `loop` defines inside."""
    for inner in op.walk():
        for v in inner.operands:
            if defined_in(v, loop) and not (inner is not op and defined_in(v, op)):
                return True
    return False
