"""Loads, stores, block pointers, descriptors, atomics."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..constexpr import unwrap
from ..tensor import tensor, tensor_descriptor
from ..tuples import tuple as tl_tuple
from .builtin import builtin, flag, member, shape_of, unwrap_sequence

__all__ = [
    "advance",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
    "load",
    "load_tensor_descriptor",
    "make_block_ptr",
    "make_tensor_descriptor",
    "store",
    "store_tensor_descriptor",
]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _older_positions(first: int, names: tuple[str, ...]) -> Callable[[_Function], _Function]:
    """Accept the positional order of releases before 3.9, where the arguments of block pointers come earlier.

    A sequence as positional argument number `first` is `boundary_check`, as no other argument takes one; it and those
    after it are called `names`.
    """

    def decorator(fn: _Function) -> _Function:
        @functools.wraps(fn)
        def wrapper(*args: object, **kwargs: object) -> Any:
            if len(args) > first and isinstance(unwrap(args[first]), (tl_tuple, list, builtins.tuple)):
                older = dict(zip(names, args[first:]))
                twice = [*(older.keys() & kwargs.keys())]
                if twice or len(args) - first > len(names):
                    what = f"multiple values for argument {twice[0]!r}" if twice else "too many positional arguments"
                    raise TypeError(f"{fn.__name__}() got {what}")
                args, kwargs = args[:first], {**older, **kwargs}
            return fn(*args, **kwargs)

        return cast(_Function, wrapper)

    return decorator


@builtin
@_older_positions(3, ("boundary_check", "padding_option", "cache_modifier", "eviction_policy", "volatile"))
def load(
    pointer: object,
    mask: object = None,
    other: object = None,
    cache_modifier: object = "",
    eviction_policy: object = "",
    volatile: object = False,
    boundary_check: object = (),
    padding_option: object = "",
    _semantic: Any = None,
) -> tensor:
    """Load from `pointer`: a scalar, a block of pointers element by element, or the block of a block pointer.

    Elements where `mask` is false are `other` (undefined without it). `boundary_check` lists the dimensions of a block
    pointer that may be out of bounds, `padding_option` ("zero", "nan") is the value of elements there.
    `cache_modifier`: "", ".ca", ".cg", ".cs", ".cv". `eviction_policy`: "", "evict_first", "evict_last". `volatile`
    loads are never removed.
    """
    return _semantic.load(
        pointer,
        unwrap(mask),
        unwrap(other),
        boundary_check,
        padding_option,
        cache_modifier,
        eviction_policy,
        flag(volatile),
    )


@member
@builtin
@_older_positions(3, ("boundary_check", "cache_modifier", "eviction_policy"))
def store(
    pointer: object,
    value: object,
    mask: object = None,
    cache_modifier: object = "",
    eviction_policy: object = "",
    boundary_check: object = (),
    _semantic: Any = None,
) -> None:
    """Store `value` to `pointer` where `mask` is true.

    `boundary_check` lists the dimensions of a block pointer that may be out of bounds. `cache_modifier`: "", ".wb",
    ".cg", ".cs", ".wt". `eviction_policy`: "", "evict_first", "evict_last".
    """
    _semantic.store(pointer, value, unwrap(mask), boundary_check, cache_modifier, eviction_policy)


@builtin
def make_block_ptr(
    base: Any, shape: object, strides: Any, offsets: Any, block_shape: Any, order: Any, _semantic: Any = None
) -> tensor:
    """A pointer to the block of `block_shape` at `offsets` of the tensor at `base` with `shape` and `strides`.

    `order` lists the dimensions, the fastest first.
    """
    block = shape_of([block_shape], "block_shape")
    return _semantic.make_block_ptr(
        base, unwrap_sequence(shape), unwrap_sequence(strides), unwrap_sequence(offsets), block, unwrap_sequence(order)
    )


@member
@builtin
def advance(base: Any, offsets: Any, _semantic: Any = None) -> tensor:
    """The block pointer moved by `offsets` elements in each dimension."""
    return _semantic.advance(base, unwrap_sequence(offsets))


# -- descriptors --------------------------------------------------------------------------------------------------


@builtin
def make_tensor_descriptor(
    base: Any, shape: object, strides: Any, block_shape: Any, padding_option: Any = "zero", _semantic: Any = None
) -> tensor_descriptor:
    """A descriptor of the tensor at `base`; its last stride is 1. `padding_option`: "zero" or "nan"."""
    block = shape_of([block_shape], "block_shape")
    return _semantic.make_tensor_descriptor(
        base, unwrap_sequence(shape), unwrap_sequence(strides), block, padding_option
    )


@builtin
def load_tensor_descriptor(
    desc: Any, offsets: Any, cache_modifier: Any = "", eviction_policy: Any = "", _semantic: Any = None
) -> tensor:
    """Load the block at `offsets`; elements out of bounds are the descriptor's padding."""
    return _semantic.descriptor_load(desc, unwrap(offsets), cache_modifier, eviction_policy)


@builtin
def store_tensor_descriptor(desc: Any, offsets: Any, value: object, _semantic: Any = None) -> None:
    """Store `value` to the block at `offsets`; elements out of bounds are dropped."""
    _semantic.descriptor_store(desc, unwrap(offsets), value)


tensor_descriptor.load = load_tensor_descriptor
tensor_descriptor.store = store_tensor_descriptor


@builtin
def _gather(
    self: object,
    x_offsets: object,
    y_offset: object,
    cache_modifier: object = "",
    eviction_policy: object = "",
    _semantic: Any = None,
) -> tensor:
    """Load the rows with indices `x_offsets` (int16 or int32, at least 8) from column `y_offset` on.

    Blocks of the descriptor have one row.
    """
    return _semantic.descriptor_gather(self, x_offsets, unwrap(y_offset), cache_modifier, eviction_policy)


@builtin
def _scatter(self: object, value: object, x_offsets: Any, y_offset: Any, _semantic: Any = None) -> None:
    """Store the rows of `value` to the rows with indices `x_offsets` from column `y_offset` on; blocks have one row."""
    _semantic.descriptor_scatter(self, value, x_offsets, unwrap(y_offset))


tensor_descriptor.gather = _gather
tensor_descriptor.scatter = _scatter


def _combining_method(name: str) -> Any:
    def method(self: object, offsets: Any, value: object, _semantic: Any = None) -> None:
        _semantic.descriptor_reduce(name, self, unwrap(offsets), value)

    method.__name__ = f"atomic_{name}"
    method.__doc__ = f"Atomically combine `value` by {name} with the block at `offsets`, element by element."
    return builtin(method)


for _name in ("add", "min", "max", "and", "or", "xor"):
    setattr(tensor_descriptor, f"atomic_{_name}", _combining_method(_name))


# -- atomics ------------------------------------------------------------------------------------------------------


@member
@builtin
def atomic_cas(
    pointer: object, cmp: object, val: object, sem: object = None, scope: object = None, _semantic: Any = None
) -> tensor:
    """Atomic compare-and-swap: replace values equal to `cmp` by `val`; the old values. Of 16, 32 or 64 bits."""
    return _semantic.atomic_cas(pointer, unwrap(cmp), unwrap(val), sem, scope)


@member
@builtin
def atomic_load(
    pointer: object, mask: object = None, sem: object = None, scope: object = None, _semantic: Any = None
) -> tensor:
    """Atomic load from `pointer` where `mask` is true.

    `sem`: "acquire" (the default) or "relaxed"; `scope`: "gpu", "cta", "sys".
    """
    return _semantic.atomic_load(pointer, unwrap(mask), sem, scope)


@member
@builtin
def atomic_store(
    pointer: object, val: object, mask: object = None, sem: object = None, scope: object = None, _semantic: Any = None
) -> None:
    """Atomic store of `val` to `pointer` where `mask` is true.

    `sem`: "release" (the default) or "relaxed"; `scope`: "gpu", "cta", "sys".
    """
    _semantic.atomic_store(pointer, unwrap(val), unwrap(mask), sem, scope)


@member
@builtin
def atomic_poll(
    pointer: object,
    expected_value: Any,
    sem: object = None,
    scope: object = None,
    timeout_ns: Any = None,
    _semantic: Any = None,
) -> tensor:
    """Wait until the integers at `pointer` equal `expected_value`; int1, false after a timeout.

    Without `timeout_ns` there is no timeout; else it is the total for all elements, in nanoseconds. `sem`: "acquire"
    (the default) or "relaxed"; `scope`: "gpu", "cta", "sys".
    """
    return _semantic.atomic_poll(pointer, unwrap(expected_value), sem, scope, unwrap(timeout_ns))


def _atomic(name: str, what: str) -> Any:
    def function(
        pointer: object,
        val: object,
        mask: object = None,
        sem: object = None,
        scope: object = None,
        _semantic: Any = None,
    ) -> tensor:
        return _semantic.atomic_rmw(name, pointer, unwrap(val), unwrap(mask), sem, scope)

    function.__name__ = f"atomic_{name}"
    function.__doc__ = (
        f"{what} atomically where `mask` is true; the old values.\n\n"
        '    `sem`: "acq_rel" (the default), "acquire", "release", "relaxed"; `scope`: "gpu", "cta", "sys".\n    '
    )
    return member(builtin(function))


atomic_add = _atomic("add", "Add `val` to the elements at `pointer`")
atomic_max = _atomic("max", "Replace by the maximum of old value and `val`")
atomic_min = _atomic("min", "Replace by the minimum of old value and `val`")
atomic_and = _atomic("and", "Replace by old value & `val`")
atomic_or = _atomic("or", "Replace by old value | `val`")
atomic_xor = _atomic("xor", "Replace by old value ^ `val`")
atomic_xchg = _atomic("xchg", "Replace by `val`,")
