"""What rewritten kernels call on NVIDIA GPUs: dots by `mma.sync` or FMAs, and descriptors by TMA."""

from __future__ import annotations

from ...experimental import gluon
from ...experimental.gluon import language as gl
from ...experimental.gluon.language.nvidia.ampere import mma_v2
from ...experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from ...experimental.gluon.nvidia.hopper import TensorDescriptor
from ...frontend.aggregate_types import str_to_type
from ...runtime.arrays import describe
from ...runtime.errors import DescriptorError
from ...runtime.tensor_descriptor import TensorDescriptor as PlainDescriptor
from .common_helpers import (
    convert_to_expand_dims_layout,
    default_blocked_layout,
    get_num_threads_per_program,
    reset_to_default_layout,
    set_split_src_layout,
    tl_arange,
    tl_cat,
    tl_full,
    tl_histogram,
    tl_trans,
    tl_zeros,
)

__all__ = [
    "computed_in",
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
    "scaled_operand",
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
def _sync_layout(shape, num_warps):
    return gl.NVMMADistributedLayout([2, 0], [num_warps, 1], [16, 8])


@gluon.constexpr_function
def _k_width(a, b):
    return max(32 // max(a.primitive_bitwidth, b.primitive_bitwidth), 1)


@gluon.jit
def _accumulator(a, b, acc, out_dtype: gl.constexpr, layout: gl.constexpr):
    if acc is None:
        return gl.zeros([a.shape[0], b.shape[1]], out_dtype, layout)
    else:
        return gl.convert_layout(acc, layout)


@gluon.jit
def dot_by_fma(a, b, acc, out_dtype: gl.constexpr):
    """A dot by multiplications and additions of threads."""
    layout: gl.constexpr = default_blocked_layout([a.shape[0], b.shape[1]], gl.num_warps())
    start = _accumulator(a, b, acc, out_dtype, layout)
    left = gl.convert_layout(a, gl.DotOperandLayout(0, layout, 0))
    right = gl.convert_layout(b, gl.DotOperandLayout(1, layout, 0))
    return gl.dot_fma(left, right, start)


@gluon.jit
def dot_by_mma_sync(a, b, acc, input_precision: gl.constexpr, out_dtype: gl.constexpr):
    """A dot by `mma.sync`."""
    layout: gl.constexpr = _sync_layout([a.shape[0], b.shape[1]], gl.num_warps())
    width: gl.constexpr = _k_width(a.dtype, b.dtype)
    start = _accumulator(a, b, acc, out_dtype, layout)
    left = gl.convert_layout(a, gl.DotOperandLayout(0, layout, width))
    right = gl.convert_layout(b, gl.DotOperandLayout(1, layout, width))
    return reset_to_default_layout(mma_v2(left, right, start, input_precision))


@gluon.constexpr_function
def needs_fma(a, b, out_dtype, input_precision):
    """Whether no matrix instruction computes a dot of these types."""
    return a.is_fp64() or (a.is_fp32() and input_precision == "ieee") or a.primitive_bitwidth != b.primitive_bitwidth


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
    if needs_fma(input.dtype, other.dtype, out_dtype, input_precision):
        return dot_by_fma(input, other, acc, out_dtype)
    else:
        return dot_by_mma_sync(input, other, acc, input_precision, out_dtype)


@gluon.constexpr_function
def computed_in(a_format, b_format):
    return gl.float16 if "fp16" in (a_format, b_format) else gl.bfloat16


@gluon.jit
def _wide_scale(scale, shape: gl.constexpr, inner: gl.constexpr, dtype: gl.constexpr):
    """Scales of e8m0 for each element of an operand of `shape`, whose dimension `inner` they divide."""
    number = (scale.to(gl.uint16) << 7).to(gl.bfloat16, bitcast=True)
    number = number.to(gl.float32).to(dtype)
    groups: gl.constexpr = scale.shape[1]
    size: gl.constexpr = shape[inner] // groups
    if inner == 1:
        apart = gl.expand_dims(convert_to_expand_dims_layout(number, [2]), 2).broadcast_to([shape[0], groups, size])
    else:
        turned = tl_trans(number)
        apart = gl.expand_dims(convert_to_expand_dims_layout(turned, [1]), 1).broadcast_to([groups, size, shape[1]])
    return reset_to_default_layout(gl.reshape(apart, shape))


@gluon.jit
def scaled_operand(
    value,
    scale,
    kind: gl.constexpr,
    inner: gl.constexpr,
    k_pack: gl.constexpr,
    dtype: gl.constexpr,
    fast_math: gl.constexpr,
):
    """An operand of `tl.dot_scaled` as numbers of `dtype`, times its scales."""
    if kind == "e2m1":
        wide = reset_to_default_layout(gl.fp4_to_fp(value, dtype, inner if k_pack else 1 - inner))
    elif kind == "e4m3":
        wide = value.to(gl.float8e4nv, bitcast=True).to(dtype)
    elif kind == "e5m2":
        wide = value.to(gl.float8e5, bitcast=True).to(dtype)
    else:
        wide = value.to(dtype)
    if scale is None:
        return wide
    else:
        out = wide * _wide_scale(scale, wide.shape, inner, dtype)
        if fast_math:
            return out
        else:
            bits = _wide_scale((scale == 255).to(gl.uint8) * 127, wide.shape, inner, dtype)
            return gl.where(bits == 1.0, float("nan"), out)


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


@gluon.jit
def tl_make_tensor_descriptor(base, shape, strides, block_shape: gl.constexpr, padding_option: gl.constexpr = "zero"):
    """`tl.make_tensor_descriptor`."""
    layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for(block_shape, base.dtype.element_ty)
    return tma.make_tensor_descriptor(base, shape, strides, block_shape, layout, padding_option)


@gluon.jit
def tl_load_tensor_descriptor(desc, offsets):
    """`desc.load(offsets)`."""
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_type.shape, desc.layout)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, desc.nbytes_per_cta)
    tma.async_load(desc, offsets, ready, buffer)
    mbarrier.wait(ready, 0)
    mbarrier.invalidate(ready)
    return buffer.load(default_blocked_layout(desc.block_type.shape, gl.num_warps()))


@gluon.jit
def tl_store_tensor_descriptor(desc, offsets, value):
    """`desc.store(offsets, value)`."""
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_type.shape, desc.layout, value.to(desc.dtype))
    fence_async_shared()
    tma.async_store(desc, offsets, buffer)
    tma.store_wait(0)


@gluon.jit
def tl_obj_load(obj, offsets):
    """The method `load`."""
    return tl_load_tensor_descriptor(obj, offsets)


@gluon.jit
def tl_obj_store(obj, offsets, value):
    """The method `store`."""
    tl_store_tensor_descriptor(obj, offsets, value)


def convert_host_descriptor(desc: PlainDescriptor) -> TensorDescriptor:
    """A descriptor for rewritten kernels, from one for kernels of the Triton language."""
    block = list(desc.block_shape)
    found = describe(desc.base)
    if found is None:
        raise DescriptorError(f"a descriptor of {type(desc.base).__name__} cannot be passed to a kernel")
    layout = gl.NVMMASharedLayout.get_default_for(block, str_to_type(found.element))
    return TensorDescriptor(desc.base, list(desc.shape), list(desc.strides), block, layout, desc.padding)
