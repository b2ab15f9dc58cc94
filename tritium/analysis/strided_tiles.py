"""The tile of a strided tensor that an access by pointers reaches: `x[start_0 : …, start_1 : …]` with strides.

    %x + (%pid * 128 + [0 : 128])[:, None] * %stride + %k * 64 + [0 : 64],  mask %k * 64 + [0 : 64] < %n
    base %x
    dimension 0: stride %stride, start %pid * 128, size 128, no extent
    dimension 1: stride 1,       start %k * 64,    size 64,  extent %n

Each dimension of the accessed tile has its step as stride (`affine_addresses`). A term of the offset belongs to the
dimension whose stride divides it, the one with most factors if there are several, and its quotient to the start of that
dimension. What no stride but 1 divides is of three kinds: terms of arguments alone are part of the base; a term with
arguments (`%batch * %stride_b`) is a dimension of its own, of size 1; any other term starts the dimension of stride 1.

The extent of a dimension is the bound that the mask, or a wrapped index, sets to `start + i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir import PointerAccess, Value, shape_of
from .affine_addresses import Affine, AffineAddresses, Bound, NotAffine, Requirement
from .polynomials import Polynomial

__all__ = ["Dimension", "StridedTile", "reached_tile", "strided_tile"]

ZERO, ONE = Polynomial.of(0), Polynomial.of(1)


class Dimension(NamedTuple):
    """Indices `start` to `start + size - 1` below `extent` (None: all); `stride` counts elements.

    `axis` is the dimension of the accessed tile, None for one that it does not have. `above_zero`: negative indices are
    masked off.
    """

    axis: int | None
    stride: Polynomial
    start: Polynomial
    size: int
    extent: Polynomial | None = None
    above_zero: bool = False


class StridedTile(NamedTuple):
    """`base + offset` is the address of element (0, …, 0) of the tensor; `requirements` as of `affine_addresses`."""

    base: Value
    offset: Polynomial
    dimensions: tuple[Dimension, ...]
    requirements: frozenset[Requirement]


def strided_tile(addresses: AffineAddresses, access: PointerAccess, masked: bool = True) -> StridedTile:
    """The tile that a load or store accesses, or with all that is `masked` off; raises NotAffine."""
    shape = shape_of(access.pointer.type)
    pointers, mask = addresses.affine(access.pointer), addresses.mask(access.access_mask if masked else None)
    if pointers.base is None:
        raise NotAffine("an address that is no argument's", access.pointer)
    dimensions = [Dimension(d, pointers.steps[d], ZERO, size) for d, size in enumerate(shape) if size > 1]
    for dimension in dimensions:
        if len(dimension.stride.terms) != 1 or not addresses.is_of_arguments(dimension.stride):
            raise NotAffine("a stride that is no argument", access.pointer)
    offset, dimensions = _distributed(addresses, pointers.offset, dimensions, access.pointer)
    tile = [_limited(d, pointers, mask.bounds, access.pointer) for d in dimensions]
    if any(shape[bound.dimension] == 1 for bound in mask.bounds):
        raise NotAffine("a mask that is the same for all elements", access.access_mask)
    return StridedTile(pointers.base, offset, tuple(tile), pointers.requirements | mask.requirements)


def reached_tile(addresses: AffineAddresses, access: PointerAccess) -> StridedTile:
    """A tile that contains what an access reaches: without the mask, where that bounds no index; raises NotAffine."""
    try:
        return strided_tile(addresses, access)
    except NotAffine:
        return strided_tile(addresses, access, masked=False)


def _distributed(
    addresses: AffineAddresses, offset: Polynomial, dimensions: Sequence[Dimension], where: Value
) -> tuple[Polynomial, list[Dimension]]:
    """The offset of the base, and the dimensions with their starts."""
    rest = ZERO
    found = list(dimensions)
    order = sorted((d for d, dim in enumerate(found) if dim.stride != ONE), key=lambda d: _factors(found[d].stride))
    for monomial, number in offset:
        term = Polynomial({monomial: number})
        owner = next((d for d in reversed(order) if term.quotient(found[d].stride) is not None), None)
        if owner is None and addresses.is_of_arguments(term):
            rest += term
            continue
        strides = Polynomial({tuple(n for n in monomial if addresses.is_of_arguments(Polynomial({(n,): 1}))): 1})
        if owner is None and strides != ONE:
            owner = next((d for d, dim in enumerate(found) if dim.stride == strides), len(found))
            if owner == len(found):
                found.append(Dimension(None, strides, ZERO, 1))
        if owner is None:
            owner = next((d for d, dim in enumerate(found) if dim.stride == ONE), None)
        if owner is None:
            raise NotAffine("an offset that is no multiple of a stride", where)
        quotient = term.quotient(found[owner].stride)
        assert quotient is not None
        found[owner] = found[owner]._replace(start=found[owner].start + quotient)
    return rest, found


def _factors(stride: Polynomial) -> tuple[int, int]:
    """The number of arguments in a stride, and its constant factor."""
    ((monomial, number),) = stride.terms.items()
    return len(monomial), abs(number)


def _limited(dimension: Dimension, pointers: Affine, bounds: Sequence[Bound], where: Value) -> Dimension:
    """A dimension with the extent that the mask or a wrapped index sets."""
    if dimension.axis is None:
        return dimension
    extents = {dimension.start + bound.limit for bound in bounds if bound.upper and bound.dimension == dimension.axis}
    wrapped = pointers.limits[dimension.axis]
    if wrapped is not None:
        extents.add(dimension.start + wrapped)
    lower = {dimension.start + bound.limit for bound in bounds if not bound.upper and bound.dimension == dimension.axis}
    if len(extents) > 1:
        raise NotAffine("an index with two bounds", where)
    if lower - {ZERO}:
        raise NotAffine("an index whose lower bound is not 0", where)
    return dimension._replace(extent=next(iter(extents), None), above_zero=bool(lower))
