"""Asynchronous copies from global to shared memory by threads (`cp.async`)."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...dialects import ttg, ttng
from ..constexpr import unwrap
from ..errors import LanguageError
from ..language.builtin import builtin, flag, static_int
from ..semantics.memory import CACHE_LOAD
from ..semantics.memory import cache_policy as policy_attribute
from ..tensor import tensor
from .cache_policy import hints_of
from .mbarrier import barrier_of
from .shared_memory import shared_memory_descriptor

__all__ = ["async_load", "commit_group", "mbarrier_arrive", "wait_group"]

Semantics: TypeAlias = Any
"""The `GluonSemantic` that the visitor passes; None in a call from Python."""


@builtin
def async_load(
    smem: object,
    pointer: object,
    mask: object = None,
    cache_modifier: object = None,
    eviction_policy: object = None,
    volatile: object = False,
    cache_policy: object = None,
    _semantic: Semantics = None,
) -> None:
    """Copy the elements at `pointer` to the buffer, where `mask`; elements elsewhere are zero."""
    if not isinstance(smem, shared_memory_descriptor) or not isinstance(pointer, tensor):
        raise LanguageError("TypeError: async_load takes a buffer in shared memory and a tensor of pointers")
    at, where = pointer, None
    if unwrap(mask) is not None:
        at, where = _semantic.broadcast_value(pointer, _semantic.to_tensor(mask))
    if list(at.type.shape) != smem.shape:
        raise LanguageError(
            f"ValueError: expected smem shape to match pointer shape but got smem.shape = {smem.shape},"
            f" pointer.shape = {list(at.type.shape)}"
        )
    if at.dtype.element_ty is not smem.dtype:
        raise LanguageError(
            f"TypeError: the pointers are to {at.dtype.element_ty}, the buffer has elements of {smem.dtype}"
        )
    policy = policy_attribute(CACHE_LOAD, *hints_of(cache_policy, cache_modifier, eviction_policy))
    handle = None if where is None else where.handle
    _semantic.builder.insert(ttg.AsyncCopyGlobalToLocal(at.handle, smem.handle, handle, None, policy, flag(volatile)))


@builtin
def mbarrier_arrive(mbarrier: object, increment_count: object = True, _semantic: Semantics = None) -> None:
    """Arrive at an mbarrier once all copies issued so far by the thread are complete.

    With `increment_count` the arrival is one more than those the mbarrier was initialized for.
    """
    barrier = barrier_of(mbarrier, "mbarrier_arrive").handle
    _semantic.builder.insert(ttng.AsyncCopyMbarrierArrive(barrier, not flag(increment_count)))


@builtin
def commit_group(_semantic: Semantics = None) -> None:
    """Make a group of the copies issued since the last group."""
    _semantic.builder.insert(ttg.AsyncCommitGroup([]))


@builtin
def wait_group(num_outstanding: object = 0, _semantic: Semantics = None) -> None:
    """Wait until at most `num_outstanding` groups of the thread's copies are pending."""
    _semantic.builder.insert(ttg.AsyncWait([], static_int(num_outstanding, "num_outstanding")))
