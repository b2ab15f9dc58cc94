"""Asynchronous copies from global to shared memory of CDNA4 GPUs (gfx950)."""

from __future__ import annotations

from ...dialects import amdg, ttg
from ...ir import Value, bool_attr
from ..constexpr import unwrap
from ..dtypes import dtype
from ..errors import LanguageError
from ..language.builtin import builtin
from ..semantics.context import Operand
from ..semantics.memory import CACHE_LOAD, boolean_mask, cache_policy
from ..tensor import tensor
from .amd_buffer import base_of, handle_of, offsets_of
from .async_copy import commit_group, wait_group
from .mma import Semantics
from .semantic import GluonSemantic, checked
from .shared_memory import shared_load, shared_memory_descriptor

__all__ = ["buffer_load_to_shared", "commit_group", "global_load_to_shared", "load_shared_relaxed", "wait_group"]

_SYNCED = "ttg.amdg.syncedViaAsyncWait"
"""The attribute of a load from shared memory that an asynchronous wait has made safe already."""


def _buffer(dest: object, name: str) -> shared_memory_descriptor:
    if not isinstance(dest, shared_memory_descriptor):
        raise LanguageError(f"TypeError: dest of {name} must be a buffer in shared memory, got {dest!r}")
    return dest


def _masked(
    sem: GluonSemantic, at: tensor, mask: object, other: Operand | None, element: dtype
) -> tuple[tensor, Value | None, Value | None]:
    """Addresses or offsets in the common shape, with the handles of mask and other values."""
    where, instead = None, None
    if unwrap(mask) is not None:
        at, where = sem.broadcast_value(at, boolean_mask(sem, mask))
    if other is not None and unwrap(other) is not None:
        at, instead = sem.broadcast_value(at, sem.cast(sem.to_tensor(other), element))
    return at, handle_of(where), handle_of(instead)


@builtin
def global_load_to_shared(
    dest: object,
    ptr: object,
    mask: object = None,
    other: Operand | None = None,
    cache_modifier: object = "",
    _semantic: Semantics = None,
) -> None:
    """Copy the elements at `ptr` to the buffer where `mask`, elsewhere `other`, asynchronously."""
    buffer, pointers = _buffer(dest, "global_load_to_shared"), checked(ptr, "global_load_to_shared")
    if list(pointers.type.shape) != buffer.shape:
        raise LanguageError(
            f"ValueError: expected dest shape to match pointer shape but got dest.shape = {buffer.shape},"
            f" pointer.shape = {list(pointers.type.shape)}"
        )
    at, where, instead = _masked(_semantic, pointers, mask, other, pointers.dtype.element_ty)
    policy = cache_policy(CACHE_LOAD, unwrap(cache_modifier) or "", "")
    op = ttg.AsyncCopyGlobalToLocal(at.handle, buffer.handle, where, instead, policy, False)
    _semantic.builder.insert(op)


@builtin
def buffer_load_to_shared(
    dest: object,
    ptr: object,
    offsets: object,
    mask: object = None,
    other: Operand | None = None,
    cache_modifier: object = "",
    _semantic: Semantics = None,
) -> None:
    """Copy ptr[offsets] to the buffer where `mask`, elsewhere `other`, asynchronously."""
    name = "buffer_load_to_shared"
    buffer, base = _buffer(dest, name), base_of(ptr, name)
    element = base.dtype.element_ty
    at, where, instead = _masked(_semantic, offsets_of(offsets, name), mask, other, element)
    policy = cache_policy(CACHE_LOAD, unwrap(cache_modifier) or "", "")
    op = amdg.BufferLoadToLocal(buffer.handle, base.handle, at.handle, where, instead, None, policy)
    _semantic.builder.insert(op)


@builtin
def load_shared_relaxed(smem: object, layout: object, _semantic: Semantics = None) -> tensor:
    """The contents of a buffer in `layout`, which an asynchronous wait has made safe to load already."""
    found = shared_load(_semantic, _buffer(smem, "load_shared_relaxed"), layout)
    found.handle.defining_op.attributes[_SYNCED] = bool_attr(True)
    return found
