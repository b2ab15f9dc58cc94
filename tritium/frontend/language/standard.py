"""The part of the standard library that is written in the language itself."""

from __future__ import annotations

from typing import Any

from ..callee import constexpr_function, language_function
from ..constexpr import constexpr
from ..dtypes import bfloat16, float32, get_int_dtype, int32
from . import mathematics as math
from .builtin import builtin, member
from .creation import arange, broadcast_to, full, gather, join, reshape
from .hints import static_assert
from .iterators import static_range
from .mathematics import exp, maximum, minimum
from .reductions import (
    associative_scan,
    promote_bfloat16,
    reduce,
    reduce_with_indices,
    where,
    widen_integers,
)

__all__ = [
    "argmax",
    "argmin",
    "bitonic_merge",
    "cdiv",
    "cumprod",
    "cumsum",
    "flip",
    "interleave",
    "max",
    "min",
    "ravel",
    "reduce_or",
    "sigmoid",
    "softmax",
    "sort",
    "sum",
    "swizzle2d",
    "topk",
    "xor_sum",
    "zeros",
    "zeros_like",
]


@constexpr_function
def _log2(n: int) -> int:
    """The logarithm of a power of two."""
    return n.bit_length() - 1


@constexpr_function
def _is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


@member
@language_function
def cdiv(x, div):
    """x / div rounded up, of nonnegative integers."""
    return (x + div - 1) // div


@member
@language_function
def sigmoid(x):
    """1 / (1 + e^-x)"""
    return 1 / (1 + exp(-x))


@member
@language_function
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """e^x normalized along `dim` (the first without one); the maximum is subtracted first."""
    axis: constexpr = 0 if dim is None else dim
    keep: constexpr = len(x.shape) > 1
    z = x - max(x, axis, keep_dims=keep)
    numerator = exp(z)
    return math.fdiv(numerator, sum(numerator, axis, keep_dims=keep), ieee_rounding)


@member
@language_function
def ravel(x, can_reorder=False):
    """The elements in one dimension, in row-major order."""
    return reshape(x, [x.numel], can_reorder=can_reorder)


@language_function
def swizzle2d(i, j, size_i, size_j, size_g):
    """Swizzle indices of a row-major size_i x size_j matrix to column-major order in groups of size_g rows."""
    # the linear index, and the number of indices in a group of size_g rows
    ij = i * size_j + j
    size_gj = size_g * size_j
    group = ij // size_gj
    first = group * size_g
    # the last group may have fewer rows
    size_g = minimum(size_i - first, size_g)
    ij = ij % size_gj
    return first + ij % size_g, ij // size_g


@language_function
def zeros(shape, dtype):
    """A block filled with zeros."""
    return full(shape, 0, dtype)


@language_function
def zeros_like(input):
    """Zeros in the shape and dtype of `input`."""
    return zeros(input.shape, input.dtype)


@language_function
def interleave(a, b):
    """The elements of `a` and `b` interleaved along the last dimension."""
    c = join(a, b)
    if len(c.shape) == 1:
        return c
    return reshape(c, c.shape[:-2] + [2 * c.shape[-2]])


# -- maximum, minimum and where they are --------------------------------------------------------------------------


@language_function
def _elementwise_max(a, b):
    return maximum(a, b)


@language_function
def _elementwise_min(a, b):
    return minimum(a, b)


# For floats the extremum of two is computed, and then which of them it is: a comparison of a number with a NaN is false
# both ways, so the order of the reduction would decide. Numbers win over NaN, as without indices; of NaNs, the first.


@language_function
def _argmax_left(value1, index1, value2, index2):
    if value1.dtype.is_floating():
        value = maximum(value1, value2)
        first = _first_of(value1 == value, value2 == value, index1 < index2)
        return value, where(first, index1, index2)
    else:
        first = value1 > value2 or (value1 == value2 and index1 < index2)
        return where(first, value1, value2), where(first, index1, index2)


@language_function
def _argmax_fast(value1, index1, value2, index2):
    value = maximum(value1, value2)
    return value, where(value2 == value, index2, index1)


@language_function
def _argmin_left(value1, index1, value2, index2):
    if value1.dtype.is_floating():
        value = minimum(value1, value2)
        first = _first_of(value1 == value, value2 == value, index1 < index2)
        return value, where(first, index1, index2)
    else:
        first = value1 < value2 or (value1 == value2 and index1 < index2)
        return where(first, value1, value2), where(first, index1, index2)


@language_function
def _argmin_fast(value1, index1, value2, index2):
    value = minimum(value1, value2)
    return value, where(value2 == value, index2, index1)


@language_function
def _first_of(is_first, is_second, before):
    """The first of a pair, unless only the second is the extremum; of both or neither, that with the lower index."""
    return where(is_first == is_second, before, is_first)


@language_function
def _widened(x):
    """Elements of less than 32 bits as fp32 or int32, in which the reduction is computed."""
    if x.dtype.primitive_bitwidth < 32:
        if x.dtype.is_floating():
            return x.to(float32)
        return x.to(int32)
    return x


@member
@language_function
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """The maximum along `axis` (of all elements for None); with `return_indices` also its index."""
    input = promote_bfloat16(input)
    if return_indices:
        if return_indices_tie_break_left:
            return reduce_with_indices(input, axis, _argmax_left, keep_dims=keep_dims)
        return reduce_with_indices(input, axis, _argmax_fast, keep_dims=keep_dims)
    return reduce(_widened(input), axis, _elementwise_max, keep_dims=keep_dims)


@member
@language_function
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """The minimum along `axis` (of all elements for None); with `return_indices` also its index."""
    input = promote_bfloat16(input)
    if return_indices:
        if return_indices_tie_break_left:
            return reduce_with_indices(input, axis, _argmin_left, keep_dims=keep_dims)
        return reduce_with_indices(input, axis, _argmin_fast, keep_dims=keep_dims)
    return reduce(_widened(input), axis, _elementwise_min, keep_dims=keep_dims)


@member
@language_function
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    """The index of the maximum along `axis`; the first of equal ones, unless `tie_break_left` is False."""
    _, index = max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


@member
@language_function
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    """The index of the minimum along `axis`; the first of equal ones, unless `tie_break_left` is False."""
    _, index = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


# -- sums ---------------------------------------------------------------------------------------------------------


@language_function
def _sum_combine(a, b):
    return a + b


@language_function
def _xor_combine(a, b):
    return a ^ b


@language_function
def _or_combine(a, b):
    return a | b


@language_function
def _product_combine(a, b):
    return a * b


@language_function
def _summand(x, dtype: constexpr):
    """In `dtype`; by default small integers are widened to 32 bits. Sums of bf16 are computed in fp32, rounded once."""
    if dtype is None:
        return promote_bfloat16(widen_integers(x))
    return promote_bfloat16(x.to(dtype))


@builtin
def _rounded(y: Any, x: Any, dtype: Any, _semantic: Any = None) -> Any:
    """The result `y` of a sum or product over `x` in the result type: bf16 if `x` is bf16."""
    kind = dtype.value if dtype.__class__ is constexpr else dtype
    return _semantic.cast(y, bfloat16) if (kind or x.dtype) is bfloat16 else y


@member
@language_function
def sum(input, axis=None, keep_dims=False, dtype: constexpr = None):
    """The sum along `axis` (of all elements for None), in `dtype`."""
    return _rounded(reduce(_summand(input, dtype), axis, _sum_combine, keep_dims=keep_dims), input, dtype)


@builtin
def _check_integer(name: Any, x: Any, _semantic: Any = None) -> None:
    if not x.dtype.is_int():
        raise ValueError(f"{name.value} only supported for integers, got {x.dtype}")


@member
@language_function
def xor_sum(input, axis=None, keep_dims=False):
    """The exclusive or of the integers along `axis`."""
    _check_integer("xor_sum", input)
    return reduce(input, axis, _xor_combine, keep_dims=keep_dims)


@member
@language_function
def reduce_or(input, axis, keep_dims=False):
    """The bitwise or of the integers along `axis`."""
    _check_integer("reduce_or", input)
    return reduce(input, axis, _or_combine, keep_dims=keep_dims)


@member
@language_function
def cumsum(input, axis=0, reverse=False, dtype: constexpr = None):
    """Inclusive prefix sums along `axis` (from the end with `reverse`)."""
    return _rounded(associative_scan(_summand(input, dtype), axis, _sum_combine, reverse), input, dtype)


@member
@language_function
def cumprod(input, axis=0, reverse=False, dtype: constexpr = None):
    """Inclusive prefix products along `axis` (from the end with `reverse`), in `dtype`."""
    return _rounded(associative_scan(_summand(input, dtype), axis, _product_combine, reverse), input, dtype)


# -- sorting ------------------------------------------------------------------------------------------------------
# A block of 2^n elements is reshaped to n dimensions of size 2. Exchanging with the neighbour along one of them is an
# xor with the xor of the pair, so a bitonic network needs reductions and selections only. Keys are integers: a NaN is
# unordered, and both elements of a pair would select the same one.


@constexpr_function
def _pair_shape(n: int, dim: int) -> list[int]:
    """The shape of n dimensions that is 2 at `dim`, 1 elsewhere."""
    return [2 if d == dim else 1 for d in range(n)]


@constexpr_function
def _twos(n: int) -> list[int]:
    return [2] * n


@language_function
def _bit(n: constexpr, dim: constexpr):
    """0 and 1 along dimension `dim` of n."""
    return reshape(arange(0, 2), _pair_shape(n, dim))


@language_function
def _exchange(x, n: constexpr, dim: constexpr):
    """Each element replaced by its neighbour along `dim`."""
    kind: constexpr = get_int_dtype(bitwidth=x.dtype.primitive_bitwidth, signed=True)
    bits = x.to(kind, bitcast=True)
    return (bits ^ xor_sum(bits, dim, True)).to(x.dtype, bitcast=True)


@language_function
def _compare_exchange(x, flip, n: constexpr, dim: constexpr):
    """The smaller of each pair along `dim` first, or last where `flip` is 1."""
    y = _exchange(x, n, dim)
    is_right = _bit(n, dim)
    return where((x > y) != ((flip ^ is_right) != 0), y, x)


@language_function
def _merge_stage(x, stage: constexpr, order: constexpr, n: constexpr):
    """Sort bitonic runs of 2^stage elements: `order` 0 ascending, 1 descending, 2 alternating."""
    if order == 2:
        return _merge_run(x, stage, _bit(n, n - 1 - stage), n)
    return _merge_run(x, stage, order, n)


@language_function
def _merge_run(x, stage: constexpr, flip, n: constexpr):
    """Sort bitonic runs of 2^stage elements: ascending, or descending where `flip` is 1."""
    for i in static_range(stage):
        x = _compare_exchange(x, flip, n, n - stage + i)
    return x


# A dimension that is no power of two is padded to one; the padding sorts to the end and is cut off: keys are ordered
# like the elements, so that padding could only be exchanged with equal ones.


@constexpr_function
def _powers_of_two(shape) -> bool:
    return all(size > 0 and size & (size - 1) == 0 for size in shape)


@constexpr_function
def _along(rank: int, dim: int, size: int) -> list[int]:
    """The shape of `rank` dimensions that is `size` at `dim`, 1 elsewhere."""
    return [size if d == dim else 1 for d in range(rank)]


@constexpr_function
def _last_key(dtype, descending: bool) -> int:
    """The key that sorts last."""
    bits, signed = dtype.primitive_bitwidth, not dtype.is_int_unsigned()
    least = -1 << (bits - 1) if signed else 0
    return least if descending else least + (1 << bits) - 1


@constexpr_function
def _infinity(dtype) -> int:
    """The largest magnitude bits of an 8-bit float type that are no NaN, which larger ones are; 0 without such NaNs."""
    return {"fp8e5": 0x7C, "fp8e4nv": 0x7E}.get(dtype.name, 0)


@language_function
def _order_bits(bits):
    """The bits of floats as integers in the order of the floats, and back."""
    size: constexpr = bits.dtype.primitive_bitwidth - 1
    return bits ^ ((bits >> size) & ((1 << size) - 1))


@language_function
def _keys(x):
    """Integer keys in the order of the elements; NaNs of either sign sort last."""
    if x.dtype.is_floating():
        size: constexpr = x.dtype.primitive_bitwidth
        bits = x.to(get_int_dtype(bitwidth=size, signed=True), bitcast=True)
        infinity: constexpr = _infinity(x.dtype)
        most: constexpr = (1 << (size - 1)) - 1
        if infinity:
            bits = where((bits & most) > infinity, most, bits)
        elif size > 8:
            bits = where(x == x, bits, most)
        return _widened(_order_bits(bits))
    return _widened(x)


@language_function
def _elements_of(keys, dtype: constexpr):
    """The elements of these keys."""
    if dtype.is_floating():
        kind: constexpr = get_int_dtype(bitwidth=dtype.primitive_bitwidth, signed=True)
        return _order_bits(keys.to(kind)).to(dtype, bitcast=True)
    return keys.to(dtype)


@language_function
def _taken(x, start: constexpr, step: constexpr, size: constexpr, dim: constexpr):
    """`size` elements along `dim`, every `step`th from `start` on."""
    shape: constexpr = x.shape[:dim] + [size] + x.shape[dim + 1 :]
    index = reshape(arange(0, size) * step + start, _along(len(shape), dim, size))
    return gather(x, broadcast_to(index, shape), dim)


@constexpr_function
def _pairs(shape) -> list[int]:
    """The shape with its last dimension, rounded up to a power of two, as dimensions of 2."""
    return [*shape[:-1], *[2] * (shape[-1] - 1).bit_length()]


@constexpr_function
def _whole(shape) -> list[int]:
    """The shape with its last dimension rounded up to a power of two."""
    return [*shape[:-1], 1 << (shape[-1] - 1).bit_length()]


@language_function
def _sorted_keys(keys, descending: constexpr):
    """Sort integers along the last dimension, which is padded to a power of two."""
    last: constexpr = len(keys.shape) - 1
    whole: constexpr = _whole(keys.shape)
    at = reshape(arange(0, whole[last]), _along(last + 1, last, whole[last]))
    at = broadcast_to(at, whole)
    inside = at < keys.shape[last]
    y = where(inside, gather(keys, where(inside, at, 0), last), _last_key(keys.dtype, descending))
    pairs: constexpr = _pairs(keys.shape)
    n: constexpr = len(pairs)
    y = reshape(y, pairs)
    for i in static_range(1, n - last + 1):
        y = _merge_stage(y, i, (1 if descending else 0) if i == n - last else 2, n)
    return reshape(y, whole)


@language_function
def _first_sorted(x, count: constexpr, descending: constexpr):
    """The first `count` elements of the last dimension in order."""
    return _elements_of(_taken(_sorted_keys(_keys(x), descending), 0, 1, count, len(x.shape) - 1), x.dtype)


@constexpr_function
def _last_dim(dim, rank: int) -> int:
    dim = rank - 1 if dim is None else dim
    dim = dim + rank if dim < 0 else dim
    if dim != rank - 1:
        raise ValueError("only the last dimension can be sorted or searched")
    return dim


@member
@language_function
def sort(x, dim: constexpr = None, descending: constexpr = False):
    """The elements in order along the last dimension."""
    last: constexpr = _last_dim(dim, len(x.shape))
    if not _powers_of_two(x.shape):
        return _first_sorted(x, x.shape[last], descending)
    steps: constexpr = _log2(x.shape[last])
    n: constexpr = _log2(x.numel)
    y = reshape(_keys(x), _twos(n))
    for i in static_range(1, steps + 1):
        y = _merge_stage(y, i, (1 if descending else 0) if i == steps else 2, n)
    return _elements_of(reshape(y, x.shape), x.dtype)


@language_function
def bitonic_merge(x, dim: constexpr = None, descending: constexpr = False):
    """Sort a bitonic sequence (ascending, then descending) along the last dimension."""
    last: constexpr = _last_dim(dim, len(x.shape))
    if not _powers_of_two(x.shape):
        return _first_sorted(x, x.shape[last], descending)
    n: constexpr = _log2(x.numel)
    y = _merge_stage(reshape(_keys(x), _twos(n)), _log2(x.shape[last]), 1 if descending else 0, n)
    return _elements_of(reshape(y, x.shape), x.dtype)


@language_function
def _best_keys(keys, k: constexpr, descending: constexpr):
    """The first k integers of the last dimension in order; k and the shape are powers of two.

    Of an ascending and a descending run of k, the pairwise maxima are the k greatest of both, and bitonic. Halves of
    the dimension are paired before neighbours: the elements of one thread are farthest apart, so the first steps
    reduce the work per thread.
    """
    n: constexpr = _log2(keys.numel)
    run: constexpr = _log2(k)
    first: constexpr = n - _log2(keys.shape[len(keys.shape) - 1])
    y = reshape(keys, _twos(n))
    for i in static_range(1, run):
        y = _merge_stage(y, i, 2, n)
    for dim in static_range(first, n - run):
        y = _merge_run(y, run, _bit(n, dim), n)
        y = reduce(y, dim, _elementwise_max if descending else _elementwise_min, keep_dims=True)
    y = _merge_run(y, run, 1 if descending else 0, n)
    return reshape(y, keys.shape[:-1] + [k])


@member
@language_function
def topk(x, k: constexpr, dim: constexpr = None, descending: constexpr = True):
    """The k greatest elements of the last dimension, descending; or the smallest, ascending."""
    last: constexpr = _last_dim(dim, len(x.shape))
    size: constexpr = x.shape[last]
    static_assert(k > 0, "k must be positive")
    static_assert(k <= size, "k must not exceed the size of the dimension")
    if not (_is_power_of_two(k) and _powers_of_two(x.shape)):
        return _first_sorted(x, k, descending)
    return _elements_of(_best_keys(_keys(x), k, descending), x.dtype)


@language_function
def sort_impl(x, k: constexpr = None, dim: constexpr = None, descending: constexpr = 0):
    """The elements in order along the last dimension; the first `k` of them."""
    return sort(x, dim, descending) if k is None else topk(x, k, dim, descending)


@constexpr_function
def _flip_dim(dim, rank: int) -> int:
    dim = rank - 1 if dim is None else dim
    if not -rank <= dim < rank:
        raise ValueError(f"flip: dimension {dim} of a block with {rank}")
    return dim % rank


@constexpr_function
def _elements(shape) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


@member
@language_function
def flip(x, dim: constexpr = None):
    """The elements in reverse order along `dim`, by default the last."""
    axis: constexpr = _flip_dim(dim, len(x.shape))
    if not _powers_of_two(x.shape):
        return _taken(x, x.shape[axis] - 1, -1, x.shape[axis], axis)
    n: constexpr = _log2(x.numel)
    first: constexpr = _log2(_elements(x.shape[:axis]))
    y = reshape(x, _twos(n))
    for i in static_range(first, first + _log2(x.shape[axis])):
        y = _exchange(y, n, i)
    return reshape(y, x.shape)
