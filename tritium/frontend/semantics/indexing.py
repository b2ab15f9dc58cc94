"""Elements and slices of blocks: reading them, and blocks with some elements replaced.

A block is a value in registers, so each form is lowered to the cheapest existing operation:

- A slice whose bounds are powers of two of the block's (a half, a quarter, every other element, one element of eight)
  is a reshape and `tt.split`: on GPUs this selects registers, and the layout before it is chosen for that.
- Any other element or slice is a `tt.gather` of a few indices.
- Replacement selects between the block and the new elements, which are moved to their positions: repeated (`t` in
  `x[:n] = t` is concatenated with itself), or gathered if they are not aligned to powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..constexpr import unwrap
from ..dtypes import int32
from ..errors import LanguageError
from ..tensor import tensor
from .errors import OperandError, type_error, value_error
from .promotion import scalar_constant
from .subscripts import At, Keep, Lookup, Moving, Subscripts, Window, items_of, parsed

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["index", "replaced", "updated"]

_PIECES = 8  # of a block sliced by splits; a thread holds them all, more are gathered


# -- reading ------------------------------------------------------------------------------------------------------


def index(sem: SemanticContext, x: tensor, subscripts: Any) -> tensor:
    """x[subscripts], as in NumPy. ValueError for subscripts without a static shape."""
    if not x.type.is_block():
        return _of_scalar(sem, x, subscripts)
    return _read(sem, x, parsed(sem, x, subscripts))


def _read(sem: SemanticContext, x: tensor, wanted: Subscripts) -> tensor:
    x, dims = _flattened(sem, x, wanted.dims)
    axis = len(dims)
    for one in reversed(dims):  # removing a dimension does not change the indices of those before it
        axis -= 1
        x = _READ[type(one)](sem, x, axis, one)
    for at in wanted.new:
        x = sem.expand_dims(x, at)
    return x


def _flattened(sem: SemanticContext, x: tensor, dims: list[Any]) -> tuple[tensor, list[Any]]:
    """An element of several dimensions as an element of these dimensions flattened."""
    shape = x.type.shape
    if len(dims) < 2 or not all(isinstance(one, At) for one in dims) or any(n & (n - 1) for n in shape):
        return x, dims
    at: int | tensor = 0
    for one, size in zip(dims, shape):
        if isinstance(at, int) and isinstance(one.index, int):
            at = at * size + one.index
        else:
            before = scalar_constant(sem, at * size, int32) if isinstance(at, int) else _times(sem, at, size)
            index = scalar_constant(sem, one.index, int32) if isinstance(one.index, int) else one.index
            at = sem.add(before, index, False)
    return sem.reshape(x, [x.type.numel]), [At(at)]


def _times(sem: SemanticContext, x: tensor, size: int) -> tensor:
    return sem.mul(x, scalar_constant(sem, size, int32), False)  # type: ignore[no-any-return]


_ELEMENT = {"base": "is a pointer", "index": "", "value": ""}


def _of_scalar(sem: SemanticContext, x: tensor, subscripts: Any) -> tensor:
    """s[None, :] and the like."""
    kept = 0
    result = x
    for at, one in enumerate(items_of(subscripts)):
        if one is None:
            result = sem.expand_dims(result, at)
        elif isinstance(one, slice) and one == slice(None):
            kept += 1
        else:
            message = f"ValueError: too many indices for a scalar of type {x.type}"
            if x.dtype.is_ptr():
                raise OperandError(message, _ELEMENT, "read memory by `tl.load({base} + {index})`")
            raise LanguageError(message, "a scalar has no elements")
    if kept > len(result.type.shape):
        raise value_error("too many indices for a block of shape []")
    return result


def _keep(sem: SemanticContext, x: tensor, axis: int, one: Keep) -> tensor:
    return x


def _at(sem: SemanticContext, x: tensor, axis: int, one: At) -> tensor:
    shape = x.type.shape
    rest = [*shape[:axis], *shape[axis + 1 :]]
    if isinstance(one.index, int):
        x = _window(sem, x, axis, Window(one.index, 1, 1))
    elif shape[axis] > 1:
        x = _gather(sem, x, axis, sem.splat(one.index, (1,)))
    return sem.reshape(x, rest)


def _window(sem: SemanticContext, x: tensor, axis: int, one: Window) -> tensor:
    size = x.type.shape[axis]
    if (one.start, one.step, one.size) == (0, 1, size):
        return x
    if _is_aligned(x.type.shape, size, one) and size // one.size <= _PIECES:
        return _split(sem, x, axis, one)
    numbers: tensor = sem.arange(0, one.size)
    if one.step != 1:
        numbers = sem.mul(numbers, scalar_constant(sem, one.step, int32), False)
    if one.start:
        numbers = sem.add(numbers, scalar_constant(sem, one.start, int32), False)
    return _gather(sem, x, axis, numbers)


def _moving(sem: SemanticContext, x: tensor, axis: int, one: Moving) -> tensor:
    size = x.type.shape[axis]
    return _gather(sem, x, axis, _around(sem, sem.add(sem.arange(0, one.size), one.start, False), size))


def _lookup(sem: SemanticContext, x: tensor, axis: int, one: Lookup) -> tensor:
    shape, wanted = x.type.shape, one.index.type.shape
    flat = sem.reshape(one.index, [one.index.type.numel])
    return sem.reshape(_gather(sem, x, axis, flat), [*shape[:axis], *wanted, *shape[axis + 1 :]])


_READ: dict[type, Any] = {Keep: _keep, At: _at, Window: _window, Moving: _moving, Lookup: _lookup}


def _gather(sem: SemanticContext, x: tensor, axis: int, numbers: tensor) -> tensor:
    """The elements of `x` along `axis` at the indices `numbers`, a 1-D block."""
    shape = list(x.type.shape)
    if sem.gathers_rows and len(shape) > 1 and not any(n & (n - 1) for n in shape):
        return _gather_flat(sem, x, axis, numbers)
    shape[axis] = numbers.type.numel
    return sem.gather(x, sem.broadcast_to(_along(sem, numbers, axis, len(shape)), shape), axis)


def _gather_flat(sem: SemanticContext, x: tensor, axis: int, numbers: tensor) -> tensor:
    """The same of the flattened block, which is the fastest on GPUs: one barrier, and one load for each element.

    In [before, n, behind] the element [b, k, r] is at (b * n + k) * behind + r.
    """
    shape = list(x.type.shape)
    size, before, behind = shape[axis], math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    at = _along(sem, numbers, 1, 3)
    if before > 1:
        at = sem.add(_times(sem, _along(sem, sem.arange(0, before), 0, 3), size), at, False)
    if behind > 1:
        at = sem.add(_times(sem, at, behind), _along(sem, sem.arange(0, behind), 2, 3), False)
    count = before * numbers.type.numel * behind
    shape[axis] = numbers.type.numel
    flat = sem.gather(sem.reshape(x, [x.type.numel]), sem.reshape(at, [count]), 0)
    return sem.reshape(flat, shape)


def _along(sem: SemanticContext, x: tensor, axis: int, rank: int) -> tensor:
    """A 1-D block as a block of `rank` dimensions, along `axis`."""
    for at in range(rank):
        if at != axis:
            x = sem.expand_dims(x, at)
    return x


def _around(sem: SemanticContext, numbers: tensor, size: int) -> tensor:
    """Numbers below 2 * size, modulo `size`."""
    if not size & (size - 1):
        return sem.and_(numbers, scalar_constant(sem, size - 1, int32))
    number = scalar_constant(sem, size, int32)
    return sem.where(sem.lt(numbers, number), numbers, sem.sub(numbers, number, False))


def _is_aligned(shape: Sequence[int], size: int, one: Window) -> bool:
    """Is the dimension [pieces, one.size, step], and the slice one piece at one offset in a step?"""
    if any(n & (n - 1) for n in (*shape, one.size)) or one.step < 1 or one.step & (one.step - 1):
        return False
    whole = one.step * one.size
    return whole <= size and one.start // whole == (one.start + (one.size - 1) * one.step) // whole


def _split(sem: SemanticContext, x: tensor, axis: int, one: Window) -> tensor:
    """An aligned slice: reshape to pieces, permute these to the end as dimensions of 2, and split repeatedly."""
    shape, step = x.type.shape, one.step
    pieces = shape[axis] // (step * one.size)
    before, behind = shape[:axis], shape[axis + 1 :]
    x = sem.reshape(x, [*before, pieces, one.size, step, *behind])
    rank = len(x.type.shape)
    kept = [d for d in range(rank) if d not in (axis, axis + 2)]
    x = sem.permute(x, [*kept, axis, axis + 2])
    twos = (pieces * step).bit_length() - 1
    x = sem.reshape(x, [*before, one.size, *behind, *[2] * twos])
    number = one.start // (step * one.size) * step + one.start % step
    for bit in range(twos):
        x = sem.split(x)[number >> bit & 1]
    return x if x.type.is_block() else sem.splat(x, (1,))


# -- replacing ----------------------------------------------------------------------------------------------------


def replaced(sem: SemanticContext, x: tensor, subscripts: Any, value: Any) -> tensor:
    """`x` with `value` for x[subscripts], in the type of `x`; the value is broadcast as in NumPy."""
    wanted = _parsed_for_writing(sem, x, subscripts)
    return _selected(sem, x, wanted, _spread(sem, x, wanted, _converted(sem, x, value)))


def updated(sem: SemanticContext, x: tensor, subscripts: Any, value: Any, operate: Callable[[Any, Any], Any]) -> tensor:
    """`x` with operate(x[subscripts], value) for x[subscripts]: all elements are computed, some selected.

    For operations that neither trap nor are checked: `operate` is called with `x` and `value` at its position.
    """
    wanted = _parsed_for_writing(sem, x, subscripts)
    if value.__class__ is tensor:
        value = _spread(sem, x, wanted, value)
    return _selected(sem, x, wanted, _converted(sem, x, operate(x, value)))


def _parsed_for_writing(sem: SemanticContext, x: tensor, subscripts: Any) -> Subscripts:
    """The subscripts of an assignment to elements of `x`."""
    if not x.type.is_block():
        message = f"ValueError: assignment to an element of a scalar of type {x.type}"
        if x.dtype.is_ptr():
            raise OperandError(message, _ELEMENT, "write memory by `tl.store({base} + {index}, {value})`")
        raise LanguageError(message, "assign to the name itself")
    wanted = parsed(sem, x, subscripts)
    if any(isinstance(one, Lookup) for one in wanted.dims):
        raise value_error(
            "unsupported tensor index: assignment to elements at a block of integers",
            "two of them may be equal: use memory (tl.store), or loop over them",
        )
    return wanted


def _converted(sem: SemanticContext, x: tensor, value: Any) -> tensor:
    """A value in the element type of `x`, as assignments of NumPy and stores convert it."""
    value = unwrap(value)
    kind = x.dtype
    if value.__class__ is not tensor:
        if not isinstance(value, (bool, int, float)):
            raise type_error(f"a value of type {type(value).__name__} cannot become elements of {kind}")
        if isinstance(value, int) and kind.is_int() and not kind.is_bool() and not isinstance(value, bool):
            if not kind.get_int_min_value() <= value <= kind.get_int_max_value():
                raise value_error(f"{value} is out of range for elements of {kind}")
        if kind.is_bool():
            value = bool(value)
        return scalar_constant(sem, value, kind)
    if value.dtype is not kind and kind.is_ptr() | value.dtype.is_ptr():
        raise type_error(f"a value of type {value.dtype} cannot become elements of {kind}")
    return sem.cast(value, kind)


def _spread(sem: SemanticContext, x: tensor, wanted: Subscripts, value: tensor) -> tensor:
    """`value` at the positions of x[wanted]: a scalar, or a block of the rank of `x` with its sizes or 1."""
    if not value.type.is_block():
        return value
    value = _fitted(sem, value, wanted)
    for axis, one in enumerate(wanted.dims):
        if isinstance(one, At):
            value = sem.expand_dims(value, axis)
        elif value.type.shape[axis] > 1:
            value = _SPREAD[type(one)](sem, value, axis, one, x.type.shape[axis])
    return value


def _fitted(sem: SemanticContext, value: tensor, wanted: Subscripts) -> tensor:
    """The value without the dimensions that `None` adds, one dimension for each kept one."""
    shape, have = wanted.shape(), list(value.type.shape)
    while len(have) > len(shape) and have[0] == 1:
        del have[0]
    have = [1] * (len(shape) - len(have)) + have
    if len(have) > len(shape) or any(n not in (1, m) for n, m in zip(have, shape)):
        raise value_error(
            f"could not broadcast a block of shape {list(value.type.shape)} into shape {shape}",
            "the value must have the shape of the elements that it replaces, or sizes of 1",
        )
    for at in sorted(wanted.new, reverse=True):
        del have[at]
    return sem.reshape(value, have) if have else sem.unsplat(value)


def _spread_keep(sem: SemanticContext, value: tensor, axis: int, one: Keep, size: int) -> tensor:
    return value


def _spread_window(sem: SemanticContext, value: tensor, axis: int, one: Window, size: int) -> tensor:
    if one.size == size and one.step == 1:
        return value
    if _is_aligned((*value.type.shape, size), size, one):
        return _repeated(sem, value, axis, one, size)
    at = sem.sub(sem.arange(0, size), scalar_constant(sem, one.start, int32), False)
    if one.step != 1:
        at = sem.floordiv(at, scalar_constant(sem, one.step, int32))
    return _gather(sem, value, axis, _within(sem, at, one.size))


def _spread_moving(sem: SemanticContext, value: tensor, axis: int, one: Moving, size: int) -> tensor:
    return _gather(sem, value, axis, _within(sem, _distance(sem, one, size), one.size))


_SPREAD: dict[type, Any] = {Keep: _spread_keep, Window: _spread_window, Moving: _spread_moving}


def _repeated(sem: SemanticContext, value: tensor, axis: int, one: Window, size: int) -> tensor:
    """The value repeated, each element `step` times: [n] -> [pieces, n, step] -> [size]."""
    shape = value.type.shape
    before, behind = shape[:axis], shape[axis + 1 :]
    pieces = size // (one.step * one.size)
    value = sem.reshape(value, [*before, 1, one.size, 1, *behind])
    value = sem.broadcast_to(value, [*before, pieces, one.size, one.step, *behind])
    return sem.reshape(value, [*before, size, *behind])


def _within(sem: SemanticContext, at: tensor, size: int) -> tensor:
    """Numbers below `size` unchanged, others undefined but in range."""
    if not size & (size - 1):
        return sem.and_(at, scalar_constant(sem, size - 1, int32))
    zero = scalar_constant(sem, 0, int32)
    inside = sem.and_(sem.ge(at, zero), sem.lt(at, scalar_constant(sem, size, int32)))
    return sem.where(inside, at, zero)


def _distance(sem: SemanticContext, one: Moving, size: int) -> tensor:
    """The distance of each element of a dimension from the start of a slice, modulo the size."""
    away = sem.add(sem.sub(sem.arange(0, size), one.start, False), scalar_constant(sem, size, int32), False)
    return _around(sem, away, size)


def _selected(sem: SemanticContext, x: tensor, wanted: Subscripts, value: tensor) -> tensor:
    """`value`, a scalar or as long as `x` or 1 in each dimension, at x[wanted]; `x` elsewhere."""
    shape = x.type.shape
    mask = None
    for axis, one in enumerate(wanted.dims):
        here = _MASKS[type(one)](sem, one, shape[axis])
        if here is not None:
            here = _along(sem, here, axis, len(shape))
            mask = here if mask is None else sem.and_(mask, here)
    value = sem.broadcast_to(value, shape)
    return value if mask is None else sem.where(mask, value, x)


def _mask_keep(sem: SemanticContext, one: Keep, size: int) -> tensor | None:
    return None


def _mask_at(sem: SemanticContext, one: At, size: int) -> tensor | None:
    if size == 1:
        return None
    number = scalar_constant(sem, one.index, int32) if isinstance(one.index, int) else one.index
    return sem.eq(sem.arange(0, size), number)  # type: ignore[no-any-return]


def _mask_window(sem: SemanticContext, one: Window, size: int) -> tensor | None:
    first, last = sorted((one.start, one.start + (one.size - 1) * one.step))
    step = abs(one.step)
    at = sem.arange(0, size)
    conditions = []
    if first >= step:
        conditions.append(sem.ge(at, scalar_constant(sem, first, int32)))
    if last + step < size:
        conditions.append(sem.le(at, scalar_constant(sem, last, int32)))
    if step > 1:
        power = not step & (step - 1)
        rest = (sem.and_ if power else sem.mod)(at, scalar_constant(sem, step - power, int32))
        conditions.append(sem.eq(rest, scalar_constant(sem, first % step, int32)))
    mask = None
    for c in conditions:
        mask = c if mask is None else sem.and_(mask, c)
    return mask


def _mask_moving(sem: SemanticContext, one: Moving, size: int) -> tensor | None:
    if one.size == size:
        return None
    return sem.lt(_distance(sem, one, size), scalar_constant(sem, one.size, int32))  # type: ignore[no-any-return]


_MASKS: dict[type, Any] = {Keep: _mask_keep, At: _mask_at, Window: _mask_window, Moving: _mask_moving}
