"""Arrays of every kind: element type, address, what keeps them alive, their extent."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tritium
from tritium.runtime import ArgumentError, MockTensor, TensorWrapper
from tritium.runtime.arrays import describe, device_of, extent, is_array
from tritium.runtime.packing import Packer


class Interface:
    """Only `__array_interface__`."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


class DLPack:
    """Only DLPack."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, stream=None):
        assert (stream is not None) == (self.device == 2)  # GPUs say which stream has to see the contents
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (self.device, 0)


class Pointer:
    """Only an address and an element type."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype

    def data_ptr(self):
        return self.array.ctypes.data


class CudaArray:
    __cuda_array_interface__ = {"data": (0, False), "shape": (1,), "typestr": "<f4", "version": 3}


@pytest.mark.parametrize("dtype, name", [("f4", "fp32"), ("f8", "fp64"), ("i4", "i32"), ("u1", "u8"), ("i8", "i64")])
@pytest.mark.parametrize("wrap", [lambda a: a, Interface, DLPack], ids=["numpy", "interface", "dlpack"])
def test_description(wrap, dtype: str, name: str) -> None:
    array = np.arange(12, dtype=dtype)[2:]
    info = describe(wrap(array))
    assert (info.element, info.address) == (name, array.ctypes.data)
    assert extent(wrap(array)) == (array.ctypes.data, array.ctypes.data + array.nbytes)


def test_pointer_objects() -> None:
    array = np.zeros(4, np.float32)
    assert describe(Pointer(array, "float16"))[:2] == ("fp16", array.ctypes.data)
    assert extent(Pointer(array, "float16")) == (0, 2**64 - 1)
    with pytest.raises(ArgumentError, match="unsupported element type quaternion"):
        describe(Pointer(array, "quaternion"))


def test_subclasses_of_ndarray() -> None:
    matrix = np.zeros((2, 2), np.float32).view(np.matrix) if hasattr(np, "matrix") else np.zeros((2, 2), np.float32)
    assert describe(matrix)[:2] == ("fp32", matrix.ctypes.data)


@pytest.mark.parametrize(
    "view",
    [lambda a: a[::-1], lambda a: a[1:3, ::2], lambda a: a.T, lambda a: a[:0], lambda a: a[1, 1, ...]],
)  # fmt: skip
def test_extent_of_views(view) -> None:
    v = view(np.zeros((4, 6), np.int32))
    low, high = np.lib.array_utils.byte_bounds(v) if hasattr(np.lib, "array_utils") else np.byte_bounds(v)
    assert extent(v) == ((low, high) if v.size else (v.ctypes.data, v.ctypes.data))


def test_read_only_arrays_are_taken() -> None:
    array = np.zeros(4, np.float32)
    array.flags.writeable = False
    assert describe(array).address == array.ctypes.data


def test_owners_keep_memory_alive() -> None:
    array = np.zeros(4, np.float32)
    alive = weakref.ref(array)
    info = describe(DLPack(array))
    del array
    gc.collect()
    assert alive() is not None
    del info
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("value", [3, 2.5, "x", None, (1,), np.float32(3), np.int8(1), [1, 2], {}, np.ndarray])
def test_no_arrays(value) -> None:
    assert not is_array(value)
    assert describe(value) is None


@pytest.mark.parametrize("value", [CudaArray(), DLPack(np.zeros(1, np.float32), device=2)], ids=["cuda", "dlpack"])
def test_device_memory_is_described_and_no_place_for_kernels_of_the_cpu(value) -> None:
    assert (describe(value).element, describe(value).device, device_of(value)) == ("fp32", 0, 0)
    with pytest.raises(ArgumentError, match=r"'x' is in .* CUDA device 0, .* for the CPU\nhint: pass a CPU copy"):
        Packer(["x"], ["*fp32"])([value])


@pytest.mark.torch
def test_torch() -> None:
    import torch

    t = torch.zeros(4, 6, dtype=torch.bfloat16)[1:, 2:]
    assert describe(t)[:2] == ("bf16", t.data_ptr())
    assert extent(t) == (t.data_ptr(), t.data_ptr() + (2 * 6 + 3) * 2 + 2)
    with pytest.raises(ArgumentError, match="in the memory of device meta: kernels run on the CPU and on CUDA GPUs"):
        describe(torch.zeros(3, device="meta"))


def test_reinterpret() -> None:
    array = np.zeros(4, np.uint8)
    other = tritium.reinterpret(array, "float8_e5m2")
    assert isinstance(other, TensorWrapper)
    assert describe(other)[:2] == ("fp8e5", array.ctypes.data)
    assert extent(other) == extent(array)
    assert tritium.reinterpret(other, np.dtype("uint8")) is array
    with pytest.raises(ArgumentError, match="it is no array"):
        tritium.reinterpret(3, "float16")


def test_mock_tensors() -> None:
    assert describe(MockTensor(np.dtype("float32")))[:2] == ("fp32", 0)
    assert isinstance(MockTensor.wrap_dtype(np.dtype("float32")), MockTensor)
    assert MockTensor.wrap_dtype(3) == 3
