"""Triton's helpers of this name: paths into nested tuples, spellings of element types, checks of block shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..frontend.aggregate_types import tuple_type
from ..frontend.tuples import tuple as language_tuple
from ..runtime.arrays import type_canonicalisation_dict
from ..support import TritiumError
from ..support.deprecations import (
    CAT_CAN_REORDER_WARNING,
    FP_FUSION_DEFAULT_WARNING,
    RESHAPE_CAN_REORDER_WARNING,
    prewarm_deprecation_warnings,
    warn_once,
)
from ..support.limits import MAX_TENSOR_ELEMENTS

__all__ = [
    "BITWIDTH_DICT",
    "CAT_CAN_REORDER_WARNING",
    "FP_FUSION_DEFAULT_WARNING",
    "RESHAPE_CAN_REORDER_WARNING",
    "TRITON_MAX_TENSOR_NUMEL",
    "apply_with_path",
    "canonicalize_dtype",
    "canonicalize_ptr_dtype",
    "find_paths_if",
    "get_iterable_path",
    "get_primitive_bitwidth",
    "is_iterable",
    "is_namedtuple",
    "is_power_of_two",
    "prewarm_deprecation_warnings",
    "set_iterable_path",
    "type_canonicalisation_dict",
    "validate_block_shape",
    "warn_once",
]

TRITON_MAX_TENSOR_NUMEL = MAX_TENSOR_ELEMENTS

Path = tuple[int, ...]


class BlockShapeError(TritiumError, ValueError):
    """An invalid block shape."""


class BlockShapeTypeError(BlockShapeError, TypeError):
    """A shape with an element that is no integer."""


def is_iterable(x: Any) -> bool:
    """A list, or a tuple of Python or of the language, or a tuple's type."""
    return isinstance(x, (list, tuple, language_tuple, tuple_type))


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The value at a path: (2, 0) is the first item of the third.

    >>> get_iterable_path([1, (2, 3)], (1, 0))
    2
    """
    for index in path:
        iterable = iterable[index]
    return iterable


def set_iterable_path(iterable: Any, path: Path, val: Any) -> None:
    """Replace the value at a path in nested lists or tuples of the language.

    >>> values = [1, [2, 3]]
    >>> set_iterable_path(values, (1, 0), 7)
    >>> values
    [1, [7, 3]]
    """
    holder = get_iterable_path(iterable, path[:-1])
    if isinstance(holder, language_tuple):
        if holder._type is None or not holder._type.fields:
            holder._type = None
        holder = holder.values
    if not isinstance(holder, list):
        raise TypeError(f"a {type(holder).__name__} cannot be changed in place")
    holder[path[-1]] = val


def apply_with_path(value: Any, fn: Callable[[Path, Any], None], _path: Path | None = None) -> None:
    """`fn(path, leaf)` for each leaf in order; a value that is no tuple is a leaf. Paths begin with `_path`."""
    waiting: list[tuple[Path, Any]] = [(_path or (), value)]
    while waiting:
        path, item = waiting.pop()
        if is_iterable(item):
            waiting.extend(reversed([((*path, i), inner) for i, inner in enumerate(item)]))
        else:
            fn(path, item)


def find_paths_if(iterable: Any, pred: Callable[[Path, Any], bool]) -> list[Path]:
    """The paths of the leaves for which `pred(path, leaf)` holds, in order.

    >>> find_paths_if([1, ("a", 2)], lambda path, leaf: isinstance(leaf, int))
    [(0,), (1, 1)]
    """
    found: list[Path] = []
    apply_with_path(iterable, lambda path, leaf: found.append(path) if pred(path, leaf) else None)
    return found


def is_power_of_two(x: int) -> bool:
    """1, 2, 4, …; not 0.

    >>> [n for n in range(9) if is_power_of_two(n)]
    [1, 2, 4, 8]
    """
    return x > 0 and x.bit_count() == 1


def validate_block_shape(shape: Sequence[int]) -> int:
    """The number of elements of a block of this shape.

    TypeError for a size that is no int, ValueError for one that is no power of two and for too many elements, as in
    Triton. (Tritium's kernels accept other sizes too.)
    """
    count = 1
    for axis, size in enumerate(shape):
        if not isinstance(size, int):
            raise BlockShapeTypeError(
                f"Shape element {axis} must have type `constexpr[int]`, got `constexpr[{type(size)}]`"
            )
        if not is_power_of_two(size):
            raise BlockShapeError(f"Shape element {axis} must be a power of 2, and is {size}")
        count *= size
    if count > TRITON_MAX_TENSOR_NUMEL:
        raise BlockShapeError(f"numel ({count}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return count


def canonicalize_dtype(dtype: Any) -> str:
    """The signature's name of an element type: "fp16" for `torch.float16`; KeyError for others."""
    return type_canonicalisation_dict[str(dtype).rpartition(".")[2]]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    """The signature's name of a pointer: "*fp16", or "*kfp16" if it is not stored to."""
    return ("*k" if is_const else "*") + canonicalize_dtype(dtype)


def _bits(name: str) -> int:
    if name.startswith("fp8"):
        return 8
    return int("".join(c for c in name if c.isdigit()) or 0)


#: bits of an element by any spelling of its type
BITWIDTH_DICT: dict[str, int] = {spelling: _bits(name) for spelling, name in type_canonicalisation_dict.items()}


def get_primitive_bitwidth(dtype: str) -> int:
    """The bits of one element: 16 for "bf16"; KeyError for others."""
    return BITWIDTH_DICT[dtype]


def is_namedtuple(val: Any) -> bool:
    """Whether it is a class of named tuples."""
    return isinstance(val, type) and issubclass(val, tuple) and hasattr(val, "_fields")
