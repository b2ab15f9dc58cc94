"""Loops that `amd-block-pingpong` can divide into clusters: their memory operations, and which of these may move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....analysis.scratch import scratch_bytes
from ....dialects import arith, tt, ttg
from ....dialects.ttg_layouts import AmdMfma, DotOperand
from ....ir import (
    WRITE,
    BlockArgument,
    BufferAccess,
    CountedLoop,
    IfLike,
    Operation,
    TensorType,
    Value,
    ViewLike,
    is_pure,
    memory_effects,
)
from ....ir.dominance import ancestor_in
from ....support.dataclasses import dataclass

__all__ = ["PingpongLoop", "operand_layout", "pingpong_loop", "slice_of", "tensor_type", "used_before"]


@dataclass
class PingpongLoop:
    """A pipelined loop with one dot, and the memory operations of its operands in program order."""

    loop: CountedLoop
    dot: tt.Dot
    global_loads: list[tt.Load]
    local_loads: list[ttg.LocalLoad]
    local_stores: list[ttg.LocalStore]

    def can_split(self, parts: int) -> bool:
        """Whether K can be split, and the dots be placed after the second global load: the dot alone reads the operands
        from LDS, a part has 16 of K or more, and what else the dot needs is there."""
        operands = [self.dot.a.defining_op, self.dot.b.defining_op]
        k = tensor_type(self.dot.a).shape[1]
        if k % parts or k // parts < 16 or any(op not in self.local_loads for op in operands):
            return False
        if any(len(load.result.users) != 1 for load in self.local_loads):
            return False
        first, second = self.global_loads
        sources = [op for load in self.local_loads for op in (load, *slice_of(load))]
        late = [op for op in slice_of(self.dot, second) if op not in sources]
        return first.is_before(second) and not late and not used_before(first, second)

    @property
    def can_stagger(self) -> bool:
        """Whether half of the warps may be one barrier behind the others: no other operation uses LDS.

        What one half writes there before a barrier, the other half would read before it is written.
        """
        own = {*self.local_loads, *self.local_stores}
        others = [op for op in self.loop.walk() if op not in own]
        return not any(isinstance(op, _USES_LDS) or scratch_bytes(op) for op in others)


_USES_LDS = (BufferAccess, ttg.Barrier, tt.Call)


def tensor_type(value: Value) -> TensorType:
    """The type of a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def operand_layout(dot: tt.Dot) -> DotOperand | None:
    """The layout of the left operand of a dot by MFMA; None for others."""
    layout = tensor_type(dot.a).encoding
    return layout if isinstance(layout, DotOperand) and isinstance(layout.parent, AmdMfma) else None


def pingpong_loop(loop: CountedLoop) -> PingpongLoop | None:
    """What to divide of a loop; None if it does not qualify."""
    ops = [op for op in loop.walk() if op is not loop]
    dots = [op for op in ops if isinstance(op, (tt.Dot, tt.DotScaled))]
    dot = dots[0] if len(dots) == 1 else None
    if not isinstance(dot, tt.Dot) or dot.parent_op is not loop or operand_layout(dot) is None:
        return None
    local_loads = {op for v in (dot.a, dot.b) for op in _closest(v, ttg.LocalLoad)}
    views = {op for load in local_loads for op in _closest(load.operands[0], ttg.MemDescIndex)}
    buffers = {_allocation(view.results[0]) for view in views} - {None}
    stores = {op for op in ops if isinstance(op, ttg.LocalStore) and _allocation(op.dst) in buffers}
    loads = {op for store in stores for op in _closest(store.operands[0], tt.Load)}
    made = PingpongLoop(
        loop,
        dot,
        [op for op in ops if isinstance(op, tt.Load) and op in loads],
        [op for op in ops if isinstance(op, ttg.LocalLoad) and op in local_loads and _is_pipelined(loop, op)],
        [op for op in ops if isinstance(op, ttg.LocalStore) and op in stores],
    )
    if len(made.global_loads) != 2 or len(made.local_loads) != 2 or _executes_others(made, ops):
        return None
    return made if _can_move(made) and not any(_varies(loop, load.mask) for load in made.global_loads) else None


def _executes_others(found: PingpongLoop, ops: Iterable[Operation]) -> bool:
    """Whether an iteration executes other loads, or other stores to LDS."""
    own = {*found.global_loads, *found.local_loads, *found.local_stores}
    rare = _is_persistent(found.loop)
    others = [op for op in ops if op not in own]
    for kind in {op.__class__ for op in own}:
        same = [op for op in others if isinstance(op, kind)]
        if kind is ttg.LocalLoad:
            same = [op for op in same if isinstance(op, ttg.LocalLoad) and _is_pipelined(found.loop, op)]
        if _executed(found.loop, same, kind, rare):
            return True
    return False


def _is_pipelined(loop: CountedLoop, load: ttg.LocalLoad) -> bool:
    """Whether a load reads what a previous iteration, or the prologue, has written."""
    source = load.operands[0]
    if isinstance(source, BlockArgument):
        return source.owner is loop.body
    return not loop.is_ancestor_of(_allocation(source))


def _closest(value: Value, kind: type[Operation]) -> set[Operation]:
    """The operations of a kind that come first on each path from a value to what it depends on, from the values that
    an iteration yields to the next one where it is carried."""
    found, seen, pending = set[Operation](), set[Value](), [value]
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if isinstance(at, BlockArgument):
            around = at.owner.parent_op
            if isinstance(around, CountedLoop) and at.index > 0:
                pending.append(around.terminator.operands[at.index - 1])
        elif isinstance(at.defining_op, kind):
            found.add(at.defining_op)
        elif at.defining_op is not None:
            pending += at.defining_op.operands
    return found


def _is_persistent(loop: CountedLoop) -> bool:
    """Whether an `if` on an equality is before the dot, and another one after it: of the first and the last step of a
    tile."""
    kinds = []
    for op in loop.body:
        if isinstance(op, IfLike):
            test = op.condition.defining_op
            if not isinstance(test, arith.CmpI) or test.predicate != arith.CmpIPredicate.eq:
                return False
            kinds.append("if")
        elif isinstance(op, tt.Dot):
            kinds.append("dot")
    return kinds == ["if", "dot", "if"]


def _executed(loop: CountedLoop, ops: Iterable[Operation], kind: type[Operation], rare: bool) -> int:
    """How many of these operations, or of the same kind beside them in a branch, an iteration executes at most; the
    `then` branches of `rare` ifs are not counted."""
    total = 0
    for parent in {op.parent_op for op in ops}:
        if parent is loop:
            return 1
        if isinstance(parent, IfLike):
            blocks = [block for region in parent.regions for block in region.blocks]
            numbers = [sum(isinstance(op, kind) for op in block) for block in blocks]
            total += sum(numbers[1:]) if rare else max(numbers)
        else:
            total += 1
    return total


def _varies(loop: CountedLoop, value: Value | None) -> bool:
    """Whether a value may differ between iterations of a loop."""
    pending, seen = [value] if value is not None else [], set[Value]()
    while pending:
        at = pending.pop()
        made = at.defining_op
        if at in seen or loop.is_defined_outside(at):
            continue
        seen.add(at)
        if made is None:
            return True
        pending += made.operands
    return False


def slice_of(op: Operation, after: Operation | None = None) -> list[Operation]:
    """The operations of a block that `op` needs, without itself, in program order; only those after `after`."""
    found, pending = set[Operation](), [op]
    while pending:
        for inner in pending.pop().walk():
            for value in inner.operands:
                made = value.defining_op
                if made is not None and made.parent is op.parent and made not in found:
                    if after is None or after.is_before(made):
                        found.add(made)
                        pending.append(made)
    return [made for made in op.parent or () if made in found]


def used_before(op: Operation, place: Operation) -> bool:
    """Whether an operation of the block of `place` before it uses a result of `op`."""
    assert place.parent is not None
    users = [ancestor_in(place.parent, user) for result in op.results for user in result.users]
    return any(user is not None and user.is_before(place) for user in users)


def _can_move(found: PingpongLoop) -> bool:
    """Whether the order of memory operations allows to move these: all are in the body, the operations that they
    depend on are pure, nothing before the dot writes memory, and other stores to LDS before those of the operands are
    to buffers of an iteration."""
    own: list[Operation] = [*found.global_loads, *found.local_loads, *found.local_stores]
    if any(op.parent is not found.loop.body for op in own) or any(op.isVolatile for op in found.global_loads):
        return False
    if not all(is_pure(needed) or needed in own or needed is found.dot for op in own for needed in slice_of(op)):
        return False
    if any(found.dot in slice_of(op) for op in (*found.global_loads, *found.local_loads)):
        return False
    before = _until(found.loop.body, found.dot)
    if any(memory_effects(op) & WRITE for op in before):
        return False
    last = found.local_stores[-1] if found.local_stores else found.dot
    between = [op for top in _until(found.loop.body, last) for op in top.walk()]
    stores = [op for op in between if isinstance(op, ttg.LocalStore) and op not in own]
    return all(found.loop.is_ancestor_of(_allocation(op.dst)) for op in stores)


def _allocation(buffer: Value) -> Operation | None:
    """The operation that allocates what a buffer is a view of; None if it is carried by a loop."""
    op = buffer.defining_op
    while isinstance(op, ViewLike):
        op = op.operands[0].defining_op
    return op


def _until(block: Iterable[Operation], end: Operation) -> Iterator[Operation]:
    for op in block:
        if op is end:
            return
        yield op
