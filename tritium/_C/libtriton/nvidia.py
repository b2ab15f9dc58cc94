"""`triton._C.libtriton.nvidia`: NVIDIA's passes, and cuBLASLt to compare with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ...backends.nvidia import cublas
from ...dropin.refusal import refused_attributes
from .passes import namespace

__all__ = ["cublas", "has_extern_deps", "load_dialects", "passes", "set_nvvm_reflect_ftz"]

passes = SimpleNamespace(
    **{name: namespace(f"nvidia.passes.{name}") for name in ("hopper", "nvws", "ttgpuir", "ttnvgpuir")}
)


def load_dialects(context: Any) -> None:
    """Nothing: dialects are imported when text or a pass names them."""


def has_extern_deps(module: Any) -> bool:
    """True when an `llvm.module` calls functions of libdevice."""
    return "@__nv_" in str(module)


def set_nvvm_reflect_ftz(module: Any) -> None:
    """Let libdevice functions that are linked into an `llvm.module` flush subnormals."""
    module.flushes_subnormals = True


_MEMORY = "allocate with torch, or with tritium.runtime.driver.active"

__getattr__ = refused_attributes(
    __name__, {"copy_device_to_host copy_host_to_device device_free device_malloc synchronize": _MEMORY}
)
