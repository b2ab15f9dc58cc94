"""The clusters of memory and matrix operations that `amd-block-pingpong` makes of a loop's body."""

from __future__ import annotations

from ....dialects import amdg, arith, rocdl, ttg
from ....dialects.ttg_memory import MemDescType
from ....ir import Builder, Operation, TensorType, Value, i32, remark
from .pingpong_loops import PingpongLoop, slice_of, tensor_type, used_before

__all__ = ["four_clusters", "one_cluster", "stagger_halves", "two_clusters"]

_LOW, _HIGH = 0, 1
_NOTHING = rocdl.SchedGroupMask(0)
_WITHOUT_MEMORY = rocdl.SchedGroupMask(1)
_THREADS_OF_HALF = 256


class _Placement:
    """A place in a block, after `last`, to which operations are moved one after the other."""

    def __init__(self, last: Operation) -> None:
        self.last = last

    def add(self, *ops: Operation) -> None:
        """Insert new operations, or move old ones here."""
        for op in ops:
            if op.parent is None:
                op.loc = self.last.loc
                Builder(self.last.parent, self.last.next).insert(op)
            elif op is not self.last:
                op.move_after(self.last)
            self.last = op

    def bring(self, op: Operation) -> None:
        """Move an operation here with all that it needs; one that is used before stays."""
        assert op is not self.last
        if self.last.is_before(op):
            self.add(*slice_of(op, self.last), op)
        elif not used_before(op, self.last):
            self.add(op)

    def fence(self) -> None:
        """Let no instruction be moved across this place."""
        self.add(rocdl.SchedBarrier(_NOTHING))

    def barrier(self) -> None:
        """Wait for all warps, and for accesses to LDS."""
        self.add(ttg.Barrier(addrSpace=ttg.AddrSpace.local))
        self.fence()

    def prioritized(self, op: Operation) -> None:
        """Place an operation that has the higher priority."""
        self.add(rocdl.SetPrio(_HIGH), op, rocdl.SetPrio(_LOW))


def one_cluster(found: PingpongLoop) -> None:
    """One cluster of each kind: loads from LDS and memory in turns, then the dot."""
    before_dot = rocdl.SchedBarrier(_WITHOUT_MEMORY)
    Builder(found.dot.parent, found.dot, found.dot.loc).insert(before_dot)
    memory = _Placement(found.local_loads[0])
    memory.add(rocdl.SetPrio(_HIGH))
    memory.bring(found.global_loads[0])
    memory.fence()
    memory.bring(found.local_loads[1])
    memory.add(rocdl.SetPrio(_LOW))
    memory.bring(found.global_loads[1])
    _Placement(before_dot).prioritized(found.dot)
    remark(found.dot, "one cluster of memory operations and one of matrix operations alternate between waves")


def two_clusters(found: PingpongLoop) -> None:
    """Two clusters of each kind: all loads, half of the dot, the stores to LDS, the other half."""
    first, second = found.global_loads
    dots = _split(found, 2)
    at = _Placement(second)
    at.add(*dots[0].loads)
    at.fence()
    at.add(first)
    at.fence()
    at.add(*dots[1].loads)
    at.fence()
    at.add(second)
    at.barrier()
    at.prioritized(dots[0].dot)
    at.barrier()
    _store_and_finish(found, at, dots[1].dot)
    remark(dots[0].dot, "two clusters of memory operations and two of matrix operations alternate between waves")


def four_clusters(found: PingpongLoop) -> None:
    """Four clusters of each kind: a load from memory and a quarter of the operands, the same, the rest, the stores."""
    second = found.global_loads[1]
    dots = _split(found, 4)
    at = _Placement(second)
    for number, part in enumerate(dots[:3]):
        if number == 1:
            at.add(second)
        at.add(*part.loads, *(dots[3].loads if number == 2 else []))
        at.barrier()
        at.prioritized(part.dot)
        at.barrier()
    _store_and_finish(found, at, dots[3].dot)
    remark(dots[0].dot, "four clusters of memory operations and four of matrix operations alternate between waves")


def _store_and_finish(found: PingpongLoop, at: _Placement, dot: Operation) -> None:
    """The cluster of stores to LDS and the last of matrix operations; the barrier after it ends the body."""
    for store in found.local_stores:
        at.bring(store)
    at.barrier()
    at.prioritized(dot)
    end = found.loop.terminator.prev
    assert end is not None
    _Placement(end).barrier()


class _Part:
    """A part of the dot along K: its loads from LDS, and itself."""

    def __init__(self, loads: list[Operation], dot: Operation) -> None:
        self.loads = loads
        self.dot = dot


def _split(found: PingpongLoop, parts: int) -> list[_Part]:
    """The dot as a chain of `parts` dots of slices of K, which takes its place."""
    dot = found.dot
    second = found.global_loads[1]
    k = tensor_type(dot.a).shape[1] // parts
    for load in found.local_loads:
        for op in slice_of(load, second):
            op.move_before(second)
    build = Builder(second.parent, second.next, dot.loc)
    sums, made = dot.c, list[_Part]()
    for number in range(parts):
        left = _load_part(build, dot.a, 1, number * k, k)
        right = _load_part(build, dot.b, 0, number * k, k)
        mapping = {dot.a: left[1].results[0], dot.b: right[1].results[0], dot.c: sums}
        copy: Operation = build.insert(dot.clone(mapping))
        sums = copy.results[0]
        made.append(_Part([*left, *right], copy))
    dot.replace_with([sums])
    for load in found.local_loads:
        load.erase()
    return made


def _load_part(build: Builder, operand: Value, axis: int, offset: int, size: int) -> list[Operation]:
    """A view of a part of the buffer that an operand is loaded from, and the load of it."""
    load, result = operand.defining_op, tensor_type(operand)
    assert load is not None
    buffer = load.operands[0]
    assert isinstance(buffer.type, MemDescType)
    shape = tuple(size if d == axis else n for d, n in enumerate(result.shape))
    ty = buffer.type
    part = MemDescType(shape, ty.element, ty.encoding, ty.memorySpace, ty.mutable, ty.allocShape)
    view = build.insert(ttg.MemDescSubslice(buffer, [offset if d == axis else 0 for d in range(2)], result=part))
    return [view, build.insert(ttg.LocalLoad(view.result, result=TensorType(shape, result.element, result.encoding)))]


def stagger_halves(loop: Operation) -> None:
    """Let half of the warps enter a loop one barrier later, and the other half wait for them after it."""
    build = Builder(loop.parent, loop, loop.loc)
    build.add(ttg.Barrier(addrSpace=ttg.AddrSpace.local))
    thread = build.add(rocdl.WorkitemIdX(res=i32))
    zero, size = (build.add(arith.Constant.of(n, i32)) for n in (0, _THREADS_OF_HALF))
    half = build.add(arith.DivSI(thread, size))
    first = build.add(arith.CmpI(arith.CmpIPredicate.eq, half, zero))
    second = build.add(arith.CmpI(arith.CmpIPredicate.ne, half, zero))
    build.add(amdg.CondBarrier(second))
    build.after(loop)
    build.add(amdg.CondBarrier(first))
