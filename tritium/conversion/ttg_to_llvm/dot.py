"""`tt.dot`: by MMA, MFMA or WMMA instructions where the result has their layout, else by FMAs in each thread.

    d[m, n] = fma(a[m, K - 1], b[K - 1, n], … fma(a[m, 0], b[0, n], c[m, n]))

A blocked result needs no registers of other threads: the layouts of its operands give each thread all of K for its rows
and columns. f16 and bf16 are accumulated in f32 and rounded once, at the end; without FP fusion, each product is
rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import tt
from ...dialects.ttg_context import target_of
from ...dialects.ttg_layouts import AmdMfma, AmdWmma, Mma, NvidiaMma
from ...ir import FloatType, IntegerType, Type, f32, f64
from ...layout.mma import FmaStep, copies_of, plan_fma
from ...support import UnsupportedOperation
from ...support.lazy import LazyModule
from .context import FunctionContext, lowers
from .nvidia.mma import mma_sync
from .types import llvm_type

__all__: list[str] = []

LARGE = 2048
"""Arithmetic instructions of a thread beyond which a dot is divided by scheduling barriers: without FP fusion there are
two for each element of K.

LLVM's search for pairs of FMAs that RDNA 3 issues together is quadratic in the instructions between barriers, and its
scheduler hoists the loads of all operands. Measured for gfx1100 (2026-11-27, LLVM 22, CPU seconds of code generation):
f32 64x64x64 by one warp 45 s and 15,207 spilled registers undivided, 2.5 s and 1,085 in parts of 256; Triton 3.9
16.4 s and 4,556. With 2,048 FMAs (four warps) it is 0.5 s either way, and undivided code has more pairs. With 2,048
multiplications and as many additions it is 15.3 s undivided, and 2.6 s in parts of 128 and of 64 pairs.
"""

_amd = LazyModule(".amd_matrix", __package__)


@lowers(tt.Dot)
def _dot(e: FunctionContext, op: tt.Dot) -> None:
    layout: Any = op.d.type.encoding  # type: ignore[attr-defined]
    if isinstance(layout, NvidiaMma) and target_of(op).startswith("hip:"):
        raise UnsupportedOperation(op, f"needs MMA instructions of NVIDIA GPUs; {target_of(op)} has none")
    if isinstance(layout, NvidiaMma) and layout.versionMajor == 2:
        e.bind(op.d, mma_sync(e, op))
    elif isinstance(layout, (AmdMfma, AmdWmma)):
        e.bind(op.d, _amd.matrix_dot(e, op))
    elif isinstance(layout, Mma):
        raise UnsupportedOperation(op, f"with the layout {layout} is not supported")
    else:
        e.bind(op.d, _multiply_and_add(e, op))


def _multiply_and_add(e: FunctionContext, op: Any) -> list[str]:
    try:
        steps = plan_fma(e.layout(op.a), e.layout(op.b), e.layout(op.d))
    except ValueError as error:
        raise UnsupportedOperation(op, f"has operands that are not in the threads that need them: {error}") from None
    ty = _computed_in(op)
    a, b = (_widened(e, op, v.type.element, ty, e(v)) for v in (op.a, op.b))
    result = op.d.type.element
    sums = _widened(e, op, result, ty, e(op.c))
    add = _adder(e, ty)
    out = dict(enumerate(sums))
    fmas = _interleaved(steps)
    each = 1 if e.module.fusion and isinstance(ty, FloatType) else 2
    part = e.target.fmas_per_region // each if len(fmas) * each > LARGE else 0
    for at, (d, i, j) in enumerate(fmas):
        if part and at and at % part == 0:
            e.target.scheduling_barrier(e)
        out[d] = add(a[i], b[j], out[d])
    parts = [_narrowed(e, ty, result, out[step.d]) for step in steps]
    found = {step.d: part for step, part in zip(steps, parts)}
    copies = copies_of(e.layout(op.d))
    return [found[i & ~copies] for i in range(len(sums))]


def _interleaved(steps: list[FmaStep]) -> list[tuple[int, int, int]]:
    """(register of d, of a, of b) of all FMAs, by k, so that consecutive FMAs are independent."""
    return [(s.d, s.a[k], s.b[k]) for k in range(len(steps[0].a)) for s in steps]


def _computed_in(op: Any) -> Type:
    """The accumulator type."""
    types = [v.type.element for v in (op.a, op.b, op.d)]
    result = types[-1]
    if isinstance(result, IntegerType):
        if any(ty.width > result.width for ty in types):
            raise UnsupportedOperation(op, f"of {types[0]} and {types[1]} does not fit the accumulator type {result}")
        return result
    if any(ty.width > max(result.width, 32) for ty in types) or any(ty.width < 16 for ty in types):
        raise UnsupportedOperation(op, f"of {types[0]} and {types[1]} with accumulator type {result} is not supported")
    return f64 if result is f64 else f32


def _widened(e: FunctionContext, op: Any, source: Type, to: Type, parts: list[str]) -> list[str]:
    """The parts in a type that is at least as wide."""
    if source is to:
        return parts
    cast = "fpext" if isinstance(to, FloatType) else "sext"
    known: dict[str, str] = {}
    for part in parts:
        if part not in known:
            known[part] = e.op(f"{cast} {llvm_type(source)} {part} to {llvm_type(to)}")
    return [known[part] for part in parts]


def _narrowed(e: FunctionContext, source: Type, to: Type, part: str) -> str:
    """The accumulator rounded to the type of the result."""
    return part if source is to else e.op(f"fptrunc {llvm_type(source)} {part} to {llvm_type(to)}")


def _adder(e: FunctionContext, ty: Type) -> Callable[[str, str, str], str]:
    """`add(a, b, c)` writes a * b + c."""
    llvm = llvm_type(ty)
    if isinstance(ty, IntegerType):
        return lambda a, b, c: e.op(f"add {llvm} {e.op(f'mul {llvm} {a}, {b}')}, {c}")
    if e.module.fusion:
        suffix = "f64" if ty is f64 else "f32"
        return lambda a, b, c: e.call(llvm, f"llvm.fma.{suffix}", (llvm, a), (llvm, b), (llvm, c))
    return lambda a, b, c: e.op(f"fadd {llvm} {e.op(f'fmul {llvm} {a}, {b}')}, {c}")
