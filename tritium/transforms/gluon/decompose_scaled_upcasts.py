"""decompose-scaled-upcasts: Decompose scaled conversions of narrow floats into conversions and multiplications.

    %y = amdg.scaled_upcast_fp8 %x scale %s                 %0 = tt.fp_to_fp %x : f8E4M3FN to f32
                                                      =>    %1 = arith.extf %s : bf16 to f32
                                                            %2 = arith.mulf %0, %1
                                                            %y = arith.truncf %2 : f32 to bf16

For targets without an instruction for it. Pairs of 4-bit floats become f16 by `ttg.fp4_to_fp` first. Scales are powers
of two, so that multiplying in f32 is exact, and the result is rounded once.
"""

from __future__ import annotations

from ...dialects import amdg, arith, tt, ttg
from ...ir import Builder, Operation, TensorType, Type, Value, count, element_type, f16, f32, pass_on

__all__ = ["decompose_scaled_upcasts"]


def _like(value: Value, element: Type) -> TensorType:
    ty = value.type
    assert isinstance(ty, TensorType)
    return TensorType(ty.shape, element, ty.encoding)


def _decompose(op: amdg.ScaledUpcastFp4 | amdg.ScaledUpcastFp8) -> None:
    """Replace one conversion."""
    b = Builder(op.parent, op, op.loc)
    wide = _like(op.output, f32)
    if isinstance(op, amdg.ScaledUpcastFp4):
        halves = b.add(ttg.Fp4ToFp(op.input, op.axis, result=_like(op.output, f16)))
        value = b.add(arith.ExtF(halves, out=wide))
    else:
        value = b.add(tt.FpToFp(op.input, None, result=wide))
    scale = op.scale if element_type(op.scale.type) is f32 else b.add(arith.ExtF(op.scale, out=wide))
    result = b.add(arith.TruncF(b.add(arith.MulF(value, scale)), out=op.output.type))
    op.output.replace_all_uses_with(result)
    op.erase()


@pass_on("module", statistics={"conversions decomposed": "scaled conversions that became multiplications"})
def decompose_scaled_upcasts(module: Operation) -> bool:
    """Decompose the scaled conversions of a module to f16 and bf16."""
    found = [op for op in module.walk() if isinstance(op, (amdg.ScaledUpcastFp4, amdg.ScaledUpcastFp8))]
    for op in found:
        _decompose(op)
    count("conversions decomposed", len(found))
    return bool(found)
