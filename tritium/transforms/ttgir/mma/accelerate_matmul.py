"""accelerate-matmul: Select MMA instructions and convert tt.dot to MMA layouts.

    %d = tt.dot %a, %b, %c : #dot_a * #dot_b -> tensor<64x64xf32, #blocked>

    %x = ttg.convert_layout %a : … -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %y = ttg.convert_layout %b : … -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %z = ttg.convert_layout %c : … -> tensor<64x64xf32, #mma>
    %e = tt.dot %x, %y, %z : … -> tensor<64x64xf32, #mma>
    %d = ttg.convert_layout %e : … -> tensor<64x64xf32, #blocked>

**Instruction.** `NvidiaGPU.mma_versions` lists those of a GPU, best first: version 2 is `mma.sync`, version 3 `wgmma`
(emitted by `mma.wgmma`). Operands are f16, bf16, fp8, 8-bit
integers, f64 where the target has fast instructions for it, and f32 where tf32 is allowed; everything else, and
everything on targets before sm_80, keeps a blocked layout and is lowered to FMAs.

**Warps.** Each warp should have about as many instruction tiles along M as along N, which minimizes the operands it
loads. But where one dot's result is an operand of another, as in attention, all warps are placed along the longer
dimension of the last dot: then rows stay in their warps, so that row reductions and the second dot move no data. In a
batched dot each warp computes its own batch elements, if there are enough.

**Operands.** A thread holds 32 bits of adjacent elements along K (`kWidth`). Where an operand is widened after it is
loaded (fp8 to f16, say), 32 bits of the narrow elements, so that one load brings them all. Both operands get the same
`kWidth`, since element k of one must meet element k of the other.

**Unsupported types** are converted first: fp8 to f16 where the target has no fp8 MMA (sm_90 has it in `wgmma` only; its
`mma.sync` converts as well, and no better); for FMAs, operands to the type of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....analysis.dataflow import reachable
from ....dialects import arith, tt, ttg
from ....dialects.ttg_context import gpu_of, num_warps
from ....dialects.ttg_layouts import NvidiaMma
from ....dialects.ttg_operands import operand_layout
from ....hardware.nvidia import NvidiaGPU
from ....hardware.nvidia_features import FAST_F64_MMA, FP8_MMA
from ....ir import (
    ELEMENTWISE,
    FLOATS,
    REARRANGES,
    FloatType,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    bf16,
    count,
    element_type,
    f16,
    f32,
    f64,
    i8,
    i32,
    is_global_load,
    is_pure,
    may_change,
    pass_on,
    remark,
)
from ....layout.bases import per_block
from .chains import Chains
from .wgmma import fits_wgmma, warp_group_dot

__all__ = ["accelerate_matmul"]

_FP8 = (FLOATS["f8E5M2"], FLOATS["f8E4M3FN"])
_HALF_FLOATS = (f16, bf16)


@pass_on("module", statistics={"dots accelerated": "dots with an MMA layout"})
def accelerate_matmul(module: Operation) -> bool:
    """Choose instructions and layouts for the dots of a module compiled for an NVIDIA GPU."""
    gpu = gpu_of(module)
    if gpu is None:
        return False
    changed = 0
    chains = Chains()
    for dot in [op for op in module.walk() if op.__class__ is tt.Dot][::-1]:
        version = version_for(gpu, dot)
        _remark_on(dot, version, gpu)
        if version and may_change("accelerate-matmul", dot):
            _accelerate(dot, version, chains)
            changed += 1
    count("dots accelerated", changed)
    mixed = [_widen(op, gpu) for op in module.walk() if op.__class__ is tt.Dot]
    return bool(changed) or any(mixed)


def _remark_on(dot: Any, version: int, gpu: NvidiaGPU) -> None:
    """Emit a remark for a dot that does not use the best MMA instructions of the target."""
    best = gpu.mma_versions[:1]
    if best == (3,) and version < 3 and not isinstance(dot.d.type.encoding, NvidiaMma):
        instead = "MMA version 2 (mma.sync)" if version else "FMA"
        remark(
            dot,
            f"Warning: {instead} for this dot, not MMA version 3 (wgmma), due to unsupported shapes or data types",
        )


def version_for(gpu: NvidiaGPU, dot: Any) -> int:
    """The MMA version for a dot with blocked layouts; 0 where it keeps them."""
    layout = dot.d.type.encoding
    if layout is None or isinstance(layout, NvidiaMma):
        return 0
    return next((v for v in gpu.mma_versions if _supports(v, gpu, dot)), 0)


def _supports(version: int, gpu: NvidiaGPU, dot: Any) -> bool:
    """Whether MMA instructions of `version` support the types of a dot."""
    if version == 3 and not fits_wgmma(dot):
        return False
    a, b, d = (element_type(v.type) for v in (dot.a, dot.b, dot.d))
    if f64 in (a, b, d):
        return a is b is d and gpu.has(FAST_F64_MMA)
    if a is f32 and b is f32:
        return d is f32 and dot.inputPrecision is tt.InputPrecision.tf32
    if a in _FP8 and b in _FP8:
        return d in (f16, f32)
    if a is i8 and b is i8:
        return d is i32
    return a is b and a in _HALF_FLOATS and d in ((f16, f32) if a is f16 else (f32,))


def _accelerate(dot: Any, version: int, chains: Chains) -> None:
    """Convert a dot to MMA layouts."""
    chain = chains.of(dot)
    new = warp_group_dot(dot) if version == 3 else _warp_dot(dot, version, *chain.others(dot))
    chain.replace(dot, new)
    back = ttg.ConvertLayout(new.results[0], result=dot.d.type, loc=dot.loc)
    dot.parent.insert_before(back, dot)
    back.result.hint = dot.d.hint
    dot.replace_with([back.result])


def _warp_dot(dot: Any, version: int, chained: bool, layout_of_others: NvidiaMma | None) -> Operation:
    """An MMA dot by single warps, with its operands and accumulator, before `dot`; others may be chained to it."""
    result = dot.d.type
    shape = per_block(result.shape, result.encoding.CGALayout)
    tile = [1] * (len(shape) - 2) + [8 if element_type(dot.a.type) is f64 else 16, 8]
    warps = warps_per_cta(shape, num_warps(dot) or 1, chained, layout_of_others)
    layout = NvidiaMma(version, tuple(warps), tuple(tile), 0, result.encoding.CGALayout)
    bits = min(loaded_bits(dot.a), loaded_bits(dot.b))

    def converted(value: Any, to: Any) -> Value:
        ty = TensorType(value.type.shape, value.type.element, to)
        op = ttg.ConvertLayout(value, result=ty, loc=dot.loc)
        dot.parent.insert_before(op, dot)
        return op.result

    c = converted(dot.c, layout)
    a, b = (converted(v, operand_layout(i, layout, bits)) for i, v in enumerate((dot.a, dot.b)))
    new = tt.Dot(a, b, c, dot.inputPrecision, dot.maxNumImpreciseAcc, loc=dot.loc)
    dot.parent.insert_before(new, dot)
    return new


# -- warps --------------------------------------------------------------------------------------------------------


def warps_per_cta(shape: Sequence[int], warps: int, chained: bool, others: NvidiaMma | None) -> list[int]:
    """The numbers of warps along the dimensions of a dot whose result has `shape` per CTA.

    That of the first dot in its chain, where `others` is the layout of that.
    """
    if len(shape) == 3:
        batch = min(shape[0], warps)
        return [batch, *_balanced(shape[1:], warps // batch)]
    if others is not None:
        return list(others.warpsPerCTA)
    if chained:
        return [warps, 1] if shape[0] >= shape[1] else [1, warps]
    return _balanced(shape, warps)


def _balanced(shape: Sequence[int], warps: int) -> list[int]:
    """Distribute warps so that each has as many tiles of 16 rows as of 8 columns, preferring fewer rows.

    >>> _balanced([128, 128], 4), _balanced([32, 128], 4), _balanced([16, 16], 8)
    ([2, 2], [1, 4], [4, 2])
    """
    tiles = [-(-shape[0] // 16), -(-shape[1] // 8)]
    out = [1, 1]
    while out[0] * out[1] < warps:
        d = 0 if tiles[0] >= tiles[1] else 1
        out[d] *= 2
        tiles[d] = max(tiles[d] // 2, 1)
    return out


# -- operands -----------------------------------------------------------------------------------------------------


def _preserves_elements(op: Operation) -> bool:
    """Whether an operation's result has the elements of its operand, converted or moved, or is loaded from memory."""
    moves = op.traits & REARRANGES or op.__class__ is ttg.Fp4ToFp
    return bool(moves) or is_global_load(op) or (bool(op.traits & ELEMENTWISE) and is_pure(op))


def loaded_bits(value: Any) -> int:
    """Bits of the narrowest element type from which `value` is converted after it is loaded."""

    def sources(v: Value) -> list[Value]:
        op = v.defining_op
        return op.operands if op is not None and _preserves_elements(op) else []

    makers = {v.defining_op for v in reachable([value], sources)}
    seen = [op for op in makers if op is not None and _preserves_elements(op)]
    kinds = {op.__class__ for op in seen}
    if ttg.Fp4ToFp in kinds:
        return 4
    loaded = [op.results[0].type for op in seen if is_global_load(op)]
    widths = [element_type(ty).width for ty in loaded if isinstance(ty, TensorType) and _has_width(ty)]  # type: ignore[attr-defined]
    # Joining two tensors doubles the number of adjacent elements.
    return min([element_type(value.type).width, *widths]) // (2 if tt.Join in kinds else 1)  # type: ignore[attr-defined, no-any-return]


def _has_width(ty: TensorType) -> bool:
    return isinstance(ty.element, (IntegerType, FloatType))


# -- unsupported types -----------------------------------------------------------------------------------------------


def _widen(dot: Any, gpu: NvidiaGPU) -> bool:
    """Convert the operands of a dot to a supported type; returns whether any was converted."""
    ty = element_type(dot.a.type)
    result = dot.d.type
    if isinstance(result.encoding, NvidiaMma):
        if ty not in _FP8 or gpu.has(FP8_MMA) or result.encoding.versionMajor > 2:
            return False
        wanted: Type = f16
    else:
        wanted = result.element
        if result.encoding is None or ty.width >= wanted.width:  # type: ignore[attr-defined]
            return False
    dot.set_operands([_cast(dot, dot.a, wanted), _cast(dot, dot.b, wanted), dot.c])
    return True


def _cast(dot: Any, value: Any, to: Type) -> Value:
    """Cast `value` to elements of the type `to`, which is at least as wide."""
    source = value.type.element
    ty = TensorType(value.type.shape, to, value.type.encoding)
    if source is to:
        return value  # type: ignore[no-any-return]
    make = _CASTS[isinstance(source, IntegerType)] if source.width > 8 or isinstance(source, IntegerType) else _fp8
    op = make(value, ty)
    op.loc = dot.loc
    dot.parent.insert_before(op, dot)
    return op.results[0]  # type: ignore[no-any-return]


def _fp8(value: Any, ty: TensorType) -> Any:
    return tt.FpToFp(value, None, result=ty)


_CASTS: dict[bool, Callable[[Any, TensorType], Any]] = {
    True: lambda value, ty: arith.ExtSI(value, out=ty),
    False: lambda value, ty: arith.ExtF(value, out=ty),
}
