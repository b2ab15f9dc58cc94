"""Memory for whole-kernel tests: any dtype and strides, as NumPy array or torch tensor, poisoned and fenced.

A buffer owns flat storage with a fence on either side and whatever gaps its strides leave. All of it is filled with one
bit pattern (a NaN, for floating-point dtypes) before values are put in, so that a kernel that leaves an output element
unwritten, or writes beside it, is caught: the first by the comparison, the second by `check_fence`.
"""

from __future__ import annotations

import numpy as np

FENCE = 64  # elements before and after; enough for a whole vector store of the widest machine

#: dtype name -> (NumPy dtype of its values, None where NumPy has none; bytes; bit pattern of the poison)
DTYPES = {
    "f64": (np.float64, 8, 0x7FF8DEADBEEF1234),
    "f32": (np.float32, 4, 0x7FC0DEAD),
    "f16": (np.float16, 2, 0x7E5A),
    "bf16": (None, 2, 0x7FDA),
    "i64": (np.int64, 8, 0x5A5A5A5A5A5A5A5A),
    "i32": (np.int32, 4, 0x5A5A5A5A),
    "i16": (np.int16, 2, 0x5A5A),
    "i8": (np.int8, 1, 0x5A),
    "u8": (np.uint8, 1, 0xA5),
}

#: Distance between 1 and the next number, by dtype.
EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}


def is_float(dtype: str) -> bool:
    return "f" in dtype


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values rounded to nearest even in `dtype`, as unsigned integers of its width."""
    kind, size, _ = DTYPES[dtype]
    if kind is not None:
        return np.ascontiguousarray(values).astype(kind).view(f"u{size}")
    bits = np.ascontiguousarray(values).astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def decode(bits: np.ndarray, dtype: str) -> np.ndarray:
    """The values of bit patterns of `dtype`: as float64 for floating point, as int64 for integers."""
    kind, _, _ = DTYPES[dtype]
    if kind is None:
        return (np.ascontiguousarray(bits).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.ascontiguousarray(bits).view(kind).astype(np.float64 if is_float(dtype) else np.int64)


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """`values` as `dtype` would hold them."""
    return decode(encode(values, dtype), dtype).reshape(np.shape(values))


class Buffer:
    """A tensor of `shape` and `strides` (in elements; contiguous if not given), with or without initial `values`.

    `tensor` is what a kernel is given: a NumPy array, or with library="torch" a torch tensor. `offset` shifts its start
    by that many elements, to break alignment.
    """

    def __init__(self, shape, dtype="f32", values=None, strides=None, library="numpy", offset=0):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.strides = tuple(strides) if strides is not None else contiguous_strides(self.shape)
        _, size, poison = DTYPES[dtype]
        extent = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides)) if 0 not in self.shape else 0
        self.bits = np.full(extent + 2 * FENCE + offset, poison, f"u{size}")
        self.start = FENCE + offset
        self._view = self._strided(self.bits)
        if values is not None:
            self._view[...] = encode(np.broadcast_to(values, self.shape), dtype).reshape(self.shape)
        self.before = self.bits.copy()
        self.tensor = self._strided(self.bits.view(DTYPES[dtype][0])) if library == "numpy" else self._torch()

    def _strided(self, flat: np.ndarray) -> np.ndarray:
        byte_strides = [s * flat.itemsize for s in self.strides]
        return np.lib.stride_tricks.as_strided(flat[self.start :], self.shape, byte_strides)

    def _torch(self):
        import torch

        names = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "u8": "uint8"}
        kind = getattr(torch, names.get(self.dtype, self.dtype.replace("i", "int")))
        signed = torch.from_numpy(self.bits.view(f"i{self.bits.itemsize}"))
        return torch.as_strided(signed.view(kind), self.shape, self.strides, self.start)

    @property
    def values(self) -> np.ndarray:
        """The current contents, as float64 or int64."""
        return decode(np.ascontiguousarray(self._view), self.dtype).reshape(self.shape)

    def check_fence(self) -> None:
        """Fail if anything outside the tensor was written."""
        outside = np.ones(self.bits.shape, bool)
        self._strided(outside)[...] = False
        touched = np.flatnonzero(outside & (self.bits != self.before)) - self.start
        assert touched.size == 0, f"written outside the tensor, at element offsets {touched[:8].tolist()}"

    def check_unchanged(self) -> None:
        """Fail if anything at all was written."""
        assert np.array_equal(self.bits, self.before), "an input was written"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def assert_close(buffer: Buffer, expected: np.ndarray, rtol: float, atol: float = 0.0) -> None:
    """Compare a floating-point buffer with a float64 reference; infinities and NaNs must stand at the same places.

    The bound is atol + rtol * |expected| + half a unit in the last place of the buffer's dtype, which its final
    rounding may always cost.
    """
    buffer.check_fence()
    got = buffer.values
    finite = np.isfinite(expected)
    assert np.array_equal(got[~finite], expected[~finite], equal_nan=True), "infinities or NaNs differ"
    smallest = {"f16": 2.0**-25, "bf16": 2.0**-134, "f32": 2.0**-150, "f64": 0.0}[buffer.dtype]
    bound = atol + (rtol + EPSILON[buffer.dtype] / 2) * np.abs(expected[finite]) + smallest
    error = np.abs(got[finite] - expected[finite])
    bad = ~(error <= bound)  # a NaN in `got` is bad
    assert not bad.any(), (
        f"{bad.sum()} of {bad.size} elements differ: got {got[finite][bad][:4]}, expected {expected[finite][bad][:4]}, "
        f"errors {error[bad][:4]}, bounds {np.broadcast_to(bound, bad.shape)[bad][:4]}"
    )


def assert_equal(buffer: Buffer, expected: np.ndarray) -> None:
    """Compare a buffer with values it must hold exactly (after rounding to its dtype)."""
    buffer.check_fence()
    got = np.atleast_1d(buffer.values)
    want = np.atleast_1d(rounded(expected, buffer.dtype))
    assert np.array_equal(got, want, equal_nan=is_float(buffer.dtype)), (
        f"{np.sum(got != want)} of {got.size} elements differ: {got[got != want][:4]}, expected {want[got != want][:4]}"
    )
