"""Options of the CPU compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...support import OptionError
from ...support.dataclasses import dataclass
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

__all__ = ["CPUOptions"]

BUILT = ("consan", "iisan")
"""Modes of `instrumentation_mode`. A program is one thread without shared memory and asynchronous copies, so that there
is nothing for consan to find; either mode also turns `sanitize` on."""


@dataclass(frozen=True)
class CPUOptions:
    """Options of one compile; equal options share a cache entry.

    Each field declares its class and its effect here. Hints of GPUs are accepted, so that scripts run; a value that
    is valid on no target is an error.

    >>> CPUOptions.parse({"num_warps": 8}).num_warps
    8
    """

    num_threads: int = hint(0, "threads of a launch at most; 0: all of the pool")
    enable_fp_fusion: bool = semantic(True, "a multiplication and an addition may become one FMA")
    sanitize: bool = instrumentation(
        False, "checks accesses against the bounds of arrays, and conversions as `check_conversions`"
    )
    check_conversions: bool = instrumentation(False, "a float out of range made an integer is an error of the launch")
    guard_stores: bool = instrumentation(False, "checks that no store is into a read-only array; launches set it")
    debug: bool = semantic(False, "keeps `device_assert`, and with `sanitize_overflow` checks integer arithmetic")
    opt_level: int = hint(2, "optimization level of LLVM, 0 to 3")
    fast_math: bool = ignored_hint(False, "no pass uses the permission to reassociate")
    line_info: bool = instrumentation(False, "the assembly text names the lines of the source")
    ir_override: str | None = semantic(None, "a file that replaces the output of a stage")
    vec_lib: str | None = ignored_hint(None, "math functions are vectorized without a library; libsleef or libmvec")
    default_dot_input_precision: str = semantic("ieee", "the precision attribute of `tt.dot`; computed as ieee")
    allowed_dot_input_precisions: tuple[str, ...] = semantic(
        ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"), "other precisions are errors of `tl.dot`"
    )
    max_num_imprecise_acc_default: int = ignored_hint(0, "accumulators of fp8 operands are always fp32")
    supported_fp8_dtypes: tuple[str, ...] = semantic(
        ("fp8e5", "fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5b16"), "other fp8 types are errors"
    )
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ignored_hint((), "a note of the target, which changes no code")

    num_warps: int = ignored_hint(4, "a program is not divided into warps")
    num_stages: int = ignored_hint(3, "loops are not software-pipelined")
    num_ctas: int = ignored_hint(1, "a program is not divided into CTAs")
    maxnreg: int | None = ignored_hint(None, "registers are those of the processor")
    cluster_dims: tuple[int, int, int] = ignored_hint((1, 1, 1), "there are no clusters")
    warp_size: int = semantic(1, "1; other sizes are errors")
    ptx_version: int | None = ignored_hint(None, "no PTX is made")
    launch_cooperative_grid: bool = semantic(False, "True is an error: programs of a grid do not all run at once")
    launch_pdl: bool = ignored_hint(False, "a launch begins after the previous one has ended")
    clc: bool = ignored_hint(False, "programs are distributed to threads dynamically in any case")
    sched4reg: bool = ignored_hint(False, "an option of LLVM's NVPTX target")
    extern_libs: tuple[tuple[str, str], ...] = semantic(
        (), "libdevice is replaced by functions of this package; other libraries are errors"
    )
    sanitize_overflow: bool = semantic(True, "with `debug`, overflow of integer arithmetic is an error of the launch")
    instrumentation_mode: str = instrumentation(
        "", "builds consan and iisan, and turns `sanitize` on; other modes are refused"
    )
    fpsan_homomorphic_casts: bool = instrumentation(False, "True is refused: fpsan is")
    waves_per_eu: int = ignored_hint(0, "for AMD GPUs")
    matrix_instr_nonkdim: int = ignored_hint(0, "for AMD GPUs")
    kpack: int = ignored_hint(1, "for AMD GPUs")
    schedule_hint: str = ignored_hint("", "for AMD GPUs")
    allow_flush_denorm: bool = ignored_hint(False, "subnormals are kept")
    wgp_cu_mode: str = ignored_hint("wgp", "for AMD GPUs")
    backend_name: str = semantic("cpu", "cpu; other names are errors")

    def __post_init__(self) -> None:
        if self.num_threads < 0:
            raise OptionError(f"num_threads must be 0 (all) or more, got {self.num_threads}")
        check_layout(self)
        check_cuda_limits(self)
        check_names(self, backend_name="cpu", warp_size=1)
        if not 0 <= self.opt_level <= 3:
            raise OptionError(f"opt_level must be 0..3, got {self.opt_level}")
        if self.vec_lib not in (None, "libsleef", "libmvec"):
            raise OptionError(f"vec_lib must be libsleef, libmvec or None, got {self.vec_lib!r}")
        if self.launch_cooperative_grid:
            raise OptionError(
                "launch_cooperative_grid=True is not supported for cpu: threads run one program after another, so that "
                "programs that wait for each other need not end"
            )
        for name, _ in self.extern_libs:
            if name != "libdevice":
                raise OptionError(
                    f"extern_libs: the bitcode library {name!r} cannot be linked for cpu\n"
                    "hint: functions of tl.extra.libdevice are there without a library"
                )

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> CPUOptions:
        """Options from a launch's keywords; None stands for the default.

        OptionError names the first value that is wrong; names that are no option are ignored.
        """
        chosen = parse_fields(cls, values)
        checks = check_instrumentation(chosen, BUILT, "cpu")
        return cls(**{**chosen, **checks, **({"sanitize": True} if checks else {})})

    @property
    def enable_iisan(self) -> bool:
        """Whether descriptors are checked for alignment; for the frontend."""
        return builds_mode(self, "iisan")

    def hash(self) -> str:
        """A digest of `key`."""
        return sha256(self.key.encode()).hexdigest()

    @property
    def key(self) -> str:
        """Every field that the compiled code depends on, as text for a cache key."""
        return text_key(self, apart=self.at_launch)

    @property
    def at_launch(self) -> dict[str, Any]:
        """The options that only a launch reads: kernels that differ in nothing else are one cache entry."""
        return {"num_threads": self.num_threads}
