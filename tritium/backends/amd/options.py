"""Options of the HIP compiler: names and defaults are Triton's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...support import OptionError, settings
from ...support.dataclasses import dataclass
from ...support.hashing import sha256
from ...support.option_classes import hint, ignored_hint, instrumentation, semantic
from ..errors import OutOfResources
from ..options import check_instrumentation, check_layout, check_names, check_threads, parse_fields, text_key
from .target import HIPTarget

__all__ = ["HIPOptions"]


@dataclass(frozen=True)
class HIPOptions:
    """Options of one compile; equal options share a cache entry. Made by `parse`, which knows the target.

    Each field declares its class and its effect here.
    """

    num_warps: int = hint(4, "warps of a program")
    waves_per_eu: int = hint(0, "warps that an execution unit should hold; 0: the compiler's choice")
    num_stages: int = hint(2, "stages of software-pipelined loops")
    num_ctas: int = hint(1, "workgroups of a cluster; more than 1 is an error before gfx1250")
    extern_libs: tuple[tuple[str, str], ...] = semantic((), "(name, path) of bitcode libraries to link")
    debug: bool = semantic(False, "keeps `device_assert`, and with `sanitize_overflow` checks integer arithmetic")
    sanitize_overflow: bool = semantic(True, "with `debug`, overflow of integer arithmetic is an error of the launch")
    arch: str | None = semantic(None, "the architecture to compile for, such as gfx942")
    supported_fp8_dtypes: tuple[str, ...] = semantic(
        ("fp8e4nv", "fp8e5", "fp8e5b16", "fp8e4b8"), "other fp8 types are errors"
    )
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ignored_hint((), "a note of the target, which changes no code")
    default_dot_input_precision: str = semantic("ieee", "precision of `tl.dot` on fp32 that names none")
    allowed_dot_input_precisions: tuple[str, ...] = semantic(
        ("ieee", "bf16x3", "bf16x6"), "other precisions are errors of `tl.dot`"
    )
    enable_fp_fusion: bool = semantic(False, "a multiplication and an addition may become one FMA")
    launch_cooperative_grid: bool = semantic(False, "all workgroups run at once")
    matrix_instr_nonkdim: int = hint(0, "rows and columns of matrix instructions, 16 or 32; 0: the compiler's choice")
    kpack: int = hint(1, "operands of matrix instructions that are packed along K")
    allow_flush_denorm: bool = hint(False, "subnormals may be flushed")
    max_num_imprecise_acc_default: int = hint(0, "additions before accumulators of fp8 operands are added in fp32")
    backend_name: str = semantic("hip", "hip; other names are errors")
    check_conversions: bool = instrumentation(False, "a float out of range made an integer is an error of the launch")
    instrumentation_mode: str = instrumentation("", "every mode is refused")
    fpsan_homomorphic_casts: bool = instrumentation(False, "True is refused: fpsan is")
    schedule_hint: str = ignored_hint("", "names of schedules to try: there is one, the compiler's own")
    llvm_fn_attrs: str = semantic("", "attributes of the kernel in LLVM")
    min_shared_mem: int | None = semantic(None, "bytes of LDS that a launch provides at least")
    wgp_cu_mode: str = hint("wgp", "a program may use a work-group processor (wgp) or one compute unit (cu)")
    emulated: bool = semantic(False, "the emulator executes the assembly, and the code object is made on demand")

    def __post_init__(self) -> None:
        check_layout(self)
        check_threads(self.num_warps, self.warp_size)
        check_names(self, backend_name="hip")
        if self.wgp_cu_mode not in ("wgp", "cu"):
            raise OptionError(f"wgp_cu_mode must be 'wgp' or 'cu', got {self.wgp_cu_mode!r}")
        for name, values in (("matrix_instr_nonkdim", (0, 4, 16, 32)), ("kpack", (1, 2, 4))):
            if getattr(self, name) not in values:
                allowed = ", ".join(map(str, values[:-1]))
                raise OptionError(f"{name} must be {allowed} or {values[-1]}, got {getattr(self, name)}")
        limit = self.target.shared_memory
        if (self.min_shared_mem or 0) > limit:
            raise OutOfResources(self.min_shared_mem or 0, limit, "shared memory (min_shared_mem)")
        if self.waves_per_eu < 0:
            raise OptionError(f"waves_per_eu must not be negative, got {self.waves_per_eu}")

    @classmethod
    def parse(cls, values: Mapping[str, Any], target: HIPTarget) -> HIPOptions:
        """Options from a launch's keywords, completed for `target`; None stands for the default.

        KeyError names the first unknown one; OptionError says which value cannot be, or which needs another GPU.
        """
        given = parse_fields(cls, values)
        machine = _architecture(given.get("arch"), target)
        chosen = {**_of_target(machine), **given, **check_instrumentation(given, (), machine.key)}
        chosen["enable_fp_fusion"] = settings.language.fp_fusion_enabled(given.get("enable_fp_fusion"))
        options = cls(**chosen)
        if options.num_ctas > 1 and not options.target.has_clusters:
            raise OptionError(f"num_ctas > 1 not supported on {options.arch}")
        return options

    @property
    def target(self) -> HIPTarget:
        """The GPU these options are for."""
        return HIPTarget(self.arch or "gfx942")

    @property
    def warp_size(self) -> int:
        """Threads of a warp."""
        return self.target.warp_size

    @property
    def uses_block_pingpong(self) -> bool:
        """Whether loops are divided into clusters of loads and of matrix instructions: by default on gfx942."""
        chosen = settings.amd.use_block_pingpong
        return self.target.base_arch == "gfx942" if chosen is None else bool(chosen)

    @property
    def native_descriptors(self) -> bool:
        """Whether host descriptors are passed as descriptors; for the frontend."""
        return self.target.has_descriptors

    @property
    def key(self) -> str:
        """Every field that the compiled code depends on, as text for a cache key."""
        return text_key(self)

    def hash(self) -> str:
        """A digest of `key`."""
        return sha256(self.key.encode()).hexdigest()


def _architecture(arch: Any, target: HIPTarget) -> HIPTarget:
    name = settings.runtime.override_arch or arch
    return target if name is None else HIPTarget(str(name))


def _of_target(target: HIPTarget) -> dict[str, Any]:
    return {
        "arch": target.arch,
        "supported_fp8_dtypes": target.fp8_dtypes,
        "deprecated_fp8_dot_operand_dtypes": target.foreign_fp8_dtypes,
        "allowed_dot_input_precisions": target.dot_precisions,
        "default_dot_input_precision": settings.language.fp32_default or "ieee",
    }
