"""A GPU made of software: a CUDA driver whose launches are executed by the PTX emulator, on arrays of this process."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.backends.nvidia.fake_cuda import FUNCTION, FakeCuda, driver_in_use
from tritium.backends.nvidia.driver import LoadedFunction
from tritium.backends.nvidia.launch import Config
from tritium.compiler import CompiledKernel
from tritium.emulator import Memory
from tritium.emulator.launch import launch, program_of
from tritium.emulator.program import Program

_FAILED = 719
_ALIGNMENT = 256  # bytes: of what `cuMemAlloc` gives
PARAMETERS = 0x210  # where they begin in the constant bank of sm_90


class EmulatedGPU(FakeCuda):
    """Modules are PTX text; a launch runs before it returns. `error` is what the emulator said of the last failure."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.error: Exception | None = None
        self.arrays: list[weakref.ref[Any]] = []
        self.prints: list[str] = []
        self.blocks: dict[int, np.ndarray] = {}

    def do_allocate(self, to: int, size: int) -> None:
        raw = np.zeros(size + _ALIGNMENT, np.uint8)
        address = raw.ctypes.data + -raw.ctypes.data % _ALIGNMENT
        self.blocks[address] = raw
        ctypes.c_uint64.from_address(to).value = address

    def do_free(self, address: int) -> None:
        del self.blocks[address]

    def keep(self, array: np.ndarray) -> None:
        """Let kernels reach the memory of an array for as long as it lives."""
        self.arrays = [ref for ref in self.arrays if ref() is not None]
        if not any(ref() is array for ref in self.arrays):
            self.arrays.append(weakref.ref(array))

    def do_parameter_info(self, function: int, number: int, offset: int, size: int) -> int:
        program = program_of(self.loaded[function - FUNCTION - 1].decode(), self.entries[function - FUNCTION - 1])
        self.parameters = tuple(zip(_offsets(program), (p.size for p in program.kernel.parameters)))
        return super().do_parameter_info(function, number, offset, size)

    def do_launch(self, config: int, function: int, params: Any, extra: int) -> int:
        super().do_launch(config, function, params, extra)
        try:
            self._run(Config.from_address(config), function, self.launches[-1].params)
        except Exception as error:  # it cannot pass through the driver's interface
            self.error = error
            return _FAILED
        return 0

    def _run(self, config: Config, function: int, params: bytes) -> None:
        at = function - FUNCTION
        ptx, name = self.loaded[at - 1].decode(), self.entries[at - 1]
        program = program_of(ptx, name)
        values = [params[at : at + p.size] for at, p in zip(_offsets(program), program.kernel.parameters)]
        assert len(values[-1]) == program.kernel.parameters[-1].size, "the launcher packs too few parameters"
        memory = Memory()
        for ref in self.arrays:
            array = ref()
            if array is not None:
                memory.place(array)
        for block in self.blocks.values():
            memory.place(block)
        report = launch(
            ptx, tuple(config.grid), values, name=name, block=tuple(config.block), shared_bytes=config.shared, memory=memory
        )  # fmt: skip
        self.prints += report.prints


def _offsets(program: Program) -> list[int]:
    """Where hardware has the parameters: aligned as addresses in the constant bank."""
    out, at = [], PARAMETERS
    for parameter in program.kernel.parameters:
        at += -at % parameter.align
        out.append(at - PARAMETERS)
        at += parameter.size
    return out


def _raise_what_the_emulator_said(function: LoadedFunction, status: int, grid: Any) -> None:
    gpu = function.cuda._found
    error, gpu.error = gpu.error, None
    if status == _FAILED and error is not None:
        raise error
    _fail(function, status, grid)


_fail = LoadedFunction.fail


@contextmanager
def emulated_gpu(monkeypatch: Any, capability: tuple[int, int] = (9, 0)) -> Iterator[EmulatedGPU]:
    """A GPU of this capability is the machine's only one inside."""
    monkeypatch.setattr(CompiledKernel, "kernel", property(lambda self: self.asm["ptx"].encode()))
    monkeypatch.setattr(LoadedFunction, "fail", _raise_what_the_emulator_said)
    with driver_in_use(EmulatedGPU(missing=(), capability=capability)) as gpu:
        yield gpu
