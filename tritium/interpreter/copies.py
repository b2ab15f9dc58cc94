"""The evaluator's asynchronous copies: done as late as a program allows, so that one not waited for is conspicuous.

From when a copy is begun until it was waited for, its buffer holds what is undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dialects import ttg
from ..ir import TensorType
from .evaluator import Buffer, TensorDesc, Token, UndefinedError, undefined
from .meanings import OPERATIONS, meaning
from .numbers import byte_size, dtype_of

Copy = Callable[[], None]


@dataclass
class Copies:
    """The asynchronous copies of a program: committed groups, oldest first, the open group, those of barriers, and
    stores."""

    groups: list[list[Copy]] = field(default_factory=list)
    open: list[Copy] = field(default_factory=list)
    barriers: dict[int, Barrier] = field(default_factory=dict)
    stores: list[Copy] = field(default_factory=list)


@dataclass
class Barrier:
    """A barrier that ends its phase after `count` arrivals, when no byte that it expects is missing.

    `copies` report to the phase that goes on, `ready` to phases that have ended: a wait does them.
    """

    count: int
    arrived: int = 0
    phase: int = 0
    bytes: int = 0
    copies: list[Copy] = field(default_factory=list)
    ready: list[Copy] = field(default_factory=list)

    def arrive(self, count: int, bytes: int = 0) -> None:
        """Arrivals, with bytes to be expected (or, negative, that have come)."""
        self.arrived += count
        self.bytes += bytes
        if self.arrived == self.count and self.bytes == 0:
            self.phase ^= 1
            self.arrived = 0
            self.ready += self.copies
            self.copies = []
        elif self.arrived > self.count:
            raise UndefinedError(f"more arrivals than a barrier takes: {self.arrived} of {self.count}")


def copies_of(ev: Any) -> Copies:
    """The copies of the program that runs."""
    program, copies = ev.extra.get("copies", (None, None))
    if program != ev.program:
        copies = Copies()
        ev.extra["copies"] = ev.program, copies
    return copies


def begin(buffer: Buffer, op: Any, read: Callable[[], Any]) -> Copy:
    """The buffer is undefined from now on, until the copy that is returned is done."""
    buffer.array[...] = undefined(op.result.type)

    def done() -> None:
        buffer.array[...] = read()

    return done


# -- by threads -------------------------------------------------------------------------------------------------------


@meaning("ttg.async_copy_global_to_local")
def _copy(ev: Any, op: ttg.AsyncCopyGlobalToLocal, ptr: Any, buffer: Buffer, *rest: Any) -> Token:
    pointers: Any = op.src.type
    ty = TensorType(pointers.shape, pointers.element.pointee)
    values = list(rest)
    mask = values.pop(0) if op.mask is not None else None
    other = values.pop(0) if op.other is not None else np.zeros((), dtype_of(ty))
    copies_of(ev).open.append(begin(buffer, op, lambda: ev.memory.load(np.asarray(ptr), mask, other, ty, 0)))
    return Token()


@meaning("ttg.async_commit_group")
def _commit(ev: Any, op: Any, *tokens: Any) -> Token:
    copies = copies_of(ev)
    copies.groups.append(copies.open)
    copies.open = []
    return Token()


@meaning("ttg.async_wait")
def _wait(ev: Any, op: Any, *tokens: Any) -> Token:
    groups = copies_of(ev).groups
    while len(groups) > op.num:
        for copy in groups.pop(0):
            copy()
    return Token()


# -- TMA --------------------------------------------------------------------------------------------------------------


def _barrier(ev: Any, buffer: Buffer) -> Barrier:
    found = copies_of(ev).barriers.get(_address(buffer))
    if found is None:
        raise UndefinedError("a barrier is used that is none")
    return found


def _address(buffer: Buffer) -> int:
    return int(buffer.array.__array_interface__["data"][0])


@meaning("ttng.init_barrier")
def _init(ev: Any, op: Any, alloc: Buffer) -> None:
    copies_of(ev).barriers[_address(alloc)] = Barrier(op.count)


@meaning("ttng.inval_barrier")
def _inval(ev: Any, op: Any, alloc: Buffer) -> None:
    barrier = _barrier(ev, alloc)
    if barrier.copies or barrier.ready:
        raise UndefinedError("a barrier is given up while copies report to it")
    del copies_of(ev).barriers[_address(alloc)]


@meaning("ttng.barrier_expect")
def _expect(ev: Any, op: Any, alloc: Buffer, pred: Any) -> None:
    if pred:
        _barrier(ev, alloc).arrive(1, op.size)


@meaning("ttng.arrive_barrier")
def _arrive(ev: Any, op: Any, alloc: Buffer, pred: Any = True) -> None:
    if pred:
        _barrier(ev, alloc).arrive(op.count)


@meaning("ttng.async_copy_mbarrier_arrive")
def _arrive_behind_copies(ev: Any, op: Any, alloc: Buffer) -> None:
    copies, barrier = copies_of(ev), _barrier(ev, alloc)
    barrier.copies += [copy for group in [*copies.groups, copies.open] for copy in group]
    copies.groups, copies.open = [], []
    if op.noIncrement:
        barrier.arrive(1)


@meaning("ttng.wait_barrier")
def _wait_barrier(ev: Any, op: Any, alloc: Buffer, phase: Any, *rest: Any) -> None:
    """Other warps go on until the phase has ended; where there are none, it never does."""
    if op.pred is not None and not rest[0]:
        return
    barrier = _barrier(ev, alloc)
    while barrier.phase == phase:
        others = ev.extra.get("warps")
        if others is None:
            raise UndefinedError(f"the wait never ends: {barrier}")
        others.wait(lambda: barrier.phase != phase)
    for copy in barrier.ready:
        copy()
    barrier.ready = []


def _by_engine(load: str) -> Callable[..., None]:
    def copy(ev: Any, op: Any, desc: Any, *rest: Any) -> None:
        *where, alloc, buffer, pred = rest
        if not pred:
            return
        barrier = _barrier(ev, alloc)
        barrier.copies.append(begin(buffer, op, lambda: OPERATIONS[load](ev, op, desc, *where)))
        barrier.arrive(0, -(buffer.array.size * op.result.type.element.width // 8))

    return copy


meaning("ttng.async_tma_copy_global_to_local")(_by_engine("tt.descriptor_load"))
meaning("ttng.async_tma_gather")(_by_engine("tt.descriptor_gather"))


def _out_of_shared(store: str) -> Callable[..., None]:
    def copy(ev: Any, op: Any, desc: Any, *rest: Any) -> None:
        *where, buffer = rest
        last = [where[0], where[1], buffer] if store == "tt.descriptor_scatter" else [buffer, *where]

        def done() -> None:
            values = [v.array if isinstance(v, Buffer) else v for v in last]
            OPERATIONS[store](ev, op, desc, *values)

        copies_of(ev).stores.append(done)

    return copy


meaning("ttng.async_tma_copy_local_to_global")(_out_of_shared("tt.descriptor_store"))
meaning("ttng.async_tma_reduce")(_out_of_shared("tt.descriptor_reduce"))
meaning("ttng.async_tma_scatter")(_out_of_shared("tt.descriptor_scatter"))


@meaning("ttng.async_tma_store_wait")
def _wait_for_stores(ev: Any, op: Any) -> None:
    """Executed only at a wait, so that an earlier write to the buffer shows."""
    stores = copies_of(ev).stores
    while len(stores) > op.pendings:
        stores.pop(0)()


@meaning(
    "ttng.fence_async_shared",
    "ttng.fence_mbarrier_init_release_cluster",
    "ttng.cluster_arrive",
    "ttng.cluster_wait",
    "ttng.cluster_barrier",
    "ttng.tensormap_fenceproxy_acquire",
)
def _fence(ev: Any, op: Any, *values: Any) -> None:
    return None


# -- descriptors that the program makes -------------------------------------------------------------------------------


@meaning("ttg.global_scratch_alloc")
def _scratch(ev: Any, op: Any) -> Any:
    return np.int64(ev.memory.add(np.zeros(op.nbytes, np.uint8)))


@meaning("ttng.tensormap_create")
def _make_map(ev: Any, op: Any, at: Any, base: Any, *rest: Any) -> None:
    """Dimensions are said from the innermost one out, and strides in bytes."""
    rank = len(op.box_dim)
    numbers = [int(v) for v in rest]
    shape, strides = numbers[rank : 2 * rank][::-1], numbers[2 * rank : 3 * rank - 1][::-1]
    ev.extra.setdefault("maps", {})[int(at)] = int(base), tuple(shape), strides, op.fill_mode


@meaning("ttng.reinterpret_tensor_descriptor")
def _read_map(ev: Any, op: Any, at: Any) -> TensorDesc:
    found = ev.extra.get("maps", {}).get(int(at))
    if found is None:
        raise UndefinedError("a descriptor is read that nobody has made")
    base, shape, strides, fill = found
    size = byte_size(op.result.type.block)
    return TensorDesc(base, shape, (*(s // size for s in strides), 1), "nan" if fill else "zero")
