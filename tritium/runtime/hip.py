"""AMD GPUs of this machine, by HIP's runtime. **Written against its documented API and never run on hardware.**

The driver serves launches with tensors of PyTorch for ROCm, which calls these GPUs `cuda`, and, without torch, those
that TRITIUM_TARGET=hip:gfx942 names.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ..backends.amd.libamdhip64 import HIPError, NoHIPError, library
from ..backends.amd.loader import LoadedCodeObject, LoadedModules
from ..backends.amd.target import HIPTarget
from ..backends.driver import DriverBase
from ..backends.nvidia.libcuda import cuda_type
from ..compiler import CompiledKernel, GPUTarget
from ..support.lazy import LazyModule
from .allocation import current_allocator
from .arrays import HOST, ArrayInfo
from .call_forms import CallForms
from .errors import ArgumentError
from .fastpath.direct import DirectCalls
from .grid import normalize_grid
from .packing import Packer, Parameters
from .placement import place
from .tensor_maps import encoders_of

__all__ = ["HIPDriver", "HIPLauncher", "PreferredHIP", "is_available", "make_launcher", "rocm_torch"]

_benchmark = LazyModule(".benchmark", __package__)
_CACHE_BYTES = 512 << 20  # more than the Infinity Cache of any GPU


def rocm_torch() -> ModuleType | None:
    """PyTorch, where it is imported and was built for ROCm."""
    torch = sys.modules.get("torch")
    return torch if getattr(getattr(torch, "version", None), "hip", None) else None


def is_available() -> bool:
    """Whether PyTorch for ROCm has a GPU."""
    torch = rocm_torch()
    return torch is not None and bool(torch.cuda.is_available())


class _Utilities:
    """A driver's `utils`."""

    def __init__(self, driver: HIPDriver) -> None:
        self._driver = driver

    def get_device_properties(self, device: int | None = None) -> dict[str, object]:
        """Properties under Triton's names: those of the target, and the compute units that torch knows."""
        index = self._driver.get_current_device() if device is None else device
        target, torch = HIPTarget.of(self._driver.target_of(index)), rocm_torch()
        known = torch.cuda.get_device_properties(index) if torch is not None else None
        return {
            "max_shared_mem": target.shared_memory,
            "max_num_regs": target.gpu.simd.vgprs * target.gpu.simds * target.warp_size,
            "multiprocessor_count": getattr(known, "multi_processor_count", 0),
            "warpSize": target.warp_size,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
            "total_memory": getattr(known, "total_memory", 0),
            "arch": target.arch,
            "name": getattr(known, "name", target.arch),
        }


class HIPDriver(DriverBase):
    """The AMD GPUs of this machine. `arch` names their architecture where torch does not."""

    def __init__(self, arch: str = "") -> None:
        self.arch = arch
        self.utils = _Utilities(self)

    @staticmethod
    def is_active() -> bool:
        """Whether PyTorch for ROCm has a GPU."""
        return is_available()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a signature's type."""
        return cuda_type(ty)

    def get_current_target(self) -> GPUTarget:
        """`GPUTarget("hip", "gfx942", 64)`: the target of the current GPU."""
        return self.target_of(self.get_current_device())

    def target_of(self, device: int) -> GPUTarget:
        """The target of the GPU of this number; NoHIPError where neither torch nor a setting names it."""
        torch, arch = rocm_torch(), self.arch
        if not arch and torch is not None:
            arch = str(torch.cuda.get_device_properties(device).gcnArchName).partition(":")[0]
        if not arch:
            raise NoHIPError(
                "the architecture of the AMD GPU is not known\n"
                "hint: import PyTorch for ROCm, or name it: TRITIUM_TARGET=hip:gfx942"
            )
        return GPUTarget("hip", arch, HIPTarget(arch).warp_size)

    def get_current_device(self) -> int:
        """The number of torch's current GPU, or else of HIP's in this thread."""
        torch = rocm_torch()
        if torch is not None:
            return int(torch.cuda.current_device())
        found = ctypes.c_int()
        library().call("get_device", ctypes.byref(found))
        return found.value

    def set_current_device(self, device: int) -> None:
        """Make a GPU current in this thread."""
        torch = rocm_torch()
        if torch is not None:
            torch.cuda.set_device(device)
        else:
            library().call("set_device", device)

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        """(9, 4) of gfx942"""
        arch = HIPTarget.of(self.target_of(device)).base_arch
        return int(arch[3:-2]), int(arch[-2], 16)

    def get_current_stream(self, device: int | None = None) -> int:
        """The handle of torch's current stream, or else of the default stream."""
        torch = rocm_torch()
        return 0 if torch is None else int(torch.cuda.current_stream(device).cuda_stream)

    def get_active_torch_device(self) -> object:
        """`torch.device("cuda", 0)`, as torch names AMD GPUs."""
        return self.get_device_interface(whole=True).device("cuda", self.get_current_device())

    def get_device_interface(self, whole: bool = False) -> Any:
        """`torch.cuda`, or with `whole` torch; NoHIPError without PyTorch for ROCm."""
        torch = rocm_torch()
        if torch is None:
            raise NoHIPError("PyTorch for ROCm is not imported")
        return torch if whole else torch.cuda

    def get_benchmarker(self) -> Any:
        """`testing.do_bench`"""
        return _benchmark.do_bench

    def get_empty_cache_for_benchmark(self) -> object:
        """A buffer larger than the caches of a GPU."""
        torch = self.get_device_interface(whole=True)
        return torch.empty(_CACHE_BYTES // 4, dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        """Overwrite all of `cache`."""
        cache.zero_()

    def launcher(self, kernel: CompiledKernel) -> HIPLauncher:
        """The launcher of a kernel."""
        return HIPLauncher(kernel, self)


class PreferredHIP(HIPDriver):
    """The GPUs' driver as `triton.backends.backends` lists it: see `DriverConfig.set_active`."""

    prefers = "cuda"


class HIPParameters(Parameters):
    """The kernarg segment: as parameters of NVIDIA GPUs, with addresses in the memory of AMD GPUs."""

    def address(self, info: ArrayInfo, name: str, device: int) -> int:
        if info.device == HOST and info.address:
            raise ArgumentError(
                f"argument {name!r} is in the CPU's memory, but the kernel is compiled for an AMD GPU\n"
                "hint: pass a copy on the GPU (.cuda() in torch)"
            )
        return info.address


class HIPLauncher:
    """`launcher(grid, args)` runs a kernel; `args` is any of its call forms (`call_forms`)."""

    def __init__(self, kernel: CompiledKernel, driver: HIPDriver) -> None:
        self.kernel, self._driver = kernel, driver
        signature = kernel.src.signature
        self.names, types = list(signature), list(signature.values())
        self.packer = Packer(self.names, types, HIPParameters(), encoders_of(types, kernel.values, _no_tensor_maps))
        self.forms = CallForms.of(kernel)
        self.calls = DirectCalls(self, self.packer)

    def __call__(self, grid: Any, args: Sequence[object], stream: int | None = None) -> None:
        args = self.forms.expand(args)
        x, y, z = normalize_grid(grid, lambda: dict(zip(self.names, args)), self.kernel.name)
        if min(x, y, z) <= 0:
            return
        device = self.device_of(args)
        try:
            packed, arrays = self.packer(args, device)
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        handle = self._driver.get_current_stream(device) if stream is None else int(stream)
        packed, memory = self._with_scratch(packed, x * y * z, device, handle)
        try:
            self.on(device).launch_packed((x, y, z), packed, handle)
        except HIPError as error:
            raise HIPError(f"{self.kernel.name}: grid ({x}, {y}, {z}): {error}") from None
        del arrays, memory

    def on(self, device: int) -> LoadedCodeObject:
        """The kernel loaded on a GPU."""
        modules: LoadedModules = self.kernel.loaded
        return modules.on(device)

    def device_of(self, args: Sequence[object]) -> int:
        """The number of the GPU that runs a launch with these arguments."""
        at_run_time = [(self.names[i], args[i]) for i in self.packer.runtime]
        try:
            where = place(*zip(*at_run_time)) if at_run_time else None
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        # only arrays in CPU memory: the packer raises the error
        return self._driver.get_current_device() if where is None or where == HOST else where

    def _with_scratch(self, packed: bytes, programs: int, device: int, stream: int) -> tuple[bytes, list[object]]:
        """The arguments with the addresses of scratch memory, the last 16 bytes, and that memory."""
        values, addresses = self.kernel.values, b""
        memory: list[object] = []
        for kind in ("global", "profile"):
            size, align = values.get(f"{kind}_scratch_size") or 0, values.get(f"{kind}_scratch_align") or 1
            block = self._allocate(size * programs, align, device, stream) if size else None
            memory.append(block)
            addresses += (0 if block is None else int(block.data_ptr())).to_bytes(8, "little")
        return packed[: -len(addresses)] + addresses, memory

    def _allocate(self, size: int, align: int, device: int, stream: int) -> Any:
        """Memory of a GPU by the allocator that the program has set (`set_allocator`), or torch's."""
        allocate, torch = current_allocator(), rocm_torch()
        if allocate is not None:
            return allocate(size, align, stream)
        if torch is None:
            raise HIPError(f"{self.kernel.name}: scratch memory needs an allocator: tritium.set_allocator(...)")
        return torch.empty(size, dtype=torch.uint8, device=f"cuda:{device}")

    def launch_backend(self, device: object) -> None:
        """None: launches on AMD GPUs do not take the fast path."""


def make_launcher(kernel: CompiledKernel, driver: object) -> HIPLauncher:
    """The launcher of a kernel that was compiled for AMD GPUs; BackendError where there is no HIP runtime. `driver` is
    that of the GPUs of this machine, which need not be AMD's."""
    _ = kernel.loaded
    return HIPLauncher(kernel, driver if isinstance(driver, HIPDriver) else HIPDriver(kernel.values["target"]["arch"]))


def _no_tensor_maps(*_: object) -> bytes:
    raise ArgumentError("tensor maps are those of NVIDIA GPUs")
