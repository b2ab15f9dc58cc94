"""Mbarriers: counters in shared memory that threads and asynchronous copies arrive at, and threads wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...dialects import ttng
from ..callee import constexpr_function
from ..constexpr import unwrap
from ..dtypes import int64
from ..errors import LanguageError
from ..language.builtin import builtin, flag, static_int
from ..tensor import tensor
from .layout_base import plain
from .layouts import SwizzledSharedLayout
from .shared_memory import shared_memory_descriptor

__all__ = [
    "MBarrierLayout",
    "allocate_mbarrier",
    "async_store",
    "arrive",
    "arrive_multicast",
    "expect",
    "init",
    "invalidate",
    "wait",
]

Semantics: TypeAlias = Any
"""The `GluonSemantic` that the visitor passes; None in a call from Python."""


@dataclass(frozen=True, eq=False)
class MBarrierLayout(SwizzledSharedLayout):
    """The layout of mbarriers: a row of them, distributed over the CTAs of a cluster by `cga_layout`."""

    def __init__(self, cga_layout: object = None) -> None:
        super().__init__(1, 1, 1, [0], plain(cga_layout) or [])

    @staticmethod
    @constexpr_function
    def multicta(num_ctas: object, two_cta: object = False) -> MBarrierLayout:
        """One mbarrier per CTA of a cluster; with `two_cta`, one per pair of CTAs."""
        ctas, pairs = plain(num_ctas), bool(plain(two_cta))
        if ctas < 1 or ctas & (ctas - 1) or (pairs and ctas < 2):
            raise LanguageError(f"ValueError: num_ctas must be a power of two, and even for pairs; it is {ctas}")
        bases = [[0]] if pairs else []
        return MBarrierLayout(bases + [[1 << i] for i in range((ctas >> pairs).bit_length() - 1)])


def barrier_of(x: object, name: str) -> shared_memory_descriptor:
    """A buffer of mbarriers. Raises LanguageError for another value."""
    if not isinstance(x, shared_memory_descriptor) or x.dtype is not int64:
        kind = x.type if isinstance(x, (shared_memory_descriptor, tensor)) else repr(unwrap(x))
        raise LanguageError(
            f"TypeError: {name} takes an mbarrier, got {kind}", "mbarrier.allocate_mbarrier() makes one, of gl.int64"
        )
    return x


def condition(sem: Semantics, pred: object) -> Any:
    """The IR value of a predicate."""
    return sem.to_condition(pred).handle


@builtin
def allocate_mbarrier(
    batch: object = None, two_ctas: object = False, _semantic: Semantics = None
) -> shared_memory_descriptor:
    """A new mbarrier for each CTA (or pair of CTAs) of the cluster; `batch` of them, along dimension 0."""
    ctas, pairs = _semantic.num_ctas(), flag(two_ctas)
    count = ctas // 2 if pairs else ctas
    shape = [count] if unwrap(batch) is None else [static_int(batch, "batch"), count]
    layout = MBarrierLayout.multicta(ctas, pairs)
    made: shared_memory_descriptor = _semantic.allocate_shared(int64, shape, layout)
    return made


@builtin
def async_store(dst: object, src: object, mbarrier: object, _semantic: Semantics = None) -> None:
    """Store `src` to the buffer `dst`, also into other CTAs of the cluster; its bytes count at `mbarrier`."""
    if not isinstance(dst, shared_memory_descriptor) or not isinstance(src, tensor):
        raise LanguageError(
            f"TypeError: async_store takes a buffer and a tensor, got {getattr(dst, 'type', dst)} and"
            f" {getattr(src, 'type', src)}"
        )
    if list(src.type.shape) != dst.shape or src.dtype is not dst.dtype:
        raise LanguageError(f"ValueError: async_store: the buffer is {dst.type}, the tensor {src.type}")
    barrier = barrier_of(mbarrier, "async_store").handle
    _semantic.builder.insert(ttng.AsyncSharedStore(src.handle, dst.handle, barrier))


@builtin
def init(mbarrier: object, count: object, _semantic: Semantics = None) -> None:
    """Begin the first phase, which completes after `count` arrivals."""
    _semantic.builder.insert(ttng.InitBarrier(barrier_of(mbarrier, "init").handle, static_int(count, "count")))


@builtin
def invalidate(mbarrier: object, _semantic: Semantics = None) -> None:
    """End the use of an mbarrier: its memory may be used for something else."""
    _semantic.builder.insert(ttng.InvalBarrier(barrier_of(mbarrier, "invalidate").handle))


@builtin
def wait(
    mbarrier: object, phase: object, pred: object = True, deps: Sequence[Any] = (), _semantic: Semantics = None
) -> None:
    """Wait until the phase of parity `phase` (0 or 1) has completed, where `pred`.

    `deps` are the buffers that the copies waited for write.
    """
    parity = _semantic.to_tensor(phase)
    buffers = [x.handle for x in deps]
    where = condition(_semantic, pred)
    barrier = barrier_of(mbarrier, "wait").handle
    _semantic.builder.insert(ttng.WaitBarrier(barrier, parity.handle, where, buffers))


def _mask(from_cta: object) -> int | None:
    return None if unwrap(from_cta) is None else static_int(from_cta, "from_cta")


@builtin
def arrive(
    mbarrier: object, *, count: object = 1, pred: object = True, from_cta: object = None, _semantic: Semantics = None
) -> None:
    """Arrive `count` times, where `pred`.

    `from_cta` is the mask of the bits of a CTA's number that are kept to find the CTA that arrives; all by default.
    """
    where = condition(_semantic, pred)
    barrier = barrier_of(mbarrier, "arrive").handle
    _semantic.builder.insert(ttng.ArriveBarrier(barrier, where, static_int(count, "count"), _mask(from_cta)))


@builtin
def arrive_multicast(
    mbarrier: object,
    *,
    count: object = 1,
    pred: object = True,
    from_cta: object = None,
    multicast_cta: object = None,
    _semantic: Semantics = None,
) -> None:
    """Arrive `count` times, where `pred`, of Rubin GPUs.

    `multicast_cta` is a mask of bits of a CTA's number: all CTAs that differ only in these arrive at each other's.
    """
    where = condition(_semantic, pred)
    barrier = barrier_of(mbarrier, "arrive").handle
    mask = _multicast(unwrap(multicast_cta), _semantic.num_ctas())
    op = ttng.ArriveBarrier(barrier, where, static_int(count, "count"), _mask(from_cta), mask)
    _semantic.builder.insert(op)


def _multicast(mask: object, ctas: int) -> int:
    """The mask of a multicast arrival, 0 for none. Raises LanguageError for bits that no CTA's number has."""
    if mask is None:
        return 0
    if not isinstance(mask, int) or isinstance(mask, bool):
        raise LanguageError(f"TypeError: multicast_cta must be an int, got {mask!r}")
    if mask <= 0:
        raise LanguageError(f"ValueError: multicast_cta must be positive, got {mask}")
    if mask > ctas - 1:
        raise LanguageError(f"ValueError: multicast_cta must be <= num_ctas - 1, got {mask} with {ctas} CTAs")
    return mask


@builtin
def expect(
    mbarrier: object,
    bytes_per_cta: object = None,
    pred: object = True,
    *,
    from_cta: object = None,
    _semantic: Semantics = None,
) -> None:
    """Arrive, where `pred`, and let the phase wait for `bytes_per_cta` bytes of copies as well."""
    size = static_int(bytes_per_cta, "bytes_per_cta")
    barrier = barrier_of(mbarrier, "expect").handle
    _semantic.builder.insert(ttng.BarrierExpect(barrier, condition(_semantic, pred), size, _mask(from_cta)))
