"""`triton.backends.amd.driver`: the driver of AMD GPUs, and helpers."""

from __future__ import annotations

from ..backends.compiler import GPUTarget
from ..backends.driver import GPUDriver, decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl
from ..backends.nvidia.libcuda import cuda_type
from ..runtime.build import compile_module_from_src
from ..runtime.hip import HIPDriver
from .refusal import refused_attributes

__all__ = [
    "GPUDriver",
    "GPUTarget",
    "HIPDriver",
    "compile_module_from_src",
    "decompose_descriptor",
    "expand_signature",
    "include_dirs",
    "ty_to_cpp",
    "wrap_handle_tensordesc_impl",
]

include_dirs: list[str] = []

_INTERNAL = "launches are made by tritium.runtime.hip, whose parts are others"


def ty_to_cpp(ty: str) -> str:
    """The C type of a signature's type: "hipDeviceptr_t" for "*fp32"."""
    return "hipDeviceptr_t" if ty[0] == "*" else "TDMDescriptor" if ty.startswith("tensordesc") else cuda_type(ty)


__getattr__ = refused_attributes(
    __name__,
    {
        "HIPLauncher HIPUtils PyTDMDescriptor PyKernelArg ARG_CONSTEXPR ARG_KERNEL ARG_TUPLE": _INTERNAL,
        "annotate_arguments make_kernel_signature make_tensordesc_arg wrap_handle_tensordesc dirname": _INTERNAL,
    },
)
