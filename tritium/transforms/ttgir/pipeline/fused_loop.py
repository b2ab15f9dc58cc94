"""One loop in place of a loop and those in it: `fuse(outer, inners)`.

    scf.for %i = … {                      T, i, j, x = 0, lb_i - step_i, -, -
      %x = prologue(%i)                   for _ in range(len_i * max(1, len_j)):
      scf.for %j = … {                      if T == 0:
        body(%i, %j, %x)           =>         i += step_i;  x = prologue(i);  j = lb_j
      }                                     if 0 <= T < len_j:
      epilogue(%i, %x)                        body(i, j, x);  j += step_j
    }                                       if T == max(1, len_j) - 1:
                                              epilogue(i, x)
                                            T = 0 if T == max(1, len_j) - 1 else T + 1

An inner loop that does not run still has one iteration, for what is around it. Of several inner loops, the last
iteration of one is the first of the next; what stands between them is a prologue of the next.

Whatever is made in one part and read in another, and what loops carry, is carried by the new loop, from zeros where it
is not read before it is made. A value that the outer loop carries changes in the last iteration of a round only, unless
nothing but the start of a round reads it. Initial values of inner loops that come from outside are those of the new
loop too; the end of a round sets them again, so that the start of the next one does not hang on this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....dialects import arith, scf, ub
from ....ir import Builder, FloatType, IntegerType, Operation, TensorType, Type, Value, i64, index
from ....ir.dominance import ancestor_in
from ....support.dataclasses import dataclass
from ...regions import defined_in, is_inside

__all__ = ["Inner", "ceil_div", "fuse", "trips"]


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
    """A value that the new loop carries: at first, in an iteration, for the next one."""

    init: Value
    arg: Any = None
    following: Any = None


def trips(b: Builder, lb: Value, ub: Value, step: Value) -> Value:
    """ceil((ub - lb) / step), how often a loop runs if that is positive."""
    return ceil_div(b, b.add(arith.SubI(ub, lb)), step)


def ceil_div(b: Builder, number: Value, by: Value) -> Value:
    """ceil(number / by)"""
    return b.add(arith.CeilDivSI(number, by))  # type: ignore[no-any-return]


def fuse(outer: Any, inners: Sequence[Inner]) -> Any:
    """Put one loop in the place of `outer` and `inners`, loops of its body in their order; the new loop."""
    return _Fusion(outer, inners).run()


def _zero(b: Builder, ty: Type) -> Value:
    """What is there before a value is made: zeros, which cost ptxas less than values that are undefined.

    But for tensors of integers: what is known of indices (that they follow each other, and by what they are divisible)
    would not hold of zeros, and loads whose indices are carried would not be asynchronous.
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
    """Fuses one loop with loops in it. Parts are numbered: 0 is what stands before the first inner loop, and so on."""

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

    # -- numbers --------------------------------------------------------------------------------------------------

    def number(self, value: int) -> Value:
        return self.b.add(arith.Constant.of(value, self.ty))  # type: ignore[no-any-return]

    def cast(self, value: Value) -> Value:
        """A number of iterations in the type of those of the new loop."""
        if value.type is self.ty:
            return value
        kind = arith.IndexCast if value.type is index else arith.ExtSI
        return self.b.add(kind(value, out=self.ty))  # type: ignore[no-any-return]

    def at_least_one(self, value: Value) -> Value:
        return self.b.add(arith.MaxSI(value, self.number(1)))  # type: ignore[no-any-return]

    def sum(self, values: Iterable[Value], less: int = 0) -> Value:
        """The sum of numbers, less a constant."""
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
        """The operations around the inner loops."""
        loops, parts = {inner.loop for inner in self.inners}, [[]]  # type: ignore[var-annotated]
        for op in self.outer.body:
            if op in loops:
                parts.append([])
            elif op is not self.outer.body.last:
                parts[-1].append(op)
        return parts

    def outputs_of(self, part: list[Operation]) -> list[Value]:
        """What a part makes for others."""
        inside, region = set(part), self.outer.regions[0]
        return [v for op in part for v in op.results if any(ancestor_in(region, u) not in inside for u in v.users)]

    def is_read_late(self, arg: Value) -> bool:
        """Whether a carried value is read behind the start of a round."""
        first = self.inners[0].loop
        start, region = {*self.parts[0], self.outer.body.last}, self.outer.regions[0]
        tops = {ancestor_in(region, user) for user in arg.users} - start
        return any(top is not first for top in tops) or any(is_inside(u, first.regions[0]) for u in arg.users)

    # -- the new loop ---------------------------------------------------------------------------------------------

    def run(self) -> Any:
        """Make the new loop, and take the place of the old one."""
        b, outer = self.b, self.outer
        lengths, whole, total = self.lengths()
        one, zero = self.number(1), self.number(0)
        self.time = _Slot(zero)
        self.variable = _Slot(b.add(arith.SubI(outer.lb, outer.step)))
        self.carried = [_Slot(v) for v in outer.init_args]
        self.lens = [_Slot(v) for v in lengths] if self.varies else []
        self.whole = [_Slot(whole)] if self.varies else []
        self.places = [_Slot(_zero(b, inner.loop.lb.type)) for inner in self.inners]
        self.inits = [
            [_Slot(_zero(b, v.type) if defined_in(v, outer) else v) for v in inner.loop.init_args]
            for inner in self.inners
        ]
        self.made = [[_Slot(_zero(b, v.type)) for v in values] for values in self.outputs[:-1]]
        slots = [self.time, self.variable, *self.carried, *self.lens, *self.whole, *self.places]
        slots += [slot for row in (*self.inits, *self.made) for slot in row]
        fused = b.insert(scf.For.build(zero, total, one, [slot.init for slot in slots]))
        for slot, arg in zip(slots, fused.body.args[1:]):
            slot.arg = arg
        for old, slot in zip(outer.iter_args, self.carried):
            old.replace_all_uses_with(slot.arg)
        self.fill(fused, lengths, whole)
        b.at_end(fused.body)
        b.insert(scf.Yield([slot.following for slot in slots]))
        for result, old in zip(fused.results[2:], outer.results):
            old.replace_all_uses_with(result)
        outer.erase()
        return fused

    def lengths(self) -> tuple[list[Value], Value, Value]:
        """How often inner loops run, how long a round is, and all rounds together; as far as it does not vary."""
        b, outer = self.b, self.outer
        rounds = trips(b, outer.lb, outer.ub, outer.step)
        lengths = []
        for inner in self.inners:
            loop = inner.loop
            lengths.append(
                self.number(0) if inner.slices is not None else self.cast(trips(b, loop.lb, loop.ub, loop.step))
            )
        fixed = [self.at_least_one(n) for n, inner in zip(lengths, self.inners) if inner.slices is None]
        whole = self.sum(fixed, len(self.inners) - 1)
        total = b.add(arith.MulI(self.cast(rounds), whole))
        if self.varies:
            total = self.sum_of_rounds(total)
        return lengths, whole, total

    def sum_of_rounds(self, total: Value) -> Value:
        """`total` and the lengths that vary, added up in a loop of their own."""
        outer = self.outer
        loop = self.b.insert(scf.For.build(outer.lb, outer.ub, outer.step, [total]))
        with self.b.saved():
            self.b.at_end(loop.body)
            known = {outer.induction_variable: loop.induction_variable}
            values = [loop.body.args[1]]
            for inner in self.inners:
                if inner.slices is not None:
                    values.append(self.at_least_one(self.length_now(inner, known)))
            self.b.insert(scf.Yield([self.sum(values)]))
        return loop.results[0]

    def length_now(self, inner: Inner, known: dict[Any, Any]) -> Value:
        """How often an inner loop runs in a round, computed anew."""
        for op in inner.slices or ():
            if op.results[0] not in known:
                self.b.insert(op.clone(known))
        return self.cast(trips(self.b, *(known.get(v, v) for v in inner.loop.operands[:3])))

    def fill(self, fused: Any, lengths: list[Value], whole: Value) -> None:
        """The body: for each inner loop what is in front of it, and it; then the end of a round."""
        b = self.b
        b.at_end(fused.body)
        clamped: list[Value] = []
        for k, inner in enumerate(self.inners):
            start = self.sum(clamped, k) if k else self.number(0)
            now = self.prologue(k, self.equal(self.time.arg, start))
            if k == 0 and self.varies:
                lengths, whole = now[:-1], now[-1]
            stop = self.b.add(arith.AddI(start, lengths[k])) if k else lengths[k]
            self.body(k, inner, start, stop)
            clamped.append(self.at_least_one(lengths[k]))
        is_last = self.equal(self.time.arg, b.add(arith.SubI(whole, self.number(1))))
        self.epilogue(is_last)
        later = b.add(arith.AddI(self.time.arg, self.number(1)))
        self.time.following = b.add(arith.Select(is_last, self.number(0), later))
        for slot, value in zip((*self.lens, *self.whole), (*lengths, whole)):
            slot.following = value

    def branch(self, condition: Value, types: list[Type]) -> Any:
        return self.b.insert(scf.If.build(condition, types))

    def finish(self, made: Any, then: Sequence[Value], other: Sequence[Value]) -> list[Value]:
        """End both blocks of a branch; go on behind it."""
        for block, values in zip((made.then_block, made.else_block), (then, other)):
            self.b.at_end(block)
            self.b.insert(scf.Yield(list(values)))
        self.b.after(made)
        return list(made.results)

    def prologue(self, k: int, condition: Value) -> list[Value]:
        """Part `k`, where the inner loop `k` starts; for the first, how long this round is, if that varies."""
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
            then += self.new_round()
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

    def new_round(self) -> list[Value]:
        """The outer variable of the next round, and how long the round is if that varies."""
        variable = self.b.add(arith.AddI(self.variable.arg, self.outer.step))
        for op in self.parts[0]:
            for inner in op.walk():
                for i, v in enumerate(inner.operands):
                    if v is self.outer.induction_variable:
                        inner.set_operand(i, variable)
        if not self.varies:
            return [variable]
        known = {self.outer.induction_variable: variable}
        lengths = [
            slot.init if inner.slices is None else self.length_now(inner, known)
            for inner, slot in zip(self.inners, self.lens)
        ]
        clamped = [self.at_least_one(v) for v, inner in zip(lengths, self.inners) if inner.slices is not None]
        return [variable, *lengths, self.sum([self.whole[0].init, *clamped])]

    def body(self, k: int, inner: Inner, start: Value, stop: Value) -> None:
        """An iteration of an inner loop, where it has one."""
        b, loop, place, carried = self.b, inner.loop, self.places[k], self.inits[k]
        branch, before = None, [slot.following for slot in (place, *carried)]
        if not inner.always_runs:
            begun = b.add(arith.CmpI(arith.CmpIPredicate.sge, self.time.arg, start))
            not_done = b.add(arith.CmpI(arith.CmpIPredicate.slt, self.time.arg, stop))
            branch = self.branch(b.add(arith.AndI(begun, not_done)), [v.type for v in before])
            b.at_end(branch.then_block)
        end: Any = loop.body.last
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
        """What stands behind the inner loops, and what the outer loop carries on."""
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
