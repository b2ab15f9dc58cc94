"""Arrays copied to a GPU and back, with memory of the CPU in the place of the GPU's."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np
import pytest

from tritium.runtime.errors import LaunchError
from tritium.tools.check import hardware
from tritium.tools.check.hardware import OnGPU
from tritium.tools.check.launch import Arguments


class Library:
    def call(self, name: str, to: int, start: int, size: int) -> None:
        assert name == "copy"
        ctypes.memmove(to, start, size)


class GPU:
    index = 0
    cuda = Library()

    def active(self) -> Any:
        return contextlib.nullcontext()

    def synchronize(self) -> None:
        pass


class Block:
    def __init__(self, device: int, size: int) -> None:
        self.size = size
        self.bytes = np.zeros(size, np.uint8)

    def data_ptr(self) -> int:
        return self.bytes.ctypes.data


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(hardware, "DeviceBlock", Block)
    monkeypatch.setattr(hardware.devices, "device", lambda index: GPU())
    x = np.arange(24, dtype=np.float32).reshape(4, 6)[1:, ::-2]
    arguments = Arguments({"x": "*fp32", "n": "i32"}, [x, 3])
    regions = arguments.fresh()
    return x, regions, OnGPU(arguments, regions, 0)


def elements(placed: Any) -> np.ndarray:
    strides = [s * placed.element_size() for s in placed.stride()]
    raw = (ctypes.c_uint8 * 4096).from_address(placed.data_ptr() - 64)
    return np.ndarray(placed.shape, np.float32, raw, 64, strides)


def test_what_the_kernel_writes_comes_back(there: Any) -> None:
    x, regions, gpu = there
    placed, n = gpu.arguments.launch(regions, gpu.place)
    assert n == 3 and placed.data_ptr() % 4096 == x.ctypes.data % 4096
    found = elements(placed)
    assert (found == x).all()
    found[1, 2] = -1
    gpu.finish()
    (back, _) = gpu.arguments.launch(regions)
    assert back[1, 2] == -1 and x[1, 2] != -1


def test_what_is_written_beside_is_told(there: Any) -> None:
    _, regions, gpu = there
    (placed, _) = gpu.arguments.launch(regions, gpu.place)
    end = gpu.addresses[0] + regions[0].nbytes
    ctypes.memset(end + 4, 7, 2)
    with pytest.raises(LaunchError, match=f"2 bytes are written beside x, the first {regions[0].nbytes + 4} from its"):
        gpu.finish()
    assert placed.device == "cuda:0"
