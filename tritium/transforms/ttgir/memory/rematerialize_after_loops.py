"""rematerialize-after-loops: what is cheap is computed again behind a loop whose products fill the registers.

    %rows = tt.make_range …                              scf.for … {
    %tile = tt.addptr %q, %rows                            %d = ttng.warp_group_dot …
    scf.for … {                                          } {tritium.crowded}
      %d = ttng.warp_group_dot …                   =>    %rows = tt.make_range …
    }                                                    %tile = tt.addptr %q, %rows
    scf.for … {                                          scf.for … {
      %x = tt.load %tile                                   %x = tt.load %tile

A tensor that is computed in front of a loop, used behind it and not in it, is in registers all the time in between.
Where the sums of a loop leave few (`product_registers`), that is what the assembler puts in memory: attention's
gradients keep 192 registers of sums, and spilled the addresses of tiles that the second half of the kernel reads again.

Computed again are ranges, constants, and sums, products and comparisons of integers and addresses, as long as all that
they are made of is a scalar, is in use in the loop itself, or can be computed again as well.

To LLVM and the assembler the copies would be equal to what they are copies of. So the loop is marked, and behind it
lowering reads the number of the thread anew (`ttg_to_llvm/module`), from which all positions follow. This is done for
loops that stand in no other, since elsewhere what is behind a loop may be in front of it, too; and only if another one
follows: of 400 tiles of tutorials and examples, none gained by computing again what is stored at the end.
"""

from __future__ import annotations

from typing import Any

from ....analysis.product_registers import CROWDED, leaves_few
from ....dialects import arith, scf, tt, ttg
from ....dialects.ttg_context import num_warps
from ....dialects.ttg_switches import is_on
from ....ir import UNIT, Block, Operation, TensorType, Value, count, functions_of, may_change, pass_on
from ....ir.dominance import ancestor_in

__all__ = ["rematerialize_after_loops"]

_CHEAP = frozenset((
    tt.MakeRange, tt.Splat, tt.ExpandDims, tt.Broadcast, tt.AddPtr,
    arith.Constant, arith.AddI, arith.SubI, arith.MulI, arith.AndI, arith.ExtSI, arith.ExtUI, arith.TruncI, arith.CmpI,
))  # fmt: skip


@pass_on("module", statistics={"values": "values that are computed again behind a loop"})
def rematerialize_after_loops(module: Operation) -> bool:
    """Compute cheap values again behind loops that leave them no registers."""
    if not is_on(module, "rematerialize-after-loops") or any(
        op.__class__ is ttg.WarpSpecialize for op in module.walk()
    ):
        return False
    changed = False
    for func in functions_of(module):
        for loop in _crowded(func, num_warps(module)):
            if may_change("rematerialize-after-loops", loop):
                loop.attributes[CROWDED] = UNIT
                count("values", _Behind(loop).recompute())
                changed = True
    return changed


def _crowded(func: Operation, warps: int) -> list[Any]:
    """Loops of the first block that leave few registers, and have another loop behind them."""
    loops = [op for block in func.regions[0].blocks[:1] for op in block if op.__class__ is scf.For]
    return [loop for loop in loops[:-1] if leaves_few(loop, warps)]


class _Behind:
    """What stands in front of a loop of a function's first block, and what of it is copied behind the loop."""

    def __init__(self, loop: Any) -> None:
        self.block: Block = loop.parent
        self.loop = loop
        self.front: dict[Operation, None] = {}
        for op in self.block:
            if op is loop:
                break
            self.front[op] = None
        self.place = loop.next  # what copies go in front of
        self.copies: dict[Value, Value | None] = {}

    def recompute(self) -> int:
        """How many values are computed again."""
        for op in self.front:
            if op.__class__ in _CHEAP and any(self._is_behind(user) for user in op.results[0].users):
                self._again(op.results[0])
        done = [(value, copy) for value, copy in self.copies.items() if copy is not None and copy is not value]
        for value, copy in done:
            value.replace_uses_where(copy, self._is_behind)
        for op in reversed(list(self.front)):
            if op.__class__ in _CHEAP and not op.results[0].users:
                op.erase()
        return len(done)

    def _again(self, value: Value) -> Value | None:
        """A value behind the loop: itself, where it is there anyway, a copy, or None if that would not be cheap."""
        if value not in self.copies:
            self.copies[value] = self._found(value)
        return self.copies[value]

    def _found(self, value: Value) -> Value | None:
        op = value.defining_op
        if not isinstance(value.type, TensorType) or any(self._around(user) is self.loop for user in value.users):
            return value
        if op.__class__ not in _CHEAP or op not in self.front:
            return None
        operands = [self._again(v) for v in op.operands]
        if None in operands:
            return None
        copy = op.clone(dict(zip(op.operands, operands)))
        self.block.insert_before(copy, self.place)
        return copy.results[0]

    def _around(self, user: Any) -> Operation | None:
        """The operation of the block in which a user stands."""
        return ancestor_in(self.block.parent, user)

    def _is_behind(self, user: Operation) -> bool:
        return (around := self._around(user)) is not self.loop and around not in self.front
