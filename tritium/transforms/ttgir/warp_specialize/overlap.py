"""Products of an iteration run while the next one computes: a loop whose second half is an iteration behind.

    scf.for %j … iter_args(%acc, %m) {                   scf.if %lb < %ub {
      K = load                                             S = Q·K(lb); P, m = softmax(S)
      S = Q·K                                              scf.for %j = %lb + %step … iter_args(%acc, %m, %P, …) {
      P, m', scale = softmax(S, m)               =>          S' = Q·K(j)
      V = load                                               acc' = P·V(j - 1) + acc * scale
      acc' = P·V + acc * scale                               P', m' = softmax(S', m)          while P·V runs
    }                                                      }
                                                           acc = P·V(last) + acc * scale
                                                         }

The softmax of attention stands between two products, each of which needs the one before it: by itself, a warp group
has nothing to multiply while it computes exponentials. But P·V of one iteration and Q·K of the next are independent.

**Halves.** The *back* of a body is what depends on the carried values that the last product adds up (`acc`): nothing
in front depends on it, but for that very accumulator. It takes from the front what it needs (P, the scale) as carried
values; what only makes larger tensors of smaller ones (`tt.broadcast`) goes with it, so that the small ones are
carried. The back of iteration j - 1 stands in iteration j where the front would begin to wait for its product.

**Turns.** Two warp groups that run the same loop may come to multiply at the same time, and then to compute at the same
time while the tensor cores rest. So with `turns` they begin their products one after the other: whoever is about to
issue them meets, at a named barrier of its own, the other group, which arrives there once it has issued its own.

    bar.sync 8 + group, 256        my turn: the other group has issued its products
    S' = Q·K(j); acc' = P·V(j - 1)
    bar.arrive 9 - group, 256      the other's turn

The first turn is group 0's, for which group 1 arrives in front of the loop; group 0 takes the last arrival behind it.

**When.** The body has a product in the back whose first operand comes from registers, and a product in front. No tile
in shared memory is read by both halves (keys that are the values, too): its slot would have to outlast an iteration.
Loads stand for visits of rings here: the copies `origin` tells apart do not load, they only say where the consumer
visits.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf, tt, ttg, ttng
from ....dialects.ttg_memory import MemDescType
from ....ir import WRITE, Builder, Operation, RegionBranch, TensorType, Value, i32, memory_effects
from ..async_wait.in_flight import accumulates

__all__ = ["Overlap", "overlap_of"]

FIRST_TURN = "{ .reg .pred p; setp.ne.u32 p, $0, 0; @p bar.arrive 8, 256; }"
MY_TURN = "{ .reg .b32 id; add.u32 id, $0, 8; bar.sync id, 256; }"
YOUR_TURN = "{ .reg .b32 id; sub.u32 id, 9, $0; bar.arrive id, 256; }"
LAST_TURN = "{ .reg .pred p; setp.eq.u32 p, $0, 0; @p bar.sync 8, 256; }"

_GROWS = (tt.Broadcast, tt.ExpandDims, tt.Splat)


class Overlap:
    """A loop in two halves: `front` and `back` operations in their order, `sums` the numbers of carried values that
    the back adds up, `handed` what it takes from the front."""

    def __init__(self, loop: Any, back: set[Operation], sums: list[int], turns: bool) -> None:
        *ops, self.end = loop.body
        self.loop, self.sums, self.with_turns = loop, sums, turns
        self.front = [op for op in ops if op not in back]
        self.back = [op for op in ops if op in back]
        handed: dict[Value, None] = {}
        for op in self.back:
            if op.__class__ is tt.DescriptorLoad:
                continue
            for value in op.operands:
                if _is_of(value, loop.body) and value.defining_op not in back and not self._is_sum(value):
                    handed[value] = None
        self.handed = list(handed)
        self.ahead = [i for i in range(len(loop.results)) if i not in sums]
        self.origin: dict[Operation, Operation] = {}
        self.turns: list[tuple[Operation, Operation]] = []

    def _is_sum(self, value: Any) -> bool:
        return value.defining_op is None and value.index - 1 in self.sums

    def rewrite(self) -> Any:
        """Put the overlapped loop in front of the old one, which stays as it is; the new operation.

        `origin` then has the old loads for the new ones, `turns` where a turn begins and ends.
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
        self._first(b)
        return branch

    def _first(self, b: Builder) -> None:
        """The front of the first iteration, the loop, the back of the last."""
        loop, body = self.loop, self.loop.body
        mapping: dict[Any, Any] = dict(zip(body.args, [loop.lb, *loop.init_args]))
        self._copy(self.front, b, mapping)
        start = b.add(arith.AddI(loop.lb, loop.step))
        sums = [loop.init_args[i] for i in self.sums]
        new = loop.clone_without_body(start, loop.ub, loop.step, [*self._handed(mapping), *sums])
        group = warp_group(b) if self.with_turns else None
        self._steady(new, group)
        if group is not None:
            assembly(b, FIRST_TURN, group)
        b.insert(new)
        if group is not None:
            assembly(b, LAST_TURN, group)
        values = self._taken(new.results)
        results: dict[int, Any] = {i: values[v] for i, v in zip(self.ahead, self._nexts())}
        for i in self.sums:
            values[body.args[1 + i]] = new.results[len(new.results) - len(self.sums) + self.sums.index(i)]
        self._copy(self.back, b, values)
        results |= {i: values.get(v, v) for i in self.sums for v in [self.end.operands[i]]}
        b.insert(scf.Yield([results[i] for i in range(len(loop.results))], loc=loop.loc))

    def _steady(self, new: Any, group: Value | None) -> None:
        """The body: the front of an iteration, around the back of the one before."""
        body, args = self.loop.body, new.body.args
        b = Builder(new.body, None, self.loop.loc)
        before = self._taken(args[1:])
        mapping: dict[Any, Any] = {body.args[0]: args[0]}
        for i, v in zip(self.ahead, self._nexts()):
            mapping[body.args[1 + i]] = before[v]
        for i, arg in zip(self.sums, args[len(args) - len(self.sums) :]):
            before[body.args[1 + i]] = arg
        at = self._first_wait()
        if group is None:
            self._copy(self.front[:at], b, mapping)
            self._copy(self.back, b, before)
        else:
            self._take_turns(self.front[:at], b, mapping, before, group)
        self._copy(self.front[at:], b, mapping)
        sums = [before.get(v, v) for v in (self.end.operands[i] for i in self.sums)]
        b.insert(new.make_yield([*self._handed(mapping), *sums], self.loop.loc))

    def _take_turns(
        self, front: list[Operation], b: Builder, mapping: dict[Any, Any], before: dict[Any, Any], group: Value
    ) -> None:
        """The products of both halves next to each other, in a turn; what they need in front of it."""
        first = next(i for i, op in enumerate(front) if op.__class__ is ttng.WarpGroupDot)
        last = next(i for i, op in enumerate(self.back) if op.__class__ is ttng.WarpGroupDot)
        self._copy(front[:first], b, mapping)
        self._copy(self.back[:last], b, before)
        begin = assembly(b, MY_TURN, group)
        self._copy(front[first:], b, mapping)
        self._copy(self.back[last : last + 1], b, before)
        self.turns.append((begin, assembly(b, YOUR_TURN, group)))
        self._copy(self.back[last + 1 :], b, before)

    def _nexts(self) -> list[Value]:
        """What the front hands to the next iteration's front."""
        return [self.end.operands[i] for i in self.ahead]

    def _carried(self) -> list[Value]:
        return list(dict.fromkeys([*self._nexts(), *self.handed]))

    def _handed(self, mapping: dict[Any, Any]) -> list[Any]:
        return [mapping.get(v, v) for v in self._carried()]

    def _taken(self, values: Any) -> dict[Any, Any]:
        """What stands for the values of the iteration before."""
        return dict(zip(self._carried(), values))

    def _first_wait(self) -> int:
        """Where the front first needs the result of a product."""
        dots = {op for op in self.front if op.__class__ is ttng.WarpGroupDot}
        for i, op in enumerate(self.front):
            if any(v.defining_op in dots and not accumulates(op, v) for v in op.operands):
                return i
        return len(self.front)

    def _copy(self, ops: list[Operation], b: Builder, mapping: dict[Any, Any]) -> None:
        for op in ops:
            copy = b.insert(op.clone(mapping))
            if op.__class__ is tt.DescriptorLoad:
                self.origin[copy] = op


def warp_group(b: Builder) -> Any:
    """Which of the consumer's warp groups this is: 0 or 1."""
    warp = b.add(ttg.WarpId())
    return b.add(arith.ShRUI(warp, b.add(arith.Constant.of(2, i32))))


def assembly(b: Builder, text: str, group: Value) -> Operation:
    """An instruction that takes the number of the warp group."""
    return b.insert(ttg.InlineAsm(text, "r,~{memory}", False, [group], result=[]))


def overlap_of(loop: Any, loads: set[Operation], turns: bool) -> Overlap | None:
    """The halves of a loop, if it is worth it and everything in it can be told apart; `turns` for two warp groups."""
    body = loop.body
    for op in body:
        if isinstance(op, RegionBranch) or (memory_effects(op) & WRITE and op is not body.last):
            return None
    dots = [op for op in body if op.__class__ is ttng.WarpGroupDot]
    lasts = [dot for dot in dots if isinstance(dot.operands[0].type, TensorType)]
    if len(lasts) != 1 or len(dots) < 2:
        return None
    back = _depending(body, lasts[0])
    sums = [i for i, v in enumerate(body.last.operands) if v.defining_op in back]
    if not any(dot not in back for dot in dots) or not sums:
        return None
    if any(op.__class__ is tt.DescriptorLoad and op not in loads for op in body):
        return None
    _take_along(body, back)
    overlap = Overlap(loop, back, sums, turns)
    return None if any(isinstance(v.type, MemDescType) for v in overlap.handed) else overlap


def _depending(body: Any, dot: Any) -> set[Operation]:
    """The product, and what depends on the carried values that its result is yielded for."""
    todo: list[Any] = [body.args[1 + i] for i, v in enumerate(body.last.operands) if v is dot.results[0]]
    todo.append(dot.results[0])
    back = {dot}
    while todo:
        for user in todo.pop().users:
            if user is body.last or user in back or user.parent is not body:
                continue
            back.add(user)
            todo += user.results
    for i, v in enumerate(body.last.operands):
        if v.defining_op in back and not set(body.args[1 + i].users) <= back:
            return set()
    return back


def _take_along(body: Any, back: set[Operation]) -> None:
    """Add what the back alone needs and better makes itself: its loads, views of them, and small tensors made large."""
    for op in reversed(list(body)):
        if op in back or op is body.last or not op.results:
            continue
        users = {user for r in op.results for user in r.users}
        loads = op.__class__ in (tt.DescriptorLoad, ttg.LocalAlloc) or op.name.startswith("ttg.memdesc_")
        if users and users <= back and (loads or op.__class__ in _GROWS):
            back.add(op)


def _is_of(value: Any, body: Any) -> bool:
    op = value.defining_op
    return (op is not None and op.parent is body) or value.block is body
