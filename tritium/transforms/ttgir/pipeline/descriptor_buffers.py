"""Multi-buffer tensor descriptors that a loop builds, since copies of earlier iterations may still read theirs.

    scf.for … {                                      %places = ttg.global_scratch_alloc {nbytes = 384}
      %d = tt.make_tensor_descriptor %p, …           scf.for … iter_args(%k = 0) {
      …                                         =>     %at = tt.addptr %places, 128 * %k
    }                                                  ttng.tensormap_create %at, %p, …
                                                       ttng.tensormap_fenceproxy_acquire %at
                                                       %d = ttng.reinterpret_tensor_descriptor %at
                                                       scf.yield (%k + 1) mod 3
                                                     }

There are as many buffers as overlapping iterations, plus one for WGMMAs in flight. A descriptor built in a branch takes
a new buffer only if the branch is taken: the counter is then a result of the `scf.if`.
"""

from __future__ import annotations

from typing import Any

from ....analysis.tma import DESCRIPTOR_BYTES
from ....dialects import arith, tt, ttg, ttng
from ....ir import Block, Builder, CountedLoop, IfLike, Operation, Value, i8
from ....ir.dominance import ancestor_in
from ...regions import add_result
from ..loops import body_of
from ..tma.copies import create_descriptor
from .buffers import constant_i32
from .schedule import Place, Schedule
from .staged_builder import StagedBuilder

__all__ = ["buffer_descriptors"]


def buffer_descriptors(loop: CountedLoop, schedule: Schedule) -> Any:
    """Give each descriptor that a loop builds a separate buffer in each overlapping iteration; returns the loop."""
    made = [op for op in loop.walk() if op.__class__ is tt.MakeTensorDescriptor and _is_reached(loop, op)]
    if not made:
        return loop
    copies = schedule.num_stages + any(op.__class__ is ttng.WarpGroupDot for op in body_of(loop))
    before = Builder(loop.parent, loop, loop.loc)
    zero, one, size, step = (constant_i32(before, n) for n in (0, 1, copies, DESCRIPTOR_BYTES))
    places = [
        before.add(ttg.GlobalScratchAlloc(copies * DESCRIPTOR_BYTES, DESCRIPTOR_BYTES, result=tt.PointerType(i8)))
        for _ in made
    ]
    first = len(loop.init_args)
    loop = loop.replace_with_additional_iter_args([zero] * len(made))
    for i, (op, buffer) in enumerate(zip(made, places)):
        counter = loop.body.args[1 + first + i]
        place = schedule.places.get(ancestor_in(loop.body, op))  # type: ignore[arg-type]
        b = StagedBuilder(schedule, op, place if op.parent is loop.body else None)
        at = b.add(tt.AddPtr(buffer, b.add(arith.MulI(step, counter))))
        create_descriptor(b, op, at)
        b.insert(ttng.TensormapFenceproxyAcquire(at))
        more = b.add(arith.AddI(counter, one))
        following = b.add(arith.Select(b.add(arith.CmpI(arith.CmpIPredicate.sge, more, size)), zero, more))
        described = b.add(ttng.ReinterpretTensorDesc(at, result=op.result.type))
        described.hint = op.result.hint
        inside: Block = op.parent
        schedule.places.pop(op, None)
        op.replace_with([described])
        following = _forwarded_out(inside, loop.body, counter, following, place, schedule)
        loop.terminator.set_operand(first + i, following)
    return loop


def _is_reached(loop: CountedLoop, op: Operation) -> bool:
    """Whether only branches are between a loop's body and an operation."""
    while op.parent is not loop.body:
        parent = op.parent_op
        if not isinstance(parent, IfLike):
            return False
        op = parent  # type: ignore[assignment]
    return True


def _forwarded_out(block: Block, body: Block, old: Value, new: Value, place: Place | None, schedule: Schedule) -> Value:
    """`new`, defined in `block`, as a value of `body`: `old` where a branch is not taken."""
    while block is not body:
        branch: Any = block.parent_op
        if branch.else_block is None:
            _add_else(branch, place, schedule)
        values = [new if b is block else old for b in (branch.then_block, branch.else_block)]
        terminators = [branch.then_block.last, branch.else_block.last]
        new = add_result(branch, new.type, terminators, values)
        block = branch.parent
    return new


def _add_else(branch: IfLike, place: Place | None, schedule: Schedule) -> None:
    """Add a second block, which does nothing, and schedule the conditional at `place`."""
    branch.add_else()
    if schedule.places.pop(branch, None) is not None and place is not None:
        schedule.insert(branch, *place)
