"""Loading and launching cubins, on a driver that only keeps what it is told."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from tests.backends.nvidia.fake_cuda import CONTEXT, FUNCTION, FakeCuda, driver_in_use
from tritium.backends.errors import OutOfResources
from tritium.backends.nvidia import device as devices
from tritium.backends.nvidia import launch as launching
from tritium.backends.nvidia import libcuda
from tritium.backends.nvidia.driver import CudaLaunchError, LoadedCubin
from tritium.backends.nvidia.libcuda import CudaError, Library, NoDriverError
from tritium.runtime.native import native_launch
from tritium.runtime.packing import bytes_address
from tritium.support import InternalError


def metadata(**values: Any) -> dict[str, Any]:
    target = {"backend": "cuda", "arch": 90, "warp_size": 32}
    return {"name": "kernel", "num_warps": 4, "num_ctas": 1, "shared": 0, "target": target, **values}


@pytest.fixture(params=["native", "ctypes"])
def native(request):
    return native_launch() if request.param == "native" else None


@pytest.fixture
def fake():
    with driver_in_use(FakeCuda()) as found:
        yield found


def load(native: Any = None, index: int = 0, **values: Any):
    return LoadedCubin(b"cubin", metadata(**values)).on(index, native)


def launch(function: Any, params: bytes, *grid: int, stream: int = 0) -> int | None:
    function.state.params_bytes = len(params)
    return function.launch(bytes_address(params), *grid, stream)


# ---- launches --------------------------------------------------------------------------------------------------------


def test_a_launch_as_the_driver_sees_it(fake: FakeCuda, native: Any) -> None:
    function = load(native, num_warps=8, shared=1000)
    assert (fake.loaded, fake.entries) == ([b"cubin"], ["kernel"])
    params = struct.pack("<QQi", 1, 2, -3)
    assert launch(function, params, 5, 6, 7, stream=0x77) is None
    (seen,) = fake.launches
    assert (seen.grid, seen.block, seen.shared, seen.stream) == ((5, 6, 7), (256, 1, 1), 1000, 0x77)
    assert (seen.attributes, seen.function, seen.params) == ({}, FUNCTION + 1, params)


def test_clusters_multiply_the_grid(fake: FakeCuda, native: Any) -> None:
    function = load(native, num_ctas=2, launch_pdl=True, launch_cooperative_grid=True)
    assert launch(function, b"", 5, 1, 1) is None
    (seen,) = fake.launches
    assert seen.grid == (10, 1, 1)
    assert seen.attributes == {6: (1, 0, 0), 2: (1, 0, 0), 4: (2, 1, 1), 5: (1, 0, 0)}
    assert fake.asked == []
    load(native, num_ctas=16)
    assert fake.asked == [(14, 1)]


def test_the_context_of_the_gpu_is_current_during_a_launch_and_the_callers_after_it(native: Any) -> None:
    with driver_in_use(FakeCuda(gpus=2)) as fake:
        fake.stack = [CONTEXT]
        functions = [load(native, i) for i in (0, 1)]
        fake.calls.clear()
        for function in functions:
            assert launch(function, b"", 1, 1, 1) is None
        assert [seen.context for seen in fake.launches] == [CONTEXT, CONTEXT + 1]
        assert fake.stack == [CONTEXT]
        plain, switched = ["cuCtxGetCurrent", "cuLaunchKernelEx"], ["cuCtxPushCurrent_v2", "cuLaunchKernelEx"]
        assert fake.calls == [*plain, "cuCtxGetCurrent", *switched, "cuCtxPopCurrent_v2"]


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1)])
def test_an_empty_grid_runs_nothing(fake: FakeCuda, native: Any, grid: tuple[int, int, int]) -> None:
    assert launch(load(native), b"", *grid) is None
    assert fake.launches == []


@pytest.mark.parametrize(
    ("grid", "ctas"), [((1 << 31, 1, 1), 1), ((1, 65536, 1), 1), ((1, 1, 65536), 1), ((1 << 30, 1, 1), 2)]
)
def test_a_grid_that_no_gpu_takes(fake: FakeCuda, native: Any, grid: tuple[int, int, int], ctas: int) -> None:
    function = load(native, num_ctas=ctas)
    status = launch(function, b"", *grid)
    assert fake.launches == []
    with pytest.raises(CudaLaunchError, match=r"kernel: the grid \(.*\) is too large: at most 2147483647 .* 65535"):
        function.fail(status, grid)


def test_arguments_of_a_native_launch_are_integers(fake: FakeCuda) -> None:
    function = load(native_launch())
    for arguments in ((1, 2), (0, 1, 1, 1, "stream"), (0, 1 << 70, 1, 1, 0)):
        with pytest.raises((TypeError, OverflowError)):
            function.launch(*arguments)
    assert fake.launches == []


def test_parameters_are_as_many_as_the_kernel_has() -> None:
    with driver_in_use(FakeCuda(missing=(), parameters=((0, 8), (8, 4), (16, 8), (24, 8)))):
        load().expect(4, 32)
        with pytest.raises(
            InternalError, match="kernel: .* 4 parameters in 40 bytes, but its parameter 4 ends at byte 32"
        ):
            load().expect(4, 40)
        with pytest.raises(
            InternalError, match="kernel: .* 7 parameters in 56 bytes, but it has fewer than 7 parameters"
        ):
            load().expect(7, 56)
        for count, size in ((5, 40), (6, 48)):  # the addresses of scratch memory that PTX from elsewhere does without
            function = load()
            function.expect(count, size)
            assert function.state.params_bytes == 32
        with pytest.raises(
            InternalError, match="kernel: .* 5 parameters in 48 bytes, but its parameter 4 ends at byte 32"
        ):
            load().expect(5, 48)
    with driver_in_use(FakeCuda(missing=("cuFuncGetParamInfo",))):  # nobody knows
        load().expect(3, 24)


# ---- what cannot be --------------------------------------------------------------------------------------------------


def test_shared_memory_must_fit_and_is_asked_for(fake: FakeCuda) -> None:
    load(shared=48 << 10)
    assert fake.asked == []
    load(shared=100 << 10)
    assert fake.asked == [(8, 100 << 10), (9, 100)]
    with pytest.raises(OutOfResources, match=r"kernel: out of resource: shared memory, Required: 300000, .* 232448"):
        load(shared=300000)


def test_registers_and_threads_must_fit() -> None:
    with driver_in_use(FakeCuda(registers=255, max_threads=256)):
        load(num_warps=8)
        with pytest.raises(OutOfResources, match="kernel: out of resource: registers, Required: 130560, .* 65536"):
            load(num_warps=16)
    with driver_in_use(FakeCuda(registers=40, max_threads=512)), pytest.raises(OutOfResources, match="threads"):
        load(num_warps=32)


def test_a_kernel_for_another_chip() -> None:
    with driver_in_use(FakeCuda(capability=(8, 6))):
        with pytest.raises(CudaError, match=r"kernel: .* compiled for sm_90, but device 0 \(Fake GPU\) is sm_86\nhint"):
            load()
        load(target={"arch": 80})
        with pytest.raises(CudaError, match="compiled for sm_89"):
            load(target={"arch": 89})


def test_code_that_the_driver_does_not_know(fake: FakeCuda) -> None:
    fake.failing["cuModuleLoadData"] = 209
    with pytest.raises(CudaError, match=r"kernel: the cubin cannot be loaded on Fake GPU \(the driver knows CUDA 13.0"):
        load()
    fake.failing["cuModuleLoadData"] = 2
    with pytest.raises(CudaError, match=r"(?s)OUT_OF_MEMORY \(2\): out of memory\nhint: free device memory"):
        load()


def test_a_crash_names_the_kernels_before(fake: FakeCuda, native: Any) -> None:
    for name in ("first", "second", "second"):
        assert launch(load(native, name=name), b"", 1, 1, 1) is None
    fake.failing["cuLaunchKernelEx"] = 700
    third = load(native, name="third")
    status = launch(third, b"", 1, 1, 1)
    with pytest.raises(
        CudaLaunchError, match=r"(?s)third: a kernel launched before failed: an access.*first, second\n"
    ) as e:
        third.fail(status, (1, 1, 1))
    assert (e.value.code, e.value.sticky, e.value.kernel) == (700, True, "third")


def test_a_launch_that_is_refused_leaves_the_process_able_to_launch(fake: FakeCuda, native: Any) -> None:
    function = load(native)
    fake.failing["cuLaunchKernelEx"] = 701
    with pytest.raises(
        CudaLaunchError, match=r"kernel: the launch failed: .*\(701\).*128 threads of 32 registers"
    ) as e:
        function.fail(launch(function, b"", 1, 1, 1), (1, 1, 1))
    assert not e.value.sticky
    del fake.failing["cuLaunchKernelEx"]
    assert launch(function, b"", 1, 1, 1) is None


def test_a_cooperative_grid_that_does_not_fit(fake: FakeCuda) -> None:
    function = load(launch_cooperative_grid=True)
    with pytest.raises(OutOfResources, match="CTAs at a time, Required: 1000, Hardware limit: 264"):
        function.fail(720, (1000, 1, 1))


def test_waiting_names_the_kernel(fake: FakeCuda) -> None:
    function = load()
    function.wait(0, (1, 1, 1))
    fake.failing["cuStreamSynchronize"] = 700
    with pytest.raises(
        CudaLaunchError, match=r"(?s)kernel: the kernel failed: an access.*ILLEGAL_ADDRESS.*grid \(4, 1, 1\)"
    ):
        function.wait(0, (4, 1, 1))


# ---- the driver itself -----------------------------------------------------------------------------------------------


def test_no_driver(monkeypatch) -> None:
    monkeypatch.setenv("TRITON_LIBCUDA_PATH", "/nowhere/libcuda.so.1")
    libcuda.set_library(None)
    try:
        for _ in range(2):  # the second time from memory
            with pytest.raises(
                NoDriverError, match="there is no CUDA driver: .*/nowhere/libcuda.so.1.*\nhint: install"
            ):
                libcuda.library()
        assert not devices.is_available()
    finally:
        libcuda.set_library(None)


def test_a_driver_that_is_too_old() -> None:
    with driver_in_use(FakeCuda(version=11040, missing=("cuLaunchKernelEx",))):
        with pytest.raises(NoDriverError, match=r"CUDA 11.4\) has no function cuLaunchKernelEx\nhint: update it"):
            load()


def test_errors_say_what_to_do() -> None:
    with pytest.raises(CudaError, match=r"cuInit failed: an unknown status \(3\)\nhint: CUDA does not survive a fork"):
        Library(FakeCuda(failing={"cuInit": 3}))


def test_devices(fake: FakeCuda) -> None:
    (gpu,) = devices.devices()
    assert (gpu.name, gpu.target) == ("Fake GPU", ("cuda", 90, 32))
    properties = gpu.properties
    assert (properties["max_shared_mem"], properties["max_num_regs"]) == (227 << 10, 65536)
    assert (properties["multiprocessor_count"], properties["warpSize"], properties["total_memory"]) == (
        132,
        32,
        1 << 34,
    )
    with pytest.raises(NoDriverError, match="no CUDA device 3: this process sees 1"):
        devices.device(3)


def test_the_current_device_is_that_of_the_context() -> None:
    with driver_in_use(FakeCuda(gpus=2)) as fake:
        assert devices.current_device() == 0  # no context yet
        fake.stack = [CONTEXT + 1]
        assert devices.current_device() == 1
        with devices.device(0).active():
            assert devices.current_device() == 0
        assert devices.current_device() == 1


def test_the_structures_are_those_of_the_driver() -> None:
    assert ctypes.sizeof(launching.Config) == 56 and ctypes.sizeof(launching._Attribute) == 72
    assert launching.Config.stream.offset == 32 and launching.Config.attribute_count.offset == 48
