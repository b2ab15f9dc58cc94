"""Launches on GPUs, seen from Python: which device serves a call, what the driver is given, what is refused."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.fake_cuda import CONTEXT, FakeCuda, driver_in_use
from tritium.backends.nvidia.libcuda import CudaError
from tritium.backends.nvidia.toolchain import find_tool
from tritium.compiler import GPUTarget
from tritium.emulator import encode_tiled
from tritium.runtime import ArgumentError, LaunchError, OutOfResources, TensorDescriptor
from tritium.runtime.cpu_driver import CPUDriver
from tritium.runtime.cuda import CUDADriver, Event
from tritium.runtime.driver_config import driver
from tritium.runtime.fastpath import direct
from tritium.support import OptionError, settings

pytestmark = pytest.mark.skipif(find_tool("ptxas") is None, reason="kernels are compiled to CUBIN: there is no ptxas")

BASE = 0x7F0000000000


class Array:
    """An array in a GPU's memory."""

    def __init__(self, address: int = BASE, dtype: str = "float32", device: str | None = "cuda:0") -> None:
        self.address, self.dtype, self.shape = address, dtype, (64,)
        if device is not None:
            self.device = device

    def data_ptr(self) -> int:
        return self.address


class Interface:
    """Only `__cuda_array_interface__`."""

    def __init__(self, address: int = BASE, stream: int | None = None) -> None:
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (8,), "typestr": "<f4", "stream": stream}


def kernels():
    @tritium.jit
    def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)

    return copy


@pytest.fixture
def copy():
    return kernels()


@pytest.fixture
def fake():
    with driver_in_use(FakeCuda(memory={range(BASE, BASE + 4096): 0})) as found:
        driver.reset_active()
        yield found
    driver.reset_active()


@pytest.fixture
def two():
    with driver_in_use(FakeCuda(gpus=2, memory={range(BASE, BASE + 4096): 0, range(2 * BASE, 3 * BASE): 1})) as found:
        driver.reset_active()
        yield found
    driver.reset_active()


def parameters(data: bytes) -> tuple[int, ...]:
    return struct.unpack("<QQi4xQQ", data)


# ---- launches --------------------------------------------------------------------------------------------------------


def test_arguments_of_the_driver(fake: FakeCuda, copy: Any) -> None:
    for _ in range(3):  # from the second launch on by the fast path
        kernel = copy[(4, 2)](Array(), Array(BASE + 256), 1000, BLOCK=64, num_warps=2)
    assert kernel.metadata.target == GPUTarget("cuda", 90, 32)
    assert len(fake.loaded) == 1 and fake.loaded[0][:4] == b"\x7fELF" and fake.entries == ["copy"]
    for seen in fake.launches:
        assert (seen.grid, seen.block, seen.stream, seen.context) == ((4, 2, 1), (64, 1, 1), 0, CONTEXT)
        assert parameters(seen.params) == (BASE, BASE + 256, 1000, 0, 0)
    assert len(fake.launches) == 3
    assert (kernel.n_regs, kernel.n_spills, kernel.n_max_threads) == (32, 2, 1024)


def test_checks_that_only_the_emulator_makes_are_refused(fake: FakeCuda, copy: Any) -> None:
    arguments = (Array(), Array(BASE + 256), 1000)
    with pytest.raises(OptionError, match="instrumentation_mode='gsan' is not supported for cuda:90"):
        copy[(4,)](*arguments, BLOCK=64, instrumentation_mode="gsan")
    with pytest.raises(OptionError, match="sanitize=True is not supported by this device"):
        copy[(4,)](*arguments, BLOCK=64, sanitize=True)
    with pytest.raises(ArgumentError, match="copy: a GPU does not check gsan; the emulator does"):
        copy[(4,)](*arguments, BLOCK=64, device_checks="gsan")
    assert not fake.launches


def test_compiled_kernels_accept_call_forms(fake: FakeCuda, copy: Any) -> None:
    compiled = copy[(1,)](Array(), Array(BASE + 256), 1, BLOCK=64)  # n is a constant
    fake.launches.clear()
    x, y = Array(BASE + 512), Array(BASE + 1024)
    for args in [(x, y, 1, 64), (x, y, 1), (x, y)] * 3:  # the third launch of each form takes the fast path
        compiled[(1,)](*args)
        compiled.run(1, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None, *args)
    assert [seen.params[:16] for seen in fake.launches] == [struct.pack("<QQ", BASE + 512, BASE + 1024)] * 18


def test_launches_by_python_ask_an_object_twice_for_its_address(
    fake: FakeCuda, copy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once to check what the kernel was compiled for, once to pack: the methods of such objects are often Python's."""
    compiled = copy[(1,)](Array(), Array(BASE + 256), 1000, BLOCK=64)
    monkeypatch.setattr(direct, "PLAN_AFTER", 1000)
    asked: list[int] = []

    class Asked(Array):
        def data_ptr(self) -> int:
            asked.append(self.address)
            return self.address

    compiled[(1,)](Asked(), Asked(BASE + 256), 1000, 64)
    assert asked == [BASE, BASE + 256] * 2


def test_fast_path_sees_changes(fake: FakeCuda, copy: Any) -> None:
    one, other = Array(), Array(BASE + 4)
    for x, y, n in ((one, one, 16), (one, one, 16), (one, other, 16), (one, one, 17), (one, one, 32), (one, one, 16)):
        copy[lambda meta: (meta["n"],)](x, y, n, BLOCK=16)
    seen = [(*parameters(s.params)[:3], s.grid[0]) for s in fake.launches]
    assert [s[1] for s in seen] == [BASE, BASE, BASE + 4, BASE, BASE, BASE]
    assert [s[2:] for s in seen] == [(n, n) for n in (16, 16, 16, 17, 32, 16)]
    assert len(fake.loaded) == 3  # aligned; y is not; n is not


def test_cpu_arrays_run_on_the_cpu_without_initializing_a_gpu(fake: FakeCuda, copy: Any) -> None:
    fake.calls.clear()
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for _ in range(3):
        copy[(1,)](x, y, 64, BLOCK=64)
    assert np.array_equal(x, y) and fake.calls == []
    copy[(1,)](Array(), Array(), 64, BLOCK=64)
    copy[(1,)](x, y[::-1][::-1], 64, BLOCK=64)
    assert len(fake.launches) == 1


@pytest.mark.torch
def test_cpu_tensors_run_on_the_cpu(fake: FakeCuda, copy: Any) -> None:
    import torch

    x, y = torch.arange(64.0), torch.zeros(64)
    for _ in range(3):
        copy[(1,)](x, y, 64, BLOCK=64)
    assert torch.equal(x, y) and fake.launches == []


def test_the_gpu_whose_memory_the_arrays_are_in(two: FakeCuda, copy: Any) -> None:
    for _ in range(3):
        copy[(1,)](Array(device="cuda:1"), Array(device="cuda:1"), 64, BLOCK=64)
        copy[(1,)](Interface(2 * BASE), Interface(2 * BASE), 64, BLOCK=64)
        copy[(1,)](Interface(), Array(), 64, BLOCK=64)
        copy[(1,)](Array(2 * BASE, device=None), Array(2 * BASE, device=None), 64, BLOCK=64)
        copy[(1,)](Array(BASE, device=None), Array(BASE, device=None), 64, BLOCK=64)
    assert [seen.context - CONTEXT for seen in two.launches] == [1, 1, 0, 1, 0] * 3
    assert len(two.loaded) == 2 and sorted(copy.device_caches) == [0, 1]


def test_addresses_unknown_to_the_driver_are_in_cpu_memory(fake: FakeCuda, copy: Any) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for _ in range(3):
        copy[(1,)](Array(x.ctypes.data, device=None), Array(y.ctypes.data, device=None), 64, BLOCK=64)
    assert np.array_equal(x, y) and fake.launches == []


def test_the_streams_of_other_libraries_are_waited_for(fake: FakeCuda, copy: Any) -> None:
    copy[(1,)](Interface(stream=0x33), Interface(stream=1), 64, BLOCK=64)
    waits = [name for name in fake.calls if name.startswith(("cuEvent", "cuStreamWait", "cuLaunch"))]
    assert waits == ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy_v2", "cuLaunchKernelEx"]


def test_a_stream_of_the_callers(fake: FakeCuda, copy: Any) -> None:
    kernel = copy[(1,)](Array(), Array(), 64, BLOCK=64)
    kernel[(2,)](Array(), Array(), 64, stream=0x44)
    kernel.run(3, 1, 1, 0x55, kernel.function, kernel.packed_metadata, None, None, None, Array(), Array(), 64)
    assert [(s.grid[0], s.stream) for s in fake.launches] == [(1, 0), (2, 0x44), (3, 0x55)]


def test_hooks_get_the_stream_and_the_function(fake: FakeCuda, copy: Any) -> None:
    told: list[Any] = []
    settings.runtime.launch_enter_hook.add(lambda metadata: told.append(metadata.get()))
    try:
        kernel = copy[(1,)](Array(), Array(), 64, BLOCK=64)
    finally:
        settings.runtime.launch_enter_hook = None
    assert told == [{"name": "copy", "function": kernel.function, "stream": 0}]
    assert fake.launches[0].function == kernel.function


def test_warmup_compiles_for_the_active_device(fake: FakeCuda, copy: Any) -> None:
    kernel = copy.warmup(np.dtype("float32"), np.dtype("float32"), 64, BLOCK=64, grid=(1,))
    assert kernel.metadata.target.backend == "cuda" and fake.loaded == []
    copy[(1,)](Array(), Array(), 64, BLOCK=64)
    assert len(fake.loaded) == 1 and kernel.asm["cubin"].startswith(fake.loaded[0])


def test_scalars_stand_where_the_kernel_finds_them(fake: FakeCuda) -> None:
    @tritium.jit
    def store(
        a: tl.int8, b: tl.float16, c: tl.int64, d: tl.bfloat16, e: tl.float32, f: tl.float64, g, x_ptr, h: tl.int1
    ):
        tl.store(x_ptr, a + b + c + d + e + f + g + h)

    for _ in range(3):
        store[(1,)](-3, 1.5, 1 << 40, -2.0, 0.25, 1e300, 7, Array(dtype="float64"), True)
    for seen in fake.launches:
        got = struct.unpack("<bxe4xqH2xfdi4xQB7xQQ", seen.params)
        assert got == (-3, 1.5, 1 << 40, 0xC000, 0.25, 1e300, 7, BASE, 1, 0, 0)
    ptx = store.warmup(-3, 1.5, 1 << 40, -2.0, 0.25, 1e300, 7, Array(dtype="float64"), True, grid=(1,)).asm["ptx"]
    kinds = re.findall(r"\.param (?:\.align \d+ )?\.[usbf](\d+) .*?(?:\[(\d+)\])?(?:,|\n)", ptx.split(".entry")[1])
    sizes = [int(bits) // 8 * int(count or 1) for bits, count in kinds]
    assert sizes[:11] == [1, 2, 8, 2, 4, 8, 4, 8, 1, 8, 8]  # as the driver lays them out


def test_tuples_and_descriptors(fake: FakeCuda) -> None:
    @tritium.jit
    def store(pair, desc, x_ptr):
        tl.store(x_ptr, desc.shape[0] + pair[1])

    desc = TensorDescriptor(Array(BASE + 16), [10, 20], [32, 1], [8, 16])
    store[(1,)]((1, 5), desc, Array(dtype="int64"))
    (seen,) = fake.launches
    number, _, *rest = struct.unpack("<i44x128siiqqQQQ", seen.params)  # a tensor map, then shape and strides
    assert (number, rest) == (5, [10, 20, 32, 1, BASE, 0, 0])


def test_descriptors_made_from_arguments_are_encoded_at_launches(fake: FakeCuda) -> None:
    """By Python's way and by the fast path; a kernel without maps runs where a map cannot be encoded."""

    @tritium.jit
    def doubled(x, y, m, n):
        a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [8, 16])
        b = tl.make_tensor_descriptor(y, [m, n], [n, 1], [8, 16])
        b.store([0, 0], a.load([0, 0]) * 2.0)

    for base in [*[BASE] * 4, BASE + 256, BASE]:
        doubled[(1,)](Array(base), Array(BASE + 512), 10, 64)
        params = fake.launches[-1].params
        assert struct.unpack_from("<QQii", params) == (base, BASE + 512, 10, 64)
        packer = doubled.warmup(Array(base), Array(BASE + 512), 10, 64, grid=(1,)).launcher.packer
        maps = [params[at : at + size] for at, size in packer.layout.places(packer.codes)[4:]]
        assert maps == [encode_tiled(7, at, [64, 10], [256], [16, 8], [1, 1], 0, 2, 2, 0) for at in (base, BASE + 512)]
    assert fake.calls.count("cuTensorMapEncodeTiled") == 3
    doubled[(1,)](Array(), Array(BASE + 512), 0, 64)
    assert len(fake.launches[-1].params) < len(fake.launches[-2].params)


def test_scratch_memory_is_allocated(fake: FakeCuda, copy: Any) -> None:
    asked: list[Any] = []

    def allocate(size: int, alignment: int, stream: int | None) -> Any:
        asked.append((size, alignment, stream))
        return Array(0x1230)

    kernel = copy.warmup(Array(), Array(), 64, BLOCK=64, grid=(1,))
    kernel.values.update(global_scratch_size=100, global_scratch_align=128)
    tritium.set_allocator(tritium.runtime.allocation.NullAllocator())
    with pytest.raises(LaunchError, match="needs scratch memory"):
        kernel[(3,)](Array(), Array(), 64)
    tritium.set_allocator(allocate)
    try:
        for _ in range(3):
            copy[(3, 2)](Array(), Array(), 64, BLOCK=64)
    finally:
        tritium.set_allocator(None)
    assert asked == [(600, 128, 0)] * 3
    assert [parameters(s.params)[3:] for s in fake.launches] == [(0x1230, 0)] * 3


def test_waiting_for_every_launch(fake: FakeCuda, copy: Any) -> None:
    with settings.nvidia.scope():
        settings.nvidia.launch_blocking = True
        for _ in range(3):
            copy[(1,)](Array(), Array(), 64, BLOCK=64)
        assert fake.calls.count("cuStreamSynchronize") == 3
        fake.failing["cuStreamSynchronize"] = 700
        with pytest.raises(
            CudaError, match=r"copy: the kernel failed: an access to an address that is not the kernel's"
        ):
            copy[(1,)](Array(), Array(), 64, BLOCK=64)


def test_programs_without_a_gpu_import_nothing_of_it(tmp_path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ROOT}
    )
    assert done.stdout.split() == ["[]"], done.stdout + done.stderr


ROOT = str(Path(__file__).resolve().parents[2])
PROGRAM = """
import sys
import numpy as np
import tritium
import tritium.language as tl


@tritium.jit
def fill(x_ptr):
    tl.store(x_ptr + tl.arange(0, 16), 1.0)


x = np.zeros(16, np.float32)
for _ in range(3):
    fill[(1,)](x)
assert x.all()
of_gpus = ("tritium.backends.nvidia", "tritium.emulator", "tritium.runtime.cuda", "tritium.runtime.pointers")
print([name for name in sys.modules if name.startswith((*of_gpus, "tritium.conversion.ttg"))])
"""


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_arrays_of_several_devices(two: FakeCuda, copy: Any) -> None:
    host = np.zeros(64, np.float32)
    with pytest.raises(
        ArgumentError, match=r"copy: argument 'y_ptr' is in the CPU's memory, but 'x_ptr' is in the memory of"
    ):
        copy[(1,)](Array(), host, 64, BLOCK=64)
    with pytest.raises(
        ArgumentError, match=r"copy: argument 'y_ptr' is in the memory of CUDA device 0, but 'x_ptr' is in"
    ):
        copy[(1,)](host, Array(), 64, BLOCK=64)
    with pytest.raises(ArgumentError, match=r"argument 'y_ptr' is in .* device 1, but 'x_ptr' is in .* device 0\nhint"):
        copy[(1,)](Array(), Array(device="cuda:1"), 64, BLOCK=64)
    kernel = copy[(1,)](Array(), Array(), 64, BLOCK=64)
    with pytest.raises(
        ArgumentError, match=r"copy: argument 'x_ptr' is in the CPU's memory, but .* for a CUDA GPU\nhint"
    ):
        kernel[(1,)](host, host, 64)
    for _ in range(3):  # after that the process continues, on the fast path too
        copy[(1,)](Array(), Array(), 64, BLOCK=64)
    assert len(two.launches) == 4


def test_gpu_array_after_fast_path_launches_on_the_cpu(fake: FakeCuda, copy: Any) -> None:
    x = np.zeros(64, np.float32)
    for _ in range(3):
        copy[(1,)](Array(x.ctypes.data, device="cpu"), Array(x.ctypes.data, device="cpu"), 64, BLOCK=64)
    copy[(1,)](Array(), Array(), 64, BLOCK=64)
    assert len(fake.launches) == 1


def test_locked_pages_of_the_cpu_may_stand_beside_arrays_of_the_gpu(copy: Any) -> None:
    class Pinned(Array):
        def is_pinned(self) -> bool:
            return True

    with driver_in_use(FakeCuda(memory={range(0x9000, 0xA000): -1})) as fake:
        driver.reset_active()
        copy[(1,)](Pinned(0x9100, device="cpu"), Array(), 64, BLOCK=64)
        assert parameters(fake.launches[0].params)[:2] == (0x5000, BASE)
    driver.reset_active()


def test_empty_tensors_of_the_cpu_without_memory_may_stand_beside_arrays_of_the_gpu(fake: FakeCuda, copy: Any) -> None:
    for _ in range(3):
        copy[(1,)](Array(), Array(0, device="cpu"), 64, BLOCK=64)
    assert all(parameters(launch.params)[:2] == (BASE, 0) for launch in fake.launches)
    with pytest.raises(ArgumentError, match="is in the CPU's memory, but"):
        copy[(1,)](Array(), Array(0x9100, device="cpu"), 64, BLOCK=64)


def test_crash_is_reported_at_the_next_launch(fake: FakeCuda, copy: Any) -> None:
    for _ in range(3):
        copy[(1,)](Array(), Array(), 64, BLOCK=64)
    fake.failing["cuLaunchKernelEx"] = 700
    for _ in range(3):
        with pytest.raises(CudaError, match=r"(?s)copy: a kernel launched before failed.*launched last: .*copy\nhint:"):
            copy[(1,)](Array(), Array(), 64, BLOCK=64)


def test_launch_in_a_forked_process_is_an_error(fake: FakeCuda, copy: Any) -> None:
    for _ in range(3):
        copy[(1,)](Array(), Array(), 64, BLOCK=64)
    fake.stack = [0]  # what the driver says in the child: no context, and not initialized
    fake.failing["cuCtxPushCurrent_v2"] = 3
    with pytest.raises(CudaError, match=r"copy: the launch failed: .*\(3\)\nhint: CUDA does not survive a fork"):
        copy[(1,)](Array(), Array(), 64, BLOCK=64)


def test_unsupported_features_of_the_gpu(copy: Any) -> None:
    with driver_in_use(FakeCuda(registers=255, max_threads=128)):
        driver.reset_active()
        with pytest.raises(OutOfResources, match="copy: out of resource: registers, Required: 261120"):
            copy[(1,)](Array(), Array(), 64, BLOCK=64, num_warps=32)
    driver.reset_active()


def test_grids_are_checked(fake: FakeCuda, copy: Any) -> None:
    for _ in range(3):
        copy[(0,)](Array(), Array(), 64, BLOCK=64)
    for _ in range(3):
        with pytest.raises(CudaError, match=r"copy: the grid \(1, 65536, 1\) is too large: at most"):
            copy[(1, 65536)](Array(), Array(), 64, BLOCK=64)
    assert fake.launches == []


def test_no_driver(monkeypatch, copy: Any) -> None:
    monkeypatch.setenv("TRITON_LIBCUDA_PATH", "/nowhere/libcuda.so.1")
    with pytest.raises(
        LaunchError, match=r"(?s)copy cannot run on CUDA device 0, where its arguments are: there is no CUDA"
    ):
        copy[(1,)](Array(), Array(), 64, BLOCK=64)
    driver.reset_active()
    assert isinstance(driver.active, CPUDriver)


# ---- the active driver -----------------------------------------------------------------------------------------------


def test_gpu_driver_is_active_if_there_is_a_gpu(fake: FakeCuda, monkeypatch) -> None:
    assert isinstance(driver.active, CUDADriver) and driver.active.is_active()
    assert driver.active.get_current_target() == GPUTarget("cuda", 90, 32)
    utilities = driver.active.utils
    assert utilities.get_device_properties(0)["max_shared_mem"] == 227 << 10
    assert utilities.get_device_capability(0) == (9, 0)
    assert utilities.load_binary("k", b"code", 0, 0)[2:] == (32, 2, 1024)
    driver.set_active_to_cpu()
    assert isinstance(driver.active, CPUDriver)
    for name, kind in (("cpu", CPUDriver), ("cuda", CUDADriver)):
        monkeypatch.setenv("TRITIUM_TARGET", name)
        driver.reset_active()
        assert isinstance(driver.active, kind)
    monkeypatch.setenv("TRITIUM_TARGET", "tpu")
    driver.reset_active()
    with pytest.raises(
        OptionError, match="TRITIUM_TARGET is cpu, cuda or hip:gfx942, or emulated:90 or emulated:gfx942, not 'tpu'"
    ):
        _ = driver.active


def test_a_driver_that_was_chosen_serves_all(fake: FakeCuda, copy: Any) -> None:
    host = np.zeros(64, np.float32)
    driver.set_active_to_cpu()
    with pytest.raises(
        ArgumentError, match="'x_ptr' is in the memory of CUDA device 0, but the kernel is compiled for the CPU"
    ):
        copy[(1,)](Array(), Array(), 64, BLOCK=64)
    driver.set_active(driver.cuda)
    with pytest.raises(
        ArgumentError, match="'x_ptr' is in the CPU's memory, but the kernel is compiled for a CUDA GPU"
    ):
        copy[(1,)](host, host, 64, BLOCK=64)
    copy[(1,)](Array(), Array(), 64, BLOCK=64)
    assert len(fake.launches) == 1


def test_events(fake: FakeCuda) -> None:
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    start.record()
    end.record(0x77)
    end.synchronize()
    assert start.elapsed_time(end) == 0.0
    assert {"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime"} <= set(fake.calls)


class Device:
    """As torch's devices."""

    type = "cuda"

    def __init__(self, index: int) -> None:
        self.index = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.index == self.index

    def __hash__(self) -> int:
        return self.index


def test_objects_with_an_address_are_asked_once(copy, two) -> None:
    """Plans read objects of other classes than torch's by their own methods: FlagGems' have Python's."""
    asked: list[str] = []

    class View(Array):
        def __init__(self, address: int = BASE, index: int = 0, dtype: str = "float32") -> None:
            super().__init__(address, dtype, None)
            self.index = index

        @property
        def device(self) -> Device:
            asked.append("device")
            return Device(self.index)

        def data_ptr(self) -> int:
            asked.append("address")
            return self.address

    x, y = View(), View(BASE + 256)
    for _ in range(3):
        copy[(4,)](x, y, 1000, BLOCK=64)
    asked.clear()
    copy[(4,)](View(BASE + 512), y, 1000, BLOCK=64)
    assert sorted(asked) == ["address"] * 2 + ["device"] * 2
    assert struct.unpack_from("<Q", two.launches[-1].params)[0] == BASE + 512
    copy[(4,)](View(BASE + 8), y, 1000, BLOCK=64)  # another kernel: not divisible by 16
    copy[(4,)](View(2 * BASE, 1), View(2 * BASE + 256, 1), 1000, BLOCK=64)
    assert two.launches[-1].context == CONTEXT + 1
    with pytest.raises(ArgumentError, match="device"):
        copy[(4,)](x, View(2 * BASE, 1), 1000, BLOCK=64)
