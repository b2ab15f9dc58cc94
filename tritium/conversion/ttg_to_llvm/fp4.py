"""ttg.fp4_to_fp: two numbers of four bits each in a byte become f16 or bf16.

e2m1 has a sign, two bits of exponent with bias 1 and one of mantissa. Its three low bits are those at which an f16 has
the lowest of its exponent and the highest of its mantissa: put there, they are the number divided by 2 ** 14, exactly,
small ones without a leading one too. A multiplication corrects that.

    0 01 1  (1.5)    =>    f16 0 00001 1000000000    *  2 ** 14    =    1.5
"""

from __future__ import annotations

from typing import Any

from ...dialects import ttg
from ...dialects.ttg_maps import linear_layout_of
from ...ir import bf16
from ...layout import LinearLayout
from ...layout.views import registers_in
from ...support import UnsupportedOperation
from .context import FunctionContext, lowers

__all__: list[str] = []

SCALE = "0xH7400"  # 2 ** 14, the difference of the biases


@lowers(ttg.Fp4ToFp)
def _fp4_to_fp(e: FunctionContext, op: ttg.Fp4ToFp) -> None:
    ty: Any = op.result.type
    result = linear_layout_of(ty)
    pairs = _pairs(result, op.axis)
    sources = None if pairs is None else registers_in(pairs, linear_layout_of(op.src.type))  # type: ignore[arg-type]
    if sources is None:
        raise UnsupportedOperation(op, "needs both numbers of a byte in the thread that has the byte")
    bytes_, known = e(op.src), {}
    axis = list(result.outs)[op.axis]
    out = []
    for r, source in enumerate(sources):
        key = source, result.apply(register=r)[axis] & 1
        if key not in known:
            known[key] = _number(e, bytes_[source], key[1], ty.element is bf16)
        out.append(known[key])
    e.bind(op.result, out)


def _pairs(layout: LinearLayout, axis: int) -> LinearLayout | None:
    """The layout of the bytes that the elements come from; None if threads differ in which half of a byte they have."""
    bases = {n: [tuple(c >> (d == axis) for d, c in enumerate(v)) for v in vs] for n, vs in layout.bases.items()}
    if any(v[axis] & 1 for name in ("lane", "warp", "block") for v in layout.bases.get(name, ())):
        return None
    outs = {name: size >> (d == axis) for d, (name, size) in enumerate(layout.outs.items())}
    return LinearLayout(bases, outs)


def _number(e: FunctionContext, byte: str, high: int, narrow: bool) -> str:
    """The lower or higher four bits of a byte as f16, or as bf16 where `narrow`."""
    wide = e.op(f"zext i8 {byte} to i16")
    low = e.op(f"shl i16 {wide}, {5 if high else 9}")
    magnitude = e.op(f"and i16 {low}, {7 << 9}")
    sign = e.op(f"and i16 {e.op(f'shl i16 {wide}, {8 if high else 12}')}, -32768")
    bits = e.op(f"or disjoint i16 {magnitude}, {sign}")
    number = e.op(f"fmul half {e.op(f'bitcast i16 {bits} to half')}, {SCALE}")
    if not narrow:
        return number
    return e.op(f"fptrunc float {e.op(f'fpext half {number} to float')} to bfloat")
