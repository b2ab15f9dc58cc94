"""`triton.backends.nvidia.compiler`: the assembler, versions of PTX, and LLVM's features for them."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..backends.nvidia.toolchain import highest_ptx, require_tool, tool_version
from ..support.folders import file_digest
from ..support.lazy import LazyModule

__all__ = [
    "file_hash",
    "get_features",
    "get_llvm_flags",
    "get_ptx_version_from_options",
    "get_ptxas",
    "get_ptxas_version",
    "is_enabled",
    "ptx_get_version",
]

_codegen = LazyModule("..backends.nvidia.codegen", __package__)


def get_ptxas(arch: int = 80) -> knobs.NvidiaTool:
    """The assembler, with `path` and `version` ("13.0"); one serves all architectures. ToolMissing without one."""
    tool = require_tool("ptxas", "assembling PTX")
    major, minor = tool_version(tool)
    return knobs.NvidiaTool(tool.path, f"{major}.{minor}")


def get_ptxas_version(arch: int = 80) -> str:
    """The identity of the assembler: its CUDA release, or the setting `nvidia.mock_ptx_version`."""
    mocked = knobs.nvidia.mock_ptx_version
    return str(mocked) if mocked is not None else f"release {get_ptxas(arch).version}"


def ptx_get_version(cuda_version: str) -> int:
    """The highest PTX version times ten that a release of CUDA reads.

    >>> ptx_get_version("12.4"), ptx_get_version("13.0")
    (84, 90)
    """
    major, minor = map(int, cuda_version.split(".")[:2])
    if major < 10:
        raise RuntimeError(f"CUDA 10.0 or newer is needed, not {cuda_version}")
    return highest_ptx((major, minor))


def get_ptx_version_from_options(options: Any, arch: int) -> int:
    """The option `ptx_version`, or the highest version that the assembler reads."""
    chosen: int | None = options.ptx_version
    return ptx_get_version(get_ptxas(arch).version) if chosen is None else chosen


def get_features(options: Any, arch: int) -> str:
    """LLVM's features for code of `arch`: `+ptx84`, the newest that this LLVM supports."""
    target = _codegen.NVPTXTarget.of(arch, get_ptx_version_from_options(options, arch))
    return str(target.machine().features)


def get_llvm_flags() -> list[str]:
    """Flags for LLVM: none are needed."""
    return []


def is_enabled(options: Any, mode: str) -> bool:
    """Whether the option `instrumentation_mode` (of an object or a dict) names `mode`."""
    found = options.get("instrumentation_mode") if isinstance(options, dict) else options.instrumentation_mode
    return mode in (found or "").split(",")


def file_hash(path: str) -> str:
    """A digest of a file."""
    return file_digest(path)
