"""A `tl` over NumPy arrays: running a kernel's text with it is the reference for the compiled kernel.

It covers what `tiles.Tiles` writes. int32 wraps around in NumPy as it does in a kernel, and Python numbers take the
type of the array beside them in both.
"""

import types

import numpy as np


class Block(np.ndarray):
    """An array with the methods of blocks."""

    def to(self, dtype):
        return self.astype(dtype).view(Block)


class Pointer:
    """An address (or a block of them) into an array."""

    def __init__(self, data, offset=0):
        self.data = data
        self.offset = offset

    def __add__(self, offset):
        return Pointer(self.data, self.offset + offset)


def block(x):
    return np.asarray(x).view(Block)


def load(pointer, mask=None, other=0):
    at = np.asarray(pointer.offset)
    if mask is None:
        return block(pointer.data[at])
    return block(np.where(mask, pointer.data[np.where(mask, at, 0)], np.asarray(other, pointer.data.dtype)))


def store(pointer, value, mask=True):
    at, mask = np.broadcast_arrays(pointer.offset, mask)
    pointer.data[at[mask]] = np.broadcast_to(value, at.shape)[mask]


def cumsum(x, axis, reverse=False):
    x = np.flip(x, axis) if reverse else np.asarray(x)
    result = np.cumsum(x, axis=axis, dtype=x.dtype)
    return block(np.flip(result, axis) if reverse else result)


def where(condition, x, y):
    dtype = getattr(x, "dtype", None) or getattr(y, "dtype", None) or np.int32
    return block(np.where(condition, x, y).astype(dtype))


def total(x, axis):
    return block(np.sum(np.asarray(x), axis=axis, dtype=x.dtype))


TL = types.SimpleNamespace(
    arange=lambda start, end: block(np.arange(start, end, dtype=np.int32)),
    load=load,
    store=store,
    where=where,
    minimum=lambda x, y: block(np.minimum(x, y)),
    maximum=lambda x, y: block(np.maximum(x, y)),
    abs=lambda x: block(np.abs(x)),
    exp=lambda x: block(np.exp(x)),
    floor=lambda x: block(np.floor(x)),
    sqrt=lambda x: block(np.sqrt(x)),
    cast=lambda x, dtype: block(np.asarray(x).astype(dtype)),
    sum=total,
    cumsum=cumsum,
    dot=lambda x, y, input_precision: block(np.asarray(x) @ np.asarray(y)),
    max=lambda x, axis: block(np.max(np.asarray(x), axis=axis)),
    min=lambda x, axis: block(np.min(np.asarray(x), axis=axis)),
    reshape=lambda x, shape: block(np.reshape(x, shape)),
    trans=lambda x: block(np.asarray(x).T),
    full=lambda shape, value, dtype: block(np.full(shape, value, dtype)),
    zeros=lambda shape, dtype: block(np.zeros(shape, dtype)),
    float32=np.float32,
    int32=np.int32,
)


def run(kernel, programs, *args):
    """Run the Python function of a kernel over NumPy: arrays become pointers, integers int32."""
    for program in range(programs):
        language = types.SimpleNamespace(**vars(TL), program_id=lambda axis, p=program: np.int32(p))
        function = types.FunctionType(kernel.fn.__code__, {**kernel.fn.__globals__, "tl": language})
        with np.errstate(all="ignore"):
            function(*(Pointer(a) if isinstance(a, np.ndarray) else np.int32(a) for a in args))
