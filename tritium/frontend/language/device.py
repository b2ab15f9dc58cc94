"""Queries of the target and the device, and functions that are not supported yet, which raise an error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...backends.compiler import GPUTarget
from ...support.current_target import current
from ..constexpr import constexpr, unwrap
from ..dtypes import float8e4b15, float16, int32, int64
from ..errors import LanguageError
from ..tensor import tensor
from .builtin import anywhere, builtin

__all__ = [
    "convert_custom_float8",
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "convert_float16_to_fp8e4b15",
    "convert_fp8e4b15_to_float16",
    "current_target",
    "cuda_capability_geq",
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "hip_memrealtime",
    "hip_smid",
    "is_cuda",
    "is_hip",
    "is_hip_cdna3",
    "is_hip_cdna4",
    "is_hip_gfx1250",
    "missing",
    "num_threads",
    "num_warps",
    "smid",
    "unsupported",
]


def missing(name: str, hint: str | None = None) -> Any:
    """A function that raises that it is not supported yet."""

    def function(*args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        raise LanguageError(f"{name} is not supported yet", hint)

    function.__name__ = function.__qualname__ = name.rsplit(".", 1)[-1]
    function.__doc__ = "Not supported yet."
    return function


def unsupported(name: str, hint: str | None = None) -> Any:
    """A builtin that raises that it is not supported yet."""
    return builtin(missing(name, hint))


def _backend(sem: Any) -> str:
    return getattr(sem.options, "backend_name", "cpu")


def _target_of(options: Any) -> GPUTarget:
    """The target of a compile with these options."""
    backend, arch = getattr(options, "backend_name", "cpu"), str(getattr(options, "arch", "") or "")
    digits = "".join(c for c in arch if c.isdigit())
    return GPUTarget(backend, int(digits) if backend == "cuda" and digits else arch, getattr(options, "warp_size", 1))


def _question(fn: Callable[..., Any]) -> Any:
    """A query of the target, which `fn` answers from `_target`.

    In a kernel it is evaluated at compile time, as a constexpr. In Python it refers to the compile in progress (in a
    `constexpr_function`), or to the target of launches.
    """

    @functools.wraps(fn)
    def function(*args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        if _semantic is None:
            return fn(*args, **kwargs, _target=current(_target_of))
        values = {name: unwrap(value) for name, value in kwargs.items()}
        return constexpr(fn(*map(unwrap, args), **values, _target=_target_of(_semantic.options)))

    return anywhere(function)


@_question
def current_target(_target: Any = None) -> Any:
    """The target, with `.backend` ("cuda", "hip", "cpu"), `.arch` (90, "gfx942") and `.warp_size`; None without
    one."""
    return _target


@_question
def is_cuda(_target: Any = None) -> bool:
    """True when compiling for an NVIDIA GPU."""
    return _target is not None and _target.backend == "cuda"


@_question
def is_hip(_target: Any = None) -> bool:
    """True when compiling for an AMD GPU."""
    return _target is not None and _target.backend == "hip"


def _is_arch(name: str, prefix: str) -> Any:
    def function(_target: Any = None) -> bool:
        return _target is not None and _target.backend == "hip" and str(_target.arch).startswith(prefix)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"True when compiling for {prefix}."
    return _question(function)


is_hip_cdna3 = _is_arch("is_hip_cdna3", "gfx942")
is_hip_cdna4 = _is_arch("is_hip_cdna4", "gfx950")
is_hip_gfx1250 = _is_arch("is_hip_gfx1250", "gfx1250")


@_question
def cuda_capability_geq(major: int, minor: int = 0, _target: Any = None) -> bool:
    """True when compiling for an NVIDIA GPU of at least that compute capability."""
    return _target is not None and _target.backend == "cuda" and _target.arch >= major * 10 + minor


@builtin
def num_warps(_semantic: Any = None) -> constexpr:
    """The option num_warps of this compile."""
    _semantic.knows_warps = True
    return constexpr(getattr(_semantic.options, "num_warps", 4))


@builtin
def num_threads(_semantic: Any = None) -> constexpr:
    """The threads of a program: number of warps times warp size."""
    _semantic.knows_warps = True
    return constexpr(getattr(_semantic.options, "num_warps", 4) * getattr(_semantic.options, "warp_size", 32))


def _nvidia_only(name: str) -> LanguageError:
    return LanguageError(f"{name} is for NVIDIA GPUs only", "guard it by `if tl.target_info.is_cuda():`")


def _overlaps(sem: Any, name: str) -> bool:
    """True if launches on the target may overlap."""
    if _backend(sem) == "hip":
        raise _nvidia_only(name)
    if _backend(sem) == "cuda" and not getattr(sem.options, "dependent_launch", True):
        raise LanguageError(
            f"{name} needs compute capability 9.0 or higher; this compile is for {sem.options.arch}",
            "guard it by `if tl.target_info.cuda_capability_geq(9, 0):`",
        )
    return _backend(sem) == "cuda"


@builtin
def gdc_wait(_semantic: Any = None) -> None:
    """Wait until the kernels that this one depends on are complete; nothing on CPUs, where launches never overlap."""
    if _overlaps(_semantic, "gdc_wait"):
        _semantic.grid_dependency_wait()


@builtin
def gdc_launch_dependents(_semantic: Any = None) -> None:
    """Allow dependent kernels to start; nothing on CPUs, where launches never overlap."""
    if _overlaps(_semantic, "gdc_launch_dependents"):
        _semantic.grid_dependency_launch_dependents()


@builtin
def globaltimer(_semantic: Any = None) -> tensor:
    """Nanoseconds of the GPU's global timer, int64."""
    return _register(_semantic, "tl.extra.cuda.globaltimer", "mov.u64 $0, %globaltimer;", "=l", int64, False)


@builtin
def smid(_semantic: Any = None) -> tensor:
    """The index of the SM that this program runs on, int32."""
    return _register(_semantic, "tl.extra.cuda.smid", "mov.u32 $0, %smid;", "=r", int32, True)


def _convert_custom_float8(name: str) -> Any:
    def function(arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None, _semantic: Any = None) -> tensor:
        return _semantic.cast(_semantic.to_tensor(arg), unwrap(dst_ty), unwrap(fp_downcast_rounding))

    function.__name__ = name
    function.__doc__ = "A cast from or to `float8e4b15`, the same as `x.to(dst_ty, fp_downcast_rounding)`."
    return builtin(function)


@builtin
def convert_fp8e4b15_to_float16(arg: Any, _semantic: Any = None) -> tensor:
    """`arg.to(tl.float16)`"""
    return _semantic.cast(_semantic.to_tensor(arg), float16)


@builtin
def convert_float16_to_fp8e4b15(arg: Any, has_minx2: Any, _semantic: Any = None) -> tensor:
    """`arg.to(tl.float8e4b15)`; the target selects the instructions, so `has_minx2` has no effect."""
    return _semantic.cast(_semantic.to_tensor(arg), float8e4b15)


@builtin
def convert_custom_float8(
    arg: Any, dst_ty: Any, fp_downcast_rounding: Any, has_minx2: Any, _semantic: Any = None
) -> tensor:
    """A cast from or to `float8e4b15`, the same as `arg.to(dst_ty, fp_downcast_rounding)`."""
    return _semantic.cast(_semantic.to_tensor(arg), unwrap(dst_ty), unwrap(fp_downcast_rounding))


convert_custom_float8_sm70 = _convert_custom_float8("convert_custom_float8_sm70")
convert_custom_float8_sm80 = _convert_custom_float8("convert_custom_float8_sm80")


@builtin
def hip_memrealtime(_semantic: Any = None) -> tensor:
    """A 64-bit counter of real time, int64."""
    arch = _hip_arch(_semantic, "tl.extra.hip.memrealtime")
    asm, wait = "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)", "s_waitcnt lgkmcnt(0)"
    if arch.startswith("gfx12"):
        wait = "s_wait_kmcnt 0"
    elif not arch.startswith("gfx11"):
        asm, wait = "s_memrealtime $0", "s_waitcnt vmcnt(0)"
    return _semantic.inline_asm(f"{asm}\n{wait}", "=r", [], [int64], False, 1)[0]  # type: ignore[no-any-return]


@builtin
def hip_smid(_semantic: Any = None) -> tensor:
    """The compute unit of a wave, int32: unique within an accelerator die (gfx9) or a shader array (others)."""
    arch = _hip_arch(_semantic, "tl.extra.hip.smid")
    fields = {"gfx9": "4, 8, 8", "gfx11": "23, 10, 4", "gfx12": "23, 10, 4"}
    found = next((text for prefix, text in fields.items() if arch.startswith(prefix)), None)
    if found is None:
        raise LanguageError(f"ValueError: smid is not supported on {arch}")
    return _semantic.inline_asm(f"s_getreg_b32 $0, hwreg({found})", "=r", [], [int32], True, 1)[0]  # type: ignore[no-any-return]


def _hip_arch(sem: Any, name: str) -> str:
    if _backend(sem) != "hip":
        raise LanguageError(f"{name} is for AMD GPUs only", "guard it by `if tl.target_info.is_hip():`")
    return str(sem.options.arch)


def _register(sem: Any, name: str, asm: str, constraint: str, ty: Any, pure: bool) -> tensor:
    if _backend(sem) != "cuda":
        raise _nvidia_only(name)
    return sem.inline_asm(asm, constraint, [], [ty], pure, 1)[0]  # type: ignore[no-any-return]
