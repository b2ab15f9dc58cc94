"""Lists of basis vectors over GF(2), the notation of layouts: the coordinates that each bit of an index maps to.

A basis is a tuple with one entry per dimension, `(0, 4)`; the image of an index is the exclusive or of the bases of its
bits. Zero bases are bits that make no difference (broadcasting).

>>> shape_of_bases([(0, 1), (0, 2), (1, 0)], 2)
(2, 4)
>>> is_permutation([(0, 1), (0, 0), (1, 0)], 2)
True
>>> is_permutation([(0, 1), (1, 1)], 2)
False
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from . import gf2

__all__ = [
    "cta_bases",
    "identity_bases",
    "is_permutation",
    "is_surjective",
    "moves_along_one",
    "order_of_bases",
    "per_block",
    "rank_of_bases",
    "shape_of_bases",
]

Basis = tuple[int, ...]


def rank_of_bases(*groups: Sequence[Basis]) -> int:
    """The number of dimensions of the first basis; 0 where there is none."""
    return next((len(basis) for group in groups for basis in group), 0)


def shape_of_bases(bases: Iterable[Sequence[int]], rank: int) -> tuple[int, ...]:
    """The smallest powers of two above the bases, one per dimension. `ValueError` for a basis of another rank."""
    bits = [0] * rank
    for basis in bases:
        if len(basis) != rank:
            raise ValueError(f"the basis {list(basis)} does not have {rank} dimensions")
        for d, n in enumerate(basis):
            bits[d] |= n
    return tuple(1 << n.bit_length() for n in bits)


def per_block(shape: Sequence[int], blocks: Iterable[Sequence[int]]) -> list[int]:
    """The shape of the part of a tensor that one CTA owns; `blocks` are the CTA bases, in units of that part.

    >>> per_block((64, 32), [(1, 0), (2, 0)])
    [16, 32]
    """
    return [max(1, n // parts) for n, parts in zip(shape, shape_of_bases(blocks, len(shape)))]


def _flat(basis: Basis, shape: Sequence[int]) -> int:
    """The coordinates of a basis packed into one integer."""
    out = 0
    for n, size in zip(basis, shape):
        out = out * size + n
    return out


def is_surjective(bases: Sequence[Basis], rank: int) -> bool:
    """Whether every coordinate below `shape_of_bases` is the image of some index."""
    shape = shape_of_bases(bases, rank)
    return 1 << gf2.rank([_flat(basis, shape) for basis in bases]) == prod(shape)


def moves_along_one(bases: Iterable[Basis]) -> bool:
    """Whether each basis has at most one nonzero entry."""
    return all(sum(n != 0 for n in basis) <= 1 for basis in bases)


def is_permutation(bases: Sequence[Basis], rank: int) -> bool:
    """Whether, zeros aside, each basis is one bit of one dimension and each bit of each dimension has one basis."""
    shape = shape_of_bases(bases, rank)
    bits = [v for basis in bases if (v := _flat(basis, shape))]
    return sorted(bits) == gf2.identity(prod(shape).bit_length() - 1)


def order_of_bases(bases: Iterable[Basis], rank: int) -> tuple[int, ...]:
    """Dimensions from the fastest to the slowest moving; those that do not move come last, the highest first."""
    out: list[int] = []
    for basis in bases:
        d = next((d for d, n in enumerate(basis) if n), None)
        if d is not None and d not in out:
            out.append(d)
    return (*out, *(d for d in reversed(range(rank)) if d not in out))


def identity_bases(shape: Sequence[int], order: Sequence[int]) -> tuple[Basis, ...]:
    """One basis per bit of the shape, dimensions in the given order, the fastest first.

    >>> identity_bases((2, 4), (1, 0))
    ((0, 1), (0, 2), (1, 0))
    """
    out = []
    for d in order:
        for k in range(shape[d].bit_length() - 1):
            out.append(tuple(1 << k if i == d else 0 for i in range(len(shape))))
    return tuple(out)


def cta_bases(per_cga: Sequence[int], split: Sequence[int], order: Sequence[int]) -> tuple[Basis, ...]:
    """The CTA bases of `per_cga` CTAs per dimension, of which `split` own different parts of the tensor.

    >>> cta_bases((2, 1), (1, 1), (1, 0))
    ((0, 0),)
    >>> cta_bases((2, 2), (2, 2), (1, 0))
    ((0, 1), (1, 0))
    """
    rank = len(order)
    out: list[Basis] = []
    for d in order:
        out += [tuple(1 << k if i == d else 0 for i in range(rank)) for k in range(split[d].bit_length() - 1)]
        out += [(0,) * rank] * ((per_cga[d] // split[d]).bit_length() - 1)
    return tuple(out)
