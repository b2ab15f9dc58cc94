"""What rewritten kernels call on any GPU: operations that leave each tensor in the default layout of its rank."""

from __future__ import annotations

from ...experimental import gluon
from ...experimental.gluon import language as gl

__all__ = [
    "convert_to_expand_dims_layout",
    "default_blocked_layout",
    "get_num_threads_per_program",
    "reset_to_default_layout",
    "set_split_src_layout",
    "tl_arange",
    "tl_cat",
    "tl_full",
    "tl_histogram",
    "tl_trans",
    "tl_zeros",
]


@gluon.constexpr_function
def default_blocked_layout(shape, num_warps):
    """The layout of all tensors of a rank: a thread has one element, a warp adjacent ones of the last dimension."""
    rank = len(shape)
    return gl.BlockedLayout(
        [1] * rank, [1] * (rank - 1) + [32], [num_warps] + [1] * (rank - 1), list(range(rank - 1, -1, -1))
    )


@gluon.constexpr_function
def _expanded_layout(shape, dims, num_warps):
    rank = len(shape) + len(dims)
    layout = default_blocked_layout([1] * rank, num_warps)
    for dim in sorted((d % rank for d in dims), reverse=True):
        layout = gl.SliceLayout(dim, layout)
    return layout


@gluon.constexpr_function
def _split_layout(shape, num_warps):
    rank = len(shape)
    return gl.BlockedLayout(
        [1] * (rank - 1) + [2],
        [1] * (rank - 2) + [32, 1],
        [num_warps] + [1] * (rank - 1),
        list(range(rank - 1, -1, -1)),
    )


@gluon.constexpr_function
def _is_block(value):
    return hasattr(value, "type") and hasattr(value.type, "layout")


@gluon.jit
def get_num_threads_per_program():
    """The threads of a program."""
    return gl.num_warps() * 32


@gluon.jit
def tl_arange(start: gl.constexpr, stop: gl.constexpr = None):
    """`tl.arange`."""
    count: gl.constexpr = stop - start
    return gl.arange(start, stop, default_blocked_layout([count], gl.num_warps()))


@gluon.jit
def tl_full(shape, value, dtype: gl.constexpr = None):
    """`tl.full`."""
    return gl.full(shape, value, dtype, default_blocked_layout(shape, gl.num_warps()))


@gluon.jit
def tl_zeros(shape, dtype: gl.constexpr):
    """`tl.zeros`."""
    return gl.full(shape, 0, dtype, default_blocked_layout(shape, gl.num_warps()))


@gluon.jit
def tl_histogram(input, num_bins: gl.constexpr, mask=None):
    """`tl.histogram`."""
    return gl.histogram(input, num_bins, mask, default_blocked_layout([num_bins], gl.num_warps()))


@gluon.jit
def reset_to_default_layout(value):
    """A tensor, or each one of a tuple, in the default layout; a scalar as it is."""
    if isinstance(value, gl.tuple):
        out = ()
        for i in gl.static_range(len(value)):
            out = out + (reset_to_default_layout(value[i]),)
        return out
    elif _is_block(value):
        return gl.convert_layout(value, default_blocked_layout(value.shape, gl.num_warps()))
    else:
        return value


@gluon.jit
def convert_to_expand_dims_layout(value, dims: gl.constexpr):
    """A tensor that gets dimensions of size 1 at `dims`, in the slice of the result's layout."""
    if _is_block(value):
        return gl.convert_layout(value, _expanded_layout(value.shape, dims, gl.num_warps()))
    else:
        return value


@gluon.jit
def set_split_src_layout(value):
    """A tensor whose last dimension is in one thread, so that it can be split."""
    return gl.convert_layout(value, _split_layout(value.shape, gl.num_warps()))


@gluon.constexpr_function
def _reversed_dims(rank):
    return list(range(rank - 2)) + [rank - 1, rank - 2]


@gluon.jit
def tl_trans(value, *dims):
    """`tl.trans`."""
    if len(dims) == 0:
        return reset_to_default_layout(gl.permute(value, _reversed_dims(len(value.shape))))
    else:
        return reset_to_default_layout(gl.permute(value, *dims))


@gluon.jit
def tl_cat(input, other, can_reorder: gl.constexpr = False, dim: gl.constexpr = 0):
    """`tl.cat` of tensors with one dimension."""
    gl.static_assert(len(input.shape) == 1 and dim == 0, "tl.cat is rewritten for tensors with one dimension")
    joined = gl.permute(gl.join(input, other), [1, 0])
    return reset_to_default_layout(gl.reshape(joined, [2 * input.shape[0]]))
