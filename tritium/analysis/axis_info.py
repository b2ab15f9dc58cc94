"""What is known of the integers and addresses in a tensor along each of its axes: the facts that vector access needs.

For each axis, with the indices of the other axes held still:

- contiguity c: the axis falls into aligned groups of c elements, and within a group each is one more than the one
  before (an address: one pointee further);
- divisibility d: the first element of each such group is a multiple of d (an address: in bytes);
- constancy k: the axis falls into aligned groups of k elements that are equal.

All three are powers of two. With contiguity 1 every element starts its own group, so every element is a multiple of d.
A scalar has one axis of one element. Beyond that, a value may be one known constant, and it may be known not to be
negative, without which nothing could be said of signed division, which rounds towards zero:

    %0 = tt.make_range {start = 0, end = 64}         contiguity 64, divisibility 2^62, constancy 1
    %1 = arith.divsi %0, 16                          contiguity 1, divisibility 1, constancy 16
    %2 = arith.muli %1, 32                           contiguity 1, divisibility 32, constancy 16
    %3 = arith.remsi %0, 16                          contiguity 16, divisibility 16, constancy 1
    %4 = arith.addi %2, %3                           contiguity 16, divisibility 16, constancy 1

Two things are assumed that a program might break: additions and products of indices do not overflow (as in Triton's
analysis of the same name), and hints such as `tt.divisibility` say the truth. Facts are found by going through a
function until nothing changes, loops from the best assumption downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd
from typing import Any

from ..dialects import arith, cf, scf, tt
from ..dialects.tt_types import PointerType
from ..ir import (
    ArrayAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    IntegerAttr,
    Operation,
    TensorType,
    Type,
    Value,
    element_type,
    shape_of,
)

__all__ = ["ANY_DIVISOR", "AxisInfo", "AxisInfoAnalysis"]

ANY_DIVISOR = 1 << 62
"""The divisibility of zero: every power of two divides it."""

_HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")


def _power_of(n: int) -> int:
    """The largest power of two that divides n."""
    return n & -n if n else ANY_DIVISOR


class AxisInfo:
    """The facts about one value; see the module's text. `constant`: the one value that all elements have, or None."""

    __slots__ = ("constancy", "constant", "contiguity", "divisibility", "nonnegative")

    def __init__(
        self,
        contiguity: Sequence[int],
        divisibility: Sequence[int],
        constancy: Sequence[int],
        constant: int | None = None,
        nonnegative: bool = False,
    ) -> None:
        self.contiguity = tuple(contiguity)
        self.divisibility = tuple(divisibility)
        self.constancy = tuple(constancy)
        self.constant = constant
        self.nonnegative = nonnegative

    @property
    def rank(self) -> int:
        """The number of axes, 1 for a scalar."""
        return len(self.contiguity)

    def _key(self) -> tuple[Any, ...]:
        return self.contiguity, self.divisibility, self.constancy, self.constant, self.nonnegative

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AxisInfo) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = [f"contiguity = {list(self.contiguity)}", f"divisibility = {list(self.divisibility)}"]
        parts.append(f"constancy = {list(self.constancy)}")
        if self.constant is not None:
            parts.append(f"constant = {self.constant}")
        return ", ".join(parts)

    def divisor(self, axis: int, step: int) -> int:
        """What divides each element that stands at a multiple of `step` along the axis."""
        group, d = self.contiguity[axis], self.divisibility[axis]
        return d if step % group == 0 else gcd(d, step)

    def element_divisor(self) -> int:
        """What divides every element."""
        return max(self.divisor(axis, 1) for axis in range(self.rank))

    def join(self, other: AxisInfo) -> AxisInfo:
        """What holds of a value that is this one or the other."""
        contiguity = [gcd(a, b) for a, b in zip(self.contiguity, other.contiguity)]
        divisibility = [gcd(self.divisor(i, c), other.divisor(i, c)) for i, c in enumerate(contiguity)]
        constancy = [gcd(a, b) for a, b in zip(self.constancy, other.constancy)]
        constant = self.constant if self.constant == other.constant else None
        return AxisInfo(contiguity, divisibility, constancy, constant, self.nonnegative and other.nonnegative)


def unknown(ty: Type) -> AxisInfo:
    """Nothing is known of a value of this type, but that an axis of one element is constant."""
    ones = [1] * _rank(ty)
    return AxisInfo(ones, ones, ones)


def constant(value: int, ty: Type) -> AxisInfo:
    """All elements are `value`."""
    rank = _rank(ty)
    return AxisInfo([1] * rank, [_power_of(value)] * rank, _sizes(ty), value, value >= 0)


def _rank(ty: Type) -> int:
    return max(1, len(shape_of(ty)))


def _sizes(ty: Type) -> list[int]:
    """The longest group of equal elements that each axis can have."""
    return [_power_of(n) for n in shape_of(ty)] or [1]


def _bytes(ty: Type) -> int:
    """How far apart in memory neighbours are that pointers of this type point to."""
    element = element_type(ty)
    pointee = element.pointee if isinstance(element, PointerType) else None
    return max(1, getattr(pointee, "width", 64) // 8)


Rule = Callable[["AxisInfoAnalysis", Any], "AxisInfo | None"]
_RULES: dict[type, Rule] = {}


def rule(*classes: type) -> Callable[[Rule], Rule]:
    """Register what gives the facts about the result of operations of these classes."""

    def register(fn: Rule) -> Rule:
        for cls in classes:
            _RULES[cls] = fn
        return fn

    return register


class AxisInfoAnalysis:
    """The facts about all integers and pointers of a function. `of(value)` asks; a value never computed is unknown."""

    def __init__(self, func: Operation) -> None:
        self.infos: dict[Value, AxisInfo] = {}
        self.changed = False
        for region in func.regions:
            for block in region.blocks[:1]:
                given = func.attributes.get("arg_attrs") if isinstance(func, tt.Func) else None
                hints = given.elements if isinstance(given, ArrayAttr) else ()
                for i, argument in enumerate(block.args):
                    self.infos[argument] = _hinted(unknown(argument.type), hints[i] if i < len(hints) else None)
        while True:
            self.changed = False
            for region in func.regions:
                self._region(region)
            if not self.changed:
                break

    def of(self, value: Value) -> AxisInfo:
        """The facts about a value."""
        found = self.infos.get(value)
        return unknown(value.type) if found is None else found

    def known(self, operands: Iterable[Value]) -> list[AxisInfo] | None:
        """The facts about operands; None while one of them is not computed."""
        out = [self.infos.get(v) for v in operands]
        return None if None in out else out  # type: ignore[return-value]

    # -- going through a function ---------------------------------------------------------------------------------

    def _set(self, value: Value, info: AxisInfo | None) -> None:
        if info is not None and self.infos.get(value) != info:
            self.infos[value] = info
            self.changed = True

    def _join(self, value: Value, info: AxisInfo | None) -> None:
        old = self.infos.get(value)
        self._set(value, info if old is None or info is None else old.join(info))

    def _join_all(self, values: Iterable[Value], sources: Iterable[Value]) -> None:
        for value, source in zip(values, sources):
            self._join(value, self.infos.get(source))

    def _region(self, region: Any) -> None:
        for block in region.blocks:
            for op in block:
                self._operation(op)

    def _operation(self, op: Operation) -> None:
        flow = _FLOW.get(op.__class__)
        if flow is not None:
            flow(self, op)
            return
        found = _RULES.get(op.__class__)
        if found is not None:
            info = found(self, op)
            if info is not None:
                self._set(op.results[0], _hinted(info, op.attributes))
            for result in op.results[1:]:
                self._set(result, unknown(result.type))
            return
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    self._set(argument, unknown(argument.type))
            self._region(region)
        for result in op.results:
            self._set(result, _hinted(unknown(result.type), op.attributes))

    def _for(self, op: Any) -> None:
        body = op.body
        bounds = self.known([op.operands[0], op.step])
        if bounds is not None:
            low, step = bounds
            steps = low.nonnegative and step.nonnegative
            divisibility = [gcd(low.element_divisor(), step.element_divisor())]
            self._join(body.args[0], AxisInfo([1], divisibility, [1], None, steps))
        self._join_all(body.args[1:], op.init_args)
        self._region(op.regions[0])
        self._join_all(body.args[1:], body.last.operands)
        self._join_all(op.results, op.init_args)
        self._join_all(op.results, body.last.operands)

    def _if(self, op: Any) -> None:
        for region in op.regions:
            self._region(region)
            for block in region.blocks:
                self._join_all(op.results, block.last.operands)

    def _while(self, op: Any) -> None:
        before, after = op.before_block, op.after_block
        self._join_all(before.args, op.inits)
        self._region(op.regions[0])
        self._join_all(after.args, before.last.args)
        self._join_all(op.results, before.last.args)
        self._region(op.regions[1])
        self._join_all(before.args, after.last.operands)

    def _branch(self, op: Any) -> None:
        self._join_all(op.dest.args, op.dest_operands)

    def _conditional_branch(self, op: Any) -> None:
        self._join_all(op.true_dest.args, op.true_operands)
        self._join_all(op.false_dest.args, op.false_operands)


_FLOW: dict[type, Callable[[AxisInfoAnalysis, Any], None]] = {
    scf.For: AxisInfoAnalysis._for,
    scf.If: AxisInfoAnalysis._if,
    scf.While: AxisInfoAnalysis._while,
    cf.Br: AxisInfoAnalysis._branch,
    cf.CondBr: AxisInfoAnalysis._conditional_branch,
}


def _hint(attribute: Any, rank: int) -> tuple[int, ...] | None:
    """The numbers of a hint, one for each axis; None where there is none, or for another number of axes."""
    if isinstance(attribute, IntegerAttr):
        return (attribute.value,) * rank
    values = attribute.values if isinstance(attribute, (DenseArrayAttr, DenseElementsAttr)) else ()
    if isinstance(attribute, DenseElementsAttr) and attribute.is_splat:
        values = values * rank
    return tuple(values) if len(values) == rank else None


def _hinted(info: AxisInfo, attributes: Any) -> AxisInfo:
    """The facts, made stronger by what the program says of them."""
    given = [_hint(attributes.get(name), info.rank) if attributes else None for name in _HINTS]
    if not any(given):
        return info
    parts = []
    for known, said in zip((info.contiguity, info.divisibility, info.constancy), given):
        parts.append(known if said is None else [max(k, _power_of(s)) for k, s in zip(known, said)])
    return AxisInfo(*parts, info.constant, info.nonnegative)


# -- rules --------------------------------------------------------------------------------------------------------


def _groups(a: AxisInfo, b: AxisInfo) -> list[int]:
    """Aligned groups in which both are constant."""
    return [gcd(x, y) for x, y in zip(a.constancy, b.constancy)]


def _folded(op: Any, a: AxisInfo, b: AxisInfo, fold: Callable[[int, int], int]) -> AxisInfo | None:
    if a.constant is None or b.constant is None:
        return None
    return constant(fold(a.constant, b.constant), op.results[0].type)


def _sum(a: AxisInfo, b: AxisInfo, scale: int = 1) -> AxisInfo:
    """a + scale * b, whose neighbours are `scale` apart: where one rises and the other stands, the sum rises."""
    contiguity, divisibility = [], []
    for i in range(a.rank):
        rising = max(gcd(a.contiguity[i], b.constancy[i]), gcd(a.constancy[i], b.contiguity[i]))
        contiguity.append(rising)
        divisor = gcd(a.divisor(i, rising), b.divisor(i, rising) * scale)
        if rising == 1 and a.contiguity[i] > 1 and b.contiguity[i] > 1 and scale == 1:
            # Both rise: the sum of their starts, and twice the way from there.
            divisor = gcd(2, gcd(a.divisibility[i], b.divisibility[i]))
        divisibility.append(divisor)
    return AxisInfo(contiguity, divisibility, _groups(a, b), None, a.nonnegative and b.nonnegative)


def _difference(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """a - b rises where b stands, and stands where both rise."""
    contiguity, divisibility, constancy = [], [], _groups(a, b)
    for i in range(a.rank):
        rising, both = gcd(a.contiguity[i], b.constancy[i]), gcd(a.contiguity[i], b.contiguity[i])
        contiguity.append(rising)
        constancy[i] = max(constancy[i], both)
        step = max(rising, both)  # what stands within a group is, all along, what it is at the group's start
        divisibility.append(gcd(a.divisor(i, step), b.divisor(i, step)))
    return AxisInfo(contiguity, divisibility, constancy)


@rule(arith.Constant)
def _constant(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo:
    attr, ty = op.attributes["value"], op.results[0].type
    if isinstance(attr, DenseElementsAttr) and attr.is_splat:
        attr = attr.splat
    if isinstance(attr, IntegerAttr):
        return constant(attr.value, ty)
    facts = unknown(ty)
    splat = not isinstance(attr, DenseElementsAttr)
    return AxisInfo(facts.contiguity, facts.divisibility, _sizes(ty) if splat else facts.constancy)


@rule(tt.MakeRange)
def _make_range(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo:
    size = op.end - op.start
    return AxisInfo([_power_of(size)], [gcd(_power_of(op.start), ANY_DIVISOR)], [1], None, op.start >= 0)


@rule(tt.GetProgramId, tt.GetNumPrograms)
def _index(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo:
    return AxisInfo([1], [1], [1], None, True)


@rule(arith.AddI)
def _add(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    return known and (_folded(op, *known, lambda x, y: x + y) or _sum(*known))


@rule(arith.SubI)
def _sub(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    return known and (_folded(op, *known, lambda x, y: x - y) or _difference(*known))


@rule(tt.AddPtr)
def _add_pointer(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    return known and _sum(*known, scale=_bytes(op.results[0].type))


@rule(arith.MulI)
def _mul(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """A product by one is its factor; any other is spread out, and divisible by what divides its factors."""
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
    folded = _folded(op, a, b, lambda x, y: x * y)
    if folded is not None:
        return folded
    if a.constant == 1 or b.constant == 1:
        return b if a.constant == 1 else a
    ones = [1] * a.rank
    divisibility = [min(ANY_DIVISOR, a.divisor(i, 1) * b.divisor(i, 1)) for i in range(a.rank)]
    return AxisInfo(ones, divisibility, _groups(a, b), None, a.nonnegative and b.nonnegative)


@rule(arith.ShLI)
def _shift_left(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
    if b.constant == 0:
        return a
    by = b.constant if b.constant is not None and 0 < b.constant < 62 else 0
    if by and a.constant is not None:
        return constant(a.constant << by, op.results[0].type)
    divisibility = [min(ANY_DIVISOR, a.divisor(i, 1) << by) for i in range(a.rank)]
    return AxisInfo([1] * a.rank, divisibility, _groups(a, b), None, a.nonnegative)


def _quotient(a: AxisInfo, b: AxisInfo, nonnegative: bool) -> AxisInfo:
    """floor(a / b): a rising group that starts at a multiple of g stays within one multiple of b if g divides b.

    Where all of `a` is a multiple of the constant power of two b, what divides the quotient is left over.
    """
    if b.constant == 1:
        return a
    contiguity, divisibility, constancy = [], [], []
    for i in range(a.rank):
        within = gcd(gcd(a.contiguity[i], a.divisibility[i]), gcd(b.divisor(i, 1), b.constancy[i]))
        constancy.append(max(gcd(a.constancy[i], b.constancy[i]), within))
        contiguity.append(1)
        by = b.constant if b.constant is not None and b.constant > 0 else 0
        # The group's first element is a multiple of d, so is (d / by) of the quotient, which the group shares.
        exact = by == _power_of(by) and a.divisibility[i] % by == 0 and by % a.contiguity[i] == 0 if by else False
        divisibility.append(a.divisibility[i] // by if exact else 1)
    return AxisInfo(contiguity, divisibility, constancy, None, nonnegative)


@rule(arith.DivSI, arith.DivUI, arith.FloorDivSI)
def _divide(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
    positive = a.nonnegative and b.nonnegative
    if b.constant == 0:
        return unknown(op.results[0].type)
    if positive or (b.constant == 1 and op.__class__ is not arith.DivUI):
        folded = _folded(op, a, b, lambda x, y: x // y)
        return folded or _quotient(a, b, positive)
    out = _elementwise(op, known)
    if b.constant is not None and op.__class__ is not arith.DivUI and b.constant == _power_of(b.constant):
        # Where nothing remains there is nothing to round.
        divisors = [max(1, a.divisor(i, 1) // b.constant) for i in range(a.rank)]
        return AxisInfo(out.contiguity, divisors, out.constancy)
    return out


@rule(arith.ShRSI, arith.ShRUI)
def _shift_right(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
    if b.constant is not None and 0 <= b.constant < 62 and (a.nonnegative or op.__class__ is arith.ShRSI):
        divisor = constant(1 << b.constant, op.operands[1].type)
        return _folded(op, a, divisor, lambda x, y: x // y) or _quotient(a, divisor, a.nonnegative)
    return _elementwise(op, known)


def _remainder(a: AxisInfo, b: AxisInfo, nonnegative: bool) -> AxisInfo:
    """a mod b: a rising group that starts at a multiple of g, g dividing b, goes on rising from a multiple of g."""
    contiguity, divisibility = [], []
    for i in range(a.rank):
        rising = gcd(gcd(a.contiguity[i], a.divisibility[i]), gcd(b.divisor(i, 1), b.constancy[i]))
        contiguity.append(rising)
        divisibility.append(gcd(a.divisor(i, rising), b.divisor(i, 1)))
    return AxisInfo(contiguity, divisibility, _groups(a, b), None, nonnegative)


@rule(arith.RemSI, arith.RemUI)
def _rem(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
    if b.constant == 1:
        return constant(0, op.results[0].type)
    if a.nonnegative and b.nonnegative and b.constant != 0:
        return _folded(op, a, b, lambda x, y: x % y) or _remainder(a, b, True)
    return _elementwise(op, known, divisible=True)


def _elementwise(op: Any, known: Sequence[AxisInfo], divisible: bool = False) -> AxisInfo:
    """A function of each element alone is constant where its operands are.

    `divisible`: it is a multiple of what divides all operands.
    """
    ty = op.results[0].type
    rank = _rank(ty)
    constancy = [1] * rank
    matching = [k for k in known if k.rank == rank]
    for i in range(rank if matching else 0):
        constancy[i] = gcd(*[k.constancy[i] for k in matching])
    divisors = [1] * rank
    if divisible:
        divisors = [gcd(*[k.divisor(i, 1) for k in matching]) for i in range(rank)]
    return AxisInfo([1] * rank, divisors, constancy)


@rule(arith.MaxSI, arith.MinSI, arith.MaxUI, arith.MinUI)
def _extreme(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    if op.__class__ in (arith.MaxSI, arith.MinSI):
        folded = _folded(op, *known, max if op.__class__ is arith.MaxSI else min)
        if folded is not None:
            return folded
    # Of two that rise together, one is the greater all along.
    joined = known[0].join(known[1])
    one = op.__class__ is arith.MaxSI and any(k.nonnegative for k in known)
    return AxisInfo(
        joined.contiguity, joined.divisibility, joined.constancy, joined.constant, one or joined.nonnegative
    )


@rule(arith.AndI)
def _and(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """x & (2^k - 1) is the remainder by 2^k, whatever the sign; zeros at the end of either are zeros of both."""
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
    folded = _folded(op, a, b, lambda x, y: x & y)
    if folded is not None:
        return folded
    mask, rest = (b.constant, a) if b.constant is not None else (a.constant, b)
    if mask is not None and mask >= 0 and mask + 1 == _power_of(mask + 1):
        return _remainder(rest, constant(mask + 1, op.operands[0].type), True)
    out = _elementwise(op, known)
    divisors = [max(a.divisor(i, 1), b.divisor(i, 1)) for i in range(a.rank)]
    return AxisInfo(out.contiguity, divisors, out.constancy, None, a.nonnegative or b.nonnegative)


@rule(arith.OrI, arith.XOrI)
def _or(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    out = _elementwise(op, known, divisible=True)
    out.nonnegative = all(k.nonnegative for k in known)
    return out


_BELOW = {"slt", "sge", "ult", "uge"}
_ABOVE = {"sle", "sgt", "ule", "ugt"}


@rule(arith.CmpI)
def _compare(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """x < b for rising x: alike in a group of g that starts at a multiple of g, where g divides b."""
    known = analysis.known(op.operands)
    if known is None:
        return None
    a, b = known
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
def _select(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    condition, a, b = known
    if condition.constant is not None:
        return a if condition.constant else b
    joined = a.join(b)
    if condition.rank != a.rank or not shape_of(op.operands[0].type):
        return joined  # one choice for all elements
    contiguity = [gcd(c, k) for c, k in zip(joined.contiguity, condition.constancy)]
    divisibility = [gcd(a.divisor(i, c), b.divisor(i, c)) for i, c in enumerate(contiguity)]
    constancy = [gcd(c, k) for c, k in zip(joined.constancy, condition.constancy)]
    return AxisInfo(contiguity, divisibility, constancy, joined.constant, joined.nonnegative)


@rule(arith.ExtSI, arith.ExtUI, arith.IndexCast, arith.IndexCastUI, tt.IntToPtr, tt.PtrToInt)
def _same(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """The same numbers in another type; addresses count elements of one byte at most when they become numbers."""
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,) = known
    pointers = op.__class__ in (tt.IntToPtr, tt.PtrToInt)
    if pointers and _bytes((op.results if op.__class__ is tt.IntToPtr else op.operands)[0].type) != 1:
        divisors = [a.divisor(i, 1) for i in range(a.rank)]
        return AxisInfo([1] * a.rank, divisors, a.constancy, None, a.nonnegative)
    if op.__class__ is arith.ExtUI and not a.nonnegative:
        return AxisInfo(a.contiguity, a.divisibility, a.constancy, None, True)
    return a


@rule(arith.TruncI)
def _truncate(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,) = known
    width = element_type(op.results[0].type).width  # type: ignore[attr-defined]
    if a.constant is not None:
        return constant(IntegerAttr(a.constant, element_type(op.results[0].type)).value, op.results[0].type)
    # Higher multiples than the type can hold are zero in it.
    wraps = 1 << width
    divisors = [ANY_DIVISOR if d >= wraps else d for d in a.divisibility]
    return AxisInfo([min(c, wraps) for c in a.contiguity], divisors, a.constancy)


@rule(arith.Bitcast, tt.Bitcast)
def _bitcast(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """The same bits: of pointers the same addresses, which count other elements if those have another size."""
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,) = known
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    if isinstance(source, PointerType) and isinstance(target, PointerType):
        if _bytes(op.operands[0].type) == _bytes(op.results[0].type):
            return a
        return AxisInfo([1] * a.rank, [a.divisor(i, 1) for i in range(a.rank)], a.constancy)
    return _elementwise(op, known)


@rule(tt.Splat)
def _splat(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,), ty = known, op.results[0].type
    return AxisInfo([1] * _rank(ty), [a.element_divisor()] * _rank(ty), _sizes(ty), a.constant, a.nonnegative)


@rule(tt.Unsplat)
def _unsplat(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    return known and AxisInfo([1], [known[0].element_divisor()], [1], known[0].constant, known[0].nonnegative)


@rule(tt.ExpandDims)
def _expand_dims(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,), axis = known, op.axis

    def insert(values: Sequence[int], new: int) -> list[int]:
        return [*values[:axis], new, *values[axis:]]

    divisibility = insert(a.divisibility, a.element_divisor())
    return AxisInfo(insert(a.contiguity, 1), divisibility, insert(a.constancy, 1), a.constant, a.nonnegative)


@rule(tt.Broadcast)
def _broadcast(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,) = known
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    constancy = [k if m == n else _power_of(n) for k, m, n in zip(a.constancy, before, after)]
    return AxisInfo(a.contiguity, a.divisibility, constancy, a.constant, a.nonnegative)


@rule(tt.Trans)
def _trans(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,), order = known, op.order
    parts = [[part[d] for d in order] for part in (a.contiguity, a.divisibility, a.constancy)]
    return AxisInfo(*parts, a.constant, a.nonnegative)


@rule(tt.Reshape)
def _reshape(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """Elements keep their row-major order, so a run along the last axis is one along the last axis that remains."""
    known = analysis.known(op.operands)
    if known is None:
        return None
    (a,), ty = known, op.results[0].type
    before, after = shape_of(op.operands[0].type), shape_of(ty)
    if list(a.constancy) == [_power_of(n) for n in before]:  # all elements are equal
        return AxisInfo([1] * len(after), [a.element_divisor()] * len(after), _sizes(ty), a.constant, a.nonnegative)
    out = unknown(ty)
    if not after or not before or op.allow_reorder:
        return out
    contiguity, divisibility, constancy = list(out.contiguity), [a.element_divisor()] * len(after), list(out.constancy)
    contiguity[-1] = gcd(a.contiguity[-1], after[-1])
    divisibility[-1] = a.divisor(a.rank - 1, contiguity[-1])
    constancy[-1] = gcd(a.constancy[-1], after[-1])
    return AxisInfo(contiguity, divisibility, constancy, a.constant, a.nonnegative)


@rule(tt.Load)
def _load(analysis: AxisInfoAnalysis, op: Any) -> AxisInfo | None:
    """One load reads equal addresses alike, where its mask and what stands in for masked elements are alike too."""
    known = analysis.known(op.operands)
    ty = op.results[0].type
    if known is None or (isinstance(ty, TensorType) and not isinstance(op.operands[0].type, TensorType)):
        return None if known is None else unknown(ty)
    return _elementwise(op, known)
