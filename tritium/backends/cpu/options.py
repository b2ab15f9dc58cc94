"""What a launch may ask of the CPU compiler. GPU-only options of Triton are accepted and kept, so that scripts run."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

from ...support import OptionError
from ...support.dataclasses import dataclass, fields
from ..options import check_cuda_limits, check_layout, text_key, unknown_option

__all__ = ["CPUOptions"]


@dataclass(frozen=True, slots=True)
class CPUOptions:
    """Options of one compile; equal options share a cache entry.

    `num_threads` is how many threads a launch may use (0: all that the pool has). `enable_fp_fusion` lets a
    multiplication and an addition become one FMA. `sanitize` checks every access against the bounds of the array it
    belongs to; `guard_stores` checks that no store is into a read-only array, which launches ask for where they get one
    that the kernel perhaps stores to; `debug` keeps `device_assert`. `opt_level` is LLVM's effort, 0 to 3.
    `fast_math` permits reassociation and reciprocals. `ir_override` is a file that stands for a stage. `line_info` has
    the assembly text name the lines of the source, which costs time to compile and changes no instruction. `vec_lib` is
    triton-cpu's choice between libraries of vectorized functions, "libsleef" and "libmvec": taken, and without effect,
    as the functions here are our own and always vectors. The options in the second group mean something on GPUs only:
    what is valid on none is refused.

    >>> CPUOptions.parse({"num_warps": 8}).num_warps
    8
    """

    num_threads: int = 0
    enable_fp_fusion: bool = True
    sanitize: bool = False
    guard_stores: bool = False
    debug: bool = False
    opt_level: int = 2
    fast_math: bool = False
    line_info: bool = False
    ir_override: str | None = None
    vec_lib: str | None = None
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5b16")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    cluster_dims: tuple[int, int, int] = (1, 1, 1)
    warp_size: int = 1
    ptx_version: int | None = None
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    extern_libs: tuple[tuple[str, str], ...] = ()
    sanitize_overflow: bool = True
    instrumentation_mode: str = ""
    waves_per_eu: int = 0  # this one and what follows are for AMD's GPUs: what scripts take that find no "cuda"
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    schedule_hint: str = ""
    allow_flush_denorm: bool = False
    backend_name: str = "cpu"

    def __post_init__(self) -> None:
        if self.num_threads < 0:
            raise OptionError(f"num_threads must be 0 (all) or more, got {self.num_threads}")
        check_layout(self)
        check_cuda_limits(self)
        if not 0 <= self.opt_level <= 3:
            raise OptionError(f"opt_level must be 0..3, got {self.opt_level}")
        if self.vec_lib not in (None, "libsleef", "libmvec"):
            raise OptionError(f"vec_lib must be libsleef, libmvec or None, got {self.vec_lib!r}")

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> CPUOptions:
        """Options from a launch's keywords; UnknownOptionError or OptionError name the first that is wrong."""
        known = {f.name: f for f in fields(cls)}
        chosen: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise unknown_option(name, known)
            chosen[name] = _typed(name, _hashable(value), known[name].default)
        return cls(**chosen)

    @property
    def key(self) -> str:
        """Every field that the compiled code depends on, as text for a cache key."""
        return text_key(self, apart=self.at_launch)

    @property
    def at_launch(self) -> dict[str, Any]:
        """The options that only a launch reads: kernels that differ in nothing else are one cache entry."""
        return {"num_threads": self.num_threads}


def _typed(name: str, value: Any, default: Any) -> Any:
    """`value` in the type of the default; OptionError where it has no such value."""
    if isinstance(default, bool) and value not in (True, False):
        raise OptionError(f"{name} must be True or False, got {value!r}")
    if isinstance(default, int):
        try:
            return type(default)(index(value))
        except TypeError:
            raise OptionError(f"{name} must be an integer, got {value!r}") from None
    if isinstance(default, str) and not isinstance(value, str):
        raise OptionError(f"{name} must be a string, got {value!r}")
    return value


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted(value.items()))
    return tuple(value) if isinstance(value, list) else value
