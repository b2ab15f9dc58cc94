"""rematerialize-after-loops: Rematerialize cheap values after loops of high register pressure.

    %rows = tt.make_range …                              scf.for … {
    %tile = tt.addptr %q, %rows                            %d = ttng.warp_group_dot …
    scf.for … {                                          } {tritium.high_register_pressure}
      %d = ttng.warp_group_dot …                   =>    %rows = tt.make_range …
    }                                                    %tile = tt.addptr %q, %rows
    scf.for … {                                          scf.for … {
      %x = tt.load %tile                                   %x = tt.load %tile

A tensor computed before a loop and used only after it is live across the loop. Where the accumulators of the loop leave
few registers (`register_pressure`), ptxas spills such tensors: attention gradients need 192 registers for accumulators,
and spilled the addresses of tiles that the second half of the kernel reads again.

Rematerialized are ranges, constants, and integer and pointer arithmetic and comparisons, if every operand is a scalar,
is live in the loop anyway, or can be rematerialized as well.

LLVM and ptxas would eliminate the copies as common subexpressions. So the loop is marked, and its lowering reads the
thread ID again after it (`ttg_to_llvm/module`), on which all positions depend. The pass applies to loops that are not
nested, since elsewhere an operation after a loop may also be executed before it; and only if another loop follows: of
400 tiles of tutorials and examples, none gained from rematerializing operands of the final stores.
"""

from __future__ import annotations

from typing import Any

from ....analysis.register_pressure import HIGH_REGISTER_PRESSURE, has_high_pressure
from ....dialects import ttg
from ....dialects.ttg_context import num_warps
from ....dialects.ttg_switches import is_on
from ....ir import (
    REMATERIALIZABLE,
    UNIT,
    Block,
    CountedLoop,
    Operation,
    TensorType,
    Value,
    count,
    functions_of,
    may_change,
    pass_on,
)
from ....ir.dominance import ancestor_in

__all__ = ["rematerialize_after_loops"]


@pass_on("module", statistics={"values": "values rematerialized after a loop"})
def rematerialize_after_loops(module: Operation) -> bool:
    """Rematerialize cheap values after loops of high register pressure."""
    if not is_on(module, "rematerialize-after-loops") or any(
        op.__class__ is ttg.WarpSpecialize for op in module.walk()
    ):
        return False
    changed = False
    for func in functions_of(module):
        for loop in _high_pressure_loops(func, num_warps(module)):
            if may_change("rematerialize-after-loops", loop):
                loop.attributes[HIGH_REGISTER_PRESSURE] = UNIT
                count("values", _Rematerializer(loop).rematerialize())
                changed = True
    return changed


def _high_pressure_loops(func: Operation, warps: int) -> list[Any]:
    """Loops of high register pressure in the entry block that another loop follows."""
    loops = [op for block in func.regions[0].blocks[:1] for op in block if isinstance(op, CountedLoop)]
    return [loop for loop in loops[:-1] if has_high_pressure(loop, warps)]


class _Rematerializer:
    """Operations before a loop in the entry block, and their copies after it."""

    def __init__(self, loop: CountedLoop) -> None:
        assert loop.parent is not None and loop.next is not None
        self.block: Block = loop.parent
        self.loop = loop
        self.before: dict[Operation, None] = {}
        for op in self.block:
            if op is loop:
                break
            self.before[op] = None
        self.insertion_point: Operation = loop.next
        self.copies: dict[Value, Value | None] = {}

    def rematerialize(self) -> int:
        """Copy what is cheap, and return the number of values copied."""
        for op in self.before:
            if op.traits & REMATERIALIZABLE and any(self._is_after_loop(user) for user in op.results[0].users):
                self._rematerialized(op.results[0])
        done = [(value, copy) for value, copy in self.copies.items() if copy is not None and copy is not value]
        for value, copy in done:
            value.replace_uses_where(copy, self._is_after_loop)
        for op in reversed(list(self.before)):
            if op.traits & REMATERIALIZABLE and not op.results[0].users:
                op.erase()
        return len(done)

    def _rematerialized(self, value: Value) -> Value | None:
        """The value to use after the loop: itself if it is live anyway, a copy, or None if it is not cheap."""
        if value not in self.copies:
            self.copies[value] = self._make(value)
        return self.copies[value]

    def _make(self, value: Value) -> Value | None:
        op = value.defining_op
        if not isinstance(value.type, TensorType) or any(self._ancestor(user) is self.loop for user in value.users):
            return value
        if not op.traits & REMATERIALIZABLE or op not in self.before:
            return None
        operands = [self._rematerialized(v) for v in op.operands]
        if None in operands:
            return None
        copy = op.clone(dict(zip(op.operands, operands)))
        self.block.insert_before(copy, self.insertion_point)
        return copy.results[0]

    def _ancestor(self, user: Any) -> Operation | None:
        """The ancestor of a user in the block."""
        return ancestor_in(self.block.parent, user)

    def _is_after_loop(self, user: Operation) -> bool:
        return (ancestor := self._ancestor(user)) is not self.loop and ancestor not in self.before
