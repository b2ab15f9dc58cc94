"""The kernels of these tests on a GPU, to see that the emulator gives what hardware gives, bit by bit.

With `TRITIUM_TEST_HARDWARE=1`, on a machine with a GPU, every kernel that `kernels.run` emulates without an error is
also launched there through the CUDA driver, and all arrays are compared.
"""

from __future__ import annotations

import ctypes
import functools
import os

import numpy as np

VARIABLE = "TRITIUM_TEST_HARDWARE"


def wanted() -> bool:
    return os.environ.get(VARIABLE) == "1"


@functools.cache
def cuda():
    """The driver's library with a context on the first GPU."""
    lib = ctypes.CDLL("libcuda.so.1")
    call(lib.cuInit, 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call(lib.cuDeviceGet, ctypes.byref(device), 0)
    call(lib.cuDevicePrimaryCtxRetain, ctypes.byref(context), device)
    call(lib.cuCtxSetCurrent, context)
    return lib


def call(function, *arguments) -> None:
    status = function(*arguments)
    assert status == 0, f"{function.__name__}: CUDA error {status}"


def run(ptx: str, name: str, grid: int, threads: int, arrays: list[np.ndarray], shared: int = 0) -> list[np.ndarray]:
    """The arrays after the kernel has run on them on the GPU; the driver compiles the PTX."""
    lib = cuda()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call(lib.cuModuleLoadData, ctypes.byref(module), ptx.encode() + b"\0")
    call(lib.cuModuleGetFunction, ctypes.byref(function), module, name.encode())
    places, results = [], []
    for array in arrays:
        place = ctypes.c_uint64()
        call(lib.cuMemAlloc_v2, ctypes.byref(place), ctypes.c_size_t(max(array.nbytes, 16)))
        call(lib.cuMemcpyHtoD_v2, place, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        places.append(place)
    pointers = (ctypes.c_void_p * len(places))(*(ctypes.addressof(p) for p in places))
    call(lib.cuLaunchKernel, function, grid, 1, 1, threads, 1, 1, shared, None, pointers, None)
    call(lib.cuCtxSynchronize)
    for array, place in zip(arrays, places):
        result = np.empty_like(array)
        call(lib.cuMemcpyDtoH_v2, ctypes.c_void_p(result.ctypes.data), place, ctypes.c_size_t(array.nbytes))
        call(lib.cuMemFree_v2, place)
        results.append(result)
    call(lib.cuModuleUnload, module)
    return results


def compare(emulated: list[np.ndarray], real: list[np.ndarray], names: list[str], nan: str = "") -> None:
    """All bits are equal; with `nan` a floating-point type, any NaN is as good as another."""
    wrong = []
    for name, one, other in zip(names, emulated, real):
        a, b = np.ascontiguousarray(one).ravel(), np.ascontiguousarray(other).ravel()
        a, b = (x.view(f"u{x.itemsize}") for x in (a, b))
        differ = a != b
        if nan and one.dtype.itemsize == np.dtype(nan).itemsize:
            differ &= ~(np.isnan(a.view(nan)) & np.isnan(b.view(nan)))
        if differ.any():
            at = int(np.argmax(differ))
            count = int(np.count_nonzero(differ))
            wrong.append(f"{name}: {count} differ; element {at}: emulated {a[at]:#x}, on the GPU {b[at]:#x}")
    assert not wrong, "\n".join(wrong)
