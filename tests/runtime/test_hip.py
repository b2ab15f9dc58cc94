"""Launches on AMD GPUs, on a HIP runtime that records its calls and a torch that says it is built for ROCm.

No AMD GPU is needed, and none was used. What the runtime gets is executed by the emulator.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.amd.test_loader import Recorder
from tritium.backends.amd import libamdhip64
from tritium.backends.amd.code_object import arguments_of
from tritium.backends.amd.libamdhip64 import HIPError, Library
from tritium.compiler import GPUTarget, compile
from tritium.emulator import Memory
from tritium.emulator.amdgcn import launch as emulate
from tritium.runtime.driver import driver
from tritium.runtime.errors import ArgumentError, LaunchError
from tritium.runtime.hip import HIPDriver


@tritium.jit
def scale(x, y, factor, n, half, flag, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n) * factor + half
    tl.store(y + at, tl.where(flag, v, -v), mask=at < n)


@tritium.jit
def nothing(n):
    tl.device_assert(n > 0)


@tritium.jit
def transposed(x, y, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tl.store(y + n[:, None] * M + m[None, :], tl.trans(tl.load(x + m[:, None] * N + n[None, :])))


class ROCmTensor:
    """What launches use of a tensor of PyTorch for ROCm, which calls its device `cuda`."""

    is_cpu, is_cuda, layout = False, True, "strided"

    def __init__(self, array: Any, device: int = 1) -> None:
        self.array, self.device, self.dtype = array, f"cuda:{device}", array.dtype
        self._device = device

    def get_device(self) -> int:
        return self._device

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def numel(self) -> int:
        return int(self.array.size)


def torch_for_rocm() -> Any:
    """The names of torch that the driver uses."""
    properties = SimpleNamespace(gcnArchName="gfx942:sramecc+:xnack-", multi_processor_count=304, name="MI300X")
    cuda = SimpleNamespace(
        is_available=lambda: True,
        current_device=lambda: 0,
        current_stream=lambda device=None: SimpleNamespace(cuda_stream=0x500 + (device or 0)),
        get_device_properties=lambda device: properties,
    )
    return SimpleNamespace(version=SimpleNamespace(hip="6.4"), cuda=cuda)


@pytest.fixture
def hip(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    recorder = Recorder()
    monkeypatch.setattr(libamdhip64, "_library", [Library(recorder)])  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "torch", torch_for_rocm())
    monkeypatch.delenv("TRITIUM_TARGET", raising=False)
    driver.reset_active()
    for fn in (scale, nothing, transposed):
        fn.device_caches.clear()
    yield recorder
    monkeypatch.undo()
    driver.reset_active()


def calls(recorder: Recorder) -> list[str]:
    return [name for name, _ in recorder.calls]


def test_launch_with_tensors_of_torch_for_rocm(hip: Recorder) -> None:
    x, y = np.arange(700, dtype=np.float32), np.zeros(700, np.float32)
    kernel = scale[(3,)](ROCmTensor(x), ROCmTensor(y), 1.5, 700, -0.25, True, B=256)
    assert isinstance(driver.active, HIPDriver) and kernel.metadata.target.arch == "gfx942"
    assert calls(hip) == ["hipSetDevice", "hipModuleLoadData", "hipModuleGetFunction", "hipModuleLaunchKernel"]
    assert hip.calls[0][1] == (1,) and hip.calls[2][1][2] == b"scale"
    _, launched = hip.calls[-1]
    assert launched[:9] == (0x1234, 3, 1, 1, 256, 1, 1, kernel.metadata.shared, 0x501)
    arguments = arguments_of(kernel.asm["hsaco"], "scale")
    assert len(hip.parameters) == arguments[-1].offset + arguments[-1].size
    memory = Memory()
    memory.place(x, "x")
    memory.place(y, "y")
    emulate(kernel.asm["amdgcn"], 3, hip.parameters, shared_bytes=kernel.metadata.shared, memory=memory)
    np.testing.assert_array_equal(y, x * np.float32(1.5) - np.float32(0.25))
    scale[(3,)](ROCmTensor(x), ROCmTensor(y), 1.5, 700, -0.25, True, B=256)
    assert calls(hip)[4:] == ["hipSetDevice", "hipModuleLaunchKernel"]  # loaded once a GPU
    scale[(3,)](ROCmTensor(x, 0), ROCmTensor(y, 0), 1.5, 700, -0.25, True, B=256)
    assert calls(hip)[6:] == ["hipSetDevice", "hipModuleLoadData", "hipModuleGetFunction", "hipModuleLaunchKernel"]
    assert hip.calls[-1][1][8] == 0x500


def test_shared_memory_streams_and_grids(hip: Recorder) -> None:
    x, y = np.zeros((64, 32), np.float32), np.zeros((32, 64), np.float32)
    kernel = transposed[(2, 3, 4)](ROCmTensor(x), ROCmTensor(y), M=64, N=32, num_warps=2)
    _, launched = hip.calls[-1]
    assert kernel.metadata.shared > 0
    assert launched[1:8] == (2, 3, 4, 128, 1, 1, kernel.metadata.shared)
    kernel[(1,)](ROCmTensor(x), ROCmTensor(y), 64, 32, stream=77)
    assert hip.calls[-1][1][8] == 77
    count = len(hip.calls)
    transposed[(0,)](ROCmTensor(x), ROCmTensor(y), M=64, N=32, num_warps=2)
    assert len(hip.calls) == count  # an empty grid launches nothing


def test_cooperative_launch_passes_each_argument(hip: Recorder) -> None:
    x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
    scale[(1,)](ROCmTensor(x), ROCmTensor(y), 2.0, 8, 0.5, False, B=64, launch_cooperative_grid=True)
    assert calls(hip)[-1] == "hipModuleLaunchCooperativeKernel"


SCRATCH = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @keep(%o: !tt.ptr<i32>) {
    %s = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    %w = tt.bitcast %s : !tt.ptr<i8> -> !tt.ptr<i32>
    %c64 = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %at = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
    %ws = tt.splat %w : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %wp = tt.addptr %ws, %at : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    %base = arith.muli %pid, %c64 : i32
    %bases = tt.splat %base : i32 -> tensor<64xi32, #b>
    %value = arith.addi %bases, %at : tensor<64xi32, #b>
    tt.store %wp, %value : tensor<64x!tt.ptr<i32>, #b>
    %back = tt.load %wp : tensor<64x!tt.ptr<i32>, #b>
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %op = tt.addptr %os, %value : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    tt.store %op, %back : tensor<64x!tt.ptr<i32>, #b>
    tt.return
  }
}
"""


def scratch_kernel(folder: Path) -> Any:
    """A kernel whose programs keep 256 bytes each in scratch memory of the launch."""
    (folder / "keep.ttgir").write_text(SCRATCH)
    return compile(str(folder / "keep.ttgir"), target=GPUTarget("hip", "gfx942", 64))


def test_scratch_memory_is_allocated_for_all_programs_of_a_launch(hip: Recorder, tmp_path: Path) -> None:
    """256 bytes for each of three programs; the emulator executes the arguments that the runtime got."""
    kernel, asked, blocks = scratch_kernel(tmp_path), list[tuple[object, ...]](), list[np.ndarray]()

    def allocate(size: int, alignment: int, stream: object) -> ROCmTensor:
        asked.append((size, alignment, stream))
        blocks.append(np.zeros(size, np.uint8))
        return ROCmTensor(blocks[-1])

    out = np.zeros(192, np.int32)
    tritium.set_allocator(allocate)
    try:
        kernel[(3,)](ROCmTensor(out))
    finally:
        tritium.set_allocator(None)
    assert (kernel.metadata.global_scratch_size, asked) == (256, [(768, 128, 0x501)])
    assert hip.parameters[8:16] == blocks[0].ctypes.data.to_bytes(8, "little") and hip.parameters[16:] == bytes(8)
    memory = Memory()
    memory.place(out, "out")
    memory.place(blocks[0], "scratch")
    emulate(kernel.asm["amdgcn"], 3, hip.parameters, memory=memory)
    np.testing.assert_array_equal(out, np.arange(192))
    np.testing.assert_array_equal(blocks[0].view(np.int32), np.arange(192))


def test_scratch_memory_without_an_allocator_is_that_of_torch_on_the_gpu_of_the_arguments(
    hip: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, out, asked = scratch_kernel(tmp_path), np.zeros(64, np.int32), list[tuple[object, ...]]()

    def empty(size: int, dtype: object, device: str) -> ROCmTensor:
        asked.append((size, dtype, device))
        return ROCmTensor(np.zeros(size, np.uint8))

    torch = sys.modules["torch"]
    monkeypatch.setattr(torch, "empty", empty, raising=False)
    monkeypatch.setattr(torch, "uint8", "uint8", raising=False)
    kernel[(2,)](ROCmTensor(out))
    assert asked == [(512, "uint8", "cuda:1")] and int.from_bytes(hip.parameters[8:16], "little") > 0
    monkeypatch.delitem(sys.modules, "torch")
    with pytest.raises(HIPError, match=r"keep: scratch memory needs an allocator: tritium.set_allocator"):
        kernel[(2,)](ROCmTensor(out))


def test_private_scratch_is_left_to_the_runtime(hip: Recorder) -> None:
    """Spilled registers and arrays of a thread: the code object says how much, and a launch passes nothing."""
    x = np.arange(64, dtype=np.float32)
    kernel = scale[(1,)](ROCmTensor(x), ROCmTensor(x), 2.0, 64, 0.5, False, B=64)
    arguments = arguments_of(kernel.asm["hsaco"], "scale")
    assert len(hip.parameters) == arguments[-1].offset + arguments[-1].size
    assert hip.parameters[-16:] == bytes(16)  # neither kind of scratch memory in memory of the GPU


def test_errors_name_the_kernel(hip: Recorder) -> None:
    x = np.zeros(64, np.float32)
    hip.failing = "hipModuleLaunchKernel"
    with pytest.raises(HIPError, match=r"scale: grid \(3, 1, 1\): hipModuleLaunchKernel: hipErrorInvalidValue \(1\)"):
        scale[(3,)](ROCmTensor(x), ROCmTensor(x), 2.0, 64, 0.5, False, B=64)
    hip.failing = ""
    with pytest.raises(ArgumentError, match="'y' .*(CPU|cpu)"):
        scale[(1,)](ROCmTensor(x), x, 2.0, 64, 0.5, False, B=64)
    with pytest.raises(ArgumentError, match="argument|device"):
        scale[(1,)](ROCmTensor(x, 0), ROCmTensor(x, 1), 2.0, 64, 0.5, False, B=64)


def test_properties_and_launch_without_arrays(hip: Recorder) -> None:
    active = driver.active
    assert active.get_current_target() == ("hip", "gfx942", 64)
    assert active.get_device_capability(0) == (9, 4) and active.get_current_device() == 0
    properties = active.utils.get_device_properties(0)
    assert (properties["max_shared_mem"], properties["multiprocessor_count"], properties["warpSize"]) == (
        65536,
        304,
        64,
    )
    nothing[(5,)](3)
    assert hip.calls[-1][1][1:4] == (5, 1, 1)


def test_target_named_by_the_setting_needs_no_torch(hip: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setenv("TRITIUM_TARGET", "hip:gfx1100")
    driver.reset_active()
    kernel = nothing[(5,)](3)
    assert kernel.metadata.target.arch == "gfx1100" and calls(hip)[0] == "hipGetDevice"
    monkeypatch.setenv("TRITIUM_TARGET", "hip")
    driver.reset_active()
    with pytest.raises(
        LaunchError, match="architecture of the AMD GPU is not known\nhint: .*TRITIUM_TARGET=hip:gfx942"
    ):
        nothing[(5,)](3)
