"""The functions of Gluon that the Triton language does not have, or has without layouts."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...dialects import ttng
from ..constexpr import constexpr, unwrap
from ..errors import LanguageError
from ..language.builtin import builtin, check_dtype, flag, shape_of
from ..tensor import tensor
from .bank_conflicts import count_bank_conflicts
from .cache_policy import hints_of
from .layout_base import LayoutValue, plain
from .layouts import AutoLayout, CoalescedLayout, DistributedLinearLayout, SharedLinearLayout, linear_form
from .semantic import checked
from .shared_memory import shared_memory_descriptor
from .types import distributed_type, shared_memory_descriptor_type

__all__ = [
    "allocate_shared_memory",
    "arange",
    "bank_conflicts",
    "barrier",
    "cluster_barrier",
    "convert_layout",
    "dot_fma",
    "fp4_to_fp",
    "full",
    "full_like",
    "histogram",
    "load",
    "num_ctas",
    "num_warps",
    "set_auto_layout",
    "store",
    "to_linear_layout",
    "zeros",
    "zeros_like",
]

Semantics: TypeAlias = Any
"""The `GluonSemantic` that the visitor passes; None in a call from Python."""


# -- creation -----------------------------------------------------------------------------------------------------


@builtin
def arange(start: object, end: object, layout: object = None, _semantic: Semantics = None) -> tensor:
    """[start, …, end - 1] as int32 in `layout` (default: AutoLayout); both known at compile time."""
    return _semantic.arange(start, end, layout)


@builtin
def full(shape: object, value: object, dtype: object, layout: object = None, _semantic: Semantics = None) -> tensor:
    """A tensor of `shape` in `layout` (default: AutoLayout), filled with the scalar `value`."""
    return _semantic.full(shape_of([shape]), unwrap(value), check_dtype(dtype), layout)


@builtin
def zeros(shape: object, dtype: object, layout: object = None, _semantic: Semantics = None) -> tensor:
    """A tensor of `shape` in `layout` (default: AutoLayout), filled with zeros."""
    return _semantic.full(shape_of([shape]), 0, check_dtype(dtype), layout)


@builtin
def full_like(
    input: object,
    value: object,
    shape: object = None,
    dtype: object = None,
    layout: object = None,
    _semantic: Semantics = None,
) -> tensor:
    """A tensor filled with `value`, whose shape, dtype and layout are those of `input` where they are not given."""
    ty = checked(input, "full_like").type
    return _semantic.full(
        list(ty.shape) if unwrap(shape) is None else shape_of([shape]),
        unwrap(value),
        ty.scalar if unwrap(dtype) is None else check_dtype(dtype),
        ty.layout if plain(layout) is None else layout,
    )


@builtin
def zeros_like(
    input: object, shape: object = None, dtype: object = None, layout: object = None, _semantic: Semantics = None
) -> tensor:
    """A tensor of zeros, whose shape, dtype and layout are those of `input` where they are not given."""
    return full_like(input, 0, shape, dtype, layout, _semantic=_semantic)


@builtin
def histogram(
    input: object, num_bins: object, mask: object = None, layout: object = None, _semantic: Semantics = None
) -> tensor:
    """The number of elements of the 1-D `input` (where `mask`) equal to 0, 1, …, num_bins - 1, int32 in `layout`."""
    return _semantic.histogram(input, num_bins, None if unwrap(mask) is None else mask, layout)


# -- layouts ------------------------------------------------------------------------------------------------------


@builtin
def convert_layout(
    value: object, layout: object, assert_trivial: object = False, _semantic: Semantics = None
) -> tensor:
    """`value` in `layout`; with `assert_trivial` an error where elements would move between threads."""
    return _semantic.convert_layout(value, layout, flag(assert_trivial))


@builtin
def set_auto_layout(value: object, layout: object, _semantic: Semantics = None) -> tensor:
    """`value`, which is in AutoLayout, in `layout`: so are the tensors that it is computed from."""
    return _semantic.set_auto_layout(value, layout)


@builtin
def to_linear_layout(layout: object, shape: object, _semantic: Semantics = None) -> constexpr:
    """The linear layout that a layout is for a tensor of `shape`, as a compile-time value."""
    layout = plain(layout)
    if isinstance(layout, (AutoLayout, CoalescedLayout, DistributedLinearLayout, SharedLinearLayout)):
        return constexpr(layout)
    if not isinstance(layout, LayoutValue):
        raise LanguageError(f"TypeError: to_linear_layout takes a layout, got {layout!r}")
    return constexpr(linear_form(layout, shape_of([shape])))


@builtin
def bank_conflicts(distr_ty: object, shared_ty: object, _semantic: Semantics = None) -> constexpr:
    """The conflicts of each 128 bytes of `ld.shared` or `st.shared` between a tensor's type and a buffer's type."""
    registers, shared = unwrap(distr_ty), unwrap(shared_ty)
    if not isinstance(registers, distributed_type) or not isinstance(shared, shared_memory_descriptor_type):
        raise LanguageError(
            f"TypeError: bank_conflicts takes a distributed_type and a shared_memory_descriptor_type, got {registers!r}"
            f" and {shared!r}"
        )
    if list(registers.shape) != shared.shape or registers.scalar.primitive_bitwidth != _bits(shared):
        raise LanguageError(f"ValueError: bank_conflicts: {registers} and {shared} differ in shape or size of elements")
    return constexpr(count_bank_conflicts(registers.layout, shared.layout, shared.shape, _bits(shared)))


def _bits(ty: shared_memory_descriptor_type) -> int:
    return ty.element_ty.primitive_bitwidth


# -- memory -------------------------------------------------------------------------------------------------------


@builtin
def load(
    pointer: object,
    mask: object = None,
    other: object = None,
    *,
    cache_modifier: object = None,
    eviction_policy: object = None,
    cache_policy: object = None,
    volatile: object = False,
    _semantic: Semantics = None,
) -> tensor:
    """The elements at `pointer`; `other` (or undefined) where `mask` is false."""
    mask, other = unwrap(mask), unwrap(other)
    hints = hints_of(cache_policy, cache_modifier, eviction_policy)
    return _semantic.load(pointer, mask, other, (), "", *hints, flag(volatile))


@builtin
def store(
    pointer: object,
    value: object,
    mask: object = None,
    *,
    cache_modifier: object = None,
    eviction_policy: object = None,
    cache_policy: object = None,
    _semantic: Semantics = None,
) -> None:
    """Store `value` where `mask` holds."""
    hints = hints_of(cache_policy, cache_modifier, eviction_policy)
    _semantic.store(pointer, value, unwrap(mask), (), *hints)


@builtin
def allocate_shared_memory(
    element_ty: object, shape: object, layout: object, value: object = None, _semantic: Semantics = None
) -> shared_memory_descriptor:
    """A new buffer in shared memory, with the contents `value` if given."""
    return _semantic.allocate_shared(element_ty, shape, layout, unwrap(value))


# -- the machine --------------------------------------------------------------------------------------------------


@builtin
def dot_fma(a: object, b: object, acc: object, _semantic: Semantics = None) -> tensor:
    """a @ b + acc by multiply-adds of scalars; operands are in DotOperandLayout of the accumulator's BlockedLayout."""
    return _semantic.dot_fma(a, b, acc)


@builtin
def fp4_to_fp(src: object, elem_type: object, axis: object, _semantic: Semantics = None) -> tensor:
    """The two e2m1 numbers in each byte of `src` as `elem_type`, float16 or bfloat16: neighbours along `axis`.

    The number in the low bits comes first; each thread keeps its numbers.
    """
    return _semantic.fp4_to_fp(src, elem_type, axis)


@builtin
def num_warps(_semantic: Semantics = None) -> constexpr:
    """The number of warps that execute the code: in a partition of `warp_specialize`, of that."""
    return constexpr(_semantic.num_warps())


@builtin
def num_ctas(_semantic: Semantics = None) -> constexpr:
    """The number of CTAs in a cluster."""
    return constexpr(_semantic.num_ctas())


@builtin
def barrier(*, cluster: object = False, _semantic: Semantics = None) -> None:
    """A barrier of all threads of a CTA; with `cluster`, of all CTAs of the cluster."""
    if flag(cluster) and _semantic.num_ctas() > 1:
        _semantic.builder.insert(ttng.ClusterBarrier())
    else:
        _semantic.barrier()


@builtin
def cluster_barrier(relaxed: object = False, _semantic: Semantics = None) -> None:
    """A barrier of all CTAs of the cluster; `relaxed`: without ordering memory."""
    _semantic.builder.insert(ttng.ClusterBarrier(flag(relaxed)))


# -- methods of buffers -------------------------------------------------------------------------------------------


@builtin
def _load(self: object, layout: object, _semantic: Semantics = None) -> tensor:
    """The contents in `layout`."""
    return _semantic.shared_load(self, layout)


@builtin
def _store(self: object, value: object, _semantic: Semantics = None) -> None:
    """Store `value`."""
    _semantic.shared_store(self, value)


@builtin
def _gather(self: object, indices: object, axis: object, _semantic: Semantics = None) -> tensor:
    """result[i…] = self[i… with the coordinate at `axis` replaced by indices[i…]]"""
    return _semantic.shared_gather(self, indices, axis)


@builtin
def _scatter(self: object, values: object, indices: object, axis: object, _semantic: Semantics = None) -> None:
    """self[i… with the coordinate at `axis` replaced by indices[i…]] = values[i…]"""
    _semantic.shared_scatter(self, values, indices, axis)


@builtin
def _slice(
    self: object, start: object, length: object, dim: object = 0, _semantic: Semantics = None
) -> shared_memory_descriptor:
    """The part of `length` from `start` along `dim`."""
    return _semantic.memdesc_slice(self, start, length, dim)


@builtin
def _index(self: object, index: object, _semantic: Semantics = None) -> shared_memory_descriptor:
    """The buffer number `index` along dimension 0."""
    return _semantic.memdesc_index(self, index)


@builtin
def _permute(self: object, order: object, _semantic: Semantics = None) -> shared_memory_descriptor:
    """The view whose dimension k is dimension order[k]."""
    return _semantic.memdesc_trans(self, order)


@builtin
def _reshape(self: object, shape: object, _semantic: Semantics = None) -> shared_memory_descriptor:
    """The view of the same elements in another shape, in row-major order."""
    return _semantic.memdesc_reshape(self, shape)


@builtin
def _reinterpret(
    self: object, dtype: object = None, shape: object = None, layout: object = None, _semantic: Semantics = None
) -> shared_memory_descriptor:
    """The view of the bytes as other elements, in another shape and layout."""
    return _semantic.memdesc_reinterpret(self, dtype, shape, layout)


@builtin
def _keep_alive(self: object, _semantic: Semantics = None) -> None:
    """Keep the buffer's memory from being used for others up to here."""
    _semantic.shared_dealloc(self)


def _atomic_scatter(kind: str) -> object:
    def atomic_scatter(
        self: object, values: object, indices: object, axis: object, mask: object = None, _semantic: Semantics = None
    ) -> tensor:
        return _semantic.shared_atomic_scatter(self, kind, values, indices, axis, unwrap(mask))

    atomic_scatter.__name__ = f"atomic_scatter_{kind}"
    atomic_scatter.__doc__ = f"""The elements before, and each updated in one atomic step: {kind}.

    At i, the element is the one whose coordinate at `axis` is indices[i…]. `values`, `indices` and `mask` are broadcast
    together; where the mask is false nothing is written and the result is undefined. Memory order: relaxed."""
    return builtin(atomic_scatter)


for _method in (_load, _store, _gather, _scatter, _slice, _index, _permute, _reshape, _reinterpret):
    setattr(shared_memory_descriptor, _method.__name__[1:], _method)
for _hidden in (_reinterpret, _keep_alive):  # names before Triton 3.9
    setattr(shared_memory_descriptor, f"_{_hidden.__name__[1:]}", _hidden)
for _kind in ("add", "max", "min", "and", "or", "xor", "xchg"):
    setattr(shared_memory_descriptor, f"atomic_scatter_{_kind}", _atomic_scatter(_kind))
