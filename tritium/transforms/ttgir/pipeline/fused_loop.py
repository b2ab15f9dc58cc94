"""Fuse a loop and those nested in it into one: `fuse(outer, inners)`.

    scf.for %i = … {                      T, i, j, x = 0, lb_i - step_i, -, -
      %x = prologue(%i)                   for _ in range(len_i * max(1, len_j)):
      scf.for %j = … {                      if T == 0:
        body(%i, %j, %x)           =>         i += step_i;  x = prologue(i);  j = lb_j
      }                                     if 0 <= T < len_j:
      epilogue(%i, %x)                        body(i, j, x);  j += step_j
    }                                       if T == max(1, len_j) - 1:
                                              epilogue(i, x)
                                            T = 0 if T == max(1, len_j) - 1 else T + 1

An inner loop with zero iterations still has one, for the code around it. Of several inner loops, the last iteration of
one is the first of the next; the code in between is a prologue of the next.

Values defined in one part and used in another, and values carried by the loops, are carried by the new loop, starting
from zeros where they are not read before they are defined. A value carried by the outer loop changes only in the last
iteration of a tile, unless only the prologue reads it. Initial values of inner loops from outside are also those of the
new loop; the epilogue sets them again, so that the next prologue does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....dialects import arith, scf, ub
from ....ir import Builder, FloatType, IntegerType, Operation, TensorType, Type, Value, i64, index
from ....ir.dominance import ancestor_in
from ....support.dataclasses import dataclass
from ...regions import defined_in, is_inside

__all__ = ["Inner", "ceil_div", "fuse", "trip_count"]


@dataclass
class Inner:
    """A loop to fuse. `slices`: the operations its bounds need in each outer iteration, None if they are invariant.

    `always_runs`: it is known to have an iteration.
    """

    loop: Any
    slices: list[Operation] | None = None
    always_runs: bool = False


@dataclass
class _Slot:
    """A value that the new loop carries: its initial, current and next value."""

    init: Value
    arg: Any = None
    following: Any = None


def trip_count(b: Builder, lb: Value, ub: Value, step: Value) -> Value:
    """`ceil((ub - lb) / step)`, the trip count if positive."""
    return ceil_div(b, b.add(arith.SubI(ub, lb)), step)


def ceil_div(b: Builder, number: Value, by: Value) -> Value:
    """ceil(number / by)"""
    return b.add(arith.CeilDivSI(number, by))  # type: ignore[no-any-return]


def fuse(outer: Any, inners: Sequence[Inner]) -> Any:
    """Replace `outer` and `inners`, loops of its body in order, by one loop; returns it."""
    return _Fusion(outer, inners).run()


def _zero(b: Builder, ty: Type) -> Value:
    """The initial value of a carried value: zeros, which ptxas handles better than undefined values.

    Except for tensors of integers: contiguity and divisibility of indices would not hold for zeros, and loads with
    carried indices would not be asynchronous.
    """
    element = ty.element if isinstance(ty, TensorType) else ty
    if isinstance(ty, TensorType) and isinstance(element, IntegerType):
        return b.add(ub.Poison(result=ty))  # type: ignore[no-any-return]
    if isinstance(element, (IntegerType, FloatType)) or element is index:
        return b.add(arith.Constant.of(0, ty))  # type: ignore[no-any-return]
    return b.add(ub.Poison(result=ty))  # type: ignore[no-any-return]


def _bits(ty: Any) -> int:
    return 64 if ty is index else ty.width  # type: ignore[no-any-return]


class _Fusion:
    """Fuse one loop with loops in it. Parts are numbered: 0 precedes the first inner loop, and so on."""

    def __init__(self, outer: Any, inners: Sequence[Inner]) -> None:
        self.outer, self.inners = outer, inners
        self.b = Builder(outer.parent, outer, outer.loc)
        types = [outer.lb.type, *(inner.loop.lb.type for inner in inners)]
        widest: Any = max(types, key=_bits)
        self.ty: Any = i64 if widest is index else widest
        self.parts = self.cut()
        self.outputs = [self.outputs_of(part) for part in self.parts]
        self.late = [self.is_read_late(arg) for arg in outer.iter_args]
        self.varies = any(inner.slices is not None for inner in inners)

    # -- trip counts ----------------------------------------------------------------------------------------------

    def number(self, value: int) -> Value:
        return self.b.add(arith.Constant.of(value, self.ty))  # type: ignore[no-any-return]

    def cast(self, value: Value) -> Value:
        """A trip count in the type of that of the new loop."""
        if value.type is self.ty:
            return value
        kind = arith.IndexCast if value.type is index else arith.ExtSI
        return self.b.add(kind(value, out=self.ty))  # type: ignore[no-any-return]

    def at_least_one(self, value: Value) -> Value:
        return self.b.add(arith.MaxSI(value, self.number(1)))  # type: ignore[no-any-return]

    def sum(self, values: Iterable[Value], less: int = 0) -> Value:
        """The sum of integers, less a constant."""
        total = None
        for value in values:
            total = value if total is None else self.b.add(arith.AddI(total, value))
        if total is None:
            return self.number(-less)
        return self.b.add(arith.SubI(total, self.number(less))) if less else total

    def equal(self, a: Value, b: Value) -> Value:
        return self.b.add(arith.CmpI(arith.CmpIPredicate.eq, a, b))  # type: ignore[no-any-return]

    # -- parts ----------------------------------------------------------------------------------------------------

    def cut(self) -> list[list[Operation]]:
        """Collect the operations around the inner loops."""
        loops, parts = {inner.loop for inner in self.inners}, [[]]  # type: ignore[var-annotated]
        for op in self.outer.body:
            if op in loops:
                parts.append([])
            elif op is not self.outer.body.last:
                parts[-1].append(op)
        return parts

    def outputs_of(self, part: list[Operation]) -> list[Value]:
        """The values that a part defines for others."""
        inside, region = set(part), self.outer.regions[0]
        return [v for op in part for v in op.results if any(ancestor_in(region, u) not in inside for u in v.users)]

    def is_read_late(self, arg: Value) -> bool:
        """Whether a carried value is read after the prologue."""
        first = self.inners[0].loop
        start, region = {*self.parts[0], self.outer.body.last}, self.outer.regions[0]
        tops = {ancestor_in(region, user) for user in arg.users} - start
        return any(top is not first for top in tops) or any(is_inside(u, first.regions[0]) for u in arg.users)

    # -- the new loop ---------------------------------------------------------------------------------------------

    def run(self) -> Any:
        """Build the new loop and replace the old one."""
        b, outer = self.b, self.outer
        trip_counts, whole, total = self.trip_counts()
        one, zero = self.number(1), self.number(0)
        self.time = _Slot(zero)
        self.variable = _Slot(b.add(arith.SubI(outer.lb, outer.step)))
        self.carried = [_Slot(v) for v in outer.init_args]
        self.lens = [_Slot(v) for v in trip_counts] if self.varies else []
        self.whole = [_Slot(whole)] if self.varies else []
        self.places = [_Slot(_zero(b, inner.loop.lb.type)) for inner in self.inners]
        self.inits = [
            [_Slot(_zero(b, v.type) if defined_in(v, outer) else v) for v in inner.loop.init_args]
            for inner in self.inners
        ]
        self.made = [[_Slot(_zero(b, v.type)) for v in values] for values in self.outputs[:-1]]
        slots = [self.time, self.variable, *self.carried, *self.lens, *self.whole, *self.places]
        slots += [slot for row in (*self.inits, *self.made) for slot in row]
        fused = b.insert(outer.build(zero, total, one, [slot.init for slot in slots]))
        for slot, arg in zip(slots, fused.body.args[1:]):
            slot.arg = arg
        for old, slot in zip(outer.iter_args, self.carried):
            old.replace_all_uses_with(slot.arg)
        self.fill(fused, trip_counts, whole)
        b.at_end(fused.body)
        b.insert(fused.make_yield([slot.following for slot in slots]))
        for result, old in zip(fused.results[2:], outer.results):
            old.replace_all_uses_with(result)
        outer.erase()
        return fused

    def trip_counts(self) -> tuple[list[Value], Value, Value]:
        """The trip counts of inner loops, of one outer iteration, and of the fused loop, as far as they do not vary."""
        b, outer = self.b, self.outer
        rounds = trip_count(b, outer.lb, outer.ub, outer.step)
        trip_counts = []
        for inner in self.inners:
            loop = inner.loop
            trip_counts.append(
                self.number(0) if inner.slices is not None else self.cast(trip_count(b, loop.lb, loop.ub, loop.step))
            )
        fixed = [self.at_least_one(n) for n, inner in zip(trip_counts, self.inners) if inner.slices is None]
        whole = self.sum(fixed, len(self.inners) - 1)
        total = b.add(arith.MulI(self.cast(rounds), whole))
        if self.varies:
            total = self.sum_of_trip_counts(total)
        return trip_counts, whole, total

    def sum_of_trip_counts(self, total: Value) -> Value:
        """`total` plus the trip counts that vary, summed in a loop."""
        outer = self.outer
        loop = self.b.insert(outer.build(outer.lb, outer.ub, outer.step, [total]))
        with self.b.saved():
            self.b.at_end(loop.body)
            known = {outer.induction_variable: loop.induction_variable}
            values = [loop.body.args[1]]
            for inner in self.inners:
                if inner.slices is not None:
                    values.append(self.at_least_one(self.trip_count_now(inner, known)))
            self.b.insert(loop.make_yield([self.sum(values)]))
        return loop.results[0]

    def trip_count_now(self, inner: Inner, known: dict[Any, Any]) -> Value:
        """The trip count of an inner loop in the current outer iteration."""
        for op in inner.slices or ():
            if op.results[0] not in known:
                self.b.insert(op.clone(known))
        return self.cast(trip_count(self.b, *(known.get(v, v) for v in inner.loop.bounds)))

    def fill(self, fused: Any, trip_counts: list[Value], whole: Value) -> None:
        """Emit the body: for each inner loop its prologue and body; then the epilogue."""
        b = self.b
        b.at_end(fused.body)
        clamped: list[Value] = []
        for k, inner in enumerate(self.inners):
            start = self.sum(clamped, k) if k else self.number(0)
            now = self.prologue(k, self.equal(self.time.arg, start))
            if k == 0 and self.varies:
                trip_counts, whole = now[:-1], now[-1]
            stop = self.b.add(arith.AddI(start, trip_counts[k])) if k else trip_counts[k]
            self.body(k, inner, start, stop)
            clamped.append(self.at_least_one(trip_counts[k]))
        is_last = self.equal(self.time.arg, b.add(arith.SubI(whole, self.number(1))))
        self.epilogue(is_last)
        later = b.add(arith.AddI(self.time.arg, self.number(1)))
        self.time.following = b.add(arith.Select(is_last, self.number(0), later))
        for slot, value in zip((*self.lens, *self.whole), (*trip_counts, whole)):
            slot.following = value

    def branch(self, condition: Value, types: list[Type]) -> Any:
        return self.b.insert(scf.If.build(condition, types))

    def finish(self, made: Any, then: Sequence[Value], other: Sequence[Value]) -> list[Value]:
        """Terminate both blocks of a branch and continue after it."""
        for block, values in zip((made.then_block, made.else_block), (then, other)):
            self.b.at_end(block)
            self.b.insert(scf.Yield(list(values)))
        self.b.after(made)
        return list(made.results)

    def prologue(self, k: int, condition: Value) -> list[Value]:
        """Part `k`, before inner loop `k`; the first also computes the length of the outer iteration if varying."""
        loop, part = self.inners[k].loop, self.parts[k]
        starts = [(self.places[k], loop.lb), *zip(self.inits[k], loop.init_args)]
        for slot, value in starts:
            slot.following = slot.arg
            if slot.init is not value and value.defining_op not in part:
                slot.following = self.b.add(arith.Select(condition, value, slot.arg))
        made = [(slot, value) for slot, value in starts if value.defining_op in part]
        made += zip(self.made[k], self.outputs[k])
        slots = [slot for slot, _ in made]
        if k == 0:
            slots += [self.variable, *self.lens, *self.whole]
        branch = self.branch(condition, [slot.arg.type for slot in slots])
        then = [value for _, value in made]
        self.b.at_end(branch.then_block)
        if k == 0:
            then += self.next_outer_iteration()
        for op in part:
            op.detach()
            branch.then_block.append(op)
        for slot, value in zip(slots, self.finish(branch, then, [slot.arg for slot in slots])):
            slot.following = value
        for slot, old in zip(self.made[k], self.outputs[k]):
            old.replace_uses_where(slot.following, lambda user: not is_inside(user, branch.regions[0]))
        for slot, arg in zip((self.places[k], *self.inits[k]), loop.body.args):
            arg.replace_all_uses_with(slot.following)
        if k > 0:
            return []
        self.outer.induction_variable.replace_all_uses_with(self.variable.following)
        return [slot.following for slot in (*self.lens, *self.whole)]

    def next_outer_iteration(self) -> list[Value]:
        """The outer variable of the next outer iteration, and its length if that varies."""
        variable = self.b.add(arith.AddI(self.variable.arg, self.outer.step))
        for op in self.parts[0]:
            for inner in op.walk():
                for i, v in enumerate(inner.operands):
                    if v is self.outer.induction_variable:
                        inner.set_operand(i, variable)
        if not self.varies:
            return [variable]
        known = {self.outer.induction_variable: variable}
        trip_counts = [
            slot.init if inner.slices is None else self.trip_count_now(inner, known)
            for inner, slot in zip(self.inners, self.lens)
        ]
        clamped = [self.at_least_one(v) for v, inner in zip(trip_counts, self.inners) if inner.slices is not None]
        return [variable, *trip_counts, self.sum([self.whole[0].init, *clamped])]

    def body(self, k: int, inner: Inner, start: Value, stop: Value) -> None:
        """An iteration of an inner loop, where it has one."""
        b, loop, place, carried = self.b, inner.loop, self.places[k], self.inits[k]
        branch, before = None, [slot.following for slot in (place, *carried)]
        if not inner.always_runs:
            started = b.add(arith.CmpI(arith.CmpIPredicate.sge, self.time.arg, start))
            not_done = b.add(arith.CmpI(arith.CmpIPredicate.slt, self.time.arg, stop))
            branch = self.branch(b.add(arith.AndI(started, not_done)), [v.type for v in before])
            b.at_end(branch.then_block)
        end: Any = loop.terminator
        for op in loop.body:
            if op is not end:
                op.detach()
                b.insert(op)
        after = [b.add(arith.AddI(place.following, loop.step)), *end.operands]
        if branch is not None:
            after = self.finish(branch, after, before)
        for slot, value in zip((place, *carried), after):
            slot.following = value
        for old, value in zip(loop.results, after[1:]):
            old.replace_all_uses_with(value)

    def epilogue(self, is_last: Value) -> None:
        """The operations after the inner loops, and the values that the outer loop carries."""
        part, end = self.parts[-1], self.outer.body.last
        inside, args = set(part), {slot.arg for slot in self.carried}
        at_end: list[tuple[_Slot, Value, Value]] = []
        for slot, value, late in zip(self.carried, end.operands, self.late):
            if value is slot.arg or not (late or value in args or value.defining_op in inside):
                slot.following = value
            else:
                at_end.append((slot, value, slot.arg))
        for row, inner in zip(self.inits, self.inners):
            for slot, init in zip(row, inner.loop.init_args):
                if slot.init is init:
                    at_end.append((slot, init, slot.following))
        if not part and not at_end:
            return
        branch = self.branch(is_last, [value.type for _, value, _ in at_end])
        for op in part:
            op.detach()
            branch.then_block.append(op)
        results = self.finish(branch, [then for _, then, _ in at_end], [other for _, _, other in at_end])
        for (slot, _, _), value in zip(at_end, results):
            slot.following = value
