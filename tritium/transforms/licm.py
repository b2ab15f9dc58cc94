"""licm: Hoist loop-invariant operations.

    scf.for %i = %lb to %ub step %s {          %y = arith.muli %x, %x
      %y = arith.muli %x, %x                   %c = arith.cmpi slt, %lb, %ub
      %v = tt.load %p                    =>    %v = tt.load %p, %c
      … %y, %v, %i                             scf.for %i = %lb to %ub step %s {
    }                                            … %y, %v, %i

An operation is hoisted when all its operands are defined outside and

- it has no side effects and cannot trap, or the loop is known to run at least once; or
- it reads memory, nothing in the loop writes memory, and the loop is known to run at least once; or
- it is a `tt.load`, nothing in the loop writes memory, and the loop is an `scf.for`: the load is masked by the
  condition that the loop runs, so that it accesses no address that it did not access before.

The first region of an `scf.while` always runs. A write is any operation with ordered effects (stores, atomics, prints,
assertions, unknown operations): no load moves over one, regardless of addresses. Inner loops come first, so that an
operation can be hoisted out of several. Loops with the attribute `llvm.loop_annotation` with `licm = <disable = true>`
are not changed.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, tt
from ..dialects.llvm_loops import LoopHints
from ..ir import (
    PURE,
    READ,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    TRAPS,
    WRITE,
    Builder,
    CountedLoop,
    LoopLike,
    Operation,
    TensorType,
    Value,
    count,
    element_type,
    functions_of,
    i1,
    may_change,
    memory_effects,
    pass_on,
    with_element,
)
from ..support.dataclasses import dataclass
from .regions import defined_in
from .rules.constants import ones, splat_of

__all__ = ["LicmOptions", "hoist_invariants", "licm"]


@dataclass(frozen=True)
class LicmOptions:
    """`guard_loads`: also hoist loads out of loops that may not run, masked by the condition that they do."""

    guard_loads: bool = True


@pass_on("function", options=LicmOptions, statistics={"operations moved": "operations hoisted out of a loop"})
def licm(op: Operation, options: LicmOptions = LicmOptions()) -> bool:
    """Hoist invariant operations out of the loops of a function, or of all functions of a module."""
    moved = 0
    for func in functions_of(op):
        for loop in [inner for inner in func.walk_post() if isinstance(inner, LoopLike)]:
            moved += hoist_invariants(loop, options)
    count("operations moved", moved)
    return moved > 0


def hoist_invariants(loop: LoopLike, options: LicmOptions) -> int:
    """Hoist invariant operations out of one loop; returns their number."""
    return 0 if _is_licm_disabled(loop) else _Hoister(loop, options).run()


def _is_licm_disabled(loop: Operation) -> bool:
    """True where the annotation of the loop disables LICM."""
    annotation: Any = loop.attributes.get("llvm.loop_annotation")
    wish = annotation.get("licm") if isinstance(annotation, LoopHints) else None
    disable = wish.get("disable") if isinstance(wish, LoopHints) else None
    return disable is not None and bool(disable.value)


class _Hoister:
    """Hoist operations out of one loop. `runs`: the current region executes at least once if the loop is reached."""

    def __init__(self, loop: LoopLike, options: LicmOptions) -> None:
        self.loop = loop
        self.options = options
        self.trips = loop.trip_count()
        self.writes = bool(memory_effects(loop) & WRITE)
        self.runs = False

    def run(self) -> int:
        moved = 0
        for region in self.loop.regions:
            self.runs = self.loop.always_runs(region)
            for block in region.blocks[:1] if self.runs else region.blocks:
                for op in block:
                    moved += self.hoist(op)
        return moved

    def hoist(self, op: Operation) -> bool:
        """Hoist one operation if that is legal; returns whether it was."""
        if op.traits & TERMINATOR or _depends_on(op, self.loop):
            return False
        as_it_is = self.may_move(op)
        if not (as_it_is or self.may_guard(op)) or not may_change("hoist", op):
            return False
        if not as_it_is:
            self.guard(op)
        op.move_before(self.loop.hoist_point)
        return True

    def may_move(self, op: Operation) -> bool:
        """True for an operation that may be executed speculatively before the loop."""
        if op.traits & PURE:
            return self.runs or not op.traits & TRAPS or _cannot_trap(op)
        effects = memory_effects(op)
        if effects == 0:
            return self.runs or not op.regions or _speculatable(op)
        return effects == READ and self.runs and not self.writes

    def may_guard(self, op: Operation) -> bool:
        """True for a load that may execute before the loop under the condition that the loop runs."""
        if op.__class__ is not tt.Load or not isinstance(self.loop, CountedLoop) or not self.options.guard_loads:
            return False
        whole_tile = isinstance(tt.pointee_type(op.operands[0].type), TensorType) and not isinstance(
            op.operands[0].type, TensorType
        )
        return self.trips is None and not self.writes and memory_effects(op) == READ and not whole_tile

    def guard(self, load: Any) -> None:
        """Mask a load by the condition that the loop runs."""
        loop: Any = self.loop
        b = Builder(loop.hoist_point.parent, loop.hoist_point, load.loc)
        mask: Value = b.add(arith.CmpI(_below(loop), loop.lb, loop.ub))
        ty = load.ptr.type
        if isinstance(ty, TensorType):
            mask = b.add(tt.Splat(mask, result=with_element(ty, i1)))
        if load.mask is not None:
            mask = b.add(arith.AndI(mask, load.mask))
        operands = [load.ptr, mask] if load.other is None else [load.ptr, mask, load.other]
        load.set_operands(operands)
        sizes = load.attributes["operandSegmentSizes"]
        load.attributes["operandSegmentSizes"] = type(sizes)((1, 1, len(operands) - 2), sizes.element)


def _below(loop: CountedLoop) -> arith.CmpIPredicate:
    """The comparison of the induction variable with the upper bound."""
    return arith.CmpIPredicate.ult if loop.unsignedCmp else arith.CmpIPredicate.slt


def _speculatable(op: Operation) -> bool:
    """True for a branch (not a loop, which may not terminate) in which nothing traps."""
    if isinstance(op, LoopLike) or op.traits & TRAPS or not op.traits & RECURSIVE_EFFECTS:
        return False
    return all(
        inner.traits & TERMINATOR
        or (not inner.traits & TRAPS or _cannot_trap(inner) if not inner.regions else _speculatable(inner))
        for region in op.regions
        for block in region.blocks
        for inner in block
    )


def _cannot_trap(op: Operation) -> bool:
    """A division by a constant that is neither 0 nor -1."""
    divisor = splat_of(op.operands[1])
    return divisor is not None and divisor not in (0, ones(element_type(op.operands[1].type)), -1)


def _depends_on(op: Operation, loop: Operation) -> bool:
    """True when `op`, or an operation in its regions, uses a value defined in `loop`."""
    for inner in op.walk():
        for v in inner.operands:
            if defined_in(v, loop) and not (inner is not op and defined_in(v, op)):
                return True
    return False
