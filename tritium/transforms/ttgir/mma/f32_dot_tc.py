"""f32-dot-tc: Decompose f32 dots with split-precision input modes into several dots.

    %d = tt.dot %a, %b, %c, inputPrecision = tf32x3

    %big_a = tf32(%a)              %rest_a = %a - %big_a                  and the same of %b
    %0 = tt.dot %rest_a, %big_b, 0, inputPrecision = tf32
    %1 = tt.dot %big_a, %rest_b, %0, inputPrecision = tf32
    %2 = %1 is NaN ? 0 : %1
    %3 = tt.dot %big_a, %big_b, %2, inputPrecision = tf32
    %d = %3 + %c

An f32 is the sum of two or three values with fewer bits: of two tf32 (11 bits each), or of three bf16 (8 bits each).
The dot is the sum of the dots of these parts, smallest first to preserve their bits; the smallest of all are omitted,
since they are below the last bit of the result.

| inputPrecision | parts | dots, of parts numbered from the largest |
|---|---|---|
| `tf32x3` | 2 tf32 | 1·0, 0·1, 0·0 |
| `bf16x3` | 2 bf16 | 1·0, 0·1, 0·0 |
| `bf16x6` | 3 bf16 | 1·1, 2·0, 0·2, 1·0, 0·1, 0·0 |

Infinity times the zero remainder of 1.0 is NaN, where the exact result is infinite: so NaN in the sum of the small dots
is replaced by 0, and the largest parts decide. `emuTF32` says whether the target supports tf32 at all; without,
`tf32x3` is kept, and computed in f32.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, tt
from ....ir import (
    Builder,
    Operation,
    TensorType,
    Value,
    bf16,
    count,
    element_type,
    f32,
    functions_of,
    may_change,
    pass_on,
)
from ....support.dataclasses import dataclass
from ...rules.constants import constant_attr

__all__ = ["DotOptions", "f32_dot_tc"]

#: inputPrecision -> (number of parts, (part of a, part of b) of each dot but the last, smallest first).
PART_PAIRS: dict[tt.InputPrecision, tuple[int, tuple[tuple[int, int], ...]]] = {
    tt.InputPrecision.tf32x3: (2, ((1, 0), (0, 1))),
    tt.InputPrecision.bf16x3: (2, ((1, 0), (0, 1))),
    tt.InputPrecision.bf16x6: (3, ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1))),
}


@dataclass(frozen=True)
class DotOptions:
    """`emu_tf32`: the target supports tf32 (sm_80 and later)."""

    emu_tf32: bool = False


@pass_on("function", statistics={"dots decomposed": "dots split into several"})
def f32_dot_tc(op: Operation, options: DotOptions = DotOptions()) -> bool:
    """Decompose the dots of a function, or of all functions of a module, that need several passes."""
    changed = 0
    for func in functions_of(op):
        for dot in [d for d in func.walk() if d.__class__ is tt.Dot and _applies(d, options)]:
            if may_change("f32-dot-tc", dot):
                _write_out(dot)
                changed += 1
    count("dots decomposed", changed)
    return changed > 0


def _applies(dot: Any, options: DotOptions) -> bool:
    if element_type(dot.a.type) is not f32 or element_type(dot.b.type) is not f32:
        return False
    if dot.inputPrecision is tt.InputPrecision.tf32x3 and not options.emu_tf32:
        return False
    return dot.inputPrecision in PART_PAIRS


def _write_out(dot: Any) -> None:
    precision = dot.inputPrecision
    is_tf32 = precision is tt.InputPrecision.tf32x3
    parts, small = PART_PAIRS[precision]
    b = _DotBuilder(dot.parent, dot, dot.loc)
    lhs, rhs = ((b.tf32_parts if is_tf32 else b.bf16_parts)(v, parts) for v in (dot.a, dot.b))
    one = tt.InputPrecision.tf32 if is_tf32 else tt.InputPrecision.ieee
    imprecise = dot.maxNumImpreciseAcc if is_tf32 else 0
    total = b.zero(dot.c.type)
    for i, j in small:
        total = b.add(tt.Dot(lhs[i], rhs[j], total, one, imprecise))
    total = b.add(tt.Dot(lhs[0], rhs[0], b.without_nan(total), one, imprecise))
    result = b.add(arith.AddF(total, dot.c))
    result.hint = dot.d.hint
    dot.replace_with([result])


class _DotBuilder(Builder):
    """A builder before a dot, with helpers for repeated operations."""

    __slots__ = ()

    def zero(self, ty: Any) -> Value:
        """A tensor of zeros."""
        return self.add(arith.Constant.create([], [ty], {"value": constant_attr(0.0, ty)}))  # type: ignore[no-any-return]

    def tf32_parts(self, value: Any, parts: int) -> list[Value]:
        """`value` as a sum: the nearest tf32, which is an f32 with trailing zeros, and the remainder."""
        big = self.add(tt.InlineAsm("cvt.rna.tf32.f32 $0, $1;", [value], "=r,r", True, 1, results_=[value.type]))
        return [big, self.add(arith.SubF(value, big))]

    def bf16_parts(self, value: Any, parts: int) -> list[Value]:
        """`value` as a sum of `parts` bf16, each the nearest to the remainder of the previous ones."""
        narrow = TensorType(value.type.shape, bf16, value.type.encoding)
        out = []
        for i in range(parts):
            out.append(self.add(arith.TruncF(value, out=narrow)))
            if i < parts - 1:
                value = self.add(arith.SubF(value, self.add(arith.ExtF(out[-1], out=value.type))))
        return out

    def without_nan(self, value: Any) -> Value:
        """`value`, with NaN replaced by 0."""
        nan = self.add(arith.CmpF(arith.CmpFPredicate.uno, value, value))
        return self.add(arith.Select(nan, self.zero(value.type), value))  # type: ignore[no-any-return]
