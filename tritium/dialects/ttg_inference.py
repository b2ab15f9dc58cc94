"""Which layout a tensor has that is another seen differently: turned, reshaped, joined, split, unpacked.

Each function takes a layout and shapes and returns the layout of the other tensor, in which every element is where it
was, or None where there is none. A blocked layout stays one where that can say it; else the result is spelt by its
bases. Such a layout may be equal to one that is spelt otherwise: `ttg_rules.equivalent` tells.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from math import prod

from ..layout import LinearLayout
from ..layout.bases import is_permutation
from ..layout.tiling import dimension_names
from ..layout.views import renamed_dims, reshaped, without_pairs
from . import ttg_defaults
from .ttg_layouts import Blocked, Distributed, DotOperand, GenericLinear, Linear, Slice
from .ttg_maps import linear_layout, map_or_none

__all__ = ["joined", "of_pairs", "packed", "reshaped_to", "spelt", "split", "transposed"]

Shape = tuple[int, ...]
_DIMS = ("register", "lane", "warp", "block")


def spelt(layout: LinearLayout) -> Distributed:
    """The attribute that gives the bases of a layout of registers."""
    bases = layout.bases
    parts = [tuple(bases.get(name, ())) for name in _DIMS]
    plain = is_permutation(tuple(itertools.chain(*parts)), len(layout.outs))
    return (Linear if plain else GenericLinear)(*parts)


@functools.lru_cache(4096)
def transposed(layout: Distributed, shape: Shape, order: tuple[int, ...]) -> Distributed | None:
    """Of the tensor whose dimension k is dimension order[k] of one of `shape`."""
    if order == tuple(range(len(order))):
        return layout
    if isinstance(layout, Blocked):
        return ttg_defaults.transposed(layout, order)
    whole = map_or_none(layout, shape)
    return None if whole is None else spelt(renamed_dims(whole, order))


@functools.lru_cache(4096)
def reshaped_to(layout: Distributed, shape: Shape, target: Shape) -> Distributed | None:
    """Of the tensor of shape `target` that has the elements of one of `shape`, in row-major order."""
    if shape == target:
        return layout
    whole = map_or_none(layout, shape)
    if whole is None:
        return None
    wanted = reshaped(whole, target)
    return (_as_blocked(layout, wanted, target) if isinstance(layout, Blocked) else None) or spelt(wanted)


def _as_blocked(like: Blocked, wanted: LinearLayout, shape: Shape) -> Blocked | None:
    """A blocked layout that means `wanted`: the plain one, or one read off the bases."""
    candidates = [ttg_defaults.default_blocked(shape, like.warps, like.lanes, like.ctas)]
    if not like.CGALayout:
        candidates += _read_off(wanted, like, shape)
    bare = wanted.without_zeros("register")
    return next((c for c in candidates if linear_layout(c, shape).without_zeros("register") is bare), None)


def _read_off(wanted: LinearLayout, like: Blocked, shape: Shape) -> list[Blocked]:
    """Blocked layouts whose tile could be the one that the bases begin with."""
    rank, bases = len(shape), wanted.bases
    order: list[int] = []
    reach = [1] * rank
    tiles: list[list[int]] = []
    for name in _DIMS[:3]:
        sizes = [1] * rank
        for vector in bases.get(name, ()):
            dim = next((d for d, n in enumerate(vector) if n), None)
            if dim is None or vector[dim] != reach[dim] or sum(map(bool, vector)) != 1:
                if dim is None or name == "register":
                    continue
                return []
            reach[dim] *= 2
            sizes[dim] *= 2
            order += [dim] if dim not in order else []
        tiles.append(sizes)
    order += [d for d in reversed(range(rank)) if d not in order]
    found = []
    for spare in range(rank):  # lanes and warps that hold copies count along some dimension
        padded = [
            [n * (most // prod(sizes)) if d == spare else n for d, n in enumerate(sizes)]
            for sizes, most in zip(tiles[1:], (like.lanes, like.warps))
        ]
        found.append(Blocked(tuple(tiles[0]), tuple(padded[0]), tuple(padded[1]), tuple(order)))
    return found


@functools.lru_cache(2048)
def joined(layout: Distributed, shape: Shape) -> Distributed | None:
    """Of the join of two tensors of `shape`: both parts of an element in one thread, next to each other."""
    if isinstance(layout, Slice) and layout.dim == len(shape):
        half = split(layout.parent, (*shape, 2))
        if half is not None and map_or_none(half, shape) is map_or_none(layout, shape):
            return layout.parent
    if isinstance(layout, Blocked):
        return ttg_defaults.joined(layout)
    whole = map_or_none(layout, shape)
    if whole is None:
        return None
    flat = whole.reshaped(outs={**whole.outs, dimension_names(len(shape) + 1)[-1]: 1})
    pair = LinearLayout.identity_1d(2, "register", dimension_names(len(shape) + 1)[-1])
    whole = (pair * flat).reordered(outs=dimension_names(len(shape) + 1))
    return spelt(whole)


@functools.lru_cache(2048)
def split(layout: Distributed, shape: Shape) -> Distributed | None:
    """Of each half of a tensor of `shape`, whose last dimension is 2 and lies in one thread."""
    if isinstance(layout, Blocked) and (half := ttg_defaults.split(layout)) is not None:
        return half
    whole = map_or_none(layout, shape)
    rest = None if whole is None or shape[-1] != 2 else without_pairs(whole, len(shape) - 1)
    return None if rest is None else spelt(reshaped(rest, shape[:-1]))


@functools.lru_cache(2048)
def packed(layout: Distributed, shape: Shape, axis: int) -> Distributed | None:
    """Of the tensor of pairs of neighbours along `axis` of one of `shape`, both of which one thread has."""
    if isinstance(layout, DotOperand) and layout.kWidth > 1 and axis == len(shape) - (1 if layout.opIdx == 0 else 2):
        return DotOperand(layout.opIdx, layout.parent, layout.kWidth // 2)
    if isinstance(layout, Blocked) and layout.order[0] == axis and layout.sizePerThread[axis] > 1:
        return layout.with_(sizePerThread=_halved(layout.sizePerThread, axis))
    whole = map_or_none(layout, shape)
    rest = None if whole is None else without_pairs(whole, axis)
    return None if rest is None else spelt(rest)


@functools.lru_cache(2048)
def of_pairs(layout: Distributed, shape: Shape, axis: int) -> Distributed | None:
    """Of the tensor whose neighbours along `axis` are the pairs in one of `shape`; they stay in their thread."""
    if isinstance(layout, DotOperand) and axis == len(shape) - (1 if layout.opIdx == 0 else 2):
        return DotOperand(layout.opIdx, layout.parent, layout.kWidth * 2)
    if isinstance(layout, Blocked) and layout.order[0] == axis:
        return layout.with_(sizePerThread=tuple(2 * n if d == axis else n for d, n in enumerate(layout.sizePerThread)))
    whole = map_or_none(layout, shape)
    if whole is None:
        return None
    pair = LinearLayout.identity_1d(2, "register", dimension_names(len(shape))[axis])
    return spelt((pair * whole).reordered(outs=dimension_names(len(shape))))


def _halved(sizes: Sequence[int], axis: int) -> tuple[int, ...]:
    return tuple(n // 2 if d == axis else n for d, n in enumerate(sizes))
