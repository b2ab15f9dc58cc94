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
from .evaluator import Buffer, Token, UndefinedError, undefined
from .meanings import OPERATIONS, meaning
from .numbers import dtype_of

Copy = Callable[[], None]


@dataclass
class Copies:
    """What one program has begun to copy: closed groups, oldest first, the open one, and those of barriers."""

    groups: list[list[Copy]] = field(default_factory=list)
    open: list[Copy] = field(default_factory=list)
    barriers: dict[int, Barrier] = field(default_factory=dict)


@dataclass
class Barrier:
    """A barrier that ends its phase after `count` arrivals, when the copies that report to it are done."""

    count: int
    arrived: int = 0
    phase: int = 0
    bytes: int = 0
    copies: list[Copy] = field(default_factory=list)


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


# -- by the copy engine -----------------------------------------------------------------------------------------------


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
    if barrier.copies:
        raise UndefinedError("a barrier is given up while copies report to it")
    del copies_of(ev).barriers[_address(alloc)]


@meaning("ttng.barrier_expect")
def _expect(ev: Any, op: Any, alloc: Buffer, pred: Any) -> None:
    if pred:
        barrier = _barrier(ev, alloc)
        barrier.arrived += 1
        barrier.bytes += op.size


@meaning("ttng.wait_barrier")
def _wait_barrier(ev: Any, op: Any, alloc: Buffer, phase: Any, *rest: Any) -> None:
    barrier = _barrier(ev, alloc)
    if (op.pred is not None and not rest[0]) or barrier.phase != phase:
        return
    if barrier.arrived != barrier.count or barrier.bytes != 0:
        raise UndefinedError(f"the wait never ends: {barrier}")
    for copy in barrier.copies:
        copy()
    barrier.phase ^= 1
    barrier.arrived = 0
    barrier.copies = []


def _by_engine(load: str) -> Callable[..., None]:
    def copy(ev: Any, op: Any, desc: Any, *rest: Any) -> None:
        *where, alloc, buffer, pred = rest
        if not pred:
            return
        barrier = _barrier(ev, alloc)
        barrier.bytes -= buffer.array.size * op.result.type.element.width // 8
        barrier.copies.append(begin(buffer, op, lambda: OPERATIONS[load](ev, op, desc, *where)))

    return copy


meaning("ttng.async_tma_copy_global_to_local")(_by_engine("tt.descriptor_load"))
meaning("ttng.async_tma_gather")(_by_engine("tt.descriptor_gather"))


@meaning("ttng.fence_async_shared")
def _fence(ev: Any, op: Any) -> None:
    return None
