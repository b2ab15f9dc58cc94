"""Loads, stores, block pointers, descriptors, atomics."""

from __future__ import annotations

from typing import Any

from ..constexpr import unwrap
from ..errors import LanguageError
from ..tensor import tensor, tensor_descriptor
from .builtin import builtin, flag, member, shape_of, unwrap_sequence

__all__ = [
    "advance",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "load",
    "load_tensor_descriptor",
    "make_block_ptr",
    "make_tensor_descriptor",
    "store",
    "store_tensor_descriptor",
]


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
    _semantic: Any = None,
) -> tensor:
    """What `pointer` points to: a scalar, a block of pointers element by element, or the block of a block pointer.

    `other` stands where `mask` is false (without it, anything may). `boundary_check` lists the dimensions of a block
    pointer that may reach outside, `padding_option` ("zero", "nan") says what is read there. `cache_modifier`: "",
    ".ca", ".cg", ".cs", ".cv". `eviction_policy`: "", "evict_first", "evict_last". `volatile` loads are kept.
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
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    _semantic: Any = None,
) -> None:
    """Write `value` where `pointer` points to and `mask` holds.

    `boundary_check` lists the dimensions of a block pointer that may reach outside. `cache_modifier`: "", ".wb", ".cg",
    ".cs", ".wt". `eviction_policy`: "", "evict_first", "evict_last".
    """
    _semantic.store(pointer, value, unwrap(mask), boundary_check, cache_modifier, eviction_policy)


@builtin
def make_block_ptr(
    base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any, _semantic: Any = None
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
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero", _semantic: Any = None
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
    """The block at `offsets`; what lies outside reads as the descriptor's padding."""
    return _semantic.descriptor_load(desc, unwrap(offsets), cache_modifier, eviction_policy)


@builtin
def store_tensor_descriptor(desc: Any, offsets: Any, value: Any, _semantic: Any = None) -> None:
    """Write `value` to the block at `offsets`; what lies outside is dropped."""
    _semantic.descriptor_store(desc, unwrap(offsets), value)


tensor_descriptor.load = load_tensor_descriptor  # type: ignore[attr-defined]
tensor_descriptor.store = store_tensor_descriptor  # type: ignore[attr-defined]


def _unsupported_method(name: str) -> Any:
    def method(self: Any, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        raise LanguageError(
            f"tensor_descriptor.{name} is not supported yet", "use a block of pointers and tl.load, tl.store or atomics"
        )

    method.__name__ = name
    return builtin(method)


_UNSUPPORTED = ("gather", "scatter", *(f"atomic_{op}" for op in ("add", "min", "max", "and", "or", "xor")))
for _name in _UNSUPPORTED:
    setattr(tensor_descriptor, _name, _unsupported_method(_name))


# -- atomics ------------------------------------------------------------------------------------------------------


@member
@builtin
def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None, _semantic: Any = None) -> tensor:
    """The old values; each that equals `cmp` is replaced by `val`, in one step. Elements of 16, 32 or 64 bits."""
    return _semantic.atomic_cas(pointer, unwrap(cmp), unwrap(val), sem, scope)


def _atomic(name: str, what: str) -> Any:
    def function(
        pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Any = None
    ) -> tensor:
        return _semantic.atomic_rmw(name, pointer, unwrap(val), unwrap(mask), sem, scope)

    function.__name__ = f"atomic_{name}"
    function.__doc__ = (
        f"{what} in one step where `mask` holds; the old values.\n\n"
        '    `sem`: "acq_rel" (the default), "acquire", "release", "relaxed"; `scope`: "gpu", "cta", "sys".\n    '
    )
    return member(builtin(function))


atomic_add = _atomic("add", "Add `val` to what `pointer` points to,")
atomic_max = _atomic("max", "Replace by the maximum of old value and `val`,")
atomic_min = _atomic("min", "Replace by the minimum of old value and `val`,")
atomic_and = _atomic("and", "Replace by old value & `val`,")
atomic_or = _atomic("or", "Replace by old value | `val`,")
atomic_xor = _atomic("xor", "Replace by old value ^ `val`,")
atomic_xchg = _atomic("xchg", "Replace by `val`,")
