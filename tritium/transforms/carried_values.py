"""Remove dead loop-carried values, for a whole function at once.

    scf.for … iter_args(%a = %x) {              scf.for … {
      %b = scf.for … iter_args(%c = %a) {         scf.for … {
        %d = arith.addi %c, %c            =>      }
        scf.yield %d                            }
      }
      scf.yield %b
    }                                           %a, %b, %c only feed each other

A value is live if an operation with side effects uses it, or one with a live result; a value forwarded by control flow
is live if the value it becomes is. Rules of single loops do not suffice, since each loop uses what the other carries.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.dataflow import SparseBackward
from ..ir import TERMINATOR, WRITE, CountedLoop, Operation, RegionBranch, Value, memory_effects, region_branch_of

__all__ = ["drop_dead_carried", "needed_values"]


def drop_dead_carried(func: Operation) -> bool:
    """Remove dead carried values of counted loops; operations that become dead are kept."""
    loops = [op for op in func.walk_post() if op.results and isinstance(op, CountedLoop)]
    if not loops:
        return False
    needed = needed_values(func)
    dropped = [_drop_carried(loop, needed) for loop in loops]
    return any(dropped)


def _drop_carried(loop: CountedLoop, needed: set[Value]) -> bool:
    args, results = loop.body.args[1:], loop.results
    dead = {i: loop.init_args[i] for i in range(len(results)) if args[i] not in needed and results[i] not in needed}
    if not dead:
        return False
    needed.update(r for i, r in enumerate(results) if i not in dead)
    new, spread = loop.without_iter_args(dead)
    assert loop.parent is not None
    loop.parent.insert_before(new, loop)
    needed.update(v for v in spread if v is not None)
    loop.replace_with([dead[i] if v is None else v for i, v in enumerate(spread)])
    return True


def needed_values(func: Operation) -> set[Value]:
    """The live values of a function."""
    found = _Live()
    found.solve(func)
    return set(found.states)


class _Live(SparseBackward[bool]):
    """True for a value that an operation with side effects uses, or one with a live result."""

    def merge(self, first: bool, second: bool) -> bool:
        """Live where either is."""
        return True

    def transfer(self, op: Operation) -> None:
        """Operands that are live whether or not a result is; and all, once a result is live."""
        states = self.states
        needed: Iterable[Value] = op.operands
        if op.regions or op.traits & TERMINATOR:
            branch = op if isinstance(op, RegionBranch) else region_branch_of(op)
            if branch is not None:
                needed = branch.control_operands(op)
        elif op.results:
            for result in op.results:
                if result in states:
                    break
            else:
                if not memory_effects(op) & WRITE:
                    return
        for operand in needed:
            if operand not in states:
                self.join(operand, True)
