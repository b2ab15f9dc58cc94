"""The greatest and the least of floats: zeros of different signs, and NaN, which counts for nothing.

`maxnum` that orders zeros takes six instructions on x86, three of them for zeros. A reduction needs the order only if
its result is a zero. So the total is combined by a `maxnum` that may keep either zero (`fastmath<nsz>`), and beside it
stands whether there was a zero of the sign that counts, 0.0 for maxima and -0.0 for minima:

    total = maxnum(total, x)
    least = min(least, bits(x))                      and at the end: if total = 0: total = least = 0 ? 0.0 : -0.0

for the bits of 0.0 are the least number without sign, and those of -0.0 the least with one. For 64 bits, of which AVX2
has no minimum and AVX-512 a slow one, `least` is a mask of the lanes that met the zero. The second line works on
integers and is not in the way of the first, whose instructions are three in a row:

    is total NaN? max(x, total); x where it was

In loops that wait for memory (`comparing`), the total begins at -inf and changes only where x is greater; then it is
never NaN, and one instruction is enough. Then -inf at the end has two meanings: the greatest number was -inf, or there
was none. It is rare, and when it happens all elements are reduced again, by `maxnum`:

    total = x > total ? x : total                    and at the end: if total = -inf: total = maxnum of all x

Maxima of rows of 65536 floats from the third cache (Zen 4, a loop in C, 2026-11): 0.234 ms and 0.208. To gather beside
the total whether there was a number takes as long as to ask for NaN.
"""

from __future__ import annotations

import math

from ...dialects import arith, tt
from ...dialects.arith_flags import FastMath
from ...ir import IntegerType, Type, Value, VectorType, element_type, f16, f32, f64, with_element
from ..llvm.dot import CPUFeatures
from .writer import Writer

__all__ = ["Extreme", "extreme_of"]


_NSZ = FastMath.of("nsz")


class Extreme:
    """How one reduction by `maxnumf` or `minnumf` is computed: a total, and whether it met the zero that counts.

    This state is two values, vectors or scalars; what was not combined yet is one, the elements. `masks`: the second
    is a mask, and not the least of the bits.
    """

    def __init__(self, ty: Type, greatest: bool, masks: bool, compares: bool = False) -> None:
        self.type, self.greatest, self.masks, self.compares = ty, greatest, masks, compares
        self.bits = IntegerType(ty.width)  # type: ignore[attr-defined]
        self.worst = -math.inf if greatest else math.inf
        self.zero, self.other = (0.0, -0.0) if greatest else (-0.0, 0.0)
        most = (1 << (self.bits.width - 1)) - 1
        self.zero_bits = 0 if greatest else ~most
        self.none_seen = 0 if masks else -1 if greatest else most

    def comparing(self) -> Extreme:
        """The same with one comparison for each element, after which `doubtful` must be asked; f16 as it is."""
        if self.type is f16:  # it is converted to f32, which takes longer
            return self
        return Extreme(self.type, self.greatest, self.masks, True)

    def start(self, w: Writer, lanes: int) -> list[Value]:
        """The state of no elements; scalars for no `lanes`."""
        values = w.number(self.worst if self.compares else math.nan, self.type), w.number(self.none_seen, self.bits)
        return [w.splat(v, lanes, 0) for v in values] if lanes else list(values)

    def state(self, w: Writer, values: list[Value]) -> list[Value]:
        """The state of elements; a state as it is."""
        if len(values) == 2:
            return values
        (x,) = values
        bits = w.place(arith.Bitcast(x, out=with_element(x.type, self.bits)))
        if not self.masks:
            return [x, bits]
        equal = w.place(arith.CmpI(arith.CmpIPredicate.eq, bits, _alike(w, self.zero_bits, bits)))
        return [x, w.place(arith.ExtSI(equal, out=bits.type))]

    def step(self, w: Writer, first: list[Value], second: list[Value]) -> list[Value]:
        """The state of both."""
        (total, seen), (x, more) = self.state(w, first), self.state(w, second)
        if self.compares:
            better = arith.CmpFPredicate.ogt if self.greatest else arith.CmpFPredicate.olt
            total = w.place(arith.Select(w.place(arith.CmpF(better, x, total)), x, total))
        else:
            total = w.place((arith.MaxNumF if self.greatest else arith.MinNumF)(total, x, _NSZ))
        least = arith.OrI if self.masks else arith.MinUI if self.greatest else arith.MinSI
        return [total, w.place(least(seen, more))]

    def doubtful(self, w: Writer, state: list[Value]) -> Value:
        """i1: perhaps there was nothing but NaN; of scalars."""
        return w.place(arith.CmpF(arith.CmpFPredicate.oeq, state[0], w.number(self.worst, self.type)))

    def result(self, w: Writer, state: list[Value]) -> Value:
        """The extreme, with the sign that a zero has."""
        if len(state) == 1:
            return state[0]
        total, seen = state
        unlike = arith.CmpIPredicate.ne if self.masks else arith.CmpIPredicate.eq
        found = w.place(arith.CmpI(unlike, seen, _alike(w, 0 if self.masks else self.zero_bits, seen)))
        zero = w.place(arith.Select(found, _alike(w, self.zero, total), _alike(w, self.other, total)))
        is_zero = w.place(arith.CmpF(arith.CmpFPredicate.oeq, total, _alike(w, 0.0, total)))
        return w.place(arith.Select(is_zero, zero, total))


def _alike(w: Writer, number: float, value: Value) -> Value:
    """A constant of the type of `value`."""
    scalar = w.number(number, element_type(value.type))
    return w.splat(scalar, value.type.numel, 0) if isinstance(value.type, VectorType) else scalar


def extreme_of(op: tt.Reduce, target: CPUFeatures) -> Extreme | None:
    """How to reduce by `op`; None if it is no such reduction, or of other types."""
    if target.arch != "x86_64":  # others have an instruction that orders zeros and leaves NaN out
        return None
    combine, *rest = op.combine.block
    if len(rest) != 1 or set(combine.operands) != set(op.combine.block.args) or len(op.srcs) != 1:
        return None
    ty = element_type(op.srcs[0].type)
    if ty not in (f16, f32, f64) or not isinstance(combine, (arith.MaxNumF, arith.MinNumF)):
        return None
    return Extreme(ty, isinstance(combine, arith.MaxNumF), masks=ty is f64)
