"""Layouts that follow from others, and the layout a tensor gets when nothing asks for a better one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..layout.bases import cta_bases
from .ttg_layouts import Blocked, Distributed, Slice

__all__ = ["blocked_for", "blocked_in", "default_blocked", "expanded", "joined", "reduced", "split", "transposed"]


Bases = tuple[tuple[int, ...], ...]


def _clamp(n: int, low: int, high: int) -> int:
    return max(low, min(n, high))


def _distributed(shape: Sequence[int], size_per_thread: Sequence[int], order: Sequence[int], ctas: int) -> list[int]:
    """How many CTAs of a cluster share each dimension: as many as have work, the slowest dimension first."""
    per_dim = [1] * len(shape)
    for d in reversed(order):
        per_dim[d] = _clamp(ctas, 1, max(1, shape[d] // size_per_thread[d]))
        ctas //= per_dim[d]
    per_dim[-1] *= ctas  # what is left holds copies
    return per_dim


def blocked_for(
    shape: Sequence[int], size_per_thread: Sequence[int], order: Sequence[int], warps: int, lanes: int, ctas: int = 1
) -> Blocked:
    """Threads spread over a tensor of `shape`, each with `size_per_thread`, along dimension `order[0]` first.

    Lanes and warps that find no elements along the dimensions before go to the last of the order, where they hold
    copies if it is too short.
    """
    per_cga = _distributed(shape, size_per_thread, order, ctas)
    bases = cta_bases(tuple(per_cga), tuple(per_cga), tuple(order)) if ctas > 1 else ()
    block = [max(1, n // m) for n, m in zip(shape, per_cga)]
    return Blocked(tuple(size_per_thread), *_spread(block, size_per_thread, order, warps, lanes), tuple(order), bases)


def blocked_in(
    bases: Bases, block: Sequence[int], size_per_thread: Sequence[int], order: Sequence[int], warps: int, lanes: int
) -> Blocked:
    """As `blocked_for`, among the CTAs of a cluster as `bases` say; `block` is what one block has of the tensor."""
    return Blocked(tuple(size_per_thread), *_spread(block, size_per_thread, order, warps, lanes), tuple(order), bases)


def _spread(
    block: Sequence[int], size_per_thread: Sequence[int], order: Sequence[int], warps: int, lanes: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Threads a warp and warps a block along each dimension."""
    threads_left, lanes_left, warps_left = warps * lanes, lanes, warps
    per_warp, per_block = [1] * len(block), [1] * len(block)
    for d in order[:-1]:
        here = _clamp(threads_left, 1, max(1, block[d] // size_per_thread[d]))
        per_warp[d] = _clamp(here, 1, lanes_left)
        per_block[d] = _clamp(here // per_warp[d], 1, warps_left)
        warps_left //= per_block[d]
        lanes_left //= per_warp[d]
        threads_left //= here
    if block:
        last = order[-1]
        per_warp[last] = lanes // prod(n for d, n in enumerate(per_warp) if d != last)
        per_block[last] = warps // prod(n for d, n in enumerate(per_block) if d != last)
    return tuple(per_warp), tuple(per_block)


def default_blocked(shape: Sequence[int], warps: int, lanes: int, ctas: int = 1) -> Blocked:
    """One element a thread, the last dimension first: the layout that later passes start from."""
    return blocked_for(shape, [1] * len(shape), range(len(shape))[::-1], warps, lanes, ctas)


def _with(values: Sequence[int], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at:])


def expanded(layout: Blocked, axis: int) -> Blocked:
    """A layout with one dimension more, at `axis`, whose slice means what `layout` does."""
    rank = layout.rank + 1
    return Blocked(
        _with(layout.sizePerThread, axis, 1),
        _with(layout.threadsPerWarp, axis, 1),
        _with(layout.warpsPerCTA, axis, 1),
        tuple(range(rank)),
        tuple(_with(basis, axis, 0) for basis in layout.CGALayout),
    )


def reduced(layout: Distributed, axis: int) -> Slice:
    """The layout of what is left of a tensor when dimension `axis` is taken out."""
    return Slice(axis, layout)


def transposed(layout: Blocked, order: Sequence[int]) -> Blocked:
    """The layout of `tt.trans`: dimension k of the result is dimension order[k] of the operand."""
    place = {d: k for k, d in enumerate(order)}

    def turned(values: Sequence[int]) -> tuple[int, ...]:
        return tuple(values[d] for d in order)

    return Blocked(
        turned(layout.sizePerThread),
        turned(layout.threadsPerWarp),
        turned(layout.warpsPerCTA),
        tuple(place[d] for d in layout.order),
        tuple(turned(basis) for basis in layout.CGALayout),
    )


def joined(layout: Blocked) -> Blocked:
    """The layout of `tt.join`: each thread has both parts of what it has now, next to each other."""
    rank = layout.rank
    return Blocked(
        (*layout.sizePerThread, 2),
        (*layout.threadsPerWarp, 1),
        (*layout.warpsPerCTA, 1),
        (rank, *layout.order),
        tuple((*basis, 0) for basis in layout.CGALayout),
    )


def split(layout: Blocked) -> Blocked | None:
    """The layout of each half of a `tt.split`; None where the halves of an element are not both in one thread."""
    last = layout.rank - 1
    together = (layout.sizePerThread[last], layout.threadsPerWarp[last], layout.warpsPerCTA[last]) == (2, 1, 1)
    if not together or layout.order[0] != last or any(basis[last] for basis in layout.CGALayout):
        return None
    return Blocked(
        layout.sizePerThread[:-1],
        layout.threadsPerWarp[:-1],
        layout.warpsPerCTA[:-1],
        layout.order[1:],
        tuple(basis[:-1] for basis in layout.CGALayout),
    )
