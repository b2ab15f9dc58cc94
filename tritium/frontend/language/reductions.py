"""Dot, selection, reductions, scans."""

from __future__ import annotations

from typing import Any

from ..constexpr import unwrap
from ..dtypes import float32, int32, uint32
from ..errors import LanguageError
from ..tensor import tensor
from ..tuples import tuple as tl_tuple
from .builtin import builtin, flag, member, static_int
from .creation import arange, broadcast_to, expand_dims

__all__ = [
    "associative_scan",
    "dot",
    "dot_scaled",
    "expect_zero",
    "histogram",
    "map_elementwise",
    "promote_bfloat16",
    "reduce",
    "reduce_with_indices",
    "where",
]


@builtin
def where(condition: Any, x: object, y: object, _semantic: Any = None) -> tensor:
    """x where `condition` holds, y elsewhere. Both are evaluated for all elements: guard memory accesses with masks."""
    return _semantic.where(condition, x, y)


@builtin
def expect_zero(x: Any, mask: object, _semantic: Any = None) -> tensor:
    """`x`, expected to be zero where `mask` is true; asserted with debug=True."""
    x, mask = _semantic.to_tensor(x), _semantic.to_tensor(mask)
    if _semantic.debug:
        holds = _semantic.or_(_semantic.eq(x, 0), _semantic.not_(mask))
        _semantic.device_assert(holds, "expect_zero expected x == 0 where mask is true", None)
    return x


@builtin
def dot(
    input: object,
    other: object,
    acc: object = None,
    input_precision: object = None,
    allow_tf32: object = None,
    max_num_imprecise_acc: object = None,
    out_dtype: object = None,
    _semantic: Any = None,
) -> tensor:
    """input @ other + acc for blocks (M, K) and (K, N), or with leading batch dimensions.

    The operands have one dtype: int8, fp8, fp16, bf16, fp32 or fp64 (two fp8 may differ). The result is fp32; int32 for
    int8, fp64 for fp64, and fp16 for fp16 and fp8 if `out_dtype` or `acc` is. `input_precision` of fp32 operands:
    "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"; `allow_tf32` is the older spelling of "tf32" or "ieee".
    """
    precision, tf32 = unwrap(input_precision), unwrap(allow_tf32)
    if tf32 is not None:
        if precision is not None:
            raise LanguageError("ValueError: Only one of input_precision and allow_tf32 can be specified")
        precision = "tf32" if tf32 else "ieee"
    acc = unwrap(acc)
    return _semantic.dot(input, other, acc, precision, max_num_imprecise_acc, out_dtype)


@builtin
def dot_scaled(
    lhs: object,
    lhs_scale: object,
    lhs_format: object,
    rhs: object,
    rhs_scale: object,
    rhs_format: object,
    acc: object = None,
    fast_math: object = False,
    lhs_k_pack: object = True,
    rhs_k_pack: object = True,
    out_dtype: object = float32,
    _semantic: Any = None,
) -> tensor:
    """Dot of block-scaled (microscaling) formats: (lhs * lhs_scale) @ (rhs * rhs_scale) + acc, in fp32.

    Formats: "e2m1" (uint8, two elements each, the first in the low bits), "e4m3", "e5m2", "bf16", "fp16" (of their
    dtype, or of unsigned integers with their bits). lhs is (M, K), rhs (K, N); lhs_scale (M, K // group), rhs_scale
    (N, K // group), of uint8 that hold exponents with a group of 32, or fp8e4nv with 16; None stands for 1. "e2m1" is
    packed along K, or along M and N where `lhs_k_pack`, `rhs_k_pack` are False. `fast_math` may
    ignore NaN, and operands paired with fp16 are scaled in fp16, where they may overflow.
    """
    return _semantic.dot_scaled(
        unwrap(lhs),
        lhs_scale,
        lhs_format,
        unwrap(rhs),
        rhs_scale,
        rhs_format,
        unwrap(acc),
        flag(fast_math),
        flag(lhs_k_pack),
        flag(rhs_k_pack),
        unwrap(out_dtype),
    )


# -- reductions and scans -----------------------------------------------------------------------------------------


def _inputs(input: object) -> list[Any]:
    return list(input) if isinstance(input, (tl_tuple, list, tuple)) else [input]


def _one_or_all(input: object, results: list[tensor]) -> Any:
    return results[0] if input.__class__ is tensor else tl_tuple(results)


@builtin
def reduce(
    input: object,
    axis: object,
    combine_fn: object,
    keep_dims: object = False,
    _semantic: Any = None,
    _generator: Any = None,
) -> Any:
    """The elements along `axis` (all for None) combined by the jit function `combine_fn`, which must be associative.

    For a tuple of inputs `combine_fn(a0, a1, …, b0, b1, …)` returns as many values; the result is a tuple.
    """
    results = _semantic.reduce(_inputs(input), axis, unwrap(combine_fn), _generator, flag(keep_dims))
    return _one_or_all(input, results)


tensor.reduce = reduce


@builtin
def associative_scan(
    input: object,
    axis: object,
    combine_fn: object,
    reverse: object = False,
    _semantic: Any = None,
    _generator: Any = None,
) -> Any:
    """Inclusive scan: element i combines the elements up to i along `axis` (from the end with `reverse`)."""
    results = _semantic.scan(_inputs(input), axis, unwrap(combine_fn), _generator, flag(reverse))
    return _one_or_all(input, results)


tensor.associative_scan = associative_scan


@builtin
def promote_bfloat16(x: tensor, _semantic: Any = None) -> Any:
    """bf16 as fp32; other types unchanged."""
    return _semantic.cast(x, float32) if x.__class__ is tensor and x.dtype.is_bf16() else x


@builtin
def widen_integers(x: tensor, _semantic: Any = None) -> Any:
    """Integers of less than 32 bits as int32, or uint32 for unsigned ones; int1 counts as unsigned."""
    kind = x.dtype
    if not kind.is_int() or kind.int_bitwidth >= 32:
        return x
    return _semantic.cast(x, int32 if kind.is_int_signed() else uint32)


@builtin
def reduce_with_indices(
    input: tensor,
    axis: object,
    combine_fn: object,
    keep_dims: object = False,
    _semantic: Any = None,
    _generator: Any = None,
) -> Any:
    """Reduce pairs of (element, its index along `axis`); without an axis the index counts in row-major order."""
    rank = len(input.type.shape)
    if not rank:
        raise LanguageError(f"TypeError: a reduction takes blocks, got {input.type}")
    at = unwrap(axis)
    source = input
    if at is None and rank > 1:
        source, at = _semantic.reshape(input, [input.type.numel]), 0
    at = static_int(0 if at is None else at, "axis")
    size = len(source.type.shape)
    if not -size <= at < size:
        raise LanguageError(f"ValueError: reduction axis {at} must be < inputs rank ({size})")
    at = at + size if at < 0 else at
    index = arange(0, source.type.shape[at], _semantic=_semantic)
    if size > 1:
        index = expand_dims(index, [d for d in range(size) if d != at], _semantic=_semantic)
        index = broadcast_to(index, source.type.shape, _semantic=_semantic)
    value, where_ = _semantic.reduce([source, index], at, combine_fn, _generator, flag(keep_dims))
    if flag(keep_dims) and unwrap(axis) is None and rank > 1:
        value, where_ = (_semantic.reshape(x, (1,) * rank) for x in (value, where_))
    return tl_tuple([value, where_])


@member
@builtin
def histogram(input: object, num_bins: Any, mask: object = None, _semantic: Any = None) -> tensor:
    """The number of elements (where `mask`) equal to 0, 1, …, num_bins - 1."""
    return _semantic.histogram(input, num_bins, unwrap(mask))


@builtin
def map_elementwise(scalar_fn: Any, *args: Any, pack: Any = 1, _semantic: Any = None, _generator: Any = None) -> Any:
    """The jit function `scalar_fn` of scalars applied to each element of `args`, which are broadcast together.

    Unlike the rest of the language it may branch for each element. With `pack`, it takes `pack` adjacent elements of
    each argument along the last dimension, and returns as many values for each result. The result is a tuple where the
    function returns one.
    """
    results, single = _semantic.map_elementwise(unwrap(scalar_fn), args, static_int(pack, "pack"), _generator)
    return results[0] if single else tl_tuple(results)
