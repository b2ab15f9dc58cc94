"""Kernels on the emulated GPU, whole and with instructions taken out of their PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tritium.runtime import TensorDescriptor, driver
from tritium.runtime.emulated import EmulatedCUDADriver


@contextmanager
def gpu(capability: int = 90) -> Iterator[EmulatedCUDADriver]:
    """Launches within it are emulated."""
    emulated = EmulatedCUDADriver(capability)
    driver.set_active(emulated)
    try:
        yield emulated
    finally:
        driver.reset_active()


def without(ptx: str, pattern: str) -> Iterator[tuple[str, str]]:
    """Each line of the text that matches, and the text without it."""
    lines = ptx.split("\n")
    for i, line in enumerate(lines):
        if re.search(pattern, line):
            yield line.strip(), "\n".join([*lines[:i], *lines[i + 1 :]])


def error_of(kernel: Any, ptx: str, grid: tuple[int, ...], *args: Any) -> Exception | None:
    """What the emulator says of the kernel with this text in the place of its own."""
    own = kernel.asm["ptx"]
    kernel.asm["ptx"] = ptx
    try:
        kernel.launcher(grid, args)
    except Exception as error:
        return error
    finally:
        kernel.asm["ptx"] = own
    return None


def tile(shape: tuple[int, int], block: list[int], seed: int | None = None, dtype: Any = np.float16) -> Any:
    """(array, descriptor) of small whole numbers, which every order of sums gives exactly; NaN without a seed."""
    raw = np.zeros(shape[0] * shape[1] * np.dtype(dtype).itemsize + 128, np.uint8)
    array = raw[-raw.ctypes.data % 128 :][: shape[0] * shape[1] * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
    array[...] = np.nan if seed is None else np.random.default_rng(seed).integers(-3, 4, shape)
    return array, TensorDescriptor(array, list(shape), [shape[1], 1], block)
