"""Addresses that are affine in the indices of a tile: an argument, an offset, and a step along each dimension.

    %p = %x + (%pid * 128 + [0 : 128])[:, None] * %stride + [0 : 64]
    base %x, offset %pid * 128 * %stride, steps (%stride, 1)

Offsets and steps are polynomials (`polynomials`) over scalars: arguments, program ids, induction variables of counted
loops, and any other scalar integer. They hold in the integers, without wraparound, under the `requirements` of a value:

- `Fits`: an addition or multiplication of the kernel does not overflow;
- `Divides`: a divisor of `% n` or the bound of a wrapped index is a multiple of the size of a tile.

Four forms need more than arithmetic:

- **Carried values.** `%p' = %p + %d` in a counted loop, with %d invariant: `%p` is its initial value and %d for each
  iteration so far, `(%i - %lb) / %step`.
- **Wrapped indices.** `(%s + [0 : B]) % n` is `%s % n + [0 : B]` where B divides %s and n.
- **Replaced indices.** `x = %s + [0 : B]`, `where(x < n, x, 0)` with a hint that the result has B contiguous values is
  x: all of its elements are below n where B divides n, and otherwise it would be B zeros, contrary to the hint.
- **Masks.** Conjunctions of comparisons of such values: each bounds the index of one dimension.

`limits`: where `% n` or the replacement bounds the index i of a dimension, `i < limit`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar

from ..dialects import arith, tt, ttg
from ..dialects.constraints import bit_width
from ..dialects.tt_types import PointerType
from ..ir import (
    Block,
    BlockArgument,
    CountedLoop,
    DenseElementsAttr,
    IntegerAttr,
    IntegerType,
    Operation,
    Value,
    constant_of,
    element_type,
    shape_of,
)
from .polynomials import Atoms, Polynomial

__all__ = ["Affine", "AffineAddresses", "Bound", "Divides", "Fits", "NotAffine", "Remainder", "Requirement"]

ZERO, ONE = Polynomial.of(0), Polynomial.of(1)


class NotAffine(Exception):
    """A value is not affine; `op` computes it where it is known, and the message says why."""

    def __init__(self, why: str, value: Value | None = None) -> None:
        super().__init__(why)
        self.op = None if value is None else value.defining_op


class Remainder(NamedTuple):
    """An atom: `dividend % divisor`, rounded towards zero."""

    dividend: Polynomial
    divisor: Polynomial


class Fits(NamedTuple):
    """`offset + Σ steps[d] * i_d`, for all indices of a tile of this shape, fits into `bits` bits, signed."""

    offset: Polynomial
    steps: tuple[Polynomial, ...]
    shape: tuple[int, ...]
    bits: int


class Divides(NamedTuple):
    """`divisor` divides `value`, which is positive."""

    divisor: int
    value: Polynomial


Requirement = Fits | Divides


class Affine(NamedTuple):
    """`base + offset + Σ steps[d] * i_d`: an integer (`base` is None) or a pointer, whose offset counts elements."""

    base: Value | None
    offset: Polynomial
    steps: tuple[Polynomial, ...] = ()
    limits: tuple[Polynomial | None, ...] = ()
    requirements: frozenset[Requirement] = frozenset()

    @property
    def is_uniform(self) -> bool:
        """Whether all elements are equal."""
        return not any(self.steps)


class Bound(NamedTuple):
    """A mask on the index i along `dimension`: `i < limit` if `upper`, else `i >= limit`."""

    dimension: int
    limit: Polynomial
    upper: bool = True


class _Mask(NamedTuple):
    bounds: tuple[Bound, ...]
    requirements: frozenset[Requirement]


class AffineAddresses:
    """The affine forms of the values of one function, memoized; the methods raise NotAffine.

    `passed`: parameters that are no arguments of a launch, which the launcher adds.
    """

    def __init__(self, entry: Block, passed: Collection[Value] = ()) -> None:
        self.entry, self._passed = entry, passed
        self.atoms = Atoms()
        self._known: dict[Value, Affine] = {}
        self._begun: set[Value] = set()

    def affine(self, value: Value) -> Affine:
        """The form of an integer or pointer, or of a tensor of them."""
        found = self._known.get(value)
        if found is None:
            if value in self._begun:
                raise NotAffine("a loop carries values that depend on each other", value)
            self._begun.add(value)
            try:
                found = self._traced(value)
            except NotAffine:
                if not isinstance(value.type, IntegerType):
                    raise
                found = Affine(None, self.atoms.polynomial(value))  # any scalar integer is an atom
            finally:
                self._begun.discard(value)
            self._known[value] = found
        return found

    def mask(self, value: Value | None) -> _Mask:
        """The bounds that a mask, a tensor of i1, sets to the indices of its dimensions."""
        return _Mask((), frozenset()) if value is None else self._masked(value)

    def scalars(self, polynomial: Polynomial) -> list[Value]:
        """The scalar integers found so far that are a polynomial."""
        return [v for v, form in self._known.items() if form.offset == polynomial and isinstance(v.type, IntegerType)]

    def is_of_arguments(self, polynomial: Polynomial) -> bool:
        """Whether all atoms are arguments of the function."""
        atoms = [self.atoms[number] for number in polynomial.atoms]
        return all(_is_argument(atom, self.entry) and atom not in self._passed for atom in atoms)

    # -- integers and pointers ----------------------------------------------------------------------------------------

    def _traced(self, value: Value) -> Affine:
        ty, rank = value.type, len(shape_of(value.type))
        element = element_type(ty)
        if not isinstance(element, (IntegerType, PointerType)):
            raise NotAffine(f"a value of type {ty}", value)
        number = _splat(value)
        if number is not None:
            return _uniform(None, Polynomial.of(number), rank)
        if isinstance(value, BlockArgument):
            return self._argument(value)
        op = value.defining_op
        rule = None if op is None else _RULES.get(op.__class__)
        if op is not None and rule is not None:
            return rule(self, op)
        raise NotAffine(f"an address computed by {op.name}" if op is not None else "an address from a branch", value)

    def _checked(self, found: Affine, value: Value) -> Affine:
        """With the requirement that an addition or multiplication of the kernel does not overflow."""
        number = found.offset.number
        if found.base is not None or (number is not None and found.is_uniform and abs(number) < 1 << 31):
            return found
        needed = Fits(found.offset, found.steps, shape_of(value.type), bit_width(value.type))
        return found._replace(requirements=found.requirements | {needed})

    def _argument(self, value: BlockArgument) -> Affine:
        if value.owner is self.entry:
            if isinstance(value.type, PointerType):
                return Affine(value, ZERO)
            return Affine(None, self.atoms.polynomial(value))
        loop = value.owner.parent_op
        if not isinstance(loop, CountedLoop):
            raise NotAffine("a value that a branch or an uncounted loop passes", value)
        if value is loop.induction_variable:
            return Affine(None, self.atoms.polynomial(value))
        return self._carried(loop, value)

    def _carried(self, loop: CountedLoop, value: BlockArgument) -> Affine:
        """The value of an iteration: the initial one, and the increment for each iteration before."""
        at = loop.iter_args.index(value)
        initial, step = self.affine(loop.inits[at]), _splat(loop.step)
        if step is None or step <= 0:
            raise NotAffine("a carried value of a loop whose step is not constant", value)
        total, needed = ZERO, set(initial.requirements)
        for operand, sign in _increments(loop.yielded[at], value):
            found = self.affine(operand)
            if not found.is_uniform or found.base is not None:
                raise NotAffine("a loop advances the elements of a tile by different amounts", value)
            total += found.offset.scaled(sign)
            needed |= found.requirements
        if any(_is_inside(self.atoms[number], loop) for number in total.atoms):
            raise NotAffine("the increment of a carried value changes in the loop", value)
        each = total.divided(step)
        if each is None:
            raise NotAffine(f"the increment of a carried value is not a multiple of the loop's step, {step}", value)
        low = self.affine(loop.lb)
        needed |= low.requirements
        before = self.atoms.polynomial(loop.induction_variable) - low.offset
        found = initial._replace(offset=initial.offset + each * before, requirements=frozenset(needed))
        return found if found.base is not None else self._checked(found, value)

    # -- operations ---------------------------------------------------------------------------------------------------

    def _range(self, op: tt.MakeRange) -> Affine:
        return Affine(None, Polynomial.of(op.start), (ONE if op.end - op.start > 1 else ZERO,), (None,))

    def _splatted(self, op: tt.Splat) -> Affine:
        found, rank = self.affine(op.src), len(shape_of(op.result.type))
        return found._replace(steps=(ZERO,) * rank, limits=(None,) * rank)

    def _expanded(self, op: tt.ExpandDims) -> Affine:
        found, axis = self.affine(op.src), op.axis
        steps, limits = list(found.steps), list(found.limits)
        steps.insert(axis, ZERO)
        limits.insert(axis, None)
        return found._replace(steps=tuple(steps), limits=tuple(limits))

    def _same(self, op: Operation) -> Affine:
        return self.affine(op.operands[0])

    def _transposed(self, op: tt.Trans) -> Affine:
        found = self.affine(op.src)
        steps = tuple(found.steps[axis] for axis in op.order)
        return found._replace(steps=steps, limits=tuple(found.limits[axis] for axis in op.order))

    def _added(self, op: arith.AddI) -> Affine:
        return self._checked(self._sum(self.affine(op.lhs), self.affine(op.rhs)), op.result)

    def _subtracted(self, op: arith.SubI) -> Affine:
        right = self.affine(op.rhs)
        return self._checked(self._sum(self.affine(op.lhs), self._times(right, Polynomial.of(-1))), op.result)

    def _multiplied(self, op: arith.MulI) -> Affine:
        left, right = self.affine(op.lhs), self.affine(op.rhs)
        if not right.is_uniform:
            left, right = right, left
        if not right.is_uniform:
            raise NotAffine("an index times an index", op.result)
        found = self._times(left, right.offset)
        return self._checked(found._replace(requirements=left.requirements | right.requirements), op.result)

    def _shifted(self, op: arith.ShLI) -> Affine:
        by = _splat(op.rhs)
        if by is None or not 0 <= by < 31:
            raise NotAffine("a shift by a value that is not constant", op.result)
        return self._checked(self._times(self.affine(op.lhs), Polynomial.of(1 << by)), op.result)

    def _wrapped(self, op: arith.RemSI) -> Affine:
        """`x % n` of a tensor."""
        found, divisor = self.affine(op.lhs), self.affine(op.rhs)
        if not divisor.is_uniform:
            raise NotAffine("an index modulo different values", op.result)
        offset = found.offset and self.atoms.polynomial(Remainder(found.offset, divisor.offset))
        return self._bounded(found, divisor, op.result, offset)

    def _selected(self, op: arith.Select) -> Affine:
        """`where(x < n, x, 0)` of a tensor with a hint."""
        compared = op.condition.defining_op
        if not _replaces(op):
            raise NotAffine("an index chosen by a condition", op.result)
        assert isinstance(compared, arith.CmpI)
        found, bound = self.affine(op.true_value), self.affine(compared.rhs)
        if not bound.is_uniform:
            raise NotAffine("an index compared with different values", op.result)
        hint = op.attributes.get("tt.contiguity")
        if not isinstance(hint, DenseElementsAttr) or list(hint.values) != list(shape_of(op.result.type)):
            raise NotAffine(
                "an index replaced by 0 where it is out of bounds, without a hint that the result is contiguous "
                "(tl.max_contiguous)",
                op.result,
            )
        return self._bounded(found, bound, op.result, found.offset)

    def _bounded(self, found: Affine, bound: Affine, value: Value, offset: Polynomial) -> Affine:
        """`offset + i`, below a bound that is a multiple of the size of the tile, as the offset of `found` is."""
        axes = [axis for axis, step in enumerate(found.steps) if step]
        size = shape_of(value.type)[axes[0]] if len(axes) == 1 else 0
        if not size or found.steps[axes[0]] != ONE or found.base is not None:
            raise NotAffine("a wrapped index that is not contiguous", value)
        if found.offset.divided(size) is None:
            raise NotAffine(f"a wrapped index whose tiles do not begin at multiples of their size, {size}", value)
        number = bound.offset.number
        if number is not None and (number <= 0 or number % size):
            raise NotAffine(f"an index wraps at {number}, inside a tile of {size}", value)
        needed = found.requirements | bound.requirements
        if number is None:
            needed |= {Divides(size, bound.offset)}
        limits = tuple(bound.offset - offset if axis == axes[0] else None for axis in range(len(found.steps)))
        return found._replace(offset=offset, limits=limits, requirements=needed)

    def _pointer(self, op: tt.AddPtr) -> Affine:
        return self._sum(self.affine(op.ptr), self.affine(op.offset))

    def _sum(self, a: Affine, b: Affine) -> Affine:
        if a.base is not None and b.base is not None:
            raise NotAffine("a sum of two pointers")
        steps = tuple(x + y for x, y in zip(a.steps, b.steps, strict=True))
        limits = tuple(_either(x, y) for x, y in zip(a.limits, b.limits, strict=True))
        return Affine(a.base or b.base, a.offset + b.offset, steps, limits, a.requirements | b.requirements)

    def _times(self, a: Affine, factor: Polynomial) -> Affine:
        return a._replace(offset=a.offset * factor, steps=tuple(step * factor for step in a.steps))

    # -- masks --------------------------------------------------------------------------------------------------------

    def _masked(self, value: Value) -> _Mask:
        op = value.defining_op
        known = constant_of(value)
        if known is not None:
            if _splat(value) == 1:
                return _Mask((), frozenset())
            raise NotAffine("a constant mask", value)
        if isinstance(op, arith.AndI):
            left, right = self._masked(op.lhs), self._masked(op.rhs)
            return _Mask((*left.bounds, *right.bounds), left.requirements | right.requirements)
        if isinstance(op, tt.Broadcast):
            return self._masked(op.src)
        if isinstance(op, tt.ExpandDims):
            axis = op.axis
            return _moved(self._masked(op.src), lambda d: d + (d >= axis))
        if isinstance(op, tt.Trans):
            order = list(op.order)
            return _moved(self._masked(op.src), order.index)
        if isinstance(op, arith.CmpI):
            return self._compared(op)
        raise NotAffine(f"a mask computed by {op.name}" if op is not None else "a mask that a loop carries", value)

    def _compared(self, op: arith.CmpI) -> _Mask:
        """lhs < rhs as a bound of the only index in it."""
        left, right = self.affine(op.lhs), self.affine(op.rhs)
        swapped = op.predicate in (arith.CmpIPredicate.sgt, arith.CmpIPredicate.sge)
        if op.predicate not in _SIGNED_ORDERS:
            raise NotAffine(f"a mask that compares by {op.predicate.name}", op.result)
        if swapped:
            left, right = right, left
        strict = op.predicate in (arith.CmpIPredicate.slt, arith.CmpIPredicate.sgt)
        difference = self._sum(left, self._times(right, Polynomial.of(-1)))  # below 0, or at most 0
        axes = [axis for axis, step in enumerate(difference.steps) if step]
        slack = ZERO if strict else ONE
        if len(axes) == 1 and difference.steps[axes[0]] == ONE:
            bound = Bound(axes[0], slack - difference.offset)
        elif len(axes) == 1 and difference.steps[axes[0]] == -ONE:
            bound = Bound(axes[0], difference.offset + ONE - slack, upper=False)
        else:
            raise NotAffine("a mask that is no bound of one index", op.result)
        return _Mask((bound,), left.requirements | right.requirements)


def _moved(mask: _Mask, to: Callable[[int], int]) -> _Mask:
    """A mask with other numbers of its dimensions."""
    return mask._replace(bounds=tuple(bound._replace(dimension=to(bound.dimension)) for bound in mask.bounds))


def _uniform(base: Value | None, offset: Polynomial, rank: int) -> Affine:
    return Affine(base, offset, (ZERO,) * rank, (None,) * rank)


def _either(x: Polynomial | None, y: Polynomial | None) -> Polynomial | None:
    if x is not None and y is not None:
        raise NotAffine("a sum of two wrapped indices")
    return y if x is None else x


def _splat(value: Value) -> int | None:
    """The integer that each element of a constant is."""
    found = constant_of(value)
    if isinstance(found, IntegerAttr):
        return found.value
    if isinstance(found, DenseElementsAttr) and isinstance(element_type(value.type), IntegerType):
        values = set(found.values)
        return int(values.pop()) if len(values) == 1 else None
    return None


def _increments(value: Value, carried: Value) -> list[tuple[Value, int]]:
    """The operands, and their signs, that are added to a carried value for the next iteration."""
    found: list[tuple[Value, int]] = []
    while value is not carried:
        op = value.defining_op
        if isinstance(op, tt.AddPtr):
            found.append((op.offset, 1))
            value = op.ptr
        elif isinstance(op, arith.AddI) and carried in op.operands:
            found.append((op.operands[1 - list(op.operands).index(carried)], 1))
            value = carried
        elif isinstance(op, arith.SubI) and op.lhs is carried:
            found.append((op.rhs, -1))
            value = carried
        else:
            raise NotAffine("a loop carries an address that it does not advance by an addition", carried)
    return found


def _replaces(op: arith.Select) -> bool:
    """Whether a selection is `where(x < n, x, 0)`."""
    compared = op.condition.defining_op
    if not isinstance(compared, arith.CmpI) or compared.predicate != arith.CmpIPredicate.slt:
        return False
    return compared.lhs is op.true_value and _splat(op.false_value) == 0


def _is_inside(atom: object, loop: Operation) -> bool:
    """Whether an atom may change from one iteration of a loop to the next."""
    if isinstance(atom, Remainder):
        return True
    block = atom.block if isinstance(atom, Value) else None
    while block is not None:
        op = block.parent_op
        if op is loop:
            return True
        block = None if op is None else op.parent
    return False


def _is_argument(atom: object, entry: Block) -> bool:
    return isinstance(atom, BlockArgument) and atom.owner is entry


_SIGNED_ORDERS = (
    arith.CmpIPredicate.slt,
    arith.CmpIPredicate.sle,
    arith.CmpIPredicate.sgt,
    arith.CmpIPredicate.sge,
)

O = TypeVar("O", bound=Operation)


def _rule(
    cls: type[O], fn: Callable[[AffineAddresses, O], Affine]
) -> tuple[type[Operation], Callable[[AffineAddresses, Operation], Affine]]:
    def rule(addresses: AffineAddresses, op: Operation) -> Affine:
        assert isinstance(op, cls)
        return fn(addresses, op)

    return cls, rule


_RULES = dict(
    [
        _rule(arith.AddI, AffineAddresses._added),
        _rule(arith.SubI, AffineAddresses._subtracted),
        _rule(arith.MulI, AffineAddresses._multiplied),
        _rule(arith.ShLI, AffineAddresses._shifted),
        _rule(arith.RemSI, AffineAddresses._wrapped),
        _rule(arith.Select, AffineAddresses._selected),
        _rule(arith.ExtSI, AffineAddresses._same),
        _rule(tt.AddPtr, AffineAddresses._pointer),
        _rule(tt.MakeRange, AffineAddresses._range),
        _rule(tt.Splat, AffineAddresses._splatted),
        _rule(tt.ExpandDims, AffineAddresses._expanded),
        _rule(tt.Broadcast, AffineAddresses._same),
        _rule(tt.Trans, AffineAddresses._transposed),
        _rule(ttg.ConvertLayout, AffineAddresses._same),
    ]
)
"""By the class of an operation: the form of its result."""
