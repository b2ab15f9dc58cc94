"""The evaluator's buffers in shared memory: arrays, and views of them. Layouts do not affect their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .evaluator import Buffer, undefined
from .meanings import meaning


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
