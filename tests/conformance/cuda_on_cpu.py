"""A plugin of pytest: what tests call "cuda" is the CPU's memory, where an emulated GPU or the CPU's backend works.

Tests that are written for a GPU name it everywhere: `device="cuda"`, `x.cuda()`, `torch.cuda.get_device_properties`.
Here torch makes such tensors on the CPU, and answers for an H100 with few multiprocessors, so that persistent kernels
have something to do in each. Memory outside of a tensor's view counts as the kernel's where the tensor's storage has it.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from tritium.emulator.memory import memory_of
from tritium.runtime import emulated_driver

MULTIPROCESSORS = 4
CAPABILITY = (9, 0)


def _here(value: Any) -> Any:
    """The CPU for a CUDA device, other values as they are."""
    if isinstance(value, str) and value.partition(":")[0] == "cuda":
        return "cpu"
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


class OnCPU(TorchFunctionMode):
    """Functions of torch that are given a CUDA device get the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = {name: _here(value) for name, value in (kwargs or {}).items()}
        if function is torch.histc:  # knows no integers on the CPU
            return function(args[0].float(), *args[1:], **kwargs).to(args[0].dtype)
        return function(*map(_here, args), **kwargs)


def _answers() -> dict[str, Any]:
    properties = SimpleNamespace(
        name="NVIDIA H100",
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        multi_processor_count=MULTIPROCESSORS,
        total_memory=1 << 34,
        L2_cache_size=50 << 20,
        shared_memory_per_block_optin=232_448,
        shared_memory_per_multiprocessor=233_472,
    )
    return {
        "current_device": lambda: 0,
        "device": lambda *_: contextlib.nullcontext(),
        "device_count": lambda: 1,
        "empty_cache": lambda: None,
        "get_device_capability": lambda *_: CAPABILITY,
        "get_device_name": lambda *_: properties.name,
        "get_device_properties": lambda *_: properties,
        "is_available": lambda: True,
        "manual_seed": lambda *_: None,
        "synchronize": lambda *_: None,
    }


def _whole_storage(value: Any) -> tuple[int, int]:
    """First byte and one past the last of the memory that a tensor is a view of."""
    whole = memory_of(value) if isinstance(value, torch.Tensor) else None
    return whole or _extent(value)


_extent = emulated_driver.extent
_mode = OnCPU()


def pytest_configure(config: Any) -> None:
    """From before the tests are collected on."""
    for name, answer in _answers().items():
        setattr(torch.cuda, name, answer)
    torch.Tensor.cuda = lambda self, *_, **__: self  # type: ignore[method-assign,assignment]
    emulated_driver.extent = _whole_storage  # type: ignore[attr-defined]
    _mode.__enter__()


@pytest.fixture
def device() -> str:
    """What Triton's own conftest gives where no device is asked for."""
    return "cuda"
