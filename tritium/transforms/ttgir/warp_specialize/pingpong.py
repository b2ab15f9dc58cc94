"""Overlap dots and softmax in attention: within a warp group, and between two that ping-pong.

    scf.for %j … iter_args(%acc, %m) {                   scf.if %lb < %ub {
      K = load                                             S = Q·K(lb); P, m = softmax(S)
      S = Q·K                                              scf.for %j = %lb + %step … iter_args(%acc, %m, %P, …) {
      P, m', scale = softmax(S, m)               =>          S' = Q·K(j)
      V = load                                               acc' = P·V(j - 1) + acc * scale
      acc' = P·V + acc * scale                               P', m' = softmax(S', m)          while P·V runs
    }                                                      }
                                                           acc = P·V(last) + acc * scale
                                                         }

The softmax of attention is between two dots that depend on each other: by itself, a warp group keeps no tensor core
busy while it computes exponentials. But P·V of one iteration and Q·K of the next are independent.

**Stages.** The *second stage* of a body is what depends on the accumulators that its last dot extends: nothing in the
first stage depends on it, but for those accumulators. The values that it uses from the first stage (P, the scale) are
carried; what only makes larger tensors of smaller ones (`tt.broadcast`) is moved with it, so that the small ones are
carried. The second stage of iteration j - 1 runs in iteration j where the first stage would begin to wait for its dot.

**Ping-pong.** Two warp groups that run the same loop may issue their dots at the same time, and then compute at the
same time while the tensor cores idle. So with `pingpong` they issue their dots alternately: each waits at a named
barrier of its own, at which the other arrives once it has issued its dots.

    bar.sync 8 + group, 256        wait: the other group has issued its dots
    S' = Q·K(j); acc' = P·V(j - 1)
    bar.arrive 9 - group, 256      let the other group issue

Group 0 is first: group 1 arrives for it before the loop, and it takes the last arrival after the loop. FlashAttention-3
(arXiv:2407.08608) calls these intra-warpgroup overlap and ping-pong scheduling.

**When.** The second stage has a dot whose left operand is in registers, and the first stage has a dot. No tile in
shared memory is read by both stages (keys that are the values, too): its slot would have to outlast an iteration.
Loads stand for visits of rings here: the copies in `origin` do not load, they only mark where the consumer visits.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf, tt, ttg, ttng
from ....dialects.ttg_memory import MemDescType
from ....ir import REPEATS, WRITE, Builder, CountedLoop, Operation, RegionBranch, TensorType, Value, i32, memory_effects
from ..async_wait.in_flight import accumulates

__all__ = ["Overlap", "overlap_of"]

PINGPONG_ENTER = "{ .reg .pred p; setp.ne.u32 p, $0, 0; @p bar.arrive 8, 256; }"
PINGPONG_WAIT = "{ .reg .b32 id; add.u32 id, $0, 8; bar.sync id, 256; }"
PINGPONG_ARRIVE = "{ .reg .b32 id; sub.u32 id, 9, $0; bar.arrive id, 256; }"
PINGPONG_EXIT = "{ .reg .pred p; setp.eq.u32 p, $0, 0; @p bar.sync 8, 256; }"


class Overlap:
    """A loop in two stages: operations `first` and `second` in their order.

    `accumulators` are the indices of the carried values that the second stage extends, `crossing` the values that it
    uses from the first.
    """

    def __init__(self, loop: CountedLoop, second: set[Operation], accumulators: list[int], pingpong: bool) -> None:
        *ops, self.end = loop.body
        self.loop, self.accumulators, self.with_pingpong = loop, accumulators, pingpong
        self.first = [op for op in ops if op not in second]
        self.second = [op for op in ops if op in second]
        crossing: dict[Value, None] = {}
        for op in self.second:
            if op.__class__ is tt.DescriptorLoad:
                continue
            for value in op.operands:
                if _is_of(value, loop.body) and value.defining_op not in second and not self._is_accumulator(value):
                    crossing[value] = None
        self.crossing = list(crossing)
        self.others = [i for i in range(len(loop.results)) if i not in accumulators]
        self.origin: dict[Operation, Operation] = {}
        self.stretches: list[tuple[Operation, Operation]] = []

    def _is_accumulator(self, value: Any) -> bool:
        return value.defining_op is None and value.index - 1 in self.accumulators

    def rewrite(self) -> Any:
        """Insert the overlapped loop before the old one, which stays as it is; the new operation.

        `origin` then maps new loads to old ones; `stretches` are the operations around what is issued alternately.
        """
        loop = self.loop
        b = Builder(loop.parent, loop, loop.loc)
        less = arith.CmpIPredicate.ult if loop.unsignedCmp else arith.CmpIPredicate.slt
        runs = b.add(arith.CmpI(less, loop.lb, loop.ub))
        branch = scf.If.build(runs, [r.type for r in loop.results])
        b.insert(branch)
        assert branch.else_block is not None
        branch.else_block.append(scf.Yield(list(loop.init_args), loc=loop.loc))
        b.at_end(branch.then_block)
        self._prologue(b)
        return branch

    def _prologue(self, b: Builder) -> None:
        """The first stage of the first iteration, the loop, the second stage of the last."""
        loop, body = self.loop, self.loop.body
        mapping: dict[Any, Any] = dict(zip(body.args, [loop.lb, *loop.init_args]))
        self._copy(self.first, b, mapping)
        start = b.add(arith.AddI(loop.lb, loop.step))
        accumulators = [loop.init_args[i] for i in self.accumulators]
        new = loop.clone_without_body(start, loop.ub, loop.step, [*self._passed(mapping), *accumulators])
        group = warp_group(b) if self.with_pingpong else None
        self._steady(new, group)
        if group is not None:
            assembly(b, PINGPONG_ENTER, group)
        b.insert(new)
        if group is not None:
            assembly(b, PINGPONG_EXIT, group)
        values = self._received(new.results)
        results: dict[int, Any] = {i: values[v] for i, v in zip(self.others, self._nexts())}
        for i in self.accumulators:
            values[body.args[1 + i]] = new.results[
                len(new.results) - len(self.accumulators) + self.accumulators.index(i)
            ]
        self._copy(self.second, b, values)
        results |= {i: values.get(v, v) for i in self.accumulators for v in [self.end.operands[i]]}
        b.insert(scf.Yield([results[i] for i in range(len(loop.results))], loc=loop.loc))

    def _steady(self, new: Any, group: Value | None) -> None:
        """The body: the first stage of an iteration, around the second stage of the previous one."""
        body, args = self.loop.body, new.body.args
        b = Builder(new.body, None, self.loop.loc)
        before = self._received(args[1:])
        mapping: dict[Any, Any] = {body.args[0]: args[0]}
        for i, v in zip(self.others, self._nexts()):
            mapping[body.args[1 + i]] = before[v]
        for i, arg in zip(self.accumulators, args[len(args) - len(self.accumulators) :]):
            before[body.args[1 + i]] = arg
        at = self._first_wait()
        if group is None:
            self._copy(self.first[:at], b, mapping)
            self._copy(self.second, b, before)
        else:
            self._issue_alternately(self.first[:at], b, mapping, before, group)
        self._copy(self.first[at:], b, mapping)
        accumulators = [before.get(v, v) for v in (self.end.operands[i] for i in self.accumulators)]
        b.insert(new.make_yield([*self._passed(mapping), *accumulators], self.loop.loc))

    def _issue_alternately(
        self, front: list[Operation], b: Builder, mapping: dict[Any, Any], before: dict[Any, Any], group: Value
    ) -> None:
        """The dots of both stages next to each other, between the barriers; their operands before them."""
        first = next(i for i, op in enumerate(front) if op.__class__ is ttng.WarpGroupDot)
        last = next(i for i, op in enumerate(self.second) if op.__class__ is ttng.WarpGroupDot)
        self._copy(front[:first], b, mapping)
        self._copy(self.second[:last], b, before)
        begin = assembly(b, PINGPONG_WAIT, group)
        self._copy(front[first:], b, mapping)
        self._copy(self.second[last : last + 1], b, before)
        self.stretches.append((begin, assembly(b, PINGPONG_ARRIVE, group)))
        self._copy(self.second[last + 1 :], b, before)

    def _nexts(self) -> list[Value]:
        """What the first stage passes to the next iteration's first stage."""
        return [self.end.operands[i] for i in self.others]

    def _carried(self) -> list[Value]:
        return list(dict.fromkeys([*self._nexts(), *self.crossing]))

    def _passed(self, mapping: dict[Any, Any]) -> list[Any]:
        return [mapping.get(v, v) for v in self._carried()]

    def _received(self, values: Any) -> dict[Any, Any]:
        """The carried values in place of those of the previous iteration."""
        return dict(zip(self._carried(), values))

    def _first_wait(self) -> int:
        """The position in the first stage of the first use of a dot's result."""
        dots = {op for op in self.first if op.__class__ is ttng.WarpGroupDot}
        for i, op in enumerate(self.first):
            if any(v.defining_op in dots and not accumulates(op, v) for v in op.operands):
                return i
        return len(self.first)

    def _copy(self, ops: list[Operation], b: Builder, mapping: dict[Any, Any]) -> None:
        for op in ops:
            copy = b.insert(op.clone(mapping))
            if op.__class__ is tt.DescriptorLoad:
                self.origin[copy] = op


def warp_group(b: Builder) -> Any:
    """The index of the consumer warp group: 0 or 1."""
    warp = b.add(ttg.WarpId())
    return b.add(arith.ShRUI(warp, b.add(arith.Constant.of(2, i32))))


def assembly(b: Builder, text: str, group: Value) -> Operation:
    """Inline assembly with the index of the warp group as its operand."""
    return b.insert(ttg.InlineAsm(text, "r,~{memory}", False, [group], result=[]))


def overlap_of(loop: CountedLoop, loads: set[Operation], pingpong: bool) -> Overlap | None:
    """The stages of a loop, if overlapping them is legal and pays; `pingpong` for two warp groups."""
    body = loop.body
    for op in body:
        if isinstance(op, RegionBranch) or (memory_effects(op) & WRITE and op is not body.last):
            return None
    dots = [op for op in body if op.__class__ is ttng.WarpGroupDot]
    lasts = [dot for dot in dots if isinstance(dot.operands[0].type, TensorType)]
    if len(lasts) != 1 or len(dots) < 2:
        return None
    second = _depending(body, lasts[0])
    accumulators = [i for i, v in enumerate(body.last.operands) if v.defining_op in second]
    if not any(dot not in second for dot in dots) or not accumulators:
        return None
    if any(op.__class__ is tt.DescriptorLoad and op not in loads for op in body):
        return None
    _move_along(body, second)
    overlap = Overlap(loop, second, accumulators, pingpong)
    return None if any(isinstance(v.type, MemDescType) for v in overlap.crossing) else overlap


def _depending(body: Any, dot: Any) -> set[Operation]:
    """The dot, and what depends on the carried values that its result becomes."""
    todo: list[Any] = [body.args[1 + i] for i, v in enumerate(body.last.operands) if v is dot.results[0]]
    todo.append(dot.results[0])
    second = {dot}
    while todo:
        for user in todo.pop().users:
            if user is body.last or user in second or user.parent is not body:
                continue
            second.add(user)
            todo += user.results
    for i, v in enumerate(body.last.operands):
        if v.defining_op in second and not set(body.args[1 + i].users) <= second:
            return set()
    return second


def _move_along(body: Any, second: set[Operation]) -> None:
    """Add what only the second stage uses and can compute itself: its loads, their views, and broadcasts."""
    for op in reversed(list(body)):
        if op in second or op is body.last or not op.results:
            continue
        users = {user for r in op.results for user in r.users}
        loads = op.__class__ in (tt.DescriptorLoad, ttg.LocalAlloc) or op.name.startswith("ttg.memdesc_")
        if users and users <= second and (loads or op.traits & REPEATS):
            second.add(op)


def _is_of(value: Any, body: Any) -> bool:
    op = value.defining_op
    return (op is not None and op.parent is body) or value.block is body
