"""Runs launches with arrays of the CPU on a GPU: their memory is copied there, and back when the kernel has run.

So the tests of tests/e2e, which know nothing of GPUs, serve there too. The whole memory that an array is a view of is
copied, so that what a test keeps around its arrays shows what a kernel wrote beside them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tritium.runtime import JITFunction, TensorDescriptor, TensorWrapper
from tritium.support import settings


class OnDevice:
    """The mirror of an array: an address in a GPU's memory, and an element type."""

    device = "cuda:0"

    def __init__(self, address: int, dtype: Any, keep: Any) -> None:
        self.address, self.dtype, self.keep = address, dtype, keep
        self.shape = keep.shape

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return self.keep.itemsize


def root_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of `array`."""
    base = array.base
    while base is not None:
        array = base if isinstance(base, np.ndarray) else array
        base = getattr(base, "base", None)  # of `as_strided` the base is an object that has one
    return array


class CudaMirror:
    """Copies to and from the GPU, through torch."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.copies: dict[int, tuple[Any, Any]] = {}
        self.roots: list[Any] = []

    def address(self, value: Any) -> int:
        """Where `value` is on the GPU, copied now if its memory was not."""
        if isinstance(value, np.ndarray):
            root = root_of(value)
            self.roots.append(root)
            flat = self.torch.from_numpy(_bytes_of(root))
            start, at = root.ctypes.data, value.ctypes.data
        else:
            storage = value.untyped_storage()
            flat = self.torch.empty(0, dtype=self.torch.uint8).set_(storage)
            start, at = storage.data_ptr(), value.data_ptr()
        if start not in self.copies:
            self.copies[start] = flat, flat.cuda()
        return self.copies[start][1].data_ptr() + at - start

    def finish(self) -> None:
        """Copy everything back. An error of the kernel is raised here."""
        self.torch.cuda.synchronize()
        for host, copy in self.copies.values():
            host.copy_(copy)


def _bytes_of(root: np.ndarray) -> np.ndarray:
    return np.frombuffer((ctypes.c_uint8 * root.nbytes).from_address(root.ctypes.data), np.uint8)


class EmulatedMirror:
    """The emulated GPU works on the arrays themselves."""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self.kept: list[Any] = []

    def address(self, value: Any) -> int:
        """Where `value` is."""
        if isinstance(value, np.ndarray):
            self.gpu.keep(root_of(value))
            return value.ctypes.data
        import torch

        storage = value.untyped_storage()
        flat = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
        self.kept.append(flat)
        self.gpu.keep(flat)
        return value.data_ptr()

    def finish(self) -> None:
        """Nothing is under way."""


def mirrored(value: Any, mirror: Any) -> Any:
    """An argument of a launch as it is on the GPU."""
    if isinstance(value, np.ndarray):
        return OnDevice(mirror.address(value), value.dtype, value)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor) and value.is_cpu:
        return OnDevice(mirror.address(value), value.dtype, value)
    if isinstance(value, TensorWrapper):
        return TensorWrapper(mirrored(value.base, mirror), value.dtype)
    if isinstance(value, TensorDescriptor):
        return replace(value, base=mirrored(value.base, mirror))
    if isinstance(value, tuple):
        items = [mirrored(item, mirror) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


@contextmanager
def launches_on(monkeypatch: Any, make_mirror: Any) -> Iterator[None]:
    """Kernels run on the GPU inside, also where they are given arrays of the CPU."""
    settings.generation.value += 1  # drops launch plans
    original = JITFunction._launch_any

    def launch(self: Any, grid: Any, args: tuple[Any, ...], *rest: Any) -> Any:
        mirror = make_mirror()
        kernel = original(self, grid, tuple(mirrored(value, mirror) for value in args), *rest)
        mirror.finish()
        return kernel

    monkeypatch.setattr(JITFunction, "_launch_any", launch)
    yield
    settings.generation.value += 1
