"""The evaluator's buffers in shared memory: arrays, and views of them. Layouts do not affect their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects import ttg
from ..ir import Operation, ShapedType
from .evaluator import Buffer, Evaluator, OutOfBoundsError, Token, UndefinedError, undefined
from .meanings import meaning
from .numbers import byte_size, dtype_of
from .scaled import unpack_e2m1
from .tiles import RMW


@meaning("ttg.local_alloc")
def _alloc(ev: Any, op: Any, src: Any = None) -> Buffer:
    ty = op.results[0].type
    if src is not None:
        return Buffer(np.array(src))
    return Buffer(np.array(undefined(ty)))


@meaning("ttg.local_dealloc")
def _nothing(ev: Any, op: Any, *values: Any) -> None:
    return None


@meaning("ttg.local_load")
def _load(ev: Any, op: Any, buffer: Buffer, token: Any = None) -> Any:
    return buffer.array.copy()


@meaning("ttg.local_store")
def _store(ev: Any, op: Any, src: Any, buffer: Buffer) -> None:
    buffer.array[...] = src


@meaning("ttg.memdesc_index")
def _index(ev: Any, op: Any, buffer: Buffer, i: Any) -> Buffer:
    return Buffer(buffer.array[int(i)])


@meaning("ttg.memdesc_subslice")
def _subslice(ev: Any, op: Any, buffer: Buffer) -> Buffer:
    shape = op.results[0].type.shape
    return Buffer(buffer.array[tuple(slice(at, at + n) for at, n in zip(op.offsets, shape))])


@meaning("ttg.memdesc_trans")
def _trans(ev: Any, op: Any, buffer: Buffer) -> Buffer:
    return Buffer(buffer.array.transpose(op.order))


@meaning("ttg.memdesc_reshape")
def _reshape(ev: Any, op: Any, buffer: Buffer) -> Buffer:
    seen = buffer.array.view()
    seen.shape = op.results[0].type.shape  # raises where it would be a copy, which is no view
    return Buffer(seen)


@meaning("ttg.memdesc_reinterpret")
def _reinterpret(ev: Evaluator, op: ttg.MemDescReinterpret, buffer: Buffer) -> Buffer:
    """The bytes in row-major order, which is where layouts other than plain ones do not put them.

    They may continue after the buffer, in the others of its allocation.
    """
    ty = op.result.type
    assert isinstance(ty, ShapedType)
    size = byte_size(ty.element) * int(np.prod(ty.shape))
    if not buffer.array.flags.c_contiguous or dtype_of(ty).itemsize != byte_size(ty.element):
        raise UndefinedError(f"a view as {ty} of a buffer of shape {buffer.array.shape} is not interpreted")
    whole = buffer.array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    first = buffer.array.ctypes.data - whole.ctypes.data
    if first + size > whole.nbytes:
        raise OutOfBoundsError(f"a view as {ty} ends {first + size - whole.nbytes} bytes after the allocation")
    return Buffer(whole.reshape(-1).view(np.uint8)[first : first + size].view(dtype_of(ty)).reshape(ty.shape))


def _located(buffer: Buffer, indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """The coordinates of a gather or scatter: those of the indices, with the indices at the axis."""
    at = np.asarray(indices).astype(np.int64)
    if at.size and not 0 <= at.min() <= at.max() < buffer.array.shape[axis]:
        raise OutOfBoundsError(f"an index of a buffer of shape {buffer.array.shape} is out of bounds along {axis}")
    coordinates = list(np.indices(at.shape, sparse=True))
    coordinates[axis] = at
    return tuple(coordinates)


@meaning("ttg.local_gather")
def _gather(
    ev: Evaluator, op: ttg.LocalGather, buffer: Buffer, indices: np.ndarray, token: Token | None = None
) -> np.ndarray:
    return buffer.array[_located(buffer, indices, op.axis)]


@meaning("ttg.local_scatter")
def _scatter(
    ev: Evaluator,
    op: ttg.LocalScatter,
    buffer: Buffer,
    values: np.ndarray,
    indices: np.ndarray,
    token: Token | None = None,
) -> None:
    buffer.array[_located(buffer, indices, op.axis)] = values


@meaning("ttg.local_atomic_scatter_rmw")
def _atomic_scatter(
    ev: Evaluator,
    op: ttg.LocalAtomicScatterRmw,
    buffer: Buffer,
    values: np.ndarray,
    indices: np.ndarray,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """One element after the other, in row-major order of the indices."""
    combine = RMW[op.atomic_rmw_op.name]
    old = np.array(undefined(op.results[0].type))
    places = np.stack(np.broadcast_arrays(*_located(buffer, indices, op.axis)), -1)
    for at in np.ndindex(old.shape):
        if mask is None or np.broadcast_to(mask, old.shape)[at]:
            place = tuple(places[at])
            old[at] = buffer.array[place]
            new = combine(buffer.array[place][None], np.asarray(values)[at][None])
            buffer.array[place] = np.asarray(new).astype(buffer.array.dtype)[0]
    return old


@meaning("ttg.fp4_to_fp")
def _fp4_to_fp(ev: Evaluator, op: ttg.Fp4ToFp, x: np.ndarray) -> np.ndarray:
    return unpack_e2m1(x, op.axis).astype(np.float32)


@meaning("gluon.set_auto_layout")
def _set_auto_layout(ev: Evaluator, op: Operation, x: np.ndarray) -> np.ndarray:
    return x


@meaning("ttng.warp_group_dot")
def _warp_group_dot(ev: Any, op: Any, a: Any, b: Any, c: Any, use: Any = True) -> Any:
    """At once, also where it is asynchronous."""
    x, y = (v.array if isinstance(v, Buffer) else v for v in (a, b))
    kind = np.float64 if np.asarray(c).dtype.kind == "f" else np.int64
    result = np.matmul(x.astype(kind), y.astype(kind))
    return result + c.astype(kind) if bool(use) else result


@meaning("ttng.warp_group_dot_wait")
def _warp_group_dot_wait(ev: Any, op: Any, *values: Any) -> Any:
    return values if len(values) > 1 else values[0]
