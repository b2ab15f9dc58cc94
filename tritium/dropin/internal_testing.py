"""`triton._internal_testing`: helpers of Triton's tests for devices and data.

Needs torch and pytest. A query about a GPU that the active driver does not serve returns False, and is no error.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from .. import knobs
from .. import language as tl
from ..runtime import driver
from ..runtime.arrays import TensorWrapper, element_name, reinterpret
from ..runtime.jit import type_canonicalisation_dict
from ..support import settings
from .compile_warmup_state import is_compile_warmup  # noqa: F401  (Triton's tests take it from here)

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


# ---- where are we? --------------------------------------------------------------------------------------------------


def is_interpreter() -> bool:
    """Whether kernels are interpreted."""
    return bool(settings.runtime.interpret)


def get_current_target() -> Any:
    """The active driver's target; None if kernels are interpreted."""
    return None if is_interpreter() else driver.active.get_current_target()


def _backend() -> str:
    target = get_current_target()
    return "" if target is None else target.backend


def _capability() -> tuple[int, int]:
    """The compute capability of the current GPU; (0, 0) if it is not NVIDIA's."""
    return divmod(int(get_current_target().arch), 10) if is_cuda() else (0, 0)


def _architecture() -> str:
    """The architecture of the current AMD GPU, else ""."""
    return str(get_current_target().arch) if is_hip() else ""


def is_cuda() -> bool:
    """An NVIDIA GPU, also an emulated one."""
    return _backend() == "cuda"


def is_hip() -> bool:
    """A GPU of AMD's."""
    return _backend() == "hip"


def is_xpu() -> bool:
    """A GPU of Intel's."""
    return _backend() == "xpu"


def is_cpu() -> bool:
    """The CPU, by compiled kernels."""
    return _backend() == "cpu"


def is_ampere_or_newer() -> bool:
    """Capability 8.0 and up."""
    return _capability() >= (8, 0)


def is_hopper() -> bool:
    """Capability 9."""
    return _capability()[0] == 9


def is_hopper_or_newer() -> bool:
    """Capability 9.0 and up."""
    return _capability() >= (9, 0)


def is_blackwell() -> bool:
    """Capability 10 or 11: Blackwell of data centers."""
    return _capability()[0] in (10, 11)


def is_blackwell_ultra() -> bool:
    """Capability 10.3."""
    return _capability() == (10, 3)


def is_rubin() -> bool:
    """Capability 10.7."""
    return _capability() == (10, 7)


def is_sm12x() -> bool:
    """Capability 12: Blackwell of workstations."""
    return _capability()[0] == 12


def is_hip_cdna2() -> bool:
    """MI200."""
    return _architecture() == "gfx90a"


def is_hip_cdna3() -> bool:
    """MI300."""
    return _architecture() == "gfx942"


def is_hip_cdna4() -> bool:
    """MI350."""
    return _architecture() == "gfx950"


def is_hip_gfx1250() -> bool:
    """MI450."""
    return "gfx1250" in _architecture()


def is_hip_cdna3_or_newer() -> bool:
    """MI300 or MI350."""
    return is_hip_cdna3() or is_hip_cdna4()


def is_hip_cdna() -> bool:
    """MI200, MI300 or MI350."""
    return is_hip_cdna2() or is_hip_cdna3_or_newer()


def is_hip_rdna3() -> bool:
    """Radeon RX 7000 and later GPUs with its instructions."""
    return _architecture().startswith(("gfx110", "gfx115"))


def is_hip_rdna4m() -> bool:
    """gfx117."""
    return _architecture().startswith("gfx117")


def is_hip_rdna4() -> bool:
    """Radeon RX 9000."""
    return _architecture().startswith("gfx120")


def is_hip_rdna() -> bool:
    """Any of them."""
    return is_hip_rdna3() or is_hip_rdna4m() or is_hip_rdna4()


def get_hip_lds_size() -> int:
    """Bytes of shared memory per CTA of the AMD GPU."""
    return (160 if is_hip_cdna4() else 64) << 10


def supports_tma(byval_only: bool = False) -> bool:
    """Whether kernels use TMA. (The interpreter counts as well.)"""
    if is_interpreter():
        return True
    if not is_hopper_or_newer():
        return False
    tool: Any = knobs.nvidia.ptxas
    least = (12, 0) if byval_only else (12, 3)
    return tool is not None and tuple(map(int, tool.version.split("."))) >= least


def supports_ws() -> bool:
    """Whether warp specialization is supported."""
    return is_interpreter() or is_hopper_or_newer()


def supports_clc() -> bool:
    """Whether cluster launch control is supported."""
    return _capability() >= (10, 0)


def tma_skip_msg(byval_only: bool = False) -> str:
    """The reason for skipping a test of descriptors."""
    what, release = ("__grid_constant__ TMA", "12.0") if byval_only else ("advanced TMA", "12.3")
    return f"Requires {what} support (NVIDIA Hopper or higher, CUDA {release} or higher)"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


# ---- data -----------------------------------------------------------------------------------------------------------


def numpy_random(shape: Any, dtype_str: str, rs: Any = None, low: int | None = None, high: int | None = None) -> Any:
    """Random elements; the same at each call without a `rs`. Integers are never 0, since they may be divisors.

    float8 is represented by int8 with the bits of moderate numbers, bfloat16 by float32 values that need no rounding.
    """
    rs = np.random.RandomState(17) if rs is None else rs
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        low = limits.min if low is None else max(low, limits.min)
        high = limits.max if high is None else min(high, limits.max)
        found = rs.randint(low, high, shape, dtype=dtype_str)
        return np.where(found == 0, np.ones_like(found), found)
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    if dtype_str in ("bool", "bool_", "int1"):
        return rs.normal(size=shape) > 0
    if dtype_str not in float_dtypes_with_bfloat16:
        raise RuntimeError(f"Unknown dtype {dtype_str}")
    normal = rs.normal(size=shape)
    if dtype_str != "bfloat16":
        return normal.astype(dtype_str)
    return (normal.astype(np.float32).view(np.uint32) >> 16 << 16).view(np.float32)


def to_triton(x: Any, device: Any, dst_type: str | None = None) -> Any:
    """A NumPy array as an argument of kernels: a tensor on `device`, wrapped if torch does not have the element type.

    `dst_type` is the element type if NumPy does not have it: "bfloat16", "float8e5".
    """
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.view(name[1:]), device=device), getattr(tl, name))
    made = torch.tensor(x, device=device)
    if dst_type is not None and "float8" in dst_type:
        return reinterpret(made, getattr(tl, dst_type))
    return made.bfloat16() if dst_type == "bfloat16" and name == "float32" else made


def to_numpy(x: Any) -> Any:
    """The elements of an argument as a NumPy array; bfloat16 as float32."""
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"Not a triton-compatible tensor: {x}")
    return (x.float() if x.dtype is torch.bfloat16 else x).cpu().numpy()


def unwrap_tensor(t: Any) -> Any:
    """The torch tensor inside of a wrapper."""
    return t.base if isinstance(t, TensorWrapper) else t


def str_to_triton_dtype(x: str) -> Any:
    """`tl.float16` for "float16", "fp16" or "half"."""
    return tl.str_to_ty(type_canonicalisation_dict[x], None)


def torch_dtype_name(dtype: Any) -> str:
    """ "int64" for `tl.int64` and `torch.int64`."""
    if isinstance(dtype, torch.dtype):
        return str(dtype).rpartition(".")[2]
    if isinstance(dtype, tl.dtype):
        return _long_name(dtype)
    raise TypeError(f"not a triton or torch dtype: {type(dtype)}")


def _long_name(dtype: Any) -> str:
    name = element_name(dtype)
    kinds = {"i": "int", "u": "uint", "fp": "float", "bf": "bfloat"}
    letters = name.rstrip("0123456789")
    return kinds[letters] + name[len(letters) :] if letters in kinds else str(dtype)


def random_int(low: int, high: int, **kwargs: Any) -> int:
    """An integer of [low, high), by torch."""
    kwargs.pop("warmup_value", None)
    return int(torch.randint(low, high, (), **kwargs))


def random_float(**kwargs: Any) -> float:
    """A number of [0, 1), by torch."""
    kwargs.pop("warmup_value", None)
    return float(torch.rand((), **kwargs))


def default_alloc_fn(size: int, align: int, _: Any) -> Any:
    """Scratch memory for kernels, on the active driver's device."""
    return torch.empty(size, dtype=torch.int8, device=driver.active.get_active_torch_device())


# ---- processes ------------------------------------------------------------------------------------------------------


class ProcessResult(NamedTuple):
    """The result of a function in another process: its exception, and the standard error output."""

    exc: BaseException | None
    driver_stderr_output: str


@contextmanager
def _stderr_to(path: str) -> Any:
    """Standard error goes to a file, that of libraries too."""
    kept = os.dup(2)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _child(results: Any, errors: str, env: Mapping[str, str], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
    os.environ.update(env)
    failure = None
    with _stderr_to(errors):
        try:
            fn(*args, **kwargs)
            if is_cuda():
                driver.active.get_device_interface().synchronize()  # errors of kernels are reported by then
        except Exception as error:
            failure = error
    results.put(failure)


def run_in_process(
    client_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None, env: Mapping[str, str] | None = None
) -> ProcessResult:
    """Call a function in another process; RuntimeError if it dies."""
    context = multiprocessing.get_context("forkserver")
    results = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        errors = os.path.join(folder, "stderr")
        process = context.Process(target=_child, args=(results, errors, env or {}, client_fn, args, kwargs or {}))
        process.start()
        process.join()
        text = ""
        if os.path.exists(errors):
            with open(errors, encoding="utf-8", errors="replace") as file:
                text = file.read()
    try:
        return ProcessResult(results.get(timeout=1), text)
    except queue.Empty:
        print(text, file=sys.stderr)
        raise RuntimeError(f"child process exited with code {process.exitcode} without returning a result") from None


# ---- settings -------------------------------------------------------------------------------------------------------


def _fresh_knobs_impl(skipped_attr: set[str] | None = None) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Two functions: one resets all settings and returns `knobs`, the other restores settings and environment.

    Groups named in `skipped_attr` are not changed.
    """
    groups = {
        name: group
        for name, group in vars(knobs).items()
        if isinstance(group, knobs.base_knobs) and name not in (skipped_attr or ())
    }
    environment, propagated = dict(os.environ), knobs.propagate_env

    def fresh() -> Any:
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
            for setting in group.knob_descriptors.values():
                os.environ.pop(setting.key, None)
        knobs.propagate_env = True
        return knobs

    def reset() -> None:
        for name, group in groups.items():
            setattr(knobs, name, group)
        os.environ.clear()
        os.environ.update(environment)
        knobs.propagate_env = propagated
        knobs.refresh_knobs()

    return fresh, reset
