"""What a launch may ask of the HIP compiler: the options of Triton's, by the same names and with the same defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...support import OptionError, settings
from ...support.dataclasses import dataclass
from ...support.hashing import sha256
from ..options import check_layout, check_threads, parse_fields, text_key
from .target import HIPTarget

__all__ = ["HIPOptions"]


@dataclass(frozen=True, slots=True)
class HIPOptions:
    """Options of one compile; equal options share a cache entry. Made by `parse`, which knows the target.

    How a program is laid out: `num_warps`, `num_ctas`; `waves_per_eu` is how many warps an execution unit should hold
    (0: as they come), `wgp_cu_mode` whether a program may spread over a work-group processor ("wgp") or stays on one
    compute unit ("cu"). How loops run: `num_stages`, and `schedule_hint`, names of schedules to try.
    Matrix instructions: `matrix_instr_nonkdim` (16 or 32 rows and columns, 0: the compiler's choice), `kpack`.
    Arithmetic: `enable_fp_fusion`, `allow_flush_denorm`; the fields with `dot` and `fp8` in their names are the
    target's, unless set. `llvm_fn_attrs` are attributes of the kernel in LLVM, `extern_libs` (name, path) of bitcode.
    """

    num_warps: int = 4
    waves_per_eu: int = 0
    num_stages: int = 2
    num_ctas: int = 1
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = True
    arch: str | None = None
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e5b16", "fp8e4b8")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "bf16x3", "bf16x6")
    enable_fp_fusion: bool = False
    launch_cooperative_grid: bool = False
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    allow_flush_denorm: bool = False
    max_num_imprecise_acc_default: int = 0
    backend_name: str = "hip"
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False
    schedule_hint: str = ""
    llvm_fn_attrs: str = ""
    wgp_cu_mode: str = "wgp"

    def __post_init__(self) -> None:
        check_layout(self)
        check_threads(self.num_warps, self.warp_size)
        if self.wgp_cu_mode not in ("wgp", "cu"):
            raise OptionError(f"wgp_cu_mode must be 'wgp' or 'cu', got {self.wgp_cu_mode!r}")
        if self.waves_per_eu < 0:
            raise OptionError(f"waves_per_eu must not be negative, got {self.waves_per_eu}")

    @classmethod
    def parse(cls, values: Mapping[str, Any], target: HIPTarget) -> HIPOptions:
        """Options from a launch's keywords, completed for `target`; None stands for the default.

        KeyError names the first unknown one; OptionError says which value cannot be, or which needs another GPU.
        """
        given = parse_fields(cls, values)
        chosen = {**_of_target(_architecture(given.get("arch"), target)), **given}
        if settings.language.force_disable_fp_fusion:
            chosen["enable_fp_fusion"] = False
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
    def native_descriptors(self) -> bool:
        """Whether a descriptor that the host passes stays one, which the frontend asks."""
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
        "enable_fp_fusion": settings.language.default_fp_fusion,
    }
