"""Options of the CUDA compiler: names and defaults are Triton's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...dialects.ttg_switches import SWITCHES, current_names
from ...hardware.nvidia import NvidiaGPU
from ...hardware.nvidia_features import CLUSTERS, DEPENDENT_LAUNCH, LAUNCH_CONTROL, TMA
from ...support import OptionError, settings
from ...support.dataclasses import dataclass
from ...support.folders import file_digest
from ...support.hashing import sha256
from ...support.option_classes import hint, ignored_hint, instrumentation, semantic
from ..options import (
    builds_mode,
    check_cuda_limits,
    check_instrumentation,
    check_layout,
    check_names,
    parse_fields,
    text_key,
)
from .target import CUDATarget

__all__ = ["CUDAOptions"]

BUILT = ("iisan",)  # modes of `instrumentation_mode` that the compiler builds


@dataclass(frozen=True)
class CUDAOptions:
    """Options of one compile; equal options share a cache entry. Made by `parse`, which knows the target.

    Each field declares its class and its effect here. Fields with a default of the target have it after `parse`.
    """

    num_warps: int = hint(4, "warps of a CTA; more where the accumulators of a dot need them")
    num_ctas: int = hint(1, "CTAs of a cluster, which share a program; more than 1 is an error before SM90")
    num_stages: int = hint(3, "stages of software-pipelined loops")
    warp_size: int = semantic(32, "32; other sizes are errors")
    maxnreg: int | None = hint(None, "registers of a thread at most (`.maxnreg`); 255 for more")
    ptx_version: int | None = hint(None, "ISA version of the PTX, 84 for 8.4")
    ptx_options: str | None = semantic(None, "more options of ptxas")
    ir_override: str | None = semantic(None, "a file that replaces the output of a stage")
    enable_fp_fusion: bool = semantic(False, "a multiplication and an addition may become one FMA")
    sched4reg: bool = hint(False, "schedule for few registers (LLVM's `-nvptx-sched4reg`)")
    enable_reflect_ftz: bool = semantic(True, "library functions flush subnormals")
    launch_cooperative_grid: bool = semantic(False, "all CTAs run at once; a grid that does not fit is an error")
    launch_pdl: bool = hint(False, "may start before the previous kernel of the stream has ended")
    clc: bool = ignored_hint(False, "CTAs keep the work that the grid gives them; an error before SM100")
    supported_fp8_dtypes: tuple[str, ...] = semantic(("fp8e5", "fp8e4b15"), "other fp8 types are errors")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ignored_hint((), "a note of the target, which changes no code")
    default_dot_input_precision: str = semantic("tf32", "precision of `tl.dot` on fp32 that names none")
    allowed_dot_input_precisions: tuple[str, ...] = semantic(
        ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"), "other precisions are errors of `tl.dot`"
    )
    max_num_imprecise_acc_default: int = hint(0, "additions in the tensor core before fp8 dots add in fp32 (SM90)")
    extern_libs: tuple[tuple[str, str], ...] = semantic((), "(name, path) of bitcode libraries to link")
    debug: bool = semantic(False, "keeps `device_assert`, and with `sanitize_overflow` checks integer arithmetic")
    backend_name: str = semantic("cuda", "cuda; other names are errors")
    sanitize_overflow: bool = semantic(True, "with `debug`, overflow of integer arithmetic is an error of the launch")
    check_conversions: bool = instrumentation(False, "a float out of range made an integer is an error of the launch")
    arch: str | None = semantic(None, "the architecture to compile for, such as sm90")
    instrumentation_mode: str = instrumentation("", "builds iisan; the emulator checks consan; other modes are refused")
    device_checks: str = instrumentation("", "modes that the emulator checks in a launch; launches set it")
    fpsan_homomorphic_casts: bool = instrumentation(False, "True is refused: fpsan is")
    min_shared_mem: int | None = semantic(None, "bytes of shared memory of a CTA at least")
    host_maps: bool = semantic(
        False, "the launcher encodes descriptors that kernels make from arguments; launches set it"
    )
    raise_loads: bool = semantic(
        False, "operands of dots are loaded by TMA instead of pointers in launches that allow it; a remark where not"
    )
    persistent: bool | None = semantic(
        None,
        "each program computes several tiles, with `raise_loads`, which it turns on; a remark where it cannot; None: "
        "in launches for which a model says that it pays",
    )
    launch_versions: bool = semantic(
        False, "kernels have a version with raised loads or persistent programs, where that pays; launches set it"
    )
    without: str = semantic("", "optimizations not to apply, with commas (`dialects.ttg_switches.SWITCHES`)")

    def __post_init__(self) -> None:
        check_layout(self)
        check_cuda_limits(self)
        check_names(self, backend_name="cuda", warp_size=32)
        if self.min_shared_mem is not None and self.min_shared_mem < 0:
            raise OptionError(f"min_shared_mem must be 0 or more, got {self.min_shared_mem}")
        if self.persistent:
            object.__setattr__(self, "raise_loads", True)
        if self.raise_loads:
            object.__setattr__(self, "host_maps", True)  # the launcher encodes what loads become
        names = current_names(self.without)
        unknown = [name for name in names if name not in SWITCHES]
        if unknown:
            raise OptionError(f"without={self.without!r}: there is no {unknown[0]!r}; known are {', '.join(SWITCHES)}")
        object.__setattr__(self, "without", ",".join(names))

    @classmethod
    def parse(cls, values: Mapping[str, Any], target: CUDATarget) -> CUDAOptions:
        """Options from a launch's keywords, completed for `target`; None stands for the default.

        KeyError names the first unknown one; OptionError says which value cannot be, or which needs a newer GPU.
        """
        given = parse_fields(cls, values)
        machine = _architecture(given.get("arch"), target)
        chosen = {**_of_target(machine), **given, **check_instrumentation(given, BUILT, machine.key)}
        if "maxnreg" in given and given["maxnreg"] > NvidiaGPU.registers_per_thread:
            chosen["maxnreg"] = NvidiaGPU.registers_per_thread  # 256 is what programs write who mean all of them
        if "extern_libs" not in chosen and settings.nvidia.libdevice_path:
            chosen["extern_libs"] = (("libdevice", settings.nvidia.libdevice_path),)
        chosen["enable_fp_fusion"] = settings.language.fp_fusion_enabled(given.get("enable_fp_fusion"))
        disabled = (chosen.get("without"), settings.nvidia.without, "wgmma" if settings.nvidia.disable_mma_v3 else None)
        chosen["without"] = ",".join(filter(None, disabled))
        options = cls(**chosen)
        _check_hardware(options, _architecture(options.arch, target))
        return options

    @property
    def target(self) -> CUDATarget:
        """The GPU these options are for."""
        return _architecture(self.arch, CUDATarget(75))

    @property
    def enable_iisan(self) -> bool:
        """Whether descriptors are checked for alignment; for the frontend."""
        return builds_mode(self, "iisan")

    @property
    def native_descriptors(self) -> bool:
        """Whether host descriptors are passed as descriptors; for the frontend."""
        return self.target.has_descriptors

    @property
    def dependent_launch(self) -> bool:
        """Whether kernels may wait for their predecessor."""
        return self.target.gpu.has(DEPENDENT_LAUNCH)

    @property
    def key(self) -> str:
        """Every field that the compiled code depends on, as text for a cache key; of libraries what they hold."""
        libraries = ",".join(f"{name}:{file_digest(path)}" for name, path in self.extern_libs)
        return text_key(self, apart=("extern_libs", *self.at_launch)) + libraries

    @property
    def at_launch(self) -> dict[str, Any]:
        """The options that only a launch reads: kernels that differ in nothing else are one cache entry."""
        return {"device_checks": self.device_checks}

    def hash(self) -> str:
        """A digest of `key`."""
        return sha256(self.key.encode()).hexdigest()

    def min_dot_size(self, lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
        """The minimum dot size for the frontend: see `CUDATarget.min_dot_size`."""
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
    }


def _check_hardware(options: CUDAOptions, target: CUDATarget) -> None:
    if options.num_ctas > 1 and not target.gpu.has(CLUSTERS):
        raise OptionError(
            f"num_ctas > 1 requires NVIDIA SM90+ (Hopper). Current target is sm_{target.capability}: set num_ctas=1"
        )
    if options.persistent and options.num_ctas > 1:
        raise OptionError("persistent=True is for programs of one CTA: set num_ctas=1")
    if options.persistent and options.launch_cooperative_grid:
        raise OptionError("persistent=True starts fewer CTAs than the programs of a cooperative grid: choose one")
    if options.raise_loads and not target.gpu.has(TMA):
        name = "persistent" if options.persistent else "raise_loads"
        raise OptionError(f"{name}=True requires TMA (SM90+); current target is sm_{target.capability}")
    if options.clc and not target.gpu.has(LAUNCH_CONTROL):
        raise OptionError(f"clc=True requires NVIDIA SM100+ (Blackwell); current target is sm_{target.capability}")
