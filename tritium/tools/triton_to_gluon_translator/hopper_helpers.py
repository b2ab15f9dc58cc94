"""What rewritten kernels call on Hopper GPUs: dots of 16-bit matrices by `wgmma` where the tile fits one."""

from __future__ import annotations

from ...experimental import gluon
from ...experimental.gluon import language as gl
from ...experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma
from .nvidia_helpers import (
    computed_in,
    convert_host_descriptor,
    convert_to_expand_dims_layout,
    default_blocked_layout,
    dot_by_fma,
    dot_by_mma_sync,
    get_num_threads_per_program,
    needs_fma,
    reset_to_default_layout,
    scaled_operand,
    set_split_src_layout,
    tl_arange,
    tl_cat,
    tl_full,
    tl_histogram,
    tl_load_tensor_descriptor,
    tl_make_tensor_descriptor,
    tl_obj_load,
    tl_obj_store,
    tl_store_tensor_descriptor,
    tl_trans,
    tl_zeros,
)

__all__ = [
    "convert_host_descriptor",
    "convert_to_expand_dims_layout",
    "default_blocked_layout",
    "dot_by_fma",
    "dot_by_mma_sync",
    "get_num_threads_per_program",
    "needs_fma",
    "reset_to_default_layout",
    "set_split_src_layout",
    "tl_arange",
    "tl_cat",
    "tl_dot",
    "tl_dot_scaled",
    "tl_full",
    "tl_load_tensor_descriptor",
    "tl_make_tensor_descriptor",
    "tl_obj_load",
    "tl_obj_store",
    "tl_store_tensor_descriptor",
    "tl_histogram",
    "tl_trans",
    "tl_zeros",
]


@gluon.constexpr_function
def _fits(a, b, shape, num_warps):
    rows, columns, inner = shape
    return (
        a == b
        and (a.is_fp16() or a.is_bf16())
        and num_warps % 4 == 0
        and rows % 64 == 0
        and columns % 8 == 0
        and inner % 16 == 0
    )


@gluon.constexpr_function
def _wgmma_layout(shape, num_warps):
    rows, columns = shape
    down = num_warps
    while down > 4 and rows < 16 * down:
        down //= 2
    width = min(columns, 256)
    while columns % width or width % 8:
        width -= 8
    return gl.NVMMADistributedLayout([3, 0], [down, num_warps // down], [16, width, 16])


@gluon.jit
def _dot_by_wgmma(a, b, acc, out_dtype: gl.constexpr):
    layout: gl.constexpr = _wgmma_layout([a.shape[0], b.shape[1]], gl.num_warps())
    if acc is None:
        start = gl.zeros([a.shape[0], b.shape[1]], out_dtype, layout)
    else:
        start = gl.convert_layout(acc, layout)
    left = gl.allocate_shared_memory(a.dtype, a.shape, gl.NVMMASharedLayout.get_default_for(a.shape, a.dtype), a)
    right = gl.allocate_shared_memory(b.dtype, b.shape, gl.NVMMASharedLayout.get_default_for(b.shape, b.dtype), b)
    fence_async_shared()
    return reset_to_default_layout(warpgroup_mma(left, right, start))


@gluon.jit
def tl_dot(
    input,
    other,
    acc=None,
    input_precision: gl.constexpr = None,
    allow_tf32: gl.constexpr = None,
    max_num_imprecise_acc: gl.constexpr = None,
    out_dtype: gl.constexpr = gl.float32,
):
    """`tl.dot` of matrices."""
    if _fits(input.dtype, other.dtype, [input.shape[0], other.shape[1], input.shape[1]], gl.num_warps()):
        return _dot_by_wgmma(input, other, acc, out_dtype)
    elif needs_fma(input.dtype, other.dtype, out_dtype, input_precision):
        return dot_by_fma(input, other, acc, out_dtype)
    else:
        return dot_by_mma_sync(input, other, acc, input_precision, out_dtype)


@gluon.jit
def tl_dot_scaled(
    lhs,
    lhs_scale,
    lhs_format: gl.constexpr,
    rhs,
    rhs_scale,
    rhs_format: gl.constexpr,
    acc=None,
    fast_math: gl.constexpr = False,
    lhs_k_pack: gl.constexpr = True,
    rhs_k_pack: gl.constexpr = True,
    out_dtype: gl.constexpr = gl.float32,
):
    """`tl.dot_scaled` of matrices, by a dot of 16-bit numbers."""
    dtype: gl.constexpr = computed_in(lhs_format, rhs_format)
    a = scaled_operand(lhs, lhs_scale, lhs_format, 1, lhs_k_pack, dtype, fast_math)
    b = scaled_operand(rhs, rhs_scale, rhs_format, 0, rhs_k_pack, dtype, fast_math)
    return tl_dot(a, b, acc, out_dtype=out_dtype)
