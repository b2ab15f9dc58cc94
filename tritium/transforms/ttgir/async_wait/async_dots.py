"""async-dots: products of Hopper's warp groups go on while the loop around them does.

    scf.for … iter_args(%acc = …) {                     scf.for … iter_args(%acc = …) {
      %d = ttng.warp_group_dot %a, %b, %acc               %d = ttng.warp_group_dot %a, %b, %acc {isAsync = true}
      … copies for later iterations …              =>     %w:3 = ttng.warp_group_dot_wait %d, %a, %b {pendings = 1}
      scf.yield %d                                        … copies for later iterations …
    }                                                     scf.yield %w#0
                                                        }
                                                        %r = ttng.warp_group_dot_wait %loop {pendings = 0}

A `wgmma` only begins a product. Products finish in the order in which they began, so that `pendings = n` waits for all
but the last n. Until then nobody may read the result, overwrite the shared memory it is made from, or write any of its
registers; only another product may add to it. So each product of a loop is waited for as late as that allows, and if
nothing in the iteration needs it, it flies on into the next one. Rules:

1. *Read.* The first operation that reads the result, other than a product that adds to it, waits. In a branch that may
   read it, the branch waits.
2. *Registers.* What the loop carries is in flight only if each iteration adds to it, or reads it before the product
   that makes it anew: else registers would be copied. Elements are of 32 bits, without sums on the side (fp8 with
   `maxNumImpreciseAcc`). A left operand that comes in registers is made anew behind a wait, in this iteration if it is
   carried.
3. *Memory.* What flies on reads slots of a buffer with several (`memdesc_index`), or memory that the loop does not
   write. In the next iteration all of it is waited for right behind the last product that flies: copies into its slots
   stand behind that. Within the iteration, the next operation that writes memory waits.

Waits take results along, so that what reads them stands behind, and shared operands, so that these live until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from ....dialects import scf, tt, ttg, ttng
from ....dialects.ttg_memory import MemDescType
from ....dialects.ttg_switches import is_on
from ....ir import (
    UNIT,
    WRITE,
    Block,
    BlockArgument,
    Builder,
    Operation,
    TensorType,
    Value,
    bool_attr,
    count,
    f32,
    i32,
    may_change,
    memory_effects,
    pass_on,
)
from ....ir.dominance import ancestor_in
from ....support.dataclasses import dataclass, field
from ....support.namedtuples import NamedTuple
from ...layout_flow import layout_of
from ...regions import add_result, is_inside
from ..layout.cost import stays_in_thread
from ..loops import VIEWS

__all__ = ["async_dots"]


@pass_on("function", statistics={"products in flight": "products that fly into the next iteration"})
def async_dots(op: Operation) -> bool:
    """Let the products of loops fly, in a function or all of a module; what others made asynchronous is left alone."""
    changed = False
    for loop in [inner for inner in op.walk() if inner.__class__ is scf.For]:
        dots = [inner for inner in loop.body if inner.__class__ is ttng.WarpGroupDot]
        if dots and is_on(loop, "wgmma-in-flight") and not _is_done(loop, dots) and may_change("async-dots", loop):
            count("products in flight", _Flights(loop, dots).run())
            changed = True
    return changed


def _is_done(loop: Any, dots: list[Any]) -> bool:
    """Whether warps have been specialized here, or somebody placed waits."""
    around = loop
    while around is not None and around.__class__ is not ttg.WarpSpecialize:
        around = around.parent_op
    return around is not None or any(dot.isAsync for dot in dots)


class _Use(NamedTuple):
    """An operand `number` of `op` that is a result under one of its names, `value`; `top` is around it in the body."""

    top: Any
    op: Any
    number: int
    value: Value


@dataclass
class _Fate:
    """What becomes of a result within its iteration, first to last.

    `read`: the first operation of the body that reads it, under `names`; `added`: the product that adds to it;
    `carried`: the number of the carried value that it then is. `branches` may read it before that.
    """

    read: Any = None
    names: dict[Value, None] = field(default_factory=dict)
    added: Any = None
    carried: int | None = None
    branches: dict[Any, Value] = field(default_factory=dict)


@dataclass
class _Wait:
    """A wait to be put before operation number `place` of the body."""

    place: int
    pendings: int
    values: dict[Value, None] = field(default_factory=dict)


class _Flights:
    """Works out the waits of one loop, then inserts them; nothing changes until all are known."""

    def __init__(self, loop: Any, dots: list[Any]) -> None:
        self.loop, self.dots = loop, dots
        self.ops = list(loop.body)
        self.place = {op: i for i, op in enumerate(self.ops)}
        self.waits: list[_Wait] = []
        self.in_branches: list[tuple[Any, Value, int]] = []

    def run(self) -> int:
        """Plan and insert; the number of products that fly."""
        fates = {dot: self.fate(dot.d) for dot in self.dots}
        flying: dict[Any, int] = {}
        for dot in reversed(self.dots):
            index = self.flies_as(dot, fates, flying)
            if index is not None:
                flying[dot] = index
        for dot in self.dots:
            if dot not in flying:
                self.wait_in_iteration(dot, fates[dot], flying)
        for dot in self.dots:
            if dot in flying:
                self.branches(dot, fates[dot], 0)
                if fates[dot].carried is not None:
                    self.wait_in_next(dot, flying[dot])
        self.free_registers(flying)
        self.free_memory(flying)
        self.insert(sorted({i for dot, i in flying.items() if fates[dot].carried is not None}))
        return len(flying)

    # -- who flies ------------------------------------------------------------------------------------------------

    def fate(self, value: Value) -> _Fate:
        """What becomes of a result, or of a carried value, in an iteration."""
        uses = sorted(self.uses(value), key=lambda use: self.place[use.top])
        fate = _Fate()
        for i, use in enumerate(uses):
            top = use.top
            if top is use.op and use is uses[-1]:
                if top.__class__ is ttng.WarpGroupDot and use.number == 2:
                    fate.added = top
                    return fate
                if top is self.ops[-1]:
                    fate.carried = use.number
                    return fate
            if top is use.op or not _may_wait_inside(use) or fate.branches.get(top, use.value) is not use.value:
                fate.read = top
                fate.names = dict.fromkeys(later.value for later in uses[i:] if self.is_before(later.value, top))
                return fate
            fate.branches[top] = use.value
        if uses:  # nothing would wait where no branch that reads it is taken
            fate.read, name = fate.branches.popitem()
            fate.names = {name: None}
        return fate

    def is_before(self, value: Value, op: Operation) -> bool:
        """Whether a value of the body is there before an operation of it."""
        return value.defining_op is None or self.place[value.defining_op] < self.place[op]

    def uses(self, value: Value) -> Iterator[_Use]:
        """Uses of a value under all its names.

        It has others behind what only renames registers, and behind branches that hand it on.
        """
        for op, number in value.uses:
            top = ancestor_in(self.loop.regions[0], op)
            renamed = list(self.uses(op.results[0])) if top is op and _is_renaming(op) else []
            if renamed and all(_adds_or_carries(use) for use in renamed):
                yield from renamed
                continue
            yield _Use(top, op, number, value)
            if op.__class__ is scf.Yield and top is not None and op.parent_op is top and top.__class__ is scf.If:
                yield from self.uses(top.results[number])

    def flies_as(self, dot: Any, fates: dict[Any, _Fate], flying: dict[Any, int]) -> int | None:
        """The number of the carried value that a product is when it flies into the next iteration."""
        if not self.can_fly(dot):
            return None
        fate = fates[dot]
        if fate.added is not None:
            return flying.get(fate.added)
        if fate.carried is None:
            return None
        index, fate = fate.carried, self.fate(self.loop.body.args[1 + fate.carried])
        if fate.added is None:
            is_fresh = fate.read is not None and self.place[fate.read] < self.place[dot]
            return index if is_fresh else None
        while fate.added is not None:
            if fate.added is dot:
                return index
            fate = fates[fate.added]
        return None  # another product adds to these registers, and what is read of it begins others

    def can_fly(self, dot: Any) -> bool:
        """Rules 2 and 3, as far as operands and elements go."""
        ty = dot.d.type.element
        if any(op.__class__ is ttng.ArriveBarrier for op in self.ops):  # which may hand this iteration's memory back
            return False
        if (ty is not f32 and ty is not i32) or _sums_on_the_side(dot):
            return False
        if self.renewed(dot) is not None:
            return False
        return all(self.keeps(v) for v in (dot.a, dot.b) if isinstance(v.type, MemDescType))

    def renewed(self, dot: Any) -> Any:
        """Who makes, in this iteration, what the next one has in the registers of a left operand that is carried."""
        a = dot.a
        if not isinstance(a.type, TensorType) or not isinstance(a, BlockArgument) or a.owner is not self.loop.body:
            return None
        made = _made_by(self.ops[-1].operands[a.index - 1])
        return made if made in self.place else self.ops[-1]

    def keeps(self, buffer: Any) -> bool:
        """Whether nothing overwrites a buffer before the next iteration's last product."""
        seen: set[Value] = set()
        while buffer not in seen:
            seen.add(buffer)
            if isinstance(buffer, BlockArgument) and buffer.owner is self.loop.body:
                buffer = self.ops[-1].operands[buffer.index - 1]
                continue
            op = buffer.defining_op
            if op is None or not self.loop.is_ancestor_of(op):
                return _root(buffer) not in self.written
            if op.__class__ is ttg.MemDescIndex or op.__class__ not in _SEEN_THROUGH:
                return op.__class__ is ttg.MemDescIndex
            buffer = op.operands[0]
        return True

    @cached_property
    def written(self) -> set[Value]:
        """The buffers that operations of the loop may write."""
        writers = [op for op in self.loop.body.parent_op.walk() if not op.regions and memory_effects(op) & WRITE]
        writers = [op for op in writers if op.__class__ not in (*_HARMLESS, *_SEEN_THROUGH)]
        return {_root(v) for op in writers for v in op.operands if isinstance(v.type, MemDescType)}

    # -- when they are waited for ---------------------------------------------------------------------------------

    def issued(self, start: int, stop: int) -> int:
        """How many products the body begins from operation number `start` up to, without, number `stop`."""
        return sum(start <= self.place[dot] < stop for dot in self.dots)

    def pending(self, dot: Any, place: int, rounds: int) -> int:
        """How many products began behind `dot`, seen from `place`, `rounds` iterations later."""
        behind = self.place[dot] + 1
        if rounds == 0:
            return self.issued(behind, place)
        return self.issued(behind, len(self.ops)) + self.issued(0, place)

    def wait(self, dot: Any, place: int, rounds: int, *values: Value, new: int | None = None) -> None:
        """Have `dot` waited for at `place` at the latest, and take `values` along; a new wait would stand at `new`."""
        start = self.place[dot] + 1 if rounds == 0 else 0
        for wait in sorted(self.waits, key=lambda w: w.place):
            if start <= wait.place <= place and wait.pendings <= self.pending(dot, wait.place, rounds):
                break
        else:
            place = place if new is None else new
            wait = next((w for w in self.waits if w.place == place), _Wait(place, len(self.dots)))
            wait.pendings = min(wait.pendings, self.pending(dot, place, rounds))
            if wait not in self.waits:
                self.waits.append(wait)
        wait.values.update(dict.fromkeys(values))

    def wait_in_iteration(self, dot: Any, fate: _Fate, flying: dict[Any, int]) -> None:
        """Rules 1 and 3 for a product that does not fly on."""
        renewed = self.renewed(dot)
        for place in range(self.place[dot] + 1, len(self.ops)):
            op = self.ops[place]
            if op is fate.added and op not in flying:
                return  # whose wait is for both
            if op in (fate.read, fate.added, renewed, self.ops[-1]) or op in fate.branches or _may_overwrite(op):
                self.wait(dot, place, 0, *(fate.names if op is fate.read else (dot.d,)))
                return

    def wait_in_next(self, dot: Any, index: int) -> None:
        """Rule 1 for what is carried.

        It is read behind a wait for all there is: which products of an iteration before may still be in flight behind
        one of this iteration, ptxas cannot tell, and waits for each of them then (C7514).
        """
        value: Value = self.loop.body.args[1 + index]
        fate = self.fate(value)
        if fate.read is not None:
            place = self.place[fate.read]
            self.wait(dot, place, 1, *fate.names, new=min(place, self.place[self.dots[0]]))
        self.branches(dot, fate, 1)

    def branches(self, dot: Any, fate: _Fate, rounds: int) -> None:
        """Rule 1 for branches."""
        for branch, value in fate.branches.items():
            self.in_branches.append((branch, value, self.pending(dot, self.place[branch], rounds)))

    def free_registers(self, flying: dict[Any, int]) -> None:
        """Rule 2 for left operands."""
        for dot, index in flying.items():
            made = _made_by(dot.a)
            if isinstance(dot.a.type, TensorType) and made is not None and made.parent is self.loop.body:
                if not self.is_waited_for(dot, self.place[made]):
                    self.wait(dot, self.place[made], 1, self.loop.body.args[1 + index])

    def free_memory(self, flying: dict[Any, int]) -> None:
        """Rule 3 for the next iteration."""
        if not flying:
            return
        last = max(flying, key=self.place.__getitem__)
        place = self.place[last] + 1
        if not self.is_waited_for(last, place):
            self.wait(last, place, 1, *(dot.d for dot in self.dots if dot in flying and self.is_carried(dot)))

    def is_carried(self, dot: Any) -> bool:
        return all(user.__class__ is not ttng.WarpGroupDot for user in dot.d.users)

    def is_waited_for(self, dot: Any, place: int) -> bool:
        """Whether waits so far are for `dot` before the next iteration is at `place`."""
        for wait in self.waits:
            rounds = 0 if wait.place > self.place[dot] else 1
            if (rounds == 0 or wait.place <= place) and wait.pendings <= self.pending(dot, wait.place, rounds):
                return True
        return False

    # -- writing it down ------------------------------------------------------------------------------------------

    def insert(self, carried: list[int]) -> None:
        """Make products asynchronous, and insert the waits."""
        for dot in self.dots:
            dot.attributes["isAsync"] = bool_attr(True)
        latest: dict[Value, Value] = {}
        for place, op in enumerate(self.ops):
            for wait in self.waits:
                if wait.place == place:
                    names = [latest.get(v, v) for v in wait.values]
                    made = _insert_wait(op, names, wait.pendings, lambda user, at=place: self.behind(user, at))
                    latest.update(zip(wait.values, made.outputs))
            for branch, value, pendings in self.in_branches:
                if branch is op:
                    name = latest.get(value, value)
                    latest[value] = self.hand_on(branch, name, place)
                    self.wait_inside(branch, name, pendings)
        if carried:
            results: list[Value] = [self.loop.results[i] for i in carried]
            _insert_wait(self.loop.next, results, 0, lambda _: True)

    def behind(self, op: Operation, place: int) -> bool:
        top = ancestor_in(self.loop.regions[0], op)
        return self.place.get(top, -1) >= place

    def hand_on(self, branch: Any, value: Value, place: int) -> Value:
        """Let a branch hand on a value that is needed behind it: where it waits, it has it in the same registers."""
        if not any(self.behind(user, place + 1) for user in value.users):
            return value
        if branch.else_block is None:
            other = Block()
            other.append(scf.Yield([], loc=branch.loc))
            branch.regions[1].append(other)
        result = add_result(branch, value.type, [region.block.last for region in branch.regions], [value, value])
        value.replace_uses_where(result, lambda user: self.behind(user, place + 1))
        return result

    def wait_inside(self, branch: Any, value: Value, pendings: int) -> None:
        """Wait before the first use in each block of a branch that does more than hand the value on."""
        for region in branch.regions:
            inside = [top for user in value.users if (top := ancestor_in(region, user)) is not None]
            if not all(top.__class__ is scf.Yield for top in inside):
                first = next(op for op in region.block if op in inside)
                wait = _insert_wait(first, [value], pendings, lambda op, region=region: is_inside(op, region))
                wait.attributes["warpGroupLocal"] = UNIT


_SEEN_THROUGH = (*VIEWS, ttng.WarpGroupDotWait)

_HARMLESS = (ttg.AsyncWait, ttg.AsyncCommitGroup, ttng.WaitBarrier, ttng.FenceAsyncShared, tt.Store)
"""Operations with effects that do not write shared memory."""


def _may_overwrite(op: Any) -> bool:
    return bool(memory_effects(op) & WRITE) and op.__class__ not in _HARMLESS


def _adds_or_carries(use: _Use) -> bool:
    return use.op.__class__ is scf.Yield or (use.op.__class__ is ttng.WarpGroupDot and use.number == 2)


def _may_wait_inside(use: _Use) -> bool:
    """Whether a use in a branch can wait there; where it is handed on, each block must do so or wait."""
    if use.top.__class__ is not scf.If:
        return False
    if use.op.__class__ is not scf.Yield or use.op.parent_op is not use.top:
        return True
    blocks = [region.block for region in use.top.regions]
    if any(sum(v is use.value for v in block.last.operands) > 1 for block in blocks):
        return False
    return all(
        block.last.operands[use.number] is use.value or any(ancestor_in(block.parent, op) for op in use.value.users)
        for block in blocks
    )


def _root(buffer: Any) -> Any:
    """The buffer that one is a part or a view of, as far as that is told outside of loops."""
    while True:
        op = buffer.defining_op
        if op is None:
            block = buffer.owner
            if block.parent_op.__class__ is not scf.For or buffer.index == 0:
                return buffer
            buffer = block.parent_op.init_args[buffer.index - 1]
        elif op.__class__ in _SEEN_THROUGH:
            buffer = op.operands[buffer.index if op.__class__ is ttng.WarpGroupDotWait else 0]
        else:
            return buffer


def _is_renaming(op: Any) -> bool:
    """Whether an operation leaves every element in the register where it is."""
    if op.__class__ in (tt.Trans, tt.Reshape):
        return True
    if op.__class__ is not ttg.ConvertLayout:
        return False
    before, after, shape = layout_of(op.src), layout_of(op.result), op.src.type.shape
    return stays_in_thread(shape, before, after) and stays_in_thread(shape, after, before)


def _made_by(operand: Any) -> Any:
    """The operation that writes the registers of a left operand."""
    op = operand.defining_op
    while op is not None and _is_renaming(op):
        op = op.operands[0].defining_op
    return op


def _sums_on_the_side(dot: Any) -> bool:
    """Whether partial sums are added outside of the tensor cores, which then wait for themselves."""
    return dot.a.type.element.width == 8 and dot.d.type.element is f32 and dot.maxNumImpreciseAcc < dot.a.type.shape[-1]


def _insert_wait(anchor: Any, values: list[Value], pendings: int, behind: Callable[[Operation], bool]) -> Any:
    """A wait before `anchor` for `values`, and for the shared memory of the products among them."""
    inputs: dict[Value, None] = dict.fromkeys(values)
    for value in values:
        while (dot := _product(value)) is not None:
            inputs.update(dict.fromkeys(v for v in (dot.a, dot.b) if isinstance(v.type, MemDescType)))
            value = dot.c
    loc = next((op.loc for v in values if (op := v.defining_op) is not None), anchor.loc)
    wait = Builder(anchor.parent, anchor, loc).insert(ttng.WarpGroupDotWait(list(inputs), pendings))
    for value, waited in zip(values, wait.outputs):
        value.replace_uses_where(waited, lambda op: op is not wait and behind(op))
    return wait


def _product(value: Any) -> Any:
    """The product whose result a value is, perhaps behind waits."""
    while value.defining_op.__class__ is ttng.WarpGroupDotWait:
        value = value.defining_op.operands[value.index]
    return value.defining_op if value.defining_op.__class__ is ttng.WarpGroupDot else None
