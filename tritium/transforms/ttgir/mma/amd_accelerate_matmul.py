"""amd-accelerate-matmul: Select MFMA or WMMA instructions and convert tt.dot to their layouts.

    %d = tt.dot %a, %b, %c : #dot_a * #dot_b -> tensor<128x128xf32, #blocked>

    %z = ttg.convert_layout %c : … -> tensor<128x128xf32, #mma>
    %x = ttg.convert_layout %a : … -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    %y = ttg.convert_layout %b : … -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    %e = tt.dot %x, %y, %z : … -> tensor<128x128xf32, #mma>
    %d = ttg.convert_layout %e : … -> tensor<128x128xf32, #blocked>

**Instruction** (`analysis.matrix_instructions`). CDNA has MFMA of 32 x 32 and 16 x 16 results: the larger where both
sides of the dot have 32, unless `matrix_instruction_size` says which; among those the one with the longest K that the
dot fills. RDNA has WMMA of 16 x 16 x 16. Dots whose K is no multiple of an MFMA's, that are smaller than 16, or whose
types have no instruction keep their blocked layout and are lowered to FMAs.

**Types.** Accumulators are f32, i32 or f64: of narrower results they are widened before and rounded after the dot.
8-bit floats without an instruction of their own (`f8E4M3FN` on gfx942) are converted to f16, exactly. f32 operands with
input precision tf32 use XF32 on gfx942.

**Warps.** As in Triton: all along M where the result feeds operand a of another dot, as in attention, so that row
reductions and the second dot move no data between warps; else distributed so that each warp has about twice as many
rows as columns of instructions.

**Layouts.** The instructions compute the transpose (`isTransposed`), so that a lane has adjacent columns of the result,
which wide stores need. A lane passes `width` elements along K to an instruction; `kPack` times as many are adjacent in
memory (`kWidth`), which makes one LDS access feed several instructions.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ....analysis.matrix_instructions import (
    MFMA,
    WMMA,
    MatrixInstruction,
    mfma_for,
    wmma_for,
)
from ....dialects import arith, tt, ttg
from ....dialects.ttg_context import num_warps, target_of
from ....dialects.ttg_layouts import AmdMfma, AmdWmma, Blocked, DotOperand, Mma
from ....hardware.amd import amd_gpu
from ....ir import (
    Attribute,
    FloatType,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    count,
    element_type,
    f16,
    f32,
    f64,
    i32,
    may_change,
    pass_on,
    remark,
)
from ....ir.parameters import Bases
from ....layout.bases import per_block
from ....support.dataclasses import dataclass
from .amd_chains import feeds_lhs, is_fed_by_dot

__all__ = ["AccelerateOptions", "amd_accelerate_matmul"]

_SIXTEEN_BITS = ("f16", "bf16")


@dataclass(frozen=True)
class AccelerateOptions:
    """`matrix_instruction_size`: 16 or 32 rows and columns of MFMA; 0: the pass's choice. `kPack`: instructions along K
    that one access to LDS feeds. `gfx_arch`: the architecture, where it is not the module's."""

    matrix_instruction_size: int = 0
    kPack: int = 1
    gfx_arch: str = ""


@pass_on("module", statistics={"dots accelerated": "dots with the layout of a matrix instruction"})
def amd_accelerate_matmul(module: Operation, options: AccelerateOptions = AccelerateOptions()) -> bool:
    """Choose instructions and layouts for the dots of a module compiled for an AMD GPU."""
    kind, _, arch = target_of(module).partition(":")
    if kind != "hip" and not options.gfx_arch:
        return False
    arch = options.gfx_arch or arch
    changed = 0
    for dot in [op for op in module.walk() if isinstance(op, tt.Dot)]:
        choice = _choice(dot, arch.removesuffix("-strict"), options)
        if choice is not None and may_change("amd-accelerate-matmul", dot):
            _accelerate(dot, choice)
            changed += 1
    count("dots accelerated", changed)
    widened = [_widen_fp8(op) for op in module.walk() if isinstance(op, tt.Dot)]
    return bool(changed) or any(widened)


@dataclass(frozen=True)
class _Choice:
    """The layout of a dot's result, `kWidth` of its operands, and the element types of both."""

    layout: Mma
    width: int
    operands: tuple[Type, Type]
    accumulator: Type


def _choice(dot: tt.Dot, arch: str, options: AccelerateOptions) -> _Choice | None:
    """The matrix instruction of a dot with a blocked layout; None where it keeps that."""
    if not isinstance(_tensor(dot.d).encoding, Blocked):
        return None
    if version := amd_gpu(arch).mfma_version:
        return _mfma_choice(dot, version, options)
    if version := amd_gpu(arch).wmma_version:
        return _wmma_choice(dot, version)
    return None


def _tensor(value: Value) -> TensorType:
    """The type of an operand or result of a dot."""
    assert isinstance(value.type, TensorType)
    return value.type


def _blocks(dot: tt.Dot) -> Bases:
    """How the CTAs of a cluster share the result of a dot that has a blocked layout."""
    layout = _tensor(dot.d).encoding
    return layout.CGALayout if isinstance(layout, Blocked) else ()


def _insert(op: Operation, dot: tt.Dot) -> None:
    assert dot.parent is not None
    dot.parent.insert_before(op, dot)


def _operand_types(dot: tt.Dot, known: Container[tuple[str, str]]) -> tuple[Type, Type]:
    """The element types that the instruction reads: f16 for 8-bit floats that are not among the `known` types."""
    a, b = element_type(dot.a.type), element_type(dot.b.type)
    return (f16, f16) if _is_fp8(a) and _is_fp8(b) and (str(a), str(b)) not in known else (a, b)


def _is_fp8(ty: Type) -> bool:
    return isinstance(ty, FloatType) and ty.width == 8


def _accumulator(dot: tt.Dot, operands: tuple[Type, Type]) -> Type | None:
    """The type that instructions with these operands accumulate in; None where the result of the dot is of another."""
    result = element_type(dot.d.type)
    if f64 in operands:
        return f64 if result is f64 else None
    if isinstance(operands[0], IntegerType):
        return i32 if result is i32 else None
    return f32 if isinstance(result, FloatType) and result.width <= 32 else None


def _remark_fma(dot: tt.Dot, why: str) -> None:
    remark(dot, f"this dot is lowered to FMAs, without a matrix instruction: {why}")


# -- MFMA ---------------------------------------------------------------------------------------------------------


def _mfma_choice(dot: tt.Dot, version: int, options: AccelerateOptions) -> _Choice | None:
    operands = _operand_types(dot, MFMA[version])
    accumulator = _accumulator(dot, operands)
    shape, depth = _tensor(dot.d).shape, _tensor(dot.a).shape[-1]
    side = options.matrix_instruction_size or _mfma_side(shape, f64 in operands)
    tf32 = version == 3 and operands == (f32, f32) and dot.inputPrecision is tt.InputPrecision.tf32
    names = ("tf32", "tf32") if tf32 else (str(operands[0]), str(operands[1]))
    found = mfma_for(version, names, side, depth) if accumulator is not None else None
    if found is None or accumulator is None:
        _remark_fma(dot, f"no MFMA of {side or 'fewer than 16'} rows and columns for {names[0]} and {names[1]}")
        return None
    if depth % found.k:
        _remark_fma(dot, f"K is {depth}, no multiple of {found.k}")
        return None
    layout = _mfma_layout(dot, version, found, accumulator)
    return _Choice(layout, _mfma_width(dot, found, options.kPack, names[0]), operands, accumulator)


def _mfma_side(shape: Sequence[int], double: bool) -> int:
    """Rows and columns of the instruction for a result of `shape`: 32, 16, or 0 where none is small enough."""
    smallest = min(shape[-2:])
    return 32 if smallest >= 32 and not double else 16 if smallest >= 16 else 0


def _mfma_layout(dot: tt.Dot, version: int, found: MatrixInstruction, accumulator: Type) -> AmdMfma:
    shape = _tensor(dot.d).shape
    return AmdMfma(
        version=version,
        warpsPerCTA=tuple(_warps(dot, shape, num_warps(dot) or 1, found)),
        instrShape=(found.m, found.n, found.k),
        isTransposed=True,
        CGALayout=_blocks(dot),
        elementBitWidth=64 if accumulator is f64 else 32,
    )


def _mfma_width(dot: tt.Dot, found: MatrixInstruction, k_pack: int, operand: str) -> int:
    """Adjacent elements along K in a lane.

    The operand of a chained dot has the layout of the first one's result, four adjacent elements.
    """
    if is_fed_by_dot(dot):
        return 4 if operand in _SIXTEEN_BITS else found.width
    packed = found.width * k_pack
    return packed if _tensor(dot.a).shape[-1] >= packed * (found.k // found.width) else found.width


# -- WMMA ---------------------------------------------------------------------------------------------------------


def _wmma_choice(dot: tt.Dot, version: int) -> _Choice | None:
    operands = _operand_types(dot, WMMA[version])
    accumulator = _accumulator(dot, operands)
    found = wmma_for(version, (str(operands[0]), str(operands[1]))) if accumulator is not None else None
    if found is None or accumulator is None or _tensor(dot.a).shape[-1] == 1:
        _remark_fma(dot, f"no WMMA for {operands[0]} and {operands[1]}")
        return None
    blocks = _blocks(dot)
    warps = _warps(dot, per_block(_tensor(dot.d).shape, blocks), num_warps(dot) or 1, found)
    rank = len(warps)
    tiles = tuple(
        tuple(1 << i if d == dim else 0 for d in range(rank))
        for dim in reversed(range(rank))
        for i in range(warps[dim].bit_length() - 1)
    )
    layout = AmdWmma(version=version, isTranspose=True, ctaLayout=((), tiles), CGALayout=blocks, rank=rank)
    return _Choice(layout, found.width, operands, accumulator)


# -- warps --------------------------------------------------------------------------------------------------------


def _warps(dot: tt.Dot, shape: Sequence[int], warps: int, found: MatrixInstruction) -> list[int]:
    """The numbers of warps along the dimensions of a dot whose result has `shape` per CTA."""
    if len(shape) == 3:
        return [warps, 1, 1]
    if feeds_lhs(dot):
        return [warps, 1]
    if is_fed_by_dot(dot):
        rows = min(warps, -(-shape[0] // found.m))
        return [rows, warps // rows]
    return balanced_warps(shape, warps, found.m, found.n)


def balanced_warps(shape: Sequence[int], warps: int, rows: int, columns: int) -> list[int]:
    """Distribute warps so that each has about twice as many instructions along M as along N.

    `rows`, `columns`: those of an instruction.

    >>> balanced_warps([128, 128], 4, 32, 32), balanced_warps([16, 128], 4, 16, 16), balanced_warps([64, 16], 4, 16, 16)
    ([2, 2], [1, 4], [4, 1])
    """
    out = [1, 1]
    while out[0] * out[1] < warps:
        tall = shape[0] // (2 * rows) // out[0] >= shape[1] // columns // out[1]
        out[0 if tall and out[0] < shape[0] // rows else 1] *= 2
    return out[::-1] if out[1] * columns > shape[1] else out


# -- rewriting ----------------------------------------------------------------------------------------------------


def _accelerate(dot: tt.Dot, choice: _Choice) -> None:
    """Convert a dot to the layouts of its instruction."""

    def converted(value: Value, layout: Attribute | None, to: Type) -> Value:
        before = _tensor(value)
        op = ttg.ConvertLayout(value, result=TensorType(before.shape, before.element, layout), loc=dot.loc)
        _insert(op, dot)
        return _cast(dot, op.result, to)

    c = converted(dot.c, choice.layout, choice.accumulator)
    a, b = (
        converted(v, DotOperand(i, choice.layout, choice.width), ty)
        for i, (v, ty) in enumerate(zip((dot.a, dot.b), choice.operands))
    )
    new = tt.Dot(a, b, c, dot.inputPrecision, dot.maxNumImpreciseAcc, loc=dot.loc)
    _insert(new, dot)
    result = _tensor(dot.d)
    back = converted(new.d, result.encoding, result.element)
    back.hint = dot.d.hint
    dot.replace_with([back])


def _cast(dot: tt.Dot, value: Value, to: Type) -> Value:
    """Cast a tensor of floats before `dot`, exactly or to nearest even."""
    before = _tensor(value)
    source = before.element
    if source is to:
        return value
    assert isinstance(source, FloatType) and isinstance(to, FloatType), "integers have the types of the instruction"
    ty = TensorType(before.shape, to, before.encoding)
    if source.width == 8:
        op: Operation = tt.FpToFp(value, None, result=ty)
    else:
        op = arith.ExtF(value, out=ty) if to.width > source.width else arith.TruncF(value, out=ty)
    op.loc = dot.loc
    _insert(op, dot)
    return op.results[0]


def _widen_fp8(dot: tt.Dot) -> bool:
    """Convert 8-bit floats of a dot that is lowered to FMAs to the result's type; returns whether there were any."""
    if not isinstance(_tensor(dot.d).encoding, Blocked):
        return False
    narrow = [v for v in (dot.a, dot.b) if _is_fp8(_tensor(v).element)]
    if narrow:
        dot.set_operands(
            [_cast(dot, v, element_type(dot.d.type)) if v in narrow else v for v in (dot.a, dot.b)] + [dot.c]
        )
    return bool(narrow)
