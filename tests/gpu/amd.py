"""Emulated AMD GPUs for the tests of this folder: what they refuse, and launches with the options that they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.gpu.mirror import EmulatedMirror, mirrored
from tritium.runtime.driver import driver
from tritium.runtime.emulated_hip import EmulatedHIPDriver
from tritium.runtime.jit import JITFunction
from tritium.support import TritiumError

__all__ = ["AMD", "REFUSALS", "emulated_amd_gpu"]

AMD = ("gfx942", "gfx1100")

REFUSALS = {
    r"is for NVIDIA GPUs only": "tl.extra.cuda: registers and instructions of NVIDIA GPUs",
    r"needs PTX|has the constraint '|the emulator has no \w+\.": "inline assembly, which is PTX in these tests",
    r"of the (library )?function": "a function of libdevice without an implementation of ours",
    r"type fp8e4b15 not supported in this architecture": "fp8e4b15, which Triton refuses on AMD GPUs too",
    r"num_ctas > 1 not supported": "clusters, which begin with gfx1250",
    r"input_precision must be one of .* Got tf32": "tf32 and tf32x3, which Triton refuses on AMD GPUs too",
    r"LDS|shared memory": "more LDS than the 64 KiB of these GPUs",
}
"""What an error of a kernel says that an AMD GPU need not compile: pattern -> the reason."""

_NVIDIA_OPTIONS = ("without", "launch_pdl")  # they change speed alone


class _Arrays:
    """The arrays that kernels may access: where an argument is a view, all of what it is a view of."""

    def __init__(self) -> None:
        self.found: list[np.ndarray] = []

    def keep(self, array: np.ndarray) -> None:
        """Add an array."""
        self.found.append(array)


@contextmanager
def emulated_amd_gpu(monkeypatch: pytest.MonkeyPatch, arch: str) -> Iterator[EmulatedHIPDriver]:
    """Launches inside run on an emulated GPU; a test whose kernel is in `REFUSALS` is expected to fail."""
    gpu = EmulatedHIPDriver(arch)
    driver.set_active(gpu)
    original = JITFunction._launch_any

    def launch(self: Any, grid: Any, args: tuple[Any, ...], options: dict[str, Any], *rest: Any) -> Any:
        arrays = _Arrays()
        mirror = EmulatedMirror(arrays)
        for value in args:
            mirrored(value, mirror)
        gpu.reachable = arrays.found
        options = {name: value for name, value in options.items() if name not in _NVIDIA_OPTIONS}
        try:
            return original(self, grid, args, options, *rest)
        except TritiumError as error:
            for pattern, reason in REFUSALS.items():
                if re.search(pattern, str(error)):
                    pytest.xfail(f"refused: {reason}")
            raise

    monkeypatch.setattr(JITFunction, "_launch_any", launch)
    yield gpu
