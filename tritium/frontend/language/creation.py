"""Program ids, creation of blocks, casts, shapes."""

from __future__ import annotations

from typing import Any

from ...support.lazy import LazyModule
from ..constexpr import unwrap
from ..errors import LanguageError
from ..tensor import tensor
from ..tuples import tuple as tl_tuple
from .builtin import builtin, check_dtype, flag, member, shape_of, static_int, unwrap_sequence

__all__ = [
    "arange",
    "broadcast",
    "broadcast_to",
    "cast",
    "cat",
    "expand_dims",
    "full",
    "gather",
    "item",
    "join",
    "num_programs",
    "permute",
    "program_id",
    "reshape",
    "split",
    "squeeze",
    "to_tensor",
    "trans",
    "unsqueeze",
    "view",
]

_deprecations = LazyModule("...support.deprecations", __package__)


@builtin
def program_id(axis: object, _semantic: Any = None) -> tensor:
    """The position of this program along `axis` (0, 1 or 2) of the grid, int32."""
    return _semantic.program_id(axis)


@builtin
def num_programs(axis: object, _semantic: Any = None) -> tensor:
    """The size of the grid along `axis` (0, 1 or 2), int32."""
    return _semantic.num_programs(axis)


@builtin
def arange(start: object, end: object, _semantic: Any = None) -> tensor:
    """[start, …, end - 1] as int32; both known at compile time."""
    return _semantic.arange(start, end)


@builtin
def full(shape: object, value: object, dtype: object, _semantic: Any = None) -> tensor:
    """A block of `shape` filled with the scalar `value`."""
    return _semantic.full(shape_of([shape]), unwrap(value), check_dtype(dtype))


@builtin
def to_tensor(x: object, _semantic: Any = None) -> tensor:
    """A number as a scalar tensor."""
    return _semantic.to_tensor(x)


@member
@builtin
def cast(
    input: object, dtype: object, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Any = None
) -> tensor:
    """The value of `input` in another type; with `bitcast` its bits. `fp_downcast_rounding`: "rtne" or "rtz"."""
    x = _semantic.to_tensor(input)
    ty = check_dtype(dtype)
    if flag(bitcast):
        return _semantic.bitcast(x, ty)
    return _semantic.cast(x, ty, unwrap(fp_downcast_rounding))


@builtin
def _to(
    self: object, dtype: object, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Any = None
) -> tensor:
    """The same as `tl.cast`."""
    return cast(self, dtype, fp_downcast_rounding, bitcast, _semantic=_semantic)


tensor.to = _to


@builtin
def _subscript(self: tensor, slices: Any, _semantic: Any = None) -> tensor:
    """x[None, :] and the like."""
    return _semantic.index(self, slices)


tensor.__getitem__ = _subscript


# -- shape --------------------------------------------------------------------------------------------------------


def _block(x: Any, name: str, sem: Any) -> tensor:
    if x.__class__ is not tensor:
        if isinstance(unwrap(x), (bool, int, float)):
            return sem.to_tensor(x)
        raise LanguageError(f"TypeError: {name} takes a tensor, got {unwrap(x)!r}")
    return x


@builtin
def broadcast(input: object, other: object, _semantic: Any = None) -> tl_tuple:
    """Both broadcast by NumPy's rules."""
    return tl_tuple(
        _semantic.broadcast_value(
            _block(input, "broadcast", _semantic), _block(other, "broadcast", _semantic), ("input", "other")
        )
    )


@member
@builtin
def broadcast_to(input: object, *shape: object, _semantic: Any = None) -> tensor:
    """`input` with its dimensions of size 1 repeated to `shape`."""
    return _semantic.broadcast_to(_block(input, "broadcast_to", _semantic), shape_of(shape))


@member
@builtin
def trans(input: object, *dims: Any, _semantic: Any = None) -> tensor:
    """The dimensions permuted by `dims`; without them, the last two exchanged."""
    x = _block(input, "trans", _semantic)
    rank = len(x.type.shape)
    order = _dims(dims)
    if not order:
        if rank < 2:
            raise LanguageError(f"ValueError: tl.trans invoked with a {rank}-D tensor", "it takes 2-D or more")
        order = [*range(rank - 2), rank - 1, rank - 2]
    return _semantic.permute(x, order)


@member
@builtin
def permute(input: object, *dims: Any, _semantic: Any = None) -> tensor:
    """Dimension k of the result is dimension dims[k] of `input`."""
    return _semantic.permute(_block(input, "permute", _semantic), _dims(dims))


def _dims(dims: Any) -> list[int]:
    if len(dims) == 1 and not isinstance(unwrap(dims[0]), int):
        dims = unwrap_sequence(dims[0])
    return [static_int(d, "a dimension") for d in dims]


@member
@builtin
def reshape(input: object, *shape: object, can_reorder: Any = False, _semantic: Any = None) -> tensor:
    """The elements in row-major order in another shape."""
    x = _block(input, "reshape", _semantic)
    dims, reorder = list(shape), flag(can_reorder)
    if len(dims) == 2 and not isinstance(unwrap(dims[0]), int) and isinstance(unwrap(dims[1]), bool):
        reorder = unwrap(dims.pop())  # reshape(x, shape, can_reorder) by position
    if reorder:
        _deprecations.warn_once(_deprecations.RESHAPE_CAN_REORDER_WARNING)
    return _semantic.reshape(x, shape_of(dims), reorder)


@member
@builtin
def view(input: object, *shape: object, _semantic: Any = None) -> tensor:
    """`reshape` with elements in any order; deprecated in favour of `reshape`."""
    return _semantic.reshape(_block(input, "view", _semantic), shape_of(shape), True)


@member
@builtin
def expand_dims(input: object, axis: object, _semantic: Any = None) -> tensor:
    """A dimension of size 1 at `axis` of the result; for several, at each of them."""
    x = _block(input, "expand_dims", _semantic)
    axes = [static_int(a, "axis") for a in unwrap_sequence(axis)]
    rank = len(x.type.shape) + len(axes)
    places = []
    for a in axes:
        if not -rank <= a < rank:
            raise LanguageError(f"ValueError: invalid axis {a}. Expected {-rank} <= axis < {rank}")
        places.append(a + rank if a < 0 else a)
    if len(set(places)) != len(places):
        raise LanguageError(f"ValueError: expand_dims received duplicate axes, normalized axes = {places}")
    for a in sorted(places):
        x = _semantic.expand_dims(x, a)
    return x


@member
@builtin
def unsqueeze(x: object, dim: object, _semantic: Any = None) -> tensor:
    """A dimension of size 1 at `dim`."""
    return expand_dims(x, dim, _semantic=_semantic)


@member
@builtin
def squeeze(x: object, dim: object, _semantic: Any = None) -> tensor:
    """Without dimension `dim`, which has size 1."""
    x = _block(x, "squeeze", _semantic)
    shape = list(x.type.shape)
    at = static_int(dim, "dim")
    at = at + len(shape) if at < 0 else at
    if not 0 <= at < len(shape) or shape[at] != 1:
        raise LanguageError(f"ValueError: dimension {unwrap(dim)} of a block of shape {shape} is not of size 1")
    del shape[at]
    return _semantic.reshape(x, shape)


@member
@builtin
def item(input: object, _semantic: Any = None) -> tensor:
    """The only element as a scalar."""
    return _semantic.unsplat(_block(input, "item", _semantic))


@builtin
def cat(input: object, other: object, can_reorder: Any = False, dim: object = 0, _semantic: Any = None) -> tensor:
    """`input` followed by `other` along `dim`."""
    x, y = _block(input, "cat", _semantic), _block(other, "cat", _semantic)
    if flag(can_reorder):
        _deprecations.warn_once(_deprecations.CAT_CAN_REORDER_WARNING)
    return _semantic.cat(x, y, flag(can_reorder), unwrap(dim))


@builtin
def join(a: Any, b: Any, _semantic: Any = None) -> tensor:
    """A new last dimension of size 2 that holds `a` and `b`."""
    return _semantic.join(_block(a, "join", _semantic), _block(b, "join", _semantic))


@member
@builtin
def split(a: Any, _semantic: Any = None) -> tl_tuple:
    """The two halves of the last dimension, which has size 2."""
    return tl_tuple(_semantic.split(_block(a, "split", _semantic)))


@member
@builtin
def gather(src: Any, index: Any, axis: object, _semantic: Any = None) -> tensor:
    """result[i…] = src[i… with the coordinate at `axis` replaced by index[i…]]"""
    return _semantic.gather(_block(src, "gather", _semantic), _block(index, "gather", _semantic), axis)
