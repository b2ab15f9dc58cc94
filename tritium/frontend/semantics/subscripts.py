"""Subscripts of `x[…]`: one for each dimension of the block, and the positions of new dimensions.

The semantics are NumPy's. A dimension is kept (`:`), indexed and removed (`i`), sliced (`a:b:step` with bounds known
at compile time, `s : s + N` from a run-time start), or gathered by a block of indices. `None` adds a dimension of size
1, `...` replaces the missing `:`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...dialects import tt
from ..constexpr import unwrap
from ..dtypes import int32, int64
from ..tensor import tensor
from ..tuples import tuple as tl_tuple
from .errors import index_error, type_error, value_error
from .promotion import scalar_constant

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["At", "Keep", "Lookup", "Moving", "Subscripts", "Window", "items_of", "parsed"]

SUPPORTED = "integers, slices with compile-time bounds, x[s : s + N], None, `...` and a block of integers are supported"


class Keep(NamedTuple):
    """`:`"""

    size: int


class At(NamedTuple):
    """One element, at an index from 0 to below the size of the dimension."""

    index: int | tensor  # type: ignore[assignment]
    size: int = 1


class Window(NamedTuple):
    """`size` elements: `start`, `start + step`, …; the step may be negative."""

    start: int
    step: int
    size: int


class Moving(NamedTuple):
    """`size` consecutive elements from a run-time `start` on."""

    start: Any
    size: int


class Lookup(NamedTuple):
    """The elements at the indices of a block."""

    index: tensor  # type: ignore[assignment]


One = Keep | At | Window | Moving | Lookup


class Subscripts(NamedTuple):
    """The subscripts of a block's dimensions, and the dimensions of the result that `None` adds."""

    dims: list[One]
    new: list[int]

    def shape(self) -> list[int]:
        """The shape of the result."""
        shape: list[int] = []
        for one in self.dims:
            if isinstance(one, Lookup):
                shape += one.index.type.shape
            elif not isinstance(one, At):
                shape.append(one.size)
        for at in self.new:
            shape.insert(at, 1)
        return shape


def parsed(sem: SemanticContext, x: tensor, subscripts: Any) -> Subscripts:
    """The parsed subscripts of the block `x`. ValueError for unsupported ones."""
    items = items_of(subscripts)
    shape = x.type.shape
    wanted = sum(one is not None and one is not ... for one in items)
    if wanted > len(shape):
        raise value_error(f"too many indices for a block of shape {list(shape)}: {wanted}", _pointer_hint(x))
    if sum(one is ... for one in items) > 1:
        raise value_error("an index can only have a single `...`")
    dims: list[One] = []
    new: list[int] = []
    rank = 0
    for one in items if any(one is ... for one in items) else [*items, ...]:
        if one is None:
            new.append(rank)
            rank += 1
            continue
        many = len(shape) - wanted if one is ... else 1
        for _ in range(many):
            size = shape[len(dims)]
            dims.append(Keep(size) if one is ... else _one(sem, one, len(dims), size))
            rank += _rank(dims[-1])
    _check_together(dims, new)
    return Subscripts(dims, new)


def items_of(subscripts: Any) -> list[Any]:
    """The subscripts as a list."""
    if isinstance(subscripts, tl_tuple):
        subscripts = subscripts.values
    elif not isinstance(subscripts, (list, tuple)):
        subscripts = [subscripts]
    return [unwrap(one) for one in subscripts]


def _rank(one: One) -> int:
    if isinstance(one, Lookup):
        return len(one.index.type.shape)
    return 0 if isinstance(one, At) else 1


def _pointer_hint(x: tensor) -> str | None:
    return "read memory by tl.load(p + i), write it by tl.store(p + i, value)" if x.dtype.is_ptr() else None


def _one(sem: SemanticContext, one: Any, dim: int, size: int) -> One:
    if isinstance(one, Moving):
        return _moving(sem, one, dim, size)
    if isinstance(one, slice):
        return _window(one, dim, size)
    if isinstance(one, int) and not isinstance(one, bool):
        if not -size <= one < size:
            raise index_error(f"index {one} is out of bounds for dimension {dim} with size {size}")
        return At(one % size)
    if one.__class__ is tensor and one.dtype.is_int() and not one.dtype.is_bool():
        low = -size if one.dtype.is_int_signed() else 0
        _assert_inside(sem, one, low, size - 1, f"index is out of bounds for dimension {dim} with size {size}")
        index = _wrapped(sem, one, size)
        return Lookup(index) if one.type.is_block() else At(index)
    hint = SUPPORTED
    if isinstance(one, bool) or (one.__class__ is tensor and one.dtype.is_bool()):
        hint = (
            "the number of elements that a mask selects is not known at compile time: use tl.where, or a masked store"
        )
    what = f"a value of type {one.type}" if one.__class__ is tensor else one
    raise value_error(f"unsupported tensor index: {what}", hint)


def _window(one: slice, dim: int, size: int) -> One:
    parts = [unwrap(p) for p in (one.start, one.stop, one.step)]
    for p in parts:
        if p.__class__ is tensor:
            raise value_error(
                "unsupported tensor index: the bounds of a slice must be known at compile time",
                "annotate them as tl.constexpr; from a run-time start s, x[s : s + N] has N elements",
            )
        if p is not None and (not isinstance(p, int) or isinstance(p, bool)):
            raise type_error(f"slice indices must be integers or None, got {p!r}")
    if parts[2] == 0:
        raise value_error("slice step cannot be zero")
    start, stop, step = slice(*parts).indices(size)
    count = len(range(start, stop, step))
    if count == 0:
        raise value_error(
            f"unsupported tensor index: the slice is empty for dimension {dim} with size {size}",
            "blocks have at least one element",
        )
    return Keep(size) if (count == size and step > 0) else Window(start, step if count > 1 else 1, count)


def _moving(sem: SemanticContext, one: Moving, dim: int, size: int) -> One:
    count = unwrap(one.size)
    if not isinstance(count, int) or isinstance(count, bool):
        raise value_error("unsupported tensor index: the length of a slice must be known at compile time")
    if not 1 <= count <= size:
        raise value_error(f"a slice of {count} elements does not fit in dimension {dim} with size {size}")
    start = one.start
    if not start.dtype.is_int() or start.dtype.is_bool() or start.type.is_block():
        raise type_error(f"the start of a slice must be an integer, got {start.type}")
    what = f"a slice of {count} elements is out of bounds for dimension {dim} with size {size}"
    _assert_inside(sem, start, 0, size - count, what)
    return Moving(_wrapped(sem, start, size), count)


def _check_together(dims: Sequence[One], new: Sequence[int]) -> None:
    """Allow only one block of indices: NumPy combines several by special rules."""
    lookups = [one for one in dims if isinstance(one, Lookup)]
    if len(lookups) > 1 or (lookups and any(isinstance(one, At) for one in dims)):
        raise value_error(
            "unsupported tensor index: a block of integers together with other integers",
            "index one dimension after the other: x[i][idx]",
        )


# -- numbers that are known at run time ---------------------------------------------------------------------------


def _assert_inside(sem: SemanticContext, index: tensor, low: int, high: int, what: str) -> None:
    """With `debug` or `sanitize`, stop the launch unless low <= index <= high."""
    if sem.checks_indices:
        wide = sem.cast(index, int64)
        bounds = scalar_constant(sem, low, int64), scalar_constant(sem, high, int64)
        inside = sem.and_(sem.ge(wide, bounds[0]), sem.le(wide, bounds[1]))
        sem.builder.insert(tt.Assert(inside.handle, what))


def _wrapped(sem: SemanticContext, index: tensor, size: int) -> tensor:
    """index mod size, as int32: negative indices count from the end; the result is in bounds for any index."""
    if not size & (size - 1):
        return sem.and_(sem.cast(index, int32), scalar_constant(sem, size - 1, int32))
    kind = index.dtype
    if kind.int_bitwidth < 32 or kind is int32:
        kind = int32
    index = sem.cast(index, kind)
    rest = sem.cast(sem.mod(index, scalar_constant(sem, size, kind)), int32)
    if kind.is_int_unsigned():
        return rest
    number = scalar_constant(sem, size, int32)
    return sem.where(sem.lt(rest, scalar_constant(sem, 0, int32)), sem.add(rest, number, False), rest)
