"""A layout in which each warp stores its own elements, contiguous in memory.

    MMA layout                         blocked layout of the store        this layout
    warp 0: rows 0 to 15               warp 0: rows 0, 8, 16, …           warp 0: rows 0, 1, 2, …, 15
    warp 1: rows 16 to 31              warp 1: rows 1, 9, 17, …           warp 1: rows 16, 17, …, 31

From the first to the second, elements move between warps, with CTA barriers; to the third they move between lanes, with
warp-level synchronization.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from .bases import Basis

__all__ = ["warp_local_store"]

Bases = Sequence[Basis]

LINE = 128
"""Minimum of contiguous bytes that a warp stores at a time: a cache line."""


def warp_local_store(
    held: tuple[Bases, Bases], vector: Bases, lanes: int, order: Sequence[int], size: int
) -> tuple[list[Basis], list[Basis]] | None:
    """The bases of registers and lanes, if a warp stores in a given order the elements it holds in another layout.

    `held`: its bases of registers and lanes; `vector`: those of registers that one instruction stores; `lanes`: the
    number of lane bits; `order`: the dimensions, fastest in memory first; `size`: bytes of an element. None where an
    element is held twice, a basis moves along several dimensions, or too few elements are contiguous.

    >>> warp_local_store(([(0, 1), (8, 0)], [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]), [(0, 1)], 5, (1, 0), 16)
    ([(0, 1), (8, 0)], [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)])
    """
    owned = sorted(chain(*held), key=lambda basis: [basis[d] for d in reversed(order)])
    if any(sum(map(bool, basis)) != 1 for basis in owned) or len(set(owned)) < len(owned):
        return None
    first, then = owned[: len(vector)], owned[len(vector) :]
    if first != list(vector) or len(then) < lanes:
        return None
    dense = [basis[order[0]] for basis in owned[: len(vector) + lanes]]
    beside = next((i for i, n in enumerate(dense) if n != 1 << i), len(dense))
    return ([*first, *then[lanes:]], then[:lanes]) if size << beside >= LINE else None
