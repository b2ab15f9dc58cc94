"""From a cubin to functions that can be launched: one for each GPU it is used on.

Errors are raised before the launch: a kernel for another GPU architecture, too much shared memory, too
many registers or threads. What the driver refuses nevertheless is told with its own words, and the kernel's name.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from ...support import InternalError
from ..errors import OutOfResources
from .device import Device, current_device, device
from .launch import MAX_X, MAX_YZ, TOO_LARGE, Attributes, Native, State, make_launcher, new_number, recent
from .libcuda import STICKY, CudaError, Library, Value, hint_for, library

__all__ = ["CudaLaunchError", "LoadedCubin", "LoadedFunction", "load_function"]

_INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE

# numbers of `CUfunction_attribute`
_MAX_THREADS, _STATIC_SHARED, _LOCAL, _REGISTERS = 0, 1, 3, 4
_DYNAMIC_SHARED, _CARVE_OUT, _LARGE_CLUSTER = 8, 9, 14

_ALWAYS_SHARED = 48 << 10  # bytes of shared memory without opt-in
_PORTABLE_CLUSTER = 8  # CTAs of a cluster that every GPU with clusters supports

_OTHER_CODE = {200, 209, 218, 221, 222, 223, 300, 301}  # statuses of code that this driver or GPU cannot run
_SCRATCH, _ADDRESS = 2, 8  # addresses after the arguments, and the size of one
_OUT_OF_RESOURCES, _COOPERATIVE_TOO_LARGE, _NO_CLUSTER = 701, 720, 912


class CudaLaunchError(CudaError):
    """A kernel could not be launched, or an earlier one is found to have failed. `kernel` is the one launched now."""

    kernel = ""


class LoadedFunction:
    """A kernel on one GPU. `launch` is what `launch.make_launcher` makes."""

    def __init__(
        self, cuda: Library, gpu: Device, module: int, handle: int, metadata: Mapping[str, Any], native: Native | None
    ) -> None:
        self.cuda = cuda
        self.device = gpu
        self.module = module
        self.handle = handle
        self.name: str = metadata["name"]
        self.shared: int = metadata.get("shared") or 0
        self.threads: int = 32 * (metadata.get("num_warps") or 4)
        self.ctas: int = metadata.get("num_ctas") or 1
        self.n_regs = self._attribute(_REGISTERS)
        self.n_spills = self._attribute(_LOCAL) // 4  # words of a thread's own memory, as Triton counts
        self.n_max_threads = self._attribute(_MAX_THREADS)
        self.static_shared = self._attribute(_STATIC_SHARED)
        self._check()
        self._prepare()
        self.attributes = Attributes(metadata)
        self.state = State(
            *map(cuda.address, ("launch", "get_context", "push_context", "pop_context")),
            gpu.context,
            handle,
            self.ctas,
            self.threads,
            self.shared,
            self.attributes.count,
            self.attributes.address,
            0,  # the size of the parameters, which who packs them fills in
            new_number(self.name),
        )
        self.launch = make_launcher(cuda, self.state, self, native)

    def expect(self, count: int, size: int) -> None:
        """Launches pass `count` parameters in `size` bytes; InternalError where the kernel has others.

        The last two are addresses of scratch memory, which PTX from elsewhere may lack: older releases of Triton knew
        one or none. Drivers before CUDA 12.4 do not say what it has. That the last one ends where ours does is enough
        to ask.
        """
        self.state.params_bytes = size
        if not self.cuda.has("parameter_info"):
            return
        has = f"it has fewer than {count} parameters"
        for absent in range(min(_SCRATCH, count - 1) + 1):
            end = self._end_of(count - absent)
            if end is None:
                continue
            if -(-end // _ADDRESS) * _ADDRESS == size - absent * _ADDRESS:
                self.state.params_bytes = end
                return
            has = f"its parameter {count - absent} ends at byte {end}"
            break
        raise InternalError(f"{self.name}: a launch packs {count} parameters in {size} bytes, but {has}")

    def _end_of(self, number: int) -> int | None:
        """The byte at which the parameter of a number ends, from 1 on; None if the kernel has not so many.

        CudaError where the driver refuses for another reason, as in a forked process.
        """
        offset, bytes_of = Value(ctypes.c_size_t), Value(ctypes.c_size_t)
        asked = self.handle, number - 1, offset.at, bytes_of.at
        status = self.cuda.status("parameter_info", *asked)
        if status not in (0, _INVALID_VALUE):
            self.cuda.call("parameter_info", *asked)  # raises
        return None if status else offset.value + bytes_of.value

    def _attribute(self, number: int) -> int:
        found = Value(ctypes.c_int)
        self.cuda.call("function_attribute", found.at, number, self.handle)
        return found.value  # type: ignore[no-any-return]

    def _check(self) -> None:
        """Raise OutOfResources for what the GPU does not have."""
        properties = self.device.properties
        used = self.shared + self.static_shared
        if used > properties["max_shared_mem"]:
            raise OutOfResources(used, properties["max_shared_mem"], "shared memory", self.name)
        registers = self.n_regs * self.threads
        if self.threads > self.n_max_threads and registers > properties["max_num_regs"]:
            raise OutOfResources(registers, properties["max_num_regs"], "registers", self.name)
        if self.threads > self.n_max_threads:
            raise OutOfResources(self.threads, self.n_max_threads, "threads", self.name)

    def _prepare(self) -> None:
        """Request attributes that the driver grants only on request."""
        if self.shared + self.static_shared > _ALWAYS_SHARED:
            self.cuda.call("set_function_attribute", self.handle, _DYNAMIC_SHARED, self.shared)
            self.cuda.call("set_function_attribute", self.handle, _CARVE_OUT, 100)
        if self.ctas > _PORTABLE_CLUSTER:
            self.cuda.call("set_function_attribute", self.handle, _LARGE_CLUSTER, 1)

    def fail(self, status: int, grid: tuple[int, int, int]) -> None:
        """Raise what a launch's status means."""
        if status == TOO_LARGE:
            raise self._error(0, f"the grid {grid} is too large: {self._grid_limits()}")
        if status in STICKY:
            raise self._error(
                status,
                f"a kernel launched before failed: {STICKY[status]}\n{self.cuda.explain(status)}\n"
                f"the kernels launched last: {', '.join(recent(1)) or 'none of ours'}\n"
                "hint: the GPU cannot be used by this process any more; run again with "
                "TRITIUM_LAUNCH_BLOCKING=1, which waits for every kernel and names the one that fails",
            )
        if status == _COOPERATIVE_TOO_LARGE:
            fits = self.resident_ctas()
            raise OutOfResources(grid[0] * grid[1] * grid[2] * self.ctas, fits, "CTAs at a time", self.name)
        why = {
            _OUT_OF_RESOURCES: (
                f"; it has {self.threads} threads of {self.n_regs} registers, {self.shared} bytes shared memory"
            ),
            _NO_CLUSTER: f"; a cluster has {self.ctas} CTAs",
        }.get(status, "")
        raise self._error(status, f"the launch failed: {self.cuda.explain(status)}{why}{hint_for(status)}")

    def fail_after(self, status: int, grid: tuple[int, int, int]) -> None:
        """Raise what waiting for the end of a launch said."""
        what = STICKY.get(status, "the launch failed")
        raise self._error(status, f"the kernel failed: {what}\n{self.cuda.explain(status)}\ngrid {grid}")

    def wait(self, stream: int, grid: tuple[int, int, int]) -> None:
        """Wait for a launch; an error of it names this kernel."""
        with self.device.active():
            status = self.cuda.status("synchronize_stream", stream)
        if status:
            self.fail_after(status, grid)

    def _grid_limits(self) -> str:
        blocks = f" (each program has {self.ctas} CTAs)" if self.ctas > 1 else ""
        return f"at most {MAX_X} CTAs in the first dimension{blocks}, {MAX_YZ} in the others"

    def resident_ctas(self) -> int:
        """The CTAs of the kernel that run at once on the GPU."""
        each = Value(ctypes.c_int)
        with self.device.active():
            self.cuda.status("max_blocks", each.at, self.handle, self.threads, self.shared)
        return each.value * int(self.device.properties["multiprocessor_count"])

    def _error(self, status: int, text: str) -> CudaLaunchError:
        error = CudaLaunchError(f"{self.name}: {text}", status, "cuLaunchKernelEx")
        error.kernel = self.name
        return error


def load_function(
    gpu: Device, code: bytes, metadata: Mapping[str, Any], native: Native | None = None
) -> LoadedFunction:
    """Load a cubin on a GPU; CudaError or OutOfResources, naming the kernel, where that cannot be."""
    name = metadata["name"]
    _check_target(gpu, metadata)
    module, handle = Value(), Value()
    with gpu.active():
        status = gpu.cuda.status("load_module", module.at, code)
        if status in STICKY:
            raise gpu.cuda.error(
                status,
                "cuModuleLoadData",
                f"{name}: a kernel launched before failed; it was one of {', '.join(recent()) or 'somebody else'}",
            )
        if status:
            made_with = metadata.get("ptxas_version") or metadata.get("toolkit_version")
            by = f", which ptxas {made_with} made" if made_with else ""
            older = f" (the driver knows CUDA {gpu.cuda.version_text}{by})" if status in _OTHER_CODE else ""
            raise gpu.cuda.error(status, "cuModuleLoadData", f"{name}: the cubin cannot be loaded on {gpu.name}{older}")
        gpu.cuda.call("get_function", handle.at, module.value, name.encode())
        return LoadedFunction(gpu.cuda, gpu, module.value, handle.value, metadata, native)


def _check_target(gpu: Device, metadata: Mapping[str, Any]) -> None:
    """A cubin runs on GPUs of its own major version, from its own capability on."""
    arch = int(metadata["target"]["arch"])
    major, minor = gpu.capability
    if arch // 10 != major or arch % 10 > minor:
        raise CudaError(
            f"{metadata['name']}: the kernel was compiled for sm_{arch}, but device {gpu.index} ({gpu.name}) is "
            f"sm_{major}{minor}\nhint: compile it for GPUTarget('cuda', {major * 10 + minor}, 32)",
            209,
            "cuModuleLoadData",
        )


class LoadedCubin:
    """A kernel's machine code, loaded on each GPU when it is first used there."""

    def __init__(self, code: bytes, metadata: Mapping[str, Any]) -> None:
        self._code = code
        self._metadata = metadata
        self._functions: dict[int, LoadedFunction] = {}

    def on(self, index: int, native: Native | None = None) -> LoadedFunction:
        """The kernel on the GPU of this number."""
        found = self._functions.get(index)
        if found is None or found.cuda is not library():
            found = self._functions[index] = load_function(device(index), self._code, self._metadata, native)
        return found

    @property
    def address(self) -> int:
        """The driver's handle of the function on the current GPU."""
        return self.on(current_device()).handle
