"""A kernel whose integers wrap around in one type, are extended to another, and added to what does not wrap."""

from __future__ import annotations

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def sums_of_strides(x_ptr, out_ptr, a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    wide = (i + 3).to(tl.int64) * c + (i.to(tl.int64) + c) * 5
    near = ((i + a) * b + (i - 7) * 3).to(tl.int64)
    small = (i.to(tl.int8) + x.to(tl.int8)).to(tl.int32) + (i.to(tl.uint16) * 40000).to(tl.int32)
    tl.store(out_ptr + i, wide + near * 2 + small + (i + 2147483647).to(tl.int64))


def expected(x: np.ndarray, a: int, b: int, c: int) -> np.ndarray:
    """What `sums_of_strides` stores."""
    with np.errstate(over="ignore"):
        i = np.arange(1024, dtype=np.int32)
        wide = (i + 3).astype(np.int64) * np.int64(c) + (i + np.int64(c)) * np.int64(5)
        near = ((i + np.int32(a)) * np.int32(b) + (i - 7) * np.int32(3)).astype(np.int64)
        small = (i.astype(np.int8) + x.astype(np.int8)).astype(np.int32)
        small += (i.astype(np.uint16) * np.uint16(40000)).astype(np.int32)
        return wide + near * 2 + small + (i + np.int32(2147483647)).astype(np.int64)
