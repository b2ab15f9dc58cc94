"""late-sums: Do the cross-lane part of a row sum one iteration later, beside the next row maximum.

    scf.for … iter_args(%l = %x) {                scf.for … iter_args(%l = %x, %a' = 1, %part' = -0) {
      %q = ttng.warp_group_dot …                    %q = ttng.warp_group_dot …
      %m = tt.reduce(%q, axis = 1) {max}            %s = tt.reduce(%part', axis = 1)          lanes only
      %p, %a = …                                    %n = %l * %a' + %s
      %s = tt.reduce(%p, axis = 1) {add}     =>     %m = tt.reduce(%q, axis = 1) {max}
      %n = %l * %a + %s                             %p, %a = …
      scf.yield %n                                  %part = tt.reduce(tt.reshape %p, …)       each thread its own
    }                                               scf.yield %n, %a, %part
                                                  }
                                                  %n' = %l' * %a'' + tt.reduce(%part'', axis = 1)

The shuffles of attention's row sums end an iteration: nothing is left to hide their latency. An iteration later they
are beside those of the row maximum. Only the update of the carried sum uses the result, so it may be late; after the
loop the last one is done. Sums that are added to after the loop are left alone, and so are loops that wait for a load
of the same iteration: there the shuffles are done meanwhile.

Results have the same bits: each thread adds its elements, and the butterfly shuffles follow, in the order of the whole
reduction, and x * 1 + -0 = x for every x. The 1 is opaque to LLVM, which else moves the multiplication to the end of
the previous iteration, where it is not contracted with the addition to an FMA. A row must be in one warp, divided among
its lanes.
"""

from __future__ import annotations

from typing import NamedTuple

from ....analysis.scratch_reduce import reduction_of
from ....analysis.trips import max_trip_count
from ....dialects import arith, tt, ttg
from ....dialects.ttg_context import OPAQUE
from ....dialects.ttg_switches import is_on
from ....ir import (
    TERMINATOR,
    UNIT,
    Attribute,
    BlockArgument,
    Builder,
    CountedLoop,
    IfLike,
    LoopLike,
    Operation,
    TensorType,
    Type,
    Value,
    count,
    f32,
    functions_of,
    is_global_load,
    is_register_dot,
    may_change,
    pass_on,
)
from ...rules.constants import constant_attr
from ..layout.optimize_thread_locality import reduce_within_threads, reduced, row_cuts

__all__ = ["late_sums"]


@pass_on("function", statistics={"sums": "row sums whose cross-lane part is an iteration late"})
def late_sums(op: Operation) -> bool:
    """Do the cross-lane part of row sums an iteration late in loops with WGMMAs."""
    changed = 0
    for func in functions_of(op):
        for loop in [inner for inner in func.walk() if isinstance(inner, CountedLoop)]:
            trips = max_trip_count(loop)
            long = trips is None or trips >= MIN_TRIPS
            if long and is_on(loop, "late-sums") and _is_pipelined(loop):
                changed += _late(loop)
    count("sums", changed)
    return changed > 0


def _is_pipelined(loop: CountedLoop) -> bool:
    """Whether a loop has dots, and all its loads are issued in earlier iterations or by other warps.

    Attention of vLLM, LightLLM and SGLang, which loads keys and values in the iteration that uses them, was 1 to 5 %
    slower with late sums; attorch's, which is pipelined, 5 % faster (H200, November 2026).
    """
    return any(map(is_register_dot, loop.body)) and not any(map(is_global_load, loop.body))


class _Sum(NamedTuple):
    """`update` = `scaled` + the result of `reduction`, where `scaled` = carried value `index` * `factor`."""

    index: int
    reduction: tt.Reduce
    factor: Value
    scaled: arith.MulF
    update: arith.AddF


def _late(loop: CountedLoop) -> int:
    found = [s for op in loop.body if isinstance(op, tt.Reduce) and (s := _sum_of(loop, op)) is not None]
    found = [s for s in found if may_change("late-sums", s.reduction)]
    first = next((op for op in loop.body if isinstance(op, tt.Reduce) and not _adds(op)), loop.body.first)
    for row in found:
        assert first is not None
        loop = _delay(loop, row, first)
    return len(found)


def _sum_of(loop: CountedLoop, reduction: tt.Reduce) -> _Sum | None:
    """The update of a carried value by a row sum, if nothing else in the loop uses either."""
    result = reduction.results[0]
    source = reduction.operands[0].type
    if len(reduction.operands) != 1 or not result.has_one_use or not isinstance(source, TensorType):
        return None
    (update,) = result.users
    if not isinstance(update, arith.AddF) or update.parent is not loop.body or source.element is not f32:
        return None
    others = [v for v in update.operands if v is not result]
    scaled = others[0].defining_op if others else None
    if not isinstance(scaled, arith.MulF) or not scaled.result.has_one_use or scaled.parent is not loop.body:
        return None
    carried = [v for v in scaled.operands if isinstance(v, BlockArgument) and v.owner is loop.body and v.index]
    if len(carried) != 1 or not carried[0].has_one_use or not update.result.has_one_use:
        return None
    (factor,) = (v for v in scaled.operands if v is not carried[0])
    index = carried[0].index - 1
    fits = loop.yielded[index] is update.result and _is_final(loop.results[index])
    fits = fits and _is_divided_among_lanes(reduction, source)
    return _Sum(index, reduction, factor, scaled, update) if fits and _adds(reduction) else None


MIN_TRIPS = 4
"""Of a loop whose trip count is bounded: its first iteration has shuffles more, of sums that are not there yet."""


def _is_final(total: Value) -> bool:
    """Whether nothing is added to a total after the loop, as in causal attention, whose last tiles follow the loop.

    That was 1 % slower with late sums over 1k keys, and not faster over 16k (H100, 2026-11-27).
    """
    for user, number in total.uses:
        if isinstance(user, (arith.MulF, LoopLike)):
            return False
        branch = user.parent_op
        if isinstance(branch, IfLike) and user.traits & TERMINATOR and not _is_final(branch.results[number]):
            return False
    return True


def _adds(reduction: tt.Reduce) -> bool:
    """Whether a reduction adds, and does nothing else."""
    block = reduction.regions[0].blocks[0]
    first = block.first
    return isinstance(first, arith.AddF) and set(first.operands) == set(block.args) and first.next is block.last


def _is_divided_among_lanes(reduction: tt.Reduce, source: TensorType) -> bool:
    """Whether lanes of one warp hold a row, several elements each."""
    plan = reduction_of(reduction)
    sources = {bit.source for bit in plan.steps}
    return not plan.through_memory and sources == {"register", "lane"} and row_cuts(source, reduction.axis) is not None


def _delay(loop: CountedLoop, row: _Sum, first: Operation) -> CountedLoop:
    """Carry factor and partial sums; returns the new loop."""
    reduction, loc = row.reduction, row.reduction.loc
    part, old = reduce_within_threads(reduction), reduction.results[0].type
    before = Builder(loop.parent, loop, loc)
    inits = [_splat(before, row.factor.type, 1.0, {OPAQUE: UNIT}), _splat(before, part.type, -0.0, {})]
    axis = reduction.axis

    def updated(b: Builder, carried: Value, factor: Value, partial: Value) -> Value:
        total = b.add(ttg.ConvertLayout(reduced(b, reduction, partial, axis), result=old))
        scaled = b.add(arith.MulF(carried, factor, attributes=dict(row.scaled.attributes)))
        update: Value = b.add(arith.AddF(scaled, total, attributes=dict(row.update.attributes)))
        return update

    new = loop.replace_with_additional_iter_args(inits)
    carried, factor, partial = new.iter_args[row.index], *new.iter_args[-2:]
    late = updated(Builder(new.body, first, loc), carried, factor, partial)
    terminator = new.terminator
    values = [late if v is row.update.result else v for v in terminator.operands]
    terminator.set_operands([*values[:-2], row.factor, part])
    results = new.results
    users = list(results[row.index].users)
    after = Builder(new.parent, new.next, loc)
    last = updated(after, results[row.index], *results[-2:])
    for user in users:
        user.set_operands([last if v is results[row.index] else v for v in user.operands])
    for op in (row.update, row.scaled, reduction):
        op.erase()
    return new


def _splat(b: Builder, ty: Type, number: float, attributes: dict[str, Attribute]) -> Value:
    assert isinstance(ty, TensorType)
    value = constant_attr(number, ty)
    out: Value = b.add(arith.Constant.create([], [ty], {"value": value, **attributes}))
    return out
