"""optimize-accumulator-init: Use `useAcc = false` instead of zero-initializing accumulators.

    scf.for … iter_args(%acc = %zero) {              scf.for … iter_args(%acc = %zero, %add = %false) {
      %d = warp_group_dot %a, %b, %acc                 %d = warp_group_dot %a, %b, %acc, %add
      %next = scf.if %last {                           %more = arith.select %last, %false, %true
        store %d                                =>     scf.if %last { store %d }
        scf.yield %zero                                scf.yield %d, %more
      } else {                                       }
        scf.yield %d
      }
      scf.yield %next
    }

Loops fused by `fuse-nested-loops` look like this. `wgmma` has a flag for accumulation (`useC`, PTX's `scale-d`); with
it, no accumulator register is written at the end of a tile. The same applies to an `arith.select` instead of the
`scf.if`, and to both before the dot.

Only the dot may use the carried accumulator, since other users would see the old value. The result of the loop is the
old value, too, where it ended with a reset; a select after the loop zeroes it, if it is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....dialects import arith, ttng
from ....dialects.ttg_switches import is_on
from ....ir import (
    BlockArgument,
    Builder,
    CountedLoop,
    IfLike,
    Operation,
    OpResult,
    Value,
    count,
    functions_of,
    i1,
    may_change,
    pass_on,
)
from ...regions import defined_in
from ...rules.constants import splat_of

__all__ = ["optimize_accumulator_init"]


class _Reset(NamedTuple):
    """`op` (its result number `result`) is zero where `condition` is `when`, and `value` otherwise."""

    op: Any
    result: int
    condition: Value
    when: bool
    value: Value
    zero: Value


@pass_on("function", statistics={"accumulators initialized by dots": "zero-initializations replaced by a flag"})
def optimize_accumulator_init(op: Operation) -> bool:
    """Let dots initialize accumulators that loops set to zero, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        for dot in [inner for inner in func.walk() if inner.__class__ is ttng.WarpGroupDot]:
            if is_on(dot, "accumulator-init") and may_change("optimize-accumulator-init", dot):
                changed += _begin(dot)
    count("accumulators initialized by dots", changed)
    return changed > 0


def _begin(dot: Any) -> bool:
    loop = dot.parent_op
    if not isinstance(loop, CountedLoop) or dot.useC is not None or _promotes_accumulator(dot):
        return False
    before = _reset_of(dot.c, loop)
    arg = before.value if before is not None else dot.c
    if not isinstance(arg, BlockArgument) or arg.owner is not loop.body or arg.index == 0 or not arg.has_one_use:
        return False
    if before is not None and not dot.c.has_one_use:
        return False
    after = None if before is not None else _reset_of(loop.yielded[arg.index - 1], loop)
    reset = before or after
    if reset is None:
        return False
    _Rewriter(loop, dot, reset, arg.index - 1, before is not None).run()
    return True


def _promotes_accumulator(dot: Any) -> bool:
    """Whether partial sums are added outside of the tensor cores, where the flag would be a select."""
    return dot.a.type.element.width == 8 and dot.maxNumImpreciseAcc < dot.a.type.shape[-1]


def _is_zero(value: Value) -> bool:
    return splat_of(value) == 0


def _reset_of(value: Value, loop: CountedLoop) -> _Reset | None:
    """The operation that zeroes a value under a condition, in the body of a loop."""
    op: Any = value.defining_op
    if op is None or op.parent is not loop.body or not value.has_one_use:
        return None
    assert isinstance(value, OpResult)
    if op.__class__ is arith.Select and op.condition.type is i1:
        choices = (op.true_value, op.false_value)
    elif isinstance(op, IfLike):
        choices = tuple(region.block.last.operands[value.index] for region in op.regions)
    else:
        return None
    for i, zero in enumerate(choices):
        other = choices[1 - i]
        if _is_zero(zero) and not _is_zero(other) and not defined_in(other, op):
            return _Reset(op, value.index, op.operands[0], i == 0, other, zero)
    return None


class _Rewriter:
    """Emit the flag, and remove the reset."""

    def __init__(self, loop: CountedLoop, dot: Any, reset: _Reset, index: int, is_before: bool) -> None:
        self.loop, self.dot, self.reset, self.index, self.is_before = loop, dot, reset, index, is_before

    def run(self) -> None:
        """Rewrite; the loop is replaced."""
        outside = Builder(self.loop.parent, self.loop, self.loop.loc)
        yes, no = (outside.add(arith.Constant.of(flag, i1)) for flag in (True, False))
        starts_with_zero = _is_zero(self.loop.init_args[self.index])
        loop = self.loop.replace_with_additional_iter_args([no if starts_with_zero else yes])
        flag, number = loop.body.args[-1], len(loop.results) - 1
        b = Builder(loop.body, self.reset.op, self.reset.op.loc)
        otherwise = flag if self.is_before else yes
        choices = (no, otherwise) if self.reset.when else (otherwise, no)
        chosen = b.add(arith.Select(self.reset.condition, *choices))
        dot = self.dot
        dot.set_operands([*dot.operands[:3], chosen if self.is_before else flag])
        end: Any = loop.terminator
        end.set_operand(number, yes if self.is_before else chosen)
        self.forward_value()
        result = loop.results[self.index]
        if result.users and not self.is_before:
            users = list(result.users)
            after = Builder(loop.parent, loop.next, loop.loc)
            zero = after.add(arith.Constant(self.reset.zero.defining_op.attributes["value"]))  # type: ignore[union-attr]
            final = after.add(arith.Select(loop.results[number], result, zero))
            result.replace_uses_where(final, lambda user: user in users)

    def forward_value(self) -> None:
        """Forward the value instead of zero."""
        op = self.reset.op
        if op.__class__ is arith.Select:
            op.replace_with([self.reset.value])
            return
        region = op.regions[0 if self.reset.when else 1]
        region.block.last.set_operand(self.reset.result, self.reset.value)
        op.results[self.reset.result].replace_all_uses_with(self.reset.value)  # both branches forward it
