"""Expand a scheduled loop into a prologue, a steady state and an optional epilogue.

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

The kernel, the steady state, has all operations in the order of their clusters. In kernel iteration i, an operation of
stage s belongs to iteration i + (S - s) of the source loop, and is predicated on that iteration's existence
(`predicates`). So no epilogue is needed, and any trip count, including zero, is handled. A value defined in one stage
and used in a later one is loop-carried for as many kernel iterations as there are stages in between.

Where the trip count is bounded (`analysis.trips`), stages that would only belong to iterations past the bound are left
out of the kernel, and a kernel of at most one iteration is an `scf.if`, or nothing where that one is peeled.

With `peel_last`, the kernel runs one iteration less, and the last stage of the last iteration is peeled into an
epilogue. All other stages of the peeled iteration would be predicated off, which can waste most of an iteration; and
the stage before the last then needs no predicate.

In the code, `iteration_values[k]` maps values of the source loop to those of iteration k in the prologue;
`stage_values[s]` maps them to those that operations of stage s use in the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....analysis.trips import max_trip_count
from ....dialects import arith, scf, ttg
from ....ir import Builder, CountedLoop, IfLike, IntegerAttr, Operation, Type, Value, constant_of, warn
from ..loops import body_of, definition, needed_by
from .buffers import constant_i32
from .predicates import predicate
from .schedule import Schedule

__all__ = ["expand"]


def expand(loop: CountedLoop, schedule: Schedule, peel_last: bool = False) -> Any:
    """Replace `loop` by the pipelined loop and return it; None, with nothing changed, where the schedule is invalid."""
    if any(op not in schedule for op in body_of(loop)):
        return None
    made = _Expansion(loop, schedule, peel_last)
    return made.run() if made.is_possible() else None


def _branch(b: Builder, condition: Value, types: Sequence[Type]) -> IfLike:
    """An `scf.if` with results of these types, and an else only for results."""
    return b.insert(scf.If.build(condition, types, with_else=bool(types)))


class _Expansion:
    def __init__(self, loop: CountedLoop, schedule: Schedule, peel_last: bool = False) -> None:
        self.loop = loop
        self.peel_last = peel_last and not loop.unsignedCmp
        self.order = [op for op, _ in schedule.in_order(loop)]
        self.stages = {op: schedule[op].stage for op in self.order}
        self.last = max(self.stages.values(), default=0)
        self.most_trips = max_trip_count(loop)
        self.yielded = list(loop.yielded)
        self.b = Builder(loop.parent, loop, loop.loc)

    def run(self) -> Any:
        """Emit prologue, kernel and epilogue, and replace the loop."""
        self.iteration_values: list[dict[Any, Any]] = [{} for _ in range(self.last + 1)]
        self.prologue()
        cross_stage_uses = self._find_cross_stage_uses()
        kernel = self.kernel(cross_stage_uses)
        results = (
            self.epilogue(kernel, cross_stage_uses) if self.peel_last else kernel.results[: len(self.loop.results)]
        )
        for result, old in zip(results, self.loop.results):
            result.hint = old.hint
        self.loop.replace_with(results)
        if self.most_trips == 1 and self.peel_last:
            kernel.replace_with(list(kernel.init_args))  # it never runs
        elif self.most_trips == 1:
            return self.branch_of(kernel)
        return kernel

    def branch_of(self, kernel: CountedLoop) -> Operation:
        """Replace a kernel of at most one iteration by an `scf.if`."""
        b = Builder(kernel.parent, kernel, kernel.loc)
        runs = b.add(arith.CmpI(arith.CmpIPredicate.slt, kernel.lb, kernel.ub))
        types = [result.type for result in kernel.results]
        branch = _branch(b, runs, types)
        for argument, value in zip(kernel.body.args, (kernel.lb, *kernel.init_args)):
            argument.replace_all_uses_with(value)
        for op in list(kernel.body):
            op.detach()
            branch.then_block.append(op)
        if branch.else_block is not None:
            Builder(branch.else_block, None, kernel.loc).insert(scf.Yield(list(kernel.init_args)))
        for old, new in zip(kernel.results, branch.results):
            new.hint = old.hint
        kernel.replace_with(branch.results)
        return branch

    # -- validity ------------------------------------------------------------------------------------------------

    def is_possible(self) -> bool:
        """Whether every definition precedes its uses in the order of the kernel."""
        count = len(self.order)
        times = {op: i + count * self.stages[op] for i, op in enumerate(self.order)}
        for op in self.order:
            for value in needed_by(op):
                maker, distance = self.definition_of(value)
                if maker is None:
                    continue
                if distance > 1:
                    return False
                if times[op] < times[maker] - count * distance:
                    warn(op, "this would be scheduled before its operands; the loop is not pipelined")
                    return False
        return True

    def definition_of(self, value: Value) -> tuple[Operation | None, int]:
        """The operation of the loop body that defines a value, and the distance in iterations."""
        found, distance = definition(self.loop, value)
        maker = None if found is None else found.owner
        return (maker, distance) if maker in self.stages else (None, 0)

    # -- prologue ---------------------------------------------------------------------------------------------------

    def prologue(self) -> None:
        """Emit the stages of the first iterations that precede the kernel."""
        loop = self.loop
        self.iteration_values[0].update(zip(loop.body.args[1:], loop.init_args))
        for argument, value in zip(loop.body.args[1:], self.yielded):
            if loop.is_defined_outside(value):
                for known in self.iteration_values[1:]:
                    known[argument] = value
        conditions = []
        for i in range(self.last):
            number = self.ahead(loop.lb, i)
            self.iteration_values[i][loop.body.args[0]] = number
            conditions.append(self.is_below(number, loop.ub))
            for op in self.order:
                if self.stages[op] <= i:
                    k = i - self.stages[op]
                    self.emit_in_prologue(op, k, conditions[k])

    def emit_in_prologue(self, op: Operation, k: int, condition: Value | None) -> None:
        """Emit an operation of iteration k in the prologue, predicated on `condition`."""
        known = self.iteration_values[k]
        made = self.b.insert(op.clone(known))
        if condition is not None:
            made = predicate(made, condition, in_prologue=True)
        for old, new in zip(op.results, made.results):
            known[old] = new
            for j, value in enumerate(self.yielded):
                if value is old:
                    argument = self.loop.body.args[1 + j]
                    self.iteration_values[k + 1][argument] = self.next_value(j, condition, new, known[argument])

    def next_value(self, j: int, condition: Value | None, new: Value, old: Value) -> Value:
        """The next value of carried value `j`: the old one if its iteration is predicated off and used later."""
        if condition is None or not self.loop.results[j].users:
            return new
        return self.b.add(arith.Select(condition, new, old))  # type: ignore[no-any-return]

    # -- indices ----------------------------------------------------------------------------------------------------

    def ahead(self, number: Value, iterations: int) -> Value:
        """`number + iterations * step`."""
        if iterations == 0:
            return number
        start, step = _known(number), _known(self.loop.step)
        if start is not None and step is not None:
            return constant_i32(self.b, start + iterations * step, number.type)
        return self.b.add(arith.AddI(number, self.times_step(iterations)))  # type: ignore[no-any-return]

    def times_step(self, iterations: int) -> Value:
        """`iterations * step`."""
        step = self.loop.step
        if iterations == 1:
            return step  # type: ignore[no-any-return]
        if (known := _known(step)) is not None:
            return constant_i32(self.b, iterations * known, step.type)
        return self.b.add(arith.MulI(step, constant_i32(self.b, iterations, step.type)))  # type: ignore[no-any-return]

    def is_below(self, number: Value, bound: Value) -> Value | None:
        """Emit `number < bound`; None where it is known to hold."""
        low, high = _known(number), _known(bound)
        unsigned = bool(self.loop.unsignedCmp)
        if low is not None and high is not None and low < high and not (unsigned and low < 0):
            return None
        kind = arith.CmpIPredicate.ult if unsigned else arith.CmpIPredicate.slt
        return self.b.add(arith.CmpI(kind, number, bound))  # type: ignore[no-any-return]

    # -- kernel -----------------------------------------------------------------------------------------------------

    def _find_cross_stage_uses(self) -> dict[Value, tuple[int, int]]:
        """Values used in a later stage than their own: the stage that defines them, and the last that uses them."""
        found: dict[Value, tuple[int, int]] = {}
        for op in self.order:
            stage = self.stages[op]
            for value in needed_by(op):
                maker, _ = self.definition_of(value)
                if maker is not None and (made := self.stages[maker]) < stage:
                    found[value] = (made, max(stage, found.get(value, (0, 0))[1]))
        return found

    def kernel(self, cross_stage_uses: dict[Value, tuple[int, int]]) -> Any:
        """Emit the steady state."""
        loop = self.loop
        starts = [self.start(j, value) for j, value in enumerate(self.yielded)]
        for value, (made, used) in cross_stage_uses.items():
            starts += [self.iteration_values[k][value] for k in range(self.last - used, self.last - made)]
        end = self.before(loop.ub, 1) if self.peel_last else loop.ub
        new = loop.clone_without_body(loop.lb, end, loop.step, starts)
        self.b.insert(new)
        self.b = Builder(new.body, None, loop.loc)
        self.carry(new, cross_stage_uses)
        conditions = [None if self.is_past_end(s) else self.stage_predicate(new, s) for s in range(self.last)]
        for op in self.order:
            self.repeat(op, conditions)
        nexts = [self.next_of(new, j, conditions) for j in range(len(self.yielded))]
        at = 1 + len(self.yielded)
        for value, (made, used) in cross_stage_uses.items():
            newest = new.body.args[at] if self.is_past_end(made) else self.stage_values[made].get(value, value)
            nexts += [*new.body.args[at + 1 : at + used - made], newest]
            at += used - made
        self.b.insert(new.make_yield(nexts))
        return new

    def start(self, j: int, value: Value) -> Value:
        """The initial value of the kernel's carried value `j`."""
        maker = value.defining_op
        if maker not in self.stages:
            return self.loop.init_args[j]  # type: ignore[no-any-return]
        return self.iteration_values[self.last - self.stages[maker]][self.loop.body.args[1 + j]]  # type: ignore[no-any-return]

    def carry(self, new: Any, cross_stage_uses: dict[Value, tuple[int, int]]) -> None:
        """Map the induction variable and carried values to what operations of each stage use."""
        self.stage_values: list[dict[Any, Any]] = [{} for _ in range(self.last + 1)]
        old = self.loop.body.args
        for stage, view in enumerate(self.stage_values):
            view[old[0]] = LazyIndex(new.body.args[0], self.last - stage)
            for j, value in enumerate(self.yielded):
                is_fixed = self.loop.is_defined_outside(value) and stage != self.last
                view[old[1 + j]] = value if is_fixed else new.body.args[1 + j]
        at = 1 + len(self.yielded)
        for value, (made, used) in cross_stage_uses.items():
            for k in range(used - made):
                self.stage_values[used - k][value] = new.body.args[at + k]
            at += used - made
        for argument, fresh in zip(old, new.body.args):
            fresh.hint = argument.hint

    def before(self, number: Value, iterations: int) -> Value:
        """`number - iterations * step`."""
        known, step = _known(number), _known(self.loop.step)
        if known is not None and step is not None:
            return constant_i32(self.b, known - iterations * step, number.type)
        return self.b.add(arith.SubI(number, self.times_step(iterations)))  # type: ignore[no-any-return]

    def is_past_end(self, stage: int) -> bool:
        """Whether operations of a stage would belong to no iteration of the source loop, in any kernel iteration."""
        return self.most_trips is not None and self.last - stage >= self.most_trips

    def stage_predicate(self, new: Any, stage: int) -> Value | None:
        """Emit the predicate of a stage, `iv < ub - (S - stage) * step`; None where it is always true."""
        ahead, ub = self.last - stage, self.loop.ub
        if self.peel_last and ahead == 1:
            return None
        if self.loop.unsignedCmp:  # ub - … may underflow
            return self.b.add(arith.CmpI(arith.CmpIPredicate.ult, self.ahead(new.body.args[0], ahead), ub))  # type: ignore[no-any-return]
        bound = self.before(ub, ahead)
        return self.b.add(arith.CmpI(arith.CmpIPredicate.slt, new.body.args[0], bound))  # type: ignore[no-any-return]

    def repeat(self, op: Operation, conditions: list[Value | None]) -> None:
        """Emit an operation in the kernel."""
        stage = self.stages[op]
        if self.is_past_end(stage):
            if (
                isinstance(op, ttg.AsyncCommitGroup) and self.most_trips != 1
            ):  # waits count the groups of each iteration
                self.b.insert(ttg.AsyncCommitGroup([]))
            return
        view = self.stage_values[stage]
        number = self.loop.body.args[0]
        if view[number].__class__ is LazyIndex and any(v is number for v in needed_by(op)):
            view[number] = self.ahead(*view[number].parts)
        made = self.b.insert(op.clone(view))
        if stage < self.last and (condition := conditions[stage]) is not None:
            made = predicate(made, condition)
        for old, new in zip(op.results, made.results):
            view[old] = new
            for j, value in enumerate(self.yielded):
                if value is old and stage > 0:  # the earlier stage belongs to the next iteration
                    self.stage_values[stage - 1][self.loop.body.args[1 + j]] = new

    def next_of(self, new: Any, j: int, conditions: list[Value | None]) -> Value:
        """The value that the kernel yields for carried value `j`."""
        value = self.yielded[j]
        maker = value.defining_op
        if maker not in self.stages:
            return value
        stage = self.stages[maker]
        if self.is_past_end(stage):
            unchanged: Value = new.body.args[1 + j]
            return unchanged
        condition = None if stage == self.last else conditions[stage]
        return self.next_value(j, condition, self.stage_values[stage][value], new.body.args[1 + j])

    # -- epilogue ---------------------------------------------------------------------------------------------------

    def epilogue(self, kernel: Any, cross_stage_uses: dict[Value, tuple[int, int]]) -> list[Value]:
        """Emit the last stage of the last iteration after the kernel, and return the results of the loop."""
        loop, b = self.loop, Builder(kernel.parent, kernel.next, self.loop.loc)
        self.b = b
        known: dict[Any, Any] = dict(zip(loop.body.args[1:], kernel.results))
        at = len(self.yielded)
        for value, (made, used) in cross_stage_uses.items():
            known[value] = kernel.results[at] if used == self.last else None
            at += used - made
        ours = [op for op in self.order if self.stages[op] == self.last]
        late = [j for j, value in enumerate(self.yielded) if value.defining_op in ours]
        results = list(kernel.results[: len(self.yielded)])
        branch, condition = None, self.is_below(loop.lb, loop.ub)
        if any(v is loop.body.args[0] for op in ours for v in needed_by(op)):
            known[loop.body.args[0]] = self.last_number()
        if condition is not None:
            branch = _branch(b, condition, [results[j].type for j in late])
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
        """The induction variable in the last iteration: `lb + (ub - lb - 1) / step * step`."""
        loop, b = self.loop, self.b
        span = b.add(arith.SubI(b.add(arith.SubI(loop.ub, loop.lb)), constant_i32(b, 1, loop.ub.type)))
        iterations = b.add(arith.DivSI(span, loop.step))
        return b.add(arith.AddI(loop.lb, b.add(arith.MulI(iterations, loop.step))))  # type: ignore[no-any-return]


class LazyIndex:
    """An induction variable plus `iterations * step`, emitted at its first use."""

    __slots__ = ("parts",)

    def __init__(self, number: Value, iterations: int) -> None:
        self.parts = (number, iterations)


def _known(value: Value) -> int | None:
    """The constant that an integer value is, or None."""
    attr = constant_of(value)
    return attr.value if isinstance(attr, IntegerAttr) else None
