"""A layout for what a warp stores by itself: its own elements, side by side in memory.

    what products leave                what is written (blocked)          what is written (here)
    warp 0: rows 0 to 15               warp 0: rows 0, 8, 16, …           warp 0: rows 0, 1, 2, …, 15
    warp 1: rows 16 to 31              warp 1: rows 1, 9, 17, …           warp 1: rows 16, 17, …, 31

From the first to the second, elements go from warp to warp, for which the whole block waits; to the third they go from
lane to lane, for which a warp waits for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from .bases import Basis

__all__ = ["warp_local_store"]

Bases = Sequence[Basis]

LINE = 128
"""Bytes side by side that a warp stores at a time, at least: a line of the cache."""


def warp_local_store(
    held: tuple[Bases, Bases], vector: Bases, lanes: int, order: Sequence[int], size: int
) -> tuple[list[Basis], list[Basis]] | None:
    """The bases of registers and of lanes, if a warp stores in an order what it holds in these of another layout.

    `held` are its bases of registers and lanes; `vector` those of registers that one instruction stores, `lanes` how
    many bits number a lane, `order` the dimensions as they lie in memory, the densest first, `size` the bytes of an
    element. None where an element is held twice, along no dimension, or too few lie side by side.

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
