"""The evaluator's ttc operations: vectors, scalars and scratch buffers of CPU programs.

A buffer is an array of bytes in the evaluator's memory; its value is the address of its first element. Each execution
of `ttc.alloc` fills its buffer with conspicuous values, so that a read before the first write shows.
"""

from __future__ import annotations

import time

import numpy as np

from ..dialects import tt, ttc
from ..ir import FLOATS, IntegerType, Operation, Type, element_type
from ..support.lazy import LazyModule
from .evaluator import AssertionFailed, Evaluator, OutOfBoundsError, undefined
from .meanings import meaning
from .numbers import byte_size, encode
from .operations import signed

_plans = LazyModule("..conversion.llvm.dot", __package__)
_targets = LazyModule("..backends.cpu.target", __package__)

_BUFFERS = "ttc.alloc"  # the key of `Evaluator.extra`: operation -> (address, array, its first contents)


@meaning("ttc.alloc")
def _alloc(ev: Evaluator, op: ttc.Alloc) -> np.ndarray:
    """One buffer for all executions of an operation: programs run one after the other."""
    buffers = ev.extra.setdefault(_BUFFERS, {})
    if op not in buffers:
        ty = op.result.type
        blank = encode(np.full(ty.size, undefined(ty.element)), ty.element)
        array = np.empty_like(blank)
        buffers[op] = np.int64(ev.memory.add(array)), array, blank
    address, array, blank = buffers[op]
    array[...] = blank
    return address


@meaning("ttc.address")
def _address(ev: Evaluator, op: ttc.Address, buffer: np.ndarray, offset: np.ndarray) -> np.ndarray:
    return buffer + np.int64(signed(offset)) * byte_size(op.buffer.type.element)


@meaning("ttc.offset_pointer")
def _offset_pointer(ev: Evaluator, op: ttc.OffsetPointer, base: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return base + signed(offsets).astype(np.int64) * byte_size(op.base.type.pointee)


@meaning("ttc.splat")
def _splat(ev: Evaluator, op: ttc.Splat, src: np.ndarray) -> np.ndarray:
    return np.broadcast_to(src, op.result.type.shape)


@meaning("ttc.shuffle")
def _shuffle(ev: Evaluator, op: ttc.Shuffle, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Lanes that are -1 are undefined."""
    lanes = np.array(op.lanes)
    return np.where(lanes < 0, undefined(op.result.type), np.concatenate([lhs, rhs])[lanes])


@meaning("ttc.extract")
def _extract(ev: Evaluator, op: ttc.Extract, src: np.ndarray) -> np.ndarray:
    return src[op.lane]


# -- memory -------------------------------------------------------------------------------------------------------


def _consecutive(ptr: np.ndarray, ty: Type) -> np.ndarray:
    """The addresses of the elements of a value of type `ty` from `ptr` on."""
    shape = getattr(ty, "shape", ())
    return ptr + np.arange(shape[0], dtype=np.int64) * byte_size(ty) if shape else np.asarray(ptr)


def _read(ev: Evaluator, op: ttc.Load | ttc.Gather, addresses: np.ndarray, rest: tuple[np.ndarray, ...]) -> np.ndarray:
    ty = op.result.type
    mask = rest[0] if op.mask is not None else None
    other = rest[1] if op.other is not None else None
    loaded = ev.memory.load(addresses, mask, other, ty, ev.masked(element_type(ty)))
    if isinstance(element_type(ty), tt.PointerType):
        ev.memory.open(loaded if mask is None else loaded[np.broadcast_to(mask, loaded.shape)])
    return loaded


@meaning("ttc.load")
def _load(ev: Evaluator, op: ttc.Load, ptr: np.ndarray, *rest: np.ndarray) -> np.ndarray:
    return _read(ev, op, _consecutive(ptr, op.result.type), rest)


@meaning("ttc.gather")
def _gather(ev: Evaluator, op: ttc.Gather, ptrs: np.ndarray, *rest: np.ndarray) -> np.ndarray:
    return _read(ev, op, ptrs, rest)


@meaning("ttc.store")
def _store(ev: Evaluator, op: ttc.Store, ptr: np.ndarray, value: np.ndarray, mask: np.ndarray | None = None) -> None:
    ty = op.value.type
    ev.memory.store(_consecutive(ptr, ty), value, mask, ty)


@meaning("ttc.scatter")
def _scatter(
    ev: Evaluator, op: ttc.Scatter, ptrs: np.ndarray, value: np.ndarray, mask: np.ndarray | None = None
) -> None:
    ev.memory.store(ptrs, value, mask, op.value.type)


@meaning("ttc.prefetch", "ttc.check_writable")
def _nothing(ev: Evaluator, op: Operation, *values: np.ndarray) -> None:
    """A hint; and a check that every store of the evaluator makes."""


@meaning("ttc.check_bounds")
def _check_bounds(
    ev: Evaluator,
    op: ttc.CheckBounds,
    ptrs: np.ndarray,
    base: np.ndarray,
    index: np.ndarray,
    mask: np.ndarray | None = None,
) -> None:
    """Every access is checked to be in some array; this one, to be in that of `base`."""
    size = byte_size(element_type(op.ptrs.type).pointee)
    _, wanted = ev.memory.lanes(np.asarray(ptrs), mask, op.ptrs.type, op.access)
    low, high = next(((a, b) for a, b, _ in ev.memory.extents if a <= int(base) < b), (0, 0))
    wrong = wanted[(wanted < low) | (wanted + size > high)]
    if high and wrong.size:
        raise OutOfBoundsError(f"{op.access} of {size} bytes at {int(wrong[0]):#x} is outside of its array")


# -- dots ---------------------------------------------------------------------------------------------------------


@meaning("ttc.dot")
def _dot(ev: Evaluator, op: ttc.Dot, acc: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """acc += a @ b where the dot plan of the target lays them out, in float64 or int64, rounded once."""
    target = _targets.host_target() if ev.target is None else ev.target
    plan = _plans.plan_dot(target, op.m, op.n, op.k, *op.types.split())
    rows, columns, depth = np.arange(op.m), np.arange(op.n), np.arange(op.k)
    panel, column = np.divmod(columns, plan.nr)
    width = np.minimum(plan.nr, op.n - panel * plan.nr)
    group, within = np.divmod(depth[:, None], plan.kpack)
    b_offsets = panel * plan.nr * plan.k_padded + (group * width + column) * plan.kpack + within
    compute, sums = _type_of(plan.compute_type), _type_of(plan.acc_type)
    left = _elements(ev, a, rows[:, None] * plan.a_row_stride + depth, compute)
    right = _elements(ev, b, b_offsets, compute)
    acc_offsets = rows[:, None] * plan.acc_row_stride + columns
    old = _elements(ev, acc, acc_offsets, sums)
    kind = np.float64 if old.dtype.kind == "f" else np.int64
    made = np.matmul(left.astype(kind), right.astype(kind)) + old.astype(kind)
    ev.memory.store(acc + acc_offsets * byte_size(sums), made, None, sums)


def _elements(ev: Evaluator, base: np.ndarray, offsets: np.ndarray, ty: Type) -> np.ndarray:
    return ev.memory.load(base + offsets * byte_size(ty), None, None, ty, 0)


def _type_of(name: str) -> Type:
    return FLOATS[name] if name in FLOATS else IntegerType(int(name[1:]))


# -- effects ------------------------------------------------------------------------------------------------------


@meaning("ttc.clock")
def _clock(ev: Evaluator, op: ttc.Clock) -> int:
    return time.perf_counter_ns()


@meaning("ttc.assert")
def _assert(ev: Evaluator, op: ttc.Assert, condition: np.ndarray) -> None:
    if not condition:
        raise AssertionFailed(f"assertion failed: {op.message}")


@meaning("ttc.print")
def _print(ev: Evaluator, op: ttc.Print, *ptrs: np.ndarray) -> None:
    """The tiles in the form that `tt.print` gives them."""
    shapes, capacities = list(op.shapes), list(op.capacities)
    tiles = []
    for ptr, operand, printed in zip(ptrs, op.ptrs, op.types.split()):
        rank = shapes.pop(0)
        shape, shapes = shapes[:rank], shapes[rank:]
        held = shape
        if capacities:
            held, capacities = capacities[1 : rank + 1], capacities[rank + 1 :]
        offsets = np.arange(int(np.prod(held))).reshape(held)[tuple(slice(n) for n in shape)]
        tile = _elements(ev, ptr, offsets, operand.type.pointee)
        tiles.append(tile != 0 if printed == "i1" else tile)
    if "tt.format" in op.attributes:
        ev.printed.append(op.prefix.format(*(v if v.ndim else v.item() for v in tiles)))
        return
    ev.printed.append(" ".join([f"pid {ev.program}", op.prefix.strip(), *(str(v.tolist()) for v in tiles)]))
