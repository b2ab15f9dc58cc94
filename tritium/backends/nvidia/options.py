"""What a launch may ask of the CUDA compiler: the options of Triton's, by the same names and with the same defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...dialects.ttg_switches import SWITCHES
from ...support import OptionError, settings
from ...support.dataclasses import dataclass
from ...support.folders import file_digest
from ...support.hashing import sha256
from ..options import MAX_REGISTERS, check_cuda_limits, check_layout, parse_fields, text_key
from .target import CUDATarget

__all__ = ["CUDAOptions"]


@dataclass(frozen=True, slots=True)
class CUDAOptions:
    """Options of one compile; equal options share a cache entry. Made by `parse`, which knows the target.

    How a program is laid out: `num_warps` warps of `warp_size` threads each, `num_ctas` blocks of them in a cluster;
    `maxnreg` limits the registers of a thread, `min_shared_mem` (bytes) asks for shared memory beyond what is used.
    How loops run: `num_stages` is the depth of their pipelines; `clc` lets a program take the work of others.
    How a kernel is launched: `launch_cooperative_grid` all programs at once, `launch_pdl` before the kernel in front of
    it has finished.
    Arithmetic: `enable_fp_fusion` makes a multiplication and an addition one FMA, `enable_reflect_ftz` flushes
    subnormals in library functions; the fields with `dot` and `fp8` in their names are the target's, unless set.
    Measuring: `without` names, with commas, means of speed not to use (`dialects.ttg_switches.SWITCHES`).
    Checking: `debug` keeps `device_assert`, with `sanitize_overflow` integers are checked too.
    Assembler: `ptx_version`, `ptx_options`, `sched4reg` (schedule for few registers). `extern_libs` are
    (name, path) of bitcode libraries.
    """

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 32
    maxnreg: int | None = None
    ptx_version: int | None = None
    ptx_options: str | None = None
    ir_override: str | None = None
    enable_fp_fusion: bool = False
    sched4reg: bool = False
    enable_reflect_ftz: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    clc: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4b15")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    backend_name: str = "cuda"
    sanitize_overflow: bool = True
    arch: str | None = None
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False
    min_shared_mem: int | None = None
    without: str = ""

    def __post_init__(self) -> None:
        check_layout(self)
        check_cuda_limits(self)
        unknown = [name for name in filter(None, self.without.split(",")) if name not in SWITCHES]
        if unknown:
            raise OptionError(f"without={self.without!r}: there is no {unknown[0]!r}; known are {', '.join(SWITCHES)}")

    @classmethod
    def parse(cls, values: Mapping[str, Any], target: CUDATarget) -> CUDAOptions:
        """Options from a launch's keywords, completed for `target`; None stands for the default.

        KeyError names the first unknown one; OptionError says which value cannot be, or which needs a newer GPU.
        """
        given = parse_fields(cls, values)
        chosen = {**_of_target(_architecture(given.get("arch"), target)), **given}
        if "maxnreg" in given and given["maxnreg"] > MAX_REGISTERS:
            chosen["maxnreg"] = MAX_REGISTERS  # 256 is what programs write who mean all of them
        if "extern_libs" not in chosen and settings.nvidia.libdevice_path:
            chosen["extern_libs"] = (("libdevice", settings.nvidia.libdevice_path),)
        if settings.language.force_disable_fp_fusion:
            chosen["enable_fp_fusion"] = False
        options = cls(**chosen)
        _check_hardware(options, _architecture(options.arch, target))
        return options

    @property
    def target(self) -> CUDATarget:
        """The GPU these options are for."""
        return _architecture(self.arch, CUDATarget(75))

    @property
    def native_descriptors(self) -> bool:
        """Whether a descriptor that the host passes stays one, which the frontend asks."""
        return self.target.has_descriptors

    @property
    def dependent_launch(self) -> bool:
        """Whether kernels may wait for the one in front of them."""
        return self.target.has_dependent_launch

    @property
    def key(self) -> str:
        """Every field that the compiled code depends on, as text for a cache key; of libraries what they hold."""
        libraries = ",".join(f"{name}:{file_digest(path)}" for name, path in self.extern_libs)
        return text_key(self, apart=("extern_libs",)) + libraries

    def hash(self) -> str:
        """A digest of `key`."""
        return sha256(self.key.encode()).hexdigest()

    @property
    def enable_iisan(self) -> bool:
        """Whether `instrumentation_mode` names iisan."""
        return "iisan" in self.instrumentation_mode.split(",")

    def min_dot_size(self, lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
        """What the frontend asks for each matrix product: see `CUDATarget.min_dot_size`."""
        return self.target.min_dot_size(lhs_bits, rhs_bits)


def _architecture(arch: Any, target: CUDATarget) -> CUDATarget:
    """The GPU to compile for: the one that TRITON_OVERRIDE_ARCH names, or the option `arch`, else `target`."""
    name = settings.runtime.override_arch or arch
    if name is None:
        return target
    number = re.fullmatch(r"sm(\d+)", str(name))
    if number is None:
        raise OptionError(f"arch must be a text such as sm90, got {name!r}")
    return CUDATarget(int(number[1]))


def _of_target(target: CUDATarget) -> dict[str, Any]:
    return {
        "arch": f"sm{target.capability}",
        "warp_size": target.warp_size,
        "supported_fp8_dtypes": target.fp8_dtypes,
        "deprecated_fp8_dot_operand_dtypes": ("fp8e4b15",) if target.capability >= 90 else (),
        "default_dot_input_precision": settings.language.fp32_default or target.dot_precisions[0],
        "allowed_dot_input_precisions": target.dot_precisions,
        "max_num_imprecise_acc_default": target.imprecise_accumulation,
        "enable_fp_fusion": settings.language.default_fp_fusion,
    }


def _check_hardware(options: CUDAOptions, target: CUDATarget) -> None:
    if options.num_ctas > 1 and not target.has_clusters:
        raise OptionError(
            f"num_ctas > 1 requires NVIDIA SM90+ (Hopper). Current target is sm_{target.capability}: set num_ctas=1"
        )
    if options.clc and not target.has_launch_control:
        raise OptionError(f"clc=True requires NVIDIA SM100+ (Blackwell); current target is sm_{target.capability}")
