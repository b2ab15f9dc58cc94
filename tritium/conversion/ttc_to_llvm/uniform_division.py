"""Dividing a vector by one number: a multiplication by its reciprocal, corrected to the last bit.

`vdivps` of 512 bits takes 16 cycles on Intel's cores; a softmax spends half its time there. With y the correctly
rounded reciprocal of s, and

    q0 = x y,   q1 = q0 + y (x - s q0),   q2 = q1 + y (x - s q1)

each step in one fused multiplication and addition, q1 is within one unit in the last place of x / s, the remainder
x - s q1 is exact, and q2 is x / s correctly rounded (Markstein, IBM J. Res. Dev. 34(1), 1990, theorem 8.1) as long as
nothing under- or overflows on the way. That is checked: s within 2^±30 and every x +0 or within 2^±90 (-0 would lose
its sign). Vectors that fail the check are divided.
"""

from __future__ import annotations

__all__ = ["division_by_uniform"]

_EXPONENT = 23
_SMALL, _LARGE = (127 - 90) << _EXPONENT, (127 + 90) << _EXPONENT
_LEAST, _MOST = (127 - 30) << _EXPONENT, (127 + 30) << _EXPONENT


def division_by_uniform(lanes: int) -> tuple[str, str, list[str]]:
    """Symbol, LLVM text and declarations of a function `<lanes x float> (x, float s)`, for two lanes or more."""
    v, i, m = f"<{lanes} x float>", f"<{lanes} x i32>", f"<{lanes} x i1>"
    symbol = f"tt.divide.v{lanes}f32"
    fma = f"call {v} @llvm.fma.v{lanes}f32"
    text = f"""define internal {v} @{symbol}({v} %x, float %s) alwaysinline nounwind willreturn memory(none) {{
  %y1 = fdiv float 1.0, %s
  %s.bits = bitcast float %s to i32
  %s.size = and i32 %s.bits, 2147483647
  %s.over = sub i32 %s.size, {_LEAST}
  %s.fine = icmp ult i32 %s.over, {_MOST - _LEAST}
  %y.one = insertelement {v} poison, float %y1, i64 0
  %y = shufflevector {v} %y.one, {v} poison, <{lanes} x i32> zeroinitializer
  %s.one = insertelement {v} poison, float %s, i64 0
  %sv = shufflevector {v} %s.one, {v} poison, <{lanes} x i32> zeroinitializer
  %n = fneg {v} %sv
  %bits = bitcast {v} %x to {i}
  %size = and {i} %bits, splat (i32 2147483647)
  %over = sub {i} %size, splat (i32 {_SMALL})
  %inside = icmp ult {i} %over, splat (i32 {_LARGE - _SMALL})
  %zero = icmp eq {i} %bits, zeroinitializer
  %fine = or {m} %inside, %zero
  %mask = bitcast {m} %fine to i{lanes}
  %all = icmp eq i{lanes} %mask, -1
  %fast = and i1 %all, %s.fine
  br i1 %fast, label %multiply, label %divide
multiply:
  %q0 = fmul {v} %x, %y
  %r0 = {fma}({v} %n, {v} %q0, {v} %x)
  %q1 = {fma}({v} %r0, {v} %y, {v} %q0)
  %r1 = {fma}({v} %n, {v} %q1, {v} %x)
  %q2 = {fma}({v} %r1, {v} %y, {v} %q1)
  br label %done
divide:
  %exact = fdiv {v} %x, %sv
  br label %done
done:
  %q = phi {v} [ %q2, %multiply ], [ %exact, %divide ]
  ret {v} %q
}}"""
    return symbol, text, [f"declare {v} @llvm.fma.v{lanes}f32({v}, {v}, {v})"]
