"""What emulated GPUs share: a driver whose arrays are in CPU memory, and the launcher of its kernels."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from ..backends.driver import DriverBase
from ..backends.instrumentation import BOUNDS, EMULATED
from ..backends.nvidia.libcuda import cuda_type
from ..compiler import CompiledKernel
from ..emulator import DeviceAssertion, Memory, Report, encode_im2col, encode_tiled
from ..support.lazy import LazyModule
from .arrays import ArrayInfo, describe, extent
from .call_forms import CallForms
from .cpu_driver import DeviceInterface
from .driver_config import driver as drivers
from .errors import ArgumentError, DeviceAssertError, LaunchError, OutOfResources
from .fastpath.direct import DirectCalls
from .grid import normalize_grid
from .kernel_versions import Versioned, has_maps, persistent_grid
from .packing import Packer, Parameters
from .tensor_descriptor import TensorDescriptor
from .tensor_maps import NotEncodable, encoders_of

__all__ = ["EmulatedDriver", "EmulatedLauncher", "EmulatedTarget", "HostParameters", "Utilities"]

_numpy = LazyModule("numpy")
_torch = LazyModule("torch")
_benchmark = LazyModule(".benchmark", __package__)
_host_maps = LazyModule(".host_maps", __package__)

PROCESSORS = 4  # persistent kernels start one program per SM: few, since they share one CPU
_EVERYTHING = 1 << 63


class EmulatedTarget(Protocol):
    """What a launch asks a target."""

    @property
    def shared_memory(self) -> int: ...
    @property
    def has_descriptors(self) -> bool: ...


class HostParameters(Parameters):
    """Parameters laid out as for GPUs, with addresses in CPU memory."""

    def address(self, info: ArrayInfo, name: str, device: int) -> int:
        if info.device >= 0:
            raise ArgumentError(
                f"argument {name!r} is in the memory of CUDA device {info.device}, which the emulator cannot reach\n"
                "hint: pass a CPU copy (.cpu() in torch, .get() in CuPy)"
            )
        return info.address


class Utilities:
    """A driver's `utils`: a device named `name` of compute capability (or generation and stepping) `capability`."""

    def __init__(self, target: EmulatedTarget, name: str, lanes: int, capability: tuple[int, int]) -> None:
        self._target, self._name, self._lanes, self._capability = target, name, lanes, capability

    def get_device_properties(self, device: Any = 0) -> dict[str, Any]:
        """Properties under Triton's names: those of the target, with few SMs."""
        return {
            "max_shared_mem": self._target.shared_memory,
            "max_num_regs": 1 << 16,
            "multiprocessor_count": PROCESSORS,
            "warpSize": self._lanes,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
            "total_memory": 0,
            "name": self._name,
        }

    def get_device_capability(self, device: Any = 0) -> tuple[int, int]:
        """(9, 0)"""
        return self._capability


class EmulatedDriver(DriverBase):
    """A GPU emulated on the CPU.

    `check_races` looks for races in shared memory. `last_report` has the statistics of the last launch: instructions,
    barriers, printed text. Kernels may access their arguments; arrays behind pointers in memory are registered with
    `reach`.
    """

    name: str
    """Of the device: "emulated:90"."""
    grid_limits: tuple[int, int, int]
    """The most programs along each dimension."""

    def __init__(self, target: Any, utilities: Utilities, check_races: bool, more_checks: frozenset[str]) -> None:
        self.target = target
        self.check_races = check_races
        self.checks = more_checks | (EMULATED if check_races else frozenset((BOUNDS,)))
        self.reachable: list[Any] = []
        self.last_report: Report | None = None
        self.utils = utilities

    @abstractmethod
    def emulate(self, kernel: CompiledKernel, grid: tuple[int, int, int], params: bytes, memory: Memory) -> Report:
        """Execute a kernel on parameters as they are in memory; `grid` counts CTAs."""

    @staticmethod
    def is_active() -> bool:
        """True: it is always available."""
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a signature's type."""
        return cuda_type(ty)

    def get_current_device(self) -> str:
        """A name that no GPU has, "emulated:90"; devices with different checks have different names."""
        return f"{self.name}{'' if self.check_races else ':races-unchecked'}"

    def set_current_device(self, device: Any) -> None:
        """No effect: there is one device."""

    def get_device_capability(self, device: Any = 0) -> tuple[int, int]:
        """(9, 0)"""
        return self.utils.get_device_capability()

    def get_current_stream(self, device: Any = None) -> int:
        """0: launches run at once."""
        return 0

    def get_active_torch_device(self) -> Any:
        """`torch.device("cpu")`, the device of the tensors."""
        return _torch.device("cpu")

    def get_device_interface(self) -> DeviceInterface:
        """A substitute for `torch.cuda`."""
        return DeviceInterface()

    def get_benchmarker(self) -> Any:
        """`testing.do_bench`"""
        return _benchmark.do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Nothing: an emulator has no caches."""
        return bytearray()

    def clear_cache(self, cache: Any) -> None:
        """Nothing."""

    def reach(self, *arrays: Any) -> None:
        """Allow kernels to access these arrays from now on, and keep them alive."""
        self.reachable += arrays

    def launcher(self, kernel: CompiledKernel) -> EmulatedLauncher:
        """The launcher of a kernel."""
        return EmulatedLauncher(self, kernel)


class _Interpreted:
    """A placeholder for loaded code, which an emulated GPU does not have."""

    address = 0


class EmulatedLauncher(Versioned):
    """`launcher(grid, args)` runs a kernel; `args` is any of its call forms (`call_forms`)."""

    def __init__(self, driver: EmulatedDriver, kernel: CompiledKernel) -> None:
        self._made_by = driver
        self.kernel = kernel
        signature = kernel.src.signature
        self.names = list(signature)
        types = list(signature.values())
        encoders = encoders_of(types, kernel.values, encode_tiled, encode_im2col)
        maps = _host_maps.host_maps_of(kernel.values, encode_tiled) if has_maps(kernel.values) else None
        self.packer = Packer(self.names, types, HostParameters(driver.target.has_descriptors), encoders, maps)
        self.forms = CallForms.of(kernel)
        self.calls = DirectCalls(self, self.packer)
        kernel.load_with(_Interpreted)
        _ = kernel.loaded  # calls the hooks of loads

    @property
    def driver(self) -> EmulatedDriver:
        """The active driver if it has this target, else the one that made the launcher."""
        active = drivers.active
        same = isinstance(active, type(self._made_by)) and active.target == self._made_by.target
        return active if same else self._made_by

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        kernel = self.kernel
        args = self.forms.expand(args)
        x, y, z = normalize_grid(grid, lambda: dict(zip(self.names, args)), kernel.name)
        if min(x, y, z) <= 0:
            return
        self._check((x, y, z))
        try:
            params, arrays = self.packer(args, grid=(x, y, z))
            memory = self._memory(args)
        except ArgumentError as error:
            raise ArgumentError(f"{kernel.name}: {error}") from None
        except NotEncodable:
            self._made_by.launcher(self.other_version)((x, y, z), args)
            return
        if self.packer.is_persistent:
            x, y, z = persistent_grid((x, y, z), PROCESSORS)
        ctas = kernel.values.get("num_ctas") or 1
        params, scratch = self._with_scratch(params, x * y * z * ctas, memory)
        try:
            report = self.driver.emulate(kernel, (x * ctas, y, z), params, memory)
        except DeviceAssertion as error:
            program = (error.block[0] // ctas, *error.block[1:])
            raise DeviceAssertError(str(error), kernel.name, error.file, error.line, 0, program) from error
        self.driver.last_report = report
        sys.stdout.write(report.output)
        del arrays, scratch

    def device_of(self, args: Sequence[Any]) -> None:
        """None: there is one device."""

    def launch_backend(self, device: Any) -> None:
        """None: emulated launches do not take the fast path."""

    def _check(self, grid: tuple[int, int, int]) -> None:
        """Check the limits of the GPU."""
        ctas = self.kernel.values.get("num_ctas") or 1
        limits = self.driver.grid_limits
        if grid[0] * ctas > limits[0] or grid[1] > limits[1] or grid[2] > limits[2]:
            raise LaunchError(
                f"{self.kernel.name}: the grid {grid} is too large: at most {limits[0]} CTAs in the first dimension, "
                f"{max(limits[1:])} in the others"
            )
        used, most = self.kernel.values.get("shared") or 0, self.driver.target.shared_memory
        if used > most:
            raise OutOfResources(used, most, "shared memory", self.kernel.name)

    def _memory(self, args: Sequence[Any]) -> Memory:
        """The memory that the kernel may access: its arrays, and those registered with `reach`."""
        memory = Memory()
        for number, array in enumerate(self.driver.reachable):
            self._place(f"reachable array {number}", array, memory)
        for i in self.packer.runtime:
            self._place(self.names[i], args[i], memory)
        return memory

    def _place(self, name: str, value: Any, memory: Memory) -> None:
        if isinstance(value, TensorDescriptor):
            value = value.base
        if isinstance(value, tuple):
            for member in value:
                self._place(name, member, memory)
            return
        if isinstance(value, (int, float, str)) or describe(value) is None:
            return
        low, high = extent(value)
        if high - low >= _EVERYTHING:
            if memory.holding(describe(value).address) is None:  # type: ignore[union-attr]
                raise ArgumentError(
                    f"argument {name!r} is only an address of memory of unknown size\n"
                    "hint: pass an array, or register it with `driver.active.reach(array)`"
                )
        elif high > low:
            writable = getattr(getattr(value, "flags", None), "writeable", True)
            memory.place_raw(low, high - low, name, writable, value)

    def _with_scratch(self, params: bytes, programs: int, memory: Memory) -> tuple[bytes, list[Any]]:
        """The parameters with the addresses of the kernel's scratch memory, and that memory."""
        values, addresses, blocks = self.kernel.values, [], []
        for kind in ("global", "profile"):
            size = values.get(f"{kind}_scratch_size") or 0
            align = values.get(f"{kind}_scratch_align") or 1
            block = _numpy.zeros(size * programs + align, _numpy.uint8) if size else None
            address = 0
            if block is not None:
                address = -(-memory.place(block, f"{kind} scratch memory") // align) * align
            blocks.append(block)
            addresses.append(address.to_bytes(8, "little"))
        return params[:-16] + b"".join(addresses), blocks
