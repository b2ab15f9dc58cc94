"""Transfer functions of axis info, one for each operation: `rule(op, *facts of operands)`.

`axis_info` defines the facts. A rule that returns less is always correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

from ..dialects import arith, tt, ttg
from ..dialects.tt_types import PointerType
from ..ir import (
    EXTENDS,
    REARRANGES,
    ArrayAttr,
    DenseElementsAttr,
    IntegerAttr,
    TensorType,
    Type,
    element_type,
    shape_of,
)
from .axis_facts import ANY_DIVISOR, AxisInfo, constant, power_of, rank_of, sizes_of, unknown

__all__ = ["RULES"]

Rule = Callable[..., AxisInfo]
RULES: dict[type, Rule] = {}
"""By the class of the operation: the axis info of its first result."""


def rule(*classes: type) -> Callable[[Rule], Rule]:
    """Register the rule of these classes of operations."""

    def register(fn: Rule) -> Rule:
        for cls in classes:
            RULES[cls] = fn
        return fn

    return register


def _bytes(ty: Type) -> int:
    """The size in bytes of the pointee."""
    element = element_type(ty)
    pointee = element.pointee if isinstance(element, PointerType) else None
    return max(1, getattr(pointee, "width", 64) // 8)


def _groups(a: AxisInfo, b: AxisInfo) -> list[int]:
    """Aligned groups in which both are constant."""
    return [gcd(x, y) for x, y in zip(a.constancy, b.constancy)]


def _folded(op: Any, fold: Callable[[int, int], int], a: AxisInfo, b: AxisInfo) -> AxisInfo | None:
    if a.constant is None or b.constant is None:
        return None
    ty = op.results[0].type
    return constant(IntegerAttr(fold(a.constant, b.constant), element_type(ty)).value, ty)


def _signs(*facts: AxisInfo) -> tuple[bool, bool]:
    """`nonnegative` and `shifted` of an operation that subtracts nothing."""
    return all(f.nonnegative for f in facts), any(f.shifted for f in facts)


def _sum(a: AxisInfo, b: AxisInfo, *, scale: int = 1) -> AxisInfo:
    """a + scale * b: contiguous where one operand is contiguous and the other constant."""
    contiguity, divisibility = [], []
    for i in range(a.rank):
        rising = max(gcd(a.contiguity[i], b.constancy[i]), gcd(a.constancy[i], b.contiguity[i]))
        contiguity.append(rising)
        divisor = gcd(a.divisor(i, rising), b.divisor(i, rising) * scale)
        if rising == 1 and a.contiguity[i] > 1 and b.contiguity[i] > 1 and scale == 1:
            # Both rise: the sum of their starts, and twice the way from there.
            divisor = gcd(2, gcd(a.divisibility[i], b.divisibility[i]))
        divisibility.append(divisor)
    return AxisInfo(contiguity, divisibility, _groups(a, b), None, *_signs(a, b))


def _difference(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """a - b: contiguous where a is contiguous and b constant, constant where both are contiguous."""
    contiguity, divisibility, constancy = [], [], _groups(a, b)
    for i in range(a.rank):
        rising, both = gcd(a.contiguity[i], b.constancy[i]), gcd(a.contiguity[i], b.contiguity[i])
        contiguity.append(rising)
        constancy[i] = max(constancy[i], both)
        step = max(rising, both)  # a value constant within a group equals that at the group's start
        divisibility.append(gcd(a.divisor(i, step), b.divisor(i, step)))
    return AxisInfo(contiguity, divisibility, constancy, None, False, True)


@rule(arith.Constant)
def _constant(op: Any) -> AxisInfo:
    attr, ty = op.attributes["value"], op.results[0].type
    if isinstance(attr, DenseElementsAttr) and attr.is_splat:
        attr = attr.splat
    if isinstance(attr, IntegerAttr):
        return constant(attr.value, ty)
    facts = unknown(ty)
    splat = not isinstance(attr, DenseElementsAttr)
    return AxisInfo(facts.contiguity, facts.divisibility, sizes_of(ty) if splat else facts.constancy)


@rule(tt.MakeRange)
def _make_range(op: Any) -> AxisInfo:
    size = op.end - op.start
    return AxisInfo([power_of(size)], [power_of(op.start)], [1], None, op.start >= 0, op.start < 0)


@rule(tt.GetProgramId, tt.GetNumPrograms)
def _index(op: Any) -> AxisInfo:
    return AxisInfo([1], [1], [1], None, True)


@rule(arith.AddI)
def _add(op: Any, *known: AxisInfo) -> AxisInfo:
    return _folded(op, lambda x, y: x + y, *known) or _sum(*known)


@rule(arith.SubI)
def _sub(op: Any, *known: AxisInfo) -> AxisInfo:
    return _folded(op, lambda x, y: x - y, *known) or _difference(*known)


@rule(tt.AddPtr)
def _add_pointer(op: Any, *known: AxisInfo) -> AxisInfo:
    return _sum(*known, scale=_bytes(op.results[0].type))


@rule(arith.MulI)
def _mul(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """a * b: a where b is 1; otherwise not contiguous, with the divisors of both operands multiplied."""
    folded = _folded(op, lambda x, y: x * y, a, b)
    if folded is not None:
        return folded
    if a.constant == 1 or b.constant == 1:
        return b if a.constant == 1 else a
    ones = [1] * a.rank
    divisibility = [min(ANY_DIVISOR, a.divisor(i, 1) * b.divisor(i, 1)) for i in range(a.rank)]
    return AxisInfo(ones, divisibility, _groups(a, b), None, *_signs(a, b))


@rule(arith.ShLI)
def _shift_left(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    if b.constant == 0:
        return a
    by = b.constant if b.constant is not None and 0 < b.constant < 62 else 0
    if by and a.constant is not None:
        ty = op.results[0].type
        return constant(IntegerAttr(a.constant << by, element_type(ty)).value, ty)
    divisibility = [min(ANY_DIVISOR, a.divisor(i, 1) << by) for i in range(a.rank)]
    return AxisInfo([1] * a.rank, divisibility, _groups(a, b), None, *_signs(a))


def _is_nonzero(value: Any, depth: int = 16) -> bool:
    """Whether an integer is known not to be 0, which every integer divides: x // 0 is x, and x % 0 is 0.

    So are constants, arguments of kernels that are known to be divisible (launches take 0 for a number of its own,
    `runtime/specialize`), and products of these. No more than `depth` operations are looked through.
    """
    op = value.defining_op
    if op is None:
        return _is_nonzero_argument(value, depth)
    if isinstance(op, arith.Constant):
        return bool(op.splat_value())
    if depth and op.traits & (REARRANGES | EXTENDS):
        return all(_is_nonzero(v, depth - 1) for v in op.operands)
    if depth and isinstance(op, (arith.MulI, arith.Select)):
        return all(_is_nonzero(v, depth // 2) for v in op.operands[-2:])
    return False


def _is_nonzero_argument(value: Any, depth: int) -> bool:
    owner, number = value.block.parent_op, value.index
    if depth and isinstance(owner, ttg.WarpSpecializePartitions):
        return _is_nonzero(owner.operands[number], depth - 1)
    given = owner.attributes.get("arg_attrs") if isinstance(owner, tt.Func) and value.block is owner.entry else None
    hints = given.elements if isinstance(given, ArrayAttr) else ()
    return number < len(hints) and "tt.divisibility" in dict(hints[number].entries)


def _quotient(a: AxisInfo, b: AxisInfo, nonzero: bool = True) -> AxisInfo:
    """floor(a / b): constant in a contiguous group that starts at a multiple of g, if g divides b.

    Where all of `a` is a multiple of the constant power of two b, what divides the quotient is left over.
    """
    if b.constant == 1:
        return a
    contiguity, divisibility, constancy = [], [], []
    for i in range(a.rank):
        within = gcd(gcd(a.contiguity[i], a.divisibility[i]), gcd(b.divisor(i, 1), b.constancy[i])) if nonzero else 1
        constancy.append(max(gcd(a.constancy[i], b.constancy[i]), within))
        contiguity.append(1)
        by = b.constant if b.constant is not None and b.constant > 0 else 0
        # The group's first element is a multiple of d, so is (d / by) of the quotient, which the group shares.
        exact = by == power_of(by) and a.divisibility[i] % by == 0 and by % a.contiguity[i] == 0 if by else False
        divisibility.append(a.divisibility[i] // by if exact else 1)
    falls = b.constant is not None and b.constant < 0
    return AxisInfo(contiguity, divisibility, constancy, None, a.nonnegative and b.nonnegative, a.shifted or falls)


@rule(arith.DivSI, arith.DivUI, arith.FloorDivSI)
def _divide(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    if b.constant == 0:
        return unknown(op.results[0].type)
    if a.nonnegative and b.nonnegative:
        folded = _folded(op, lambda x, y: x // y, a, b)
        if folded is not None:
            return folded
    if not a.shifted or op.__class__ is not arith.DivSI or b.constant == 1:
        # whatever the sign of b: the quotients of groups only change theirs
        return _quotient(a, b, _is_nonzero(op.operands[1]))
    out = _elementwise(op, [a, b])
    if b.constant is not None and b.constant == power_of(b.constant):
        # Where nothing remains there is nothing to round.
        divisors = [max(1, a.divisor(i, 1) // b.constant) for i in range(a.rank)]
        return AxisInfo(out.contiguity, divisors, out.constancy, None, False, True)
    return out


@rule(arith.ShRSI, arith.ShRUI)
def _shift_right(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    if b.constant is not None and 0 <= b.constant < 62 and (not a.shifted or op.__class__ is arith.ShRSI):
        divisor = constant(1 << b.constant, op.operands[1].type)
        folded = _folded(op, lambda x, y: x // y, a, divisor) if a.nonnegative else None
        return folded or _quotient(a, divisor)
    return _elementwise(op, [a, b])


def _remainder(a: AxisInfo, b: AxisInfo, nonnegative: bool, nonzero: bool = True) -> AxisInfo:
    """a mod b: a contiguous group that starts at a multiple of g stays contiguous, if g divides b."""
    contiguity, divisibility = [], []
    for i in range(a.rank):
        rising = gcd(gcd(a.contiguity[i], a.divisibility[i]), gcd(b.divisor(i, 1), b.constancy[i])) if nonzero else 1
        contiguity.append(rising)
        divisibility.append(gcd(a.divisor(i, rising), b.divisor(i, 1)))
    return AxisInfo(contiguity, divisibility, _groups(a, b), None, nonnegative, a.shifted)


@rule(arith.RemSI, arith.RemUI)
def _rem(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    if b.constant == 1:
        return constant(0, op.results[0].type)
    if b.constant != 0 and (not a.shifted or op.__class__ is arith.RemUI):
        folded = _folded(op, lambda x, y: x % y, a, b) if a.nonnegative and b.nonnegative else None
        return folded or _remainder(a, b, a.nonnegative, _is_nonzero(op.operands[1]))
    return _elementwise(op, [a, b], divisible=True)


def _elementwise(op: Any, known: Sequence[AxisInfo], divisible: bool = False) -> AxisInfo:
    """An elementwise function is constant where its operands are.

    `divisible`: it is a multiple of what divides all operands.
    """
    ty = op.results[0].type
    rank = rank_of(ty)
    constancy = [1] * rank
    matching = [k for k in known if k.rank == rank]
    for i in range(rank if matching else 0):
        constancy[i] = gcd(*[k.constancy[i] for k in matching])
    divisors = [1] * rank
    if divisible:
        divisors = [gcd(*[k.divisor(i, 1) for k in matching]) for i in range(rank)]
    return AxisInfo([1] * rank, divisors, constancy, None, False, any(k.shifted for k in known))


@rule(arith.MaxSI, arith.MinSI, arith.MaxUI, arith.MinUI)
def _extreme(op: Any, *known: AxisInfo) -> AxisInfo:
    if op.__class__ in (arith.MaxSI, arith.MinSI):
        folded = _folded(op, max if op.__class__ is arith.MaxSI else min, *known)
        if folded is not None:
            return folded
    # Of two that rise together, one is the greater all along.
    joined = known[0].join(known[1])
    if op.__class__ is arith.MaxSI and any(k.nonnegative for k in known):
        return AxisInfo(joined.contiguity, joined.divisibility, joined.constancy, joined.constant, True)
    return joined


@rule(arith.AndI)
def _and(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """x & (2^k - 1) is x mod 2^k for any sign; trailing zeros of either operand are trailing zeros of the result."""
    folded = _folded(op, lambda x, y: x & y, a, b)
    if folded is not None:
        return folded
    mask, rest = (b.constant, a) if b.constant is not None else (a.constant, b)
    if mask is not None and mask >= 0 and mask + 1 == power_of(mask + 1):
        return _remainder(rest, constant(mask + 1, op.operands[0].type), True)
    out = _elementwise(op, [a, b])
    divisors = [max(a.divisor(i, 1), b.divisor(i, 1)) for i in range(a.rank)]
    return AxisInfo(out.contiguity, divisors, out.constancy, None, a.nonnegative or b.nonnegative, out.shifted)


@rule(arith.OrI, arith.XOrI)
def _or(op: Any, *known: AxisInfo) -> AxisInfo:
    out = _elementwise(op, known, divisible=True)
    out.nonnegative = all(k.nonnegative for k in known)
    return out


_BELOW = {"slt", "sge", "ult", "uge"}
_ABOVE = {"sle", "sgt", "ule", "ugt"}


@rule(arith.CmpI)
def _compare(op: Any, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """x < b for contiguous x: constant in a group of g that starts at a multiple of g, if g divides b."""
    name = op.predicate.name
    rising, fixed = (a, b) if name in _BELOW else (b, a)
    constancy = _groups(a, b)
    if name in _BELOW or name in _ABOVE:
        for i in range(a.rank):
            group = gcd(gcd(rising.contiguity[i], rising.divisibility[i]), fixed.constancy[i])
            constancy[i] = max(constancy[i], gcd(group, fixed.divisor(i, 1)))
    ones = [1] * a.rank
    return AxisInfo(ones, ones, constancy)


@rule(arith.Select)
def _select(op: Any, condition: AxisInfo, a: AxisInfo, b: AxisInfo) -> AxisInfo:
    if condition.constant is not None:
        return a if condition.constant else b
    joined = a.join(b)
    if condition.rank != a.rank or not shape_of(op.operands[0].type):
        return joined  # one choice for all elements
    contiguity = [gcd(c, k) for c, k in zip(joined.contiguity, condition.constancy)]
    divisibility = [gcd(a.divisor(i, c), b.divisor(i, c)) for i, c in enumerate(contiguity)]
    constancy = [gcd(c, k) for c, k in zip(joined.constancy, condition.constancy)]
    return joined.arranged(contiguity, divisibility, constancy)


@rule(arith.ExtSI, arith.ExtUI, arith.IndexCast, arith.IndexCastUI, tt.IntToPtr, tt.PtrToInt)
def _same(op: Any, a: AxisInfo) -> AxisInfo:
    """The same integers in another type; a pointer cast to an integer counts bytes."""
    pointers = op.__class__ in (tt.IntToPtr, tt.PtrToInt)
    if pointers and _bytes((op.results if op.__class__ is tt.IntToPtr else op.operands)[0].type) != 1:
        divisors = [a.divisor(i, 1) for i in range(a.rank)]
        return a.arranged([1] * a.rank, divisors, a.constancy)
    if op.__class__ is arith.ExtUI and not a.nonnegative:
        return AxisInfo(a.contiguity, a.divisibility, a.constancy, None, True)
    return a


@rule(ttg.ConvertLayout)
def _convert_layout(op: Any, a: AxisInfo) -> AxisInfo:
    return a


@rule(arith.TruncI)
def _truncate(op: Any, a: AxisInfo) -> AxisInfo:
    width = element_type(op.results[0].type).width  # type: ignore[attr-defined]
    if a.constant is not None:
        return constant(IntegerAttr(a.constant, element_type(op.results[0].type)).value, op.results[0].type)
    # Higher multiples than the type can hold are zero in it.
    wraps = 1 << width
    divisors = [ANY_DIVISOR if d >= wraps else d for d in a.divisibility]
    return AxisInfo([min(c, wraps) for c in a.contiguity], divisors, a.constancy)


@rule(arith.Bitcast, tt.Bitcast)
def _bitcast(op: Any, a: AxisInfo) -> AxisInfo:
    """The same bits; pointers are contiguous in the new pointees only if these have the same size."""
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    if isinstance(source, PointerType) and isinstance(target, PointerType):
        if _bytes(op.operands[0].type) == _bytes(op.results[0].type):
            return a
        return AxisInfo([1] * a.rank, [a.divisor(i, 1) for i in range(a.rank)], a.constancy)
    return _elementwise(op, [a])


@rule(tt.Splat)
def _splat(op: Any, a: AxisInfo) -> AxisInfo:
    ty = op.results[0].type
    return a.arranged([1] * rank_of(ty), [a.element_divisor()] * rank_of(ty), sizes_of(ty))


@rule(tt.Unsplat)
def _unsplat(op: Any, a: AxisInfo) -> AxisInfo:
    return a.arranged([1], [a.element_divisor()], [1])


@rule(tt.ExpandDims)
def _expand_dims(op: Any, a: AxisInfo) -> AxisInfo:
    axis = op.axis

    def insert(values: Sequence[int], new: int) -> list[int]:
        return [*values[:axis], new, *values[axis:]]

    divisibility = insert(a.divisibility, a.element_divisor())
    return a.arranged(insert(a.contiguity, 1), divisibility, insert(a.constancy, 1))


@rule(tt.Broadcast)
def _broadcast(op: Any, a: AxisInfo) -> AxisInfo:
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    constancy = [k if m == n else power_of(n) for k, m, n in zip(a.constancy, before, after)]
    return a.arranged(a.contiguity, a.divisibility, constancy)


@rule(tt.Trans)
def _trans(op: Any, a: AxisInfo) -> AxisInfo:
    order = op.order
    parts = [[part[d] for d in order] for part in (a.contiguity, a.divisibility, a.constancy)]
    return a.arranged(*parts)


@rule(tt.Reshape)
def _reshape(op: Any, a: AxisInfo) -> AxisInfo:
    """Elements keep their row-major order: a run along the last axis is one along the last axis of the result."""
    ty = op.results[0].type
    before, after = shape_of(op.operands[0].type), shape_of(ty)
    if list(a.constancy) == [power_of(n) for n in before]:  # all elements are equal
        return a.arranged([1] * len(after), [a.element_divisor()] * len(after), sizes_of(ty))
    out = unknown(ty)
    if not after or not before or op.allow_reorder:
        return out
    contiguity, divisibility, constancy = list(out.contiguity), [a.element_divisor()] * len(after), list(out.constancy)
    contiguity[-1] = gcd(a.contiguity[-1], after[-1])
    divisibility[-1] = a.divisor(a.rank - 1, contiguity[-1])
    constancy[-1] = gcd(a.constancy[-1], after[-1])
    return a.arranged(contiguity, divisibility, constancy)


@rule(tt.Load)
def _load(op: Any, *known: AxisInfo) -> AxisInfo:
    """A load is constant where its addresses, its mask and its other values are constant."""
    ty = op.results[0].type
    if isinstance(ty, TensorType) and not isinstance(op.operands[0].type, TensorType):
        return unknown(ty)  # through a block pointer
    return _elementwise(op, known)
