"""`triton.backends.nvidia.driver`: the path of the driver's library, the driver object, and a launcher."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .. import knobs
from ..backends.driver import decompose_descriptor, wrap_handle_tensordesc_impl
from ..backends.nvidia import device as devices
from ..backends.nvidia.driver import LoadedFunction
from ..backends.nvidia.libcuda import cuda_type, library
from ..backends.nvidia.target import CUDATarget
from ..backends.nvidia.toolchain import header_folders, require_tool
from ..runtime.allocation import current_allocator
from ..runtime.cuda import CUDADriver, _Utilities
from ..runtime.native import native_launch
from ..runtime.packing import PARAMETERS, SCRATCH_BYTES, Packer, bytes_address
from ..runtime.scratch import scratch_block
from ..runtime.tensor_maps import HOST_TYPES, TF32
from ..support import TritiumError
from .refusal import UnsupportedBinding, refused_attributes

__all__ = [
    "CudaDriver",
    "CudaLauncher",
    "CudaUtils",
    "TMA_DTYPE_DEVICE_TO_HOST",
    "TMA_TF32",
    "dirname",
    "libcuda_dirs",
    "libraries",
    "library_dirs",
    "make_tensordesc_arg",
    "ty_to_cpp",
    "wrap_handle_tensordesc",
]

dirname = os.path.dirname(os.path.realpath(devices.__file__))
libraries = ["libcuda.so.1"]
ty_to_cpp = cuda_type
TMA_TF32 = TF32
TMA_DTYPE_DEVICE_TO_HOST = {number: HOST_TYPES.get(number, number) for number in range(16)}


@lru_cache(maxsize=1)
def libcuda_dirs() -> list[str]:
    """The folders with the driver's library; TritiumError if there is none."""
    named = knobs.nvidia.libcuda_path
    if named:
        return [named]
    with os.popen("/sbin/ldconfig -p 2>/dev/null") as listing:
        found = [line.split()[-1] for line in listing if line.strip().startswith("libcuda.so.1 ")]
    folders = list(dict.fromkeys(map(os.path.dirname, found)))
    searched = (f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.exists(f"{f}/libcuda.so.1"))
    folders = folders or list(searched)
    if not folders:
        raise TritiumError(
            "libcuda.so.1 is not found: install NVIDIA's driver, or let TRITON_LIBCUDA_PATH name its folder"
        )
    return folders


def _libdevice_dir() -> str:
    return os.path.dirname(require_tool("libdevice", "linking math functions").path)


def library_dirs() -> list[str]:
    """The folders to link with: that of libdevice, and those of the driver's library."""
    return [_libdevice_dir(), *libcuda_dirs()]


class CudaUtils(_Utilities):
    """The driver's functions under Triton's names; one object a process."""

    _instance: CudaUtils | None = None

    def __new__(cls) -> CudaUtils:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __getattr__(self, name: str) -> Any:
        reason = _UTILITIES.get(name)
        if reason is None:
            raise AttributeError(name)
        raise UnsupportedBinding(f"CudaUtils.{name}", reason)


_UTILITIES = {
    "build_signature_metadata": "a CudaLauncher packs arguments by the signature of its source",
    "cuOccupancyMaxActiveClusters": "kernel.inspect() tells a kernel's occupancy",
    "fill_tma_descriptor_im2col": "pass a TensorDescriptor to the kernel",
    "fill_tma_descriptor_tiled": "pass a TensorDescriptor to the kernel, which is encoded at the launch",
    "launch": "a CudaLauncher launches",
}


class CudaLauncher:
    """Launches kernels by the handle of a function, as returned by `driver.active.utils.load_binary`.

    `src` has the `signature`; `metadata` the fields of a compile (`num_warps`, `num_ctas`, `shared`, …). Kernels with
    tensor descriptors among their parameters are launched by a `CompiledKernel` only.
    """

    def __init__(self, src: Any, metadata: Any) -> None:
        values = _fields(metadata)
        if values.get("tensordesc_meta") or values.get("argument_maps") or values.get("persistent_grid"):
            raise UnsupportedBinding(
                "CudaLauncher for kernels with tensor descriptors", "call the compiled kernel: kernel[grid](...)"
            )
        target = CUDATarget.of(values["target"]) if "target" in values else CUDATarget(values.get("capability", 90))
        self.signature = dict(src.signature)
        self.packer = Packer(
            list(map(str, self.signature)), list(self.signature.values()), PARAMETERS[target.has_descriptors]
        )
        self.values = {"name": getattr(src, "name", "kernel"), **values}
        self.global_scratch_size: int = values.get("global_scratch_size") or 0
        self.global_scratch_align: int = values.get("global_scratch_align") or 1
        self.num_ctas: int = values.get("num_ctas") or 1
        self._functions: dict[tuple[int, int], LoadedFunction] = {}

    def _on(self, device: int, handle: int) -> LoadedFunction:
        found = self._functions.get((device, handle))
        if found is None:
            gpu = devices.device(device)
            found = LoadedFunction(library(), gpu, 0, handle, self.values, native_launch())
            found.expect(self.packer.slots + 2, self.packer.size)
            self._functions[device, handle] = found
        return found

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: int,
        kernel_metadata: Any,
        launch_metadata: Any,
        launch_enter_hook: Callable[[Any], Any] | None,
        launch_exit_hook: Callable[[Any], Any] | None,
        *args: Any,
    ) -> None:
        """Launch the function on the current GPU; `args` has a value for every parameter, compile-time ones too."""
        device = devices.current_device()
        loaded = self._on(device, function)
        params, arrays = self.packer([*map(_pointer, self.signature.values(), args)], device)
        memory = self._scratch(device, grid_x * grid_y * grid_z, stream)
        if memory is not None:
            params = params[:-SCRATCH_BYTES] + struct.pack("<QQ", int(memory.data_ptr()), 0)
        if launch_enter_hook is not None:
            launch_enter_hook(launch_metadata)
        status = loaded.launch(bytes_address(params), grid_x, grid_y, grid_z, stream)
        if status is not None:
            loaded.fail(status, (grid_x, grid_y, grid_z))
        if launch_exit_hook is not None:
            launch_exit_hook(launch_metadata)
        del arrays, memory

    def _scratch(self, device: int, programs: int, stream: int) -> Any:
        size = self.global_scratch_size * programs * self.num_ctas
        if not size:
            return None
        allocate = current_allocator()
        if allocate is not None:
            return allocate(size, self.global_scratch_align, stream)
        return scratch_block(device, stream, "global", size)


class _Address:
    """An array that is only an address."""

    def __init__(self, address: int, dtype: str) -> None:
        self.address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        return self.address


def _pointer(ty: Any, value: Any) -> Any:
    """An integer passed as a pointer, as an array."""
    if isinstance(value, int) and isinstance(ty, str) and ty[0] == "*":
        return _Address(value, ty[1:].removeprefix("k"))
    return value


def _fields(metadata: Any) -> dict[str, Any]:
    """The fields of metadata: a mapping, a named tuple, or an object with attributes."""
    if isinstance(metadata, Mapping):
        return dict(metadata)
    return metadata._asdict() if hasattr(metadata, "_asdict") else dict(vars(metadata))


class CudaDriver(CUDADriver):
    """The driver of NVIDIA's GPUs, with the class of its launchers."""

    launcher_cls = CudaLauncher

    def __init__(self) -> None:
        self.utils = CudaUtils()


def make_tensordesc_arg(arg: Any, metadata: Any, base_args: Sequence[Any] = ()) -> list[Any]:
    """The base, shape and strides of a descriptor; with `metadata`, which requires a tensor map, it is refused."""
    if metadata is not None:
        raise UnsupportedBinding("make_tensordesc_arg with metadata", "call the compiled kernel: kernel[grid](...)")
    return decompose_descriptor(arg)


def wrap_handle_tensordesc(launcher: Callable[..., Any], signature: Mapping[Any, Any], tensordesc_meta: Any) -> Any:
    """A launcher whose arguments may contain descriptors, which are expanded."""
    return wrap_handle_tensordesc_impl(launcher, signature, tensordesc_meta, make_tensordesc_arg)


_C_PARTS = "arguments are packed by a CudaLauncher, without C objects"

_refused = refused_attributes(
    __name__,
    {
        "PyCUtensorMap PyKernelArg ARG_CONSTEXPR ARG_KERNEL ARG_TUPLE annotate_arguments": _C_PARTS,
        "make_kernel_signature": _C_PARTS,
        "make_launcher": "launchers are no C modules here, see docs/launching.md",
        "GSAN_PER_DEVICE_STATE_STRIDE": "the emulator checks launches for races",
    },
)


def __getattr__(name: str) -> Any:
    if name == "include_dirs":  # for C code of programs: launchers here are native code in memory
        return header_folders()
    return _libdevice_dir() if name == "libdevice_dir" else _refused(name)
