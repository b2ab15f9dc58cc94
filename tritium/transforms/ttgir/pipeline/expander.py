"""The loop that overlaps its iterations, made of one that has a schedule.

    scf.for %i = %lb to %ub step %s iter_args(%a = %x) {       A in stage 0, B in stage 1 (the last: S = 1)
      %v = A(%i, %a)
      %w = B(%v)
      scf.yield %v
    }

    %v0 = A(%lb, %x) if %lb < %ub                              prologue: stages 0 … p of iterations p … 0, for p < S
    scf.for %i = %lb to %ub step %s iter_args(%a = %v0, %v = %v0) {
      %w = B(%v)                                               kernel: stage s of iteration i + (S - s)
      %next = A(%i + %s, %a) if %i < %ub - %s
      scf.yield %next, %next
    }

The kernel has all operations, in the order of their clusters; one of stage s is of the iteration that is S - s ahead of
the kernel's own, and where there is no such iteration any more, it has no effect (`predicates`). So there is no
epilogue, and any number of iterations, none too, is right. What is made in one stage and used in a later one is carried
from one round of the kernel to the next, for so many rounds as there are stages between.

With `peel_last`, the kernel has a round less, in which all but the last stage would be of iterations that there are
none of, and the last stage of the last iteration stands behind it: what would be wasted there can be most of an
iteration, and the stage before the last needs no condition.

In the code, `rounds[k]` has what the values of the loop are in iteration k, for the iterations that the prologue
begins; `views[s]` what they are in the kernel for operations of stage s.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf
from ....dialects.scf import For
from ....ir import Builder, IntegerAttr, Operation, Value, constant_of, warn
from ..loops import body_of, definition, is_defined_outside, needed_by
from .buffers import constant_i32
from .predicates import predicate
from .schedule import Schedule

__all__ = ["expand"]


def expand(loop: Any, schedule: Schedule, peel_last: bool = False) -> Any:
    """The pipelined loop in place of `loop`; None, with nothing changed, where the schedule is not possible."""
    if any(op not in schedule for op in body_of(loop)):
        return None
    made = _Expansion(loop, schedule, peel_last)
    return made.run() if made.is_possible() else None


class _Expansion:
    def __init__(self, loop: Any, schedule: Schedule, peel_last: bool = False) -> None:
        self.loop = loop
        self.peel_last = peel_last and not loop.unsignedCmp
        self.order = [op for op, _ in schedule.in_order(loop)]
        self.stages = {op: schedule[op].stage for op in self.order}
        self.last = max(self.stages.values(), default=0)
        self.yielded = list(loop.body.last.operands)
        self.b = Builder(loop.parent, loop, loop.loc)

    def run(self) -> Any:
        """Build prologue and kernel, and put them in the place of the loop."""
        self.rounds: list[dict[Any, Any]] = [{} for _ in range(self.last + 1)]
        self.prologue()
        spans = self.spans()
        kernel = self.kernel(spans)
        results = self.epilogue(kernel, spans) if self.peel_last else kernel.results[: len(self.loop.results)]
        for result, old in zip(results, self.loop.results):
            result.hint = old.hint
        self.loop.replace_with(results)
        return kernel

    # -- what is possible -----------------------------------------------------------------------------------------

    def is_possible(self) -> bool:
        """Whether all values are made before they are used, in the order of the kernel."""
        count = len(self.order)
        times = {op: i + count * self.stages[op] for i, op in enumerate(self.order)}
        for op in self.order:
            for value in needed_by(op):
                maker, distance = self.made_by(value)
                if maker is None:
                    continue
                if distance > 1:
                    return False
                if times[op] < times[maker] - count * distance:
                    warn(op, "this would run before what it needs; the loop is not pipelined")
                    return False
        return True

    def made_by(self, value: Value) -> tuple[Operation | None, int]:
        """The operation of the loop's body that makes a value, and how many iterations earlier."""
        found, distance = definition(self.loop, value)
        maker = None if found is None else found.owner
        return (maker, distance) if maker in self.stages else (None, 0)

    # -- prologue ---------------------------------------------------------------------------------------------------

    def prologue(self) -> None:
        """What is begun before the kernel."""
        loop = self.loop
        self.rounds[0].update(zip(loop.body.args[1:], loop.init_args))
        for argument, value in zip(loop.body.args[1:], self.yielded):
            if is_defined_outside(loop, value):
                for known in self.rounds[1:]:
                    known[argument] = value
        conditions = []
        for i in range(self.last):
            number = self.ahead(loop.lb, i)
            self.rounds[i][loop.body.args[0]] = number
            conditions.append(self.is_below(number, loop.ub))
            for op in self.order:
                if self.stages[op] <= i:
                    k = i - self.stages[op]
                    self.begin(op, k, conditions[k])

    def begin(self, op: Operation, k: int, condition: Value | None) -> None:
        """An operation of iteration k, in the prologue."""
        known = self.rounds[k]
        made = self.b.insert(op.clone(known))
        if condition is not None:
            made = predicate(made, condition)
        for old, new in zip(op.results, made.results):
            known[old] = new
            for j, value in enumerate(self.yielded):
                if value is old:
                    argument = self.loop.body.args[1 + j]
                    self.rounds[k + 1][argument] = self.chosen(j, condition, new, known[argument])

    def chosen(self, j: int, condition: Value | None, new: Value, old: Value) -> Value:
        """The next of carried value `j`: where it is used behind the loop, the old one if there is no iteration."""
        if condition is None or not self.loop.results[j].users:
            return new
        return self.b.add(arith.Select(condition, new, old))  # type: ignore[no-any-return]

    # -- numbers ----------------------------------------------------------------------------------------------------

    def ahead(self, number: Value, rounds: int) -> Value:
        """`number` so many iterations further."""
        if rounds == 0:
            return number
        start, step = _known(number), _known(self.loop.step)
        if start is not None and step is not None:
            return constant_i32(self.b, start + rounds * step, number.type)
        return self.b.add(arith.AddI(number, self.times_step(rounds)))  # type: ignore[no-any-return]

    def times_step(self, rounds: int) -> Value:
        """`rounds * step`."""
        step = self.loop.step
        if rounds == 1:
            return step  # type: ignore[no-any-return]
        if (known := _known(step)) is not None:
            return constant_i32(self.b, rounds * known, step.type)
        return self.b.add(arith.MulI(step, constant_i32(self.b, rounds, step.type)))  # type: ignore[no-any-return]

    def is_below(self, number: Value, bound: Value) -> Value | None:
        """Whether there is an iteration with this number; None where there is one for certain."""
        low, high = _known(number), _known(bound)
        unsigned = bool(self.loop.unsignedCmp)
        if low is not None and high is not None and low < high and not (unsigned and low < 0):
            return None
        kind = arith.CmpIPredicate.ult if unsigned else arith.CmpIPredicate.slt
        return self.b.add(arith.CmpI(kind, number, bound))  # type: ignore[no-any-return]

    # -- kernel -----------------------------------------------------------------------------------------------------

    def spans(self) -> dict[Value, tuple[int, int]]:
        """Values that are used in later stages than they are made in: the stage that makes them, and the last."""
        found: dict[Value, tuple[int, int]] = {}
        for op in self.order:
            stage = self.stages[op]
            for value in needed_by(op):
                maker, _ = self.made_by(value)
                if maker is not None and (made := self.stages[maker]) < stage:
                    found[value] = (made, max(stage, found.get(value, (0, 0))[1]))
        return found

    def kernel(self, spans: dict[Value, tuple[int, int]]) -> Any:
        """The loop itself."""
        loop = self.loop
        starts = [self.start(j, value) for j, value in enumerate(self.yielded)]
        for value, (made, used) in spans.items():
            starts += [self.rounds[k][value] for k in range(self.last - used, self.last - made)]
        new = For.build(loop.lb, self.before(loop.ub, 1) if self.peel_last else loop.ub, loop.step, starts)
        new.attributes.update(loop.attributes)
        new.loc = loop.loc
        self.b.insert(new)
        self.b = Builder(new.body, None, loop.loc)
        self.carry(new, spans)
        conditions = [self.is_there(new, stage) for stage in range(self.last)]
        for op in self.order:
            self.repeat(op, conditions)
        nexts = [self.next_of(new, j, conditions) for j in range(len(self.yielded))]
        at = 1 + len(self.yielded)
        for value, (made, used) in spans.items():
            nexts += [*new.body.args[at + 1 : at + used - made], self.views[made].get(value, value)]
            at += used - made
        self.b.insert(scf.Yield(nexts))
        return new

    def start(self, j: int, value: Value) -> Value:
        """What the kernel's carried value `j` begins with."""
        maker = value.defining_op
        if maker not in self.stages:
            return self.loop.init_args[j]  # type: ignore[no-any-return]
        return self.rounds[self.last - self.stages[maker]][self.loop.body.args[1 + j]]  # type: ignore[no-any-return]

    def carry(self, new: Any, spans: dict[Value, tuple[int, int]]) -> None:
        """What operations of each stage see as the numbers and values that the kernel carries."""
        self.views: list[dict[Any, Any]] = [{} for _ in range(self.last + 1)]
        old = self.loop.body.args
        for stage, view in enumerate(self.views):
            view[old[0]] = _Later(new.body.args[0], self.last - stage)
            for j, value in enumerate(self.yielded):
                is_fixed = is_defined_outside(self.loop, value) and stage != self.last
                view[old[1 + j]] = value if is_fixed else new.body.args[1 + j]
        at = 1 + len(self.yielded)
        for value, (made, used) in spans.items():
            for k in range(used - made):
                self.views[used - k][value] = new.body.args[at + k]
            at += used - made
        for argument, fresh in zip(old, new.body.args):
            fresh.hint = argument.hint

    def before(self, number: Value, rounds: int) -> Value:
        """`number` so many iterations earlier."""
        known, step = _known(number), _known(self.loop.step)
        if known is not None and step is not None:
            return constant_i32(self.b, known - rounds * step, number.type)
        return self.b.add(arith.SubI(number, self.times_step(rounds)))  # type: ignore[no-any-return]

    def is_there(self, new: Any, stage: int) -> Value | None:
        """Whether the kernel's round has an iteration for a stage: iv < ub - (S - stage) * step; None if certainly."""
        ahead, ub = self.last - stage, self.loop.ub
        if self.peel_last and ahead == 1:
            return None
        if self.loop.unsignedCmp:  # ub - … may be below zero
            return self.b.add(arith.CmpI(arith.CmpIPredicate.ult, self.ahead(new.body.args[0], ahead), ub))  # type: ignore[no-any-return]
        bound = self.before(ub, ahead)
        return self.b.add(arith.CmpI(arith.CmpIPredicate.slt, new.body.args[0], bound))  # type: ignore[no-any-return]

    def repeat(self, op: Operation, conditions: list[Value | None]) -> None:
        """An operation, in the kernel."""
        stage = self.stages[op]
        view = self.views[stage]
        number = self.loop.body.args[0]
        if view[number].__class__ is _Later and any(v is number for v in needed_by(op)):
            view[number] = self.ahead(*view[number].parts)
        made = self.b.insert(op.clone(view))
        if stage < self.last and (condition := conditions[stage]) is not None:
            made = predicate(made, condition)
        for old, new in zip(op.results, made.results):
            view[old] = new
            for j, value in enumerate(self.yielded):
                if value is old and stage > 0:  # who is one iteration further sees the new one
                    self.views[stage - 1][self.loop.body.args[1 + j]] = new

    def next_of(self, new: Any, j: int, conditions: list[Value | None]) -> Value:
        """What the kernel's carried value `j` is in the next round."""
        value = self.yielded[j]
        maker = value.defining_op
        if maker not in self.stages:
            return value
        stage = self.stages[maker]
        condition = None if stage == self.last else conditions[stage]
        return self.chosen(j, condition, self.views[stage][value], new.body.args[1 + j])

    # -- epilogue ---------------------------------------------------------------------------------------------------

    def epilogue(self, kernel: Any, spans: dict[Value, tuple[int, int]]) -> list[Value]:
        """The last stage of the last iteration, if there is one, behind the kernel; what the loop results in."""
        loop, b = self.loop, Builder(kernel.parent, kernel.next, self.loop.loc)
        self.b = b
        known: dict[Any, Any] = dict(zip(loop.body.args[1:], kernel.results))
        at = len(self.yielded)
        for value, (made, used) in spans.items():
            known[value] = kernel.results[at] if used == self.last else None
            at += used - made
        ours = [op for op in self.order if self.stages[op] == self.last]
        late = [j for j, value in enumerate(self.yielded) if value.defining_op in ours]
        results = list(kernel.results[: len(self.yielded)])
        branch, condition = None, self.is_below(loop.lb, loop.ub)
        if any(v is loop.body.args[0] for op in ours for v in needed_by(op)):
            known[loop.body.args[0]] = self.last_number()
        if condition is not None:
            branch = b.insert(scf.If.build(condition, [results[j].type for j in late], with_else=bool(late)))
            b.at_end(branch.then_block)
        for op in ours:
            b.insert(op.clone(known))
        made_last = [known[self.yielded[j]] for j in late]
        if branch is not None:
            b.insert(scf.Yield(made_last))
            if branch.else_block is not None:
                Builder(branch.else_block, None, loop.loc).insert(scf.Yield([results[j] for j in late]))
            made_last = list(branch.results)
        for j, value in zip(late, made_last):
            results[j] = value
        return results

    def last_number(self) -> Value:
        """What the loop counts in its last iteration: lb + (ub - lb - 1) / step * step."""
        loop, b = self.loop, self.b
        span = b.add(arith.SubI(b.add(arith.SubI(loop.ub, loop.lb)), constant_i32(b, 1, loop.ub.type)))
        rounds = b.add(arith.DivSI(span, loop.step))
        return b.add(arith.AddI(loop.lb, b.add(arith.MulI(rounds, loop.step))))  # type: ignore[no-any-return]


class _Later:
    """The number of an iteration so many rounds further, not computed before something needs it."""

    __slots__ = ("parts",)

    def __init__(self, number: Value, rounds: int) -> None:
        self.parts = (number, rounds)


def _known(value: Value) -> int | None:
    """The number that an integer value is, where that is known."""
    attr = constant_of(value)
    return attr.value if isinstance(attr, IntegerAttr) else None
