"""one-trip-loops: Version loops that read the same memory on one trip each, and keep what they load in registers.

    for %i = 0 to %n step 4096 {               if 0 < %n <= 4096 and %q is not in x[0 : 4096] {
      %x = load x[%i : %i + 4096]                %x = load x[0 : 4096]
      sum += %x                                  sum += %x
    }                                            mean = sum / %n
    mean = sum / %n                    =>        store %q, mean
    store %q, mean                               store y[0 : 4096], %x - mean
    for %i = 0 to %n step 4096 {               } else {
      %x = load x[%i : %i + 4096]                the loops as they are
      store y[%i : %i + 4096], %x - mean       }
    }

Loops of one block with the same bounds qualify, from 0 to a value that is not constant by a constant step. Each runs
exactly once where `0 < %n <= step`, that is `%n - 1 < step` unsigned: the straight-line copy has the body of each loop
once. Operations that are equal there are emitted once (hash consing), and so are loads of equal addresses with equal
masks, unless memory may have been written between them:

- a store of one element, whose address can be computed before the loops, and a load of `base + [0, step)`: the
  condition includes that the element is not in that range;
- any other operation that writes: the second load remains.

Results are the same bits. Where a multiplication and an addition may be contracted to an FMA, straight-line code could
contract what loops keep apart, since a value carried into or out of a loop is no operand to contract:

- `%sum + a * b` with a carried `%sum` that is zero becomes `math.fma`, the FMA that it is in the loop: otherwise the
  zero is folded, and `a * b` contracted with the first addition after the loop;
- loops are left alone if an addition could be contracted with a multiplication of another loop, with one of two, or
  with one that has other uses (loops may share it in straight-line code), as LLVM and ptxas decide by all of them.

The loops are versioned only if a load of a tensor becomes redundant. Loops that request warp specialization or fusion,
contain dots, or are too large (`MAX_OPERATIONS`, `MAX_BYTES_PER_THREAD`) are left alone: the code is doubled, and the
loaded values stay live from the first loop to the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..dialects import arith, math, tt
from ..dialects.tt_types import CacheModifier, PointerType
from ..dialects.ttg_switches import is_on
from ..ir import (
    COMMUTATIVE,
    PURE,
    REARRANGES,
    WRITE,
    Block,
    Builder,
    CountedLoop,
    IntegerAttr,
    IntegerType,
    Operation,
    PlainLoad,
    PointerAccess,
    TensorType,
    Value,
    constant_of,
    count,
    element_type,
    f32,
    f64,
    functions_of,
    i64,
    is_tensor_dot,
    may_change,
    memory_effects,
    pass_on,
    shape_of,
)
from ..ir.dominance import ancestor_in
from ..support.dataclasses import dataclass
from .versions import operations_between, used_outside, version

__all__ = ["OneTripOptions", "one_trip_loops"]

MAX_OPERATIONS = 300
"""Operations of the loops and between them, nested ones included, which are cloned at most."""

MAX_BYTES_PER_THREAD = 128
"""Bytes of loaded values kept by each thread at most: 32 of its 255 registers. With 256, group norm of rows of 16384
elements and 4 warps spills 63 registers instead of 30 and is 5 % slower; layer norm with 128 gains 3 % (H100, November
2026)."""

_ADDITIONS = (arith.AddF, arith.SubF)
_DEPTH = 8
"""Operations between a multiplication and an addition that are looked through."""

_REQUESTS = ("tt.warp_specialize", "tt.flatten", "tt.loop_unroll_factor")


@dataclass(frozen=True)
class OneTripOptions:
    """`threads`: the number of threads of a program. `contracts`: floats are contracted to FMAs."""

    threads: int = 128
    contracts: bool = True


def _key_of(loop: CountedLoop) -> tuple[object, ...] | None:
    """What loops that are versioned together have in common; None for a loop that does not qualify."""
    step, low = _integer(loop.step), _integer(loop.lb)
    if low != 0 or step is None or step <= 0 or loop.unsignedCmp or not isinstance(loop.ub.type, IntegerType):
        return None
    if _integer(loop.ub) is not None or any(name in loop.attributes for name in _REQUESTS):
        return None
    return loop.parent, loop.ub, step


@pass_on("function", options=OneTripOptions, statistics={"loops straightened": "loops with a copy that runs once"})
def one_trip_loops(op: Operation, options: OneTripOptions = OneTripOptions()) -> bool:
    """Version loops that read the same memory on one trip each, and keep what they load in registers."""
    straightened = 0
    for func in functions_of(op) if is_on(op, "one-trip-loops") else ():
        for loops in _groups(func):
            straightened += _straighten(loops, options)
    count("loops straightened", straightened)
    return straightened > 0


def _groups(func: Operation) -> list[list[CountedLoop]]:
    """Two or more loops of one block with the same bounds."""
    groups: dict[tuple[object, ...], list[CountedLoop]] = {}
    for op in func.walk():
        if isinstance(op, CountedLoop) and (key := _key_of(op)) is not None:
            groups.setdefault(key, []).append(op)
    return [loops for loops in groups.values() if len(loops) > 1]


def _straighten(loops: Sequence[CountedLoop], options: OneTripOptions) -> int:
    """Version the loops of a group; the number of loops that have a copy without a loop."""
    first, last = loops[0], loops[-1]
    block, ops = first.parent, operations_between(first, last)
    nested = [inner for op in ops for inner in op.walk()]
    if block is None or len(nested) > MAX_OPERATIONS or any(is_tensor_dot(op) for op in nested):
        return 0
    plan = _StraightLine(block, ops, loops)
    kept = sum(_bytes_of(load) for load in plan.kept)
    if not kept or kept > MAX_BYTES_PER_THREAD * options.threads:
        return 0
    if (options.contracts and not plan.contracts_the_same()) or not may_change("one-trip-loops", first):
        return 0
    b = Builder(block, first, first.loc)
    version(ops, plan.condition(b), plan.emit)
    return len(loops)


def _bytes_of(value: Value) -> int:
    """The size of a tensor."""
    size = 1
    for n in shape_of(value.type):
        size *= n
    return size * max(8, getattr(element_type(value.type), "width", 64)) // 8


class _StraightLine:
    """Operations and loops of one trip each as straight-line code.

    `leader`: for values that equal another one there, an earlier one. It stands for induction variables (0), carried
    values, results of loops, and results of operations that need not be repeated.
    """

    def __init__(self, block: Block, ops: Sequence[Operation], loops: Sequence[CountedLoop]) -> None:
        self.ops, self.loops = ops, set(loops)
        self.block = block
        self.inside = set(ops)
        self.leader: dict[Value, Value] = {}
        self.repeated: set[Operation] = set()
        self.fused: dict[Operation, tuple[Value, Value, Value]] = {}  # additions to emit as an FMA, its operands
        self.selected: dict[Operation, tuple[Value, Value, Value]] = {}  # loads to emit as a select, its operands
        self.segment: dict[Operation, int] = {}  # what is executed without a loop's boundary between
        self.kept: dict[Value, None] = {}
        self.disjoint: dict[tuple[Value, Value, int], None] = {}  # address of an element, base of a range, its length
        self._known: dict[
            object, tuple[Operation, int]
        ] = {}  # the first operation of each key, and the writes before it
        self._writes: list[Operation] = []
        self._shared: set[Operation] = set()  # operations that others equal
        self._at = 0
        for op in self._sequence():
            self.segment[op] = self._at
            self._number(op)

    def resolve(self, value: Value) -> Value:
        """The first value that equals `value` in straight-line code."""
        while (found := self.leader.get(value)) is not None:
            value = found
        return value

    def _sequence(self) -> Iterator[Operation]:
        """The operations in order; around the body of a loop, its carried values are equated."""
        for op in self.ops:
            if isinstance(op, CountedLoop) and op in self.loops:
                self.leader[op.induction_variable] = op.lb
                self.leader.update(zip(op.iter_args, op.inits))
                self._at += 1
                yield from (inner for inner in op.body if inner is not op.terminator)
                self._at += 1
                self.leader.update(zip(op.results, op.yielded))
            else:
                yield op

    # -- equal operations ---------------------------------------------------------------------------------------------

    def _number(self, op: Operation) -> None:
        """Find an earlier operation that equals `op`."""
        load = op if isinstance(op, PlainLoad) and _may_reuse(op) else None
        if load is None and memory_effects(op) & WRITE:
            self._writes.append(op)
        if op.regions or len(op.results) != 1 or not (load or op.traits & PURE):
            return
        key = self._key(op) if load is None else self._location(load)
        earlier, written = self._known.setdefault(key, (op, len(self._writes)))
        if earlier is op:
            return
        if load is None:
            self._replace(op, earlier)
        elif self._unchanged(load, self._writes[written:]):
            self._keep(load, earlier)
        else:
            self._known[key] = op, len(self._writes)

    def _key(self, op: Operation) -> tuple[object, ...]:
        """What equal operations have in common."""
        operands = [self.resolve(v) for v in op.operands]
        if op.traits & COMMUTATIVE:
            operands.sort(key=id)
        return op.__class__, op.name, tuple(operands), frozenset(op.attributes.items()), op.results[0].type

    def _location(self, load: PlainLoad) -> tuple[object, ...]:
        """What loads of the same elements have in common; hints about caches, and `other`, may differ."""
        operands = [None if v is None else self.resolve(v) for v in (load.pointer, load.access_mask)]
        kept = {k: v for k, v in load.attributes.items() if k not in ("cachePolicy", "operandSegmentSizes")}
        return load.__class__, *operands, frozenset(kept.items()), load.results[0].type

    def _replace(self, op: Operation, earlier: Operation) -> None:
        """Use the result of an equal operation."""
        self.leader[op.results[0]] = earlier.results[0]
        self._shared.add(earlier)
        self.repeated.add(op)

    def _keep(self, load: PlainLoad, earlier: Operation) -> None:
        """Use the result of a load of the same elements, with the `other` of `load` where they are masked off."""
        assert isinstance(earlier, PlainLoad)
        others = [None if v is None else self.resolve(v) for v in (load.fallback, earlier.fallback)]
        if load.access_mask is None or load.fallback is None or others[0] is others[1]:
            self._replace(load, earlier)
        else:
            self.selected[load] = load.access_mask, earlier.results[0], load.fallback
        if isinstance(load.results[0].type, TensorType):
            self.kept[earlier.results[0]] = None

    def _unchanged(self, load: PlainLoad, writes: Sequence[Operation]) -> bool:
        """Whether `load` reads what it would read before `writes`, on conditions that are added to `disjoint`."""
        row = self._row(load.pointer) if writes else None
        needed = []
        for op in writes:
            stores = isinstance(op, PointerAccess) and memory_effects(op) == WRITE and op.parent is self.block
            address = self._movable(op.pointer) if stores else None
            if row is None or address is None:
                return False
            needed.append((address, *row))
        self.disjoint.update(dict.fromkeys(needed))
        return True

    def _row(self, pointer: Value) -> tuple[Value, int] | None:
        """The base and the number of elements of a contiguous row of addresses."""
        op = self.resolve(pointer).defining_op
        if not isinstance(op, tt.AddPtr):
            return None
        base = self.resolve(op.ptr).defining_op
        if not isinstance(base, tt.Splat) or not self._is_outside(self.resolve(base.src)):
            return None
        length = self._range(self.resolve(op.offset))
        return None if length is None else (self.resolve(base.src), length)

    def _range(self, offsets: Value) -> int | None:
        """n, where offsets are 0 to n - 1."""
        op = offsets.defining_op
        if isinstance(op, tt.MakeRange) and op.start == 0:
            return op.end
        if isinstance(op, arith.AddI):
            sides = [self.resolve(v) for v in op.operands]
            for zero, other in (sides, sides[::-1]):
                if self._is_zero(zero):
                    return self._range(other)
        return None

    def _is_zero(self, value: Value) -> bool:
        op = value.defining_op
        if isinstance(op, tt.Splat):
            return self._is_zero(self.resolve(op.src))
        return _integer(value) == 0

    # -- contraction --------------------------------------------------------------------------------------------------

    def contracts_the_same(self) -> bool:
        """Whether additions are contracted with the same multiplications as in loops, given the FMAs of `fused`."""
        for op in self.segment:
            if isinstance(op, arith.AddF) and op not in self.repeated:
                self._fuse(op)
        uses = self._count_uses()
        return all(self._is_kept_apart(inner, at, uses) for op, at in self.segment.items() for inner in op.walk())

    def _count_uses(self) -> Counter[Value]:
        """The number of operations that use each value in straight-line code; values used after it count once more."""
        uses: Counter[Value] = Counter()
        for op in self.segment:
            if op not in self.repeated:
                uses.update({self.resolve(v) for inner in op.walk() for v in inner.operands})
        for op in self.ops:
            uses.update(self.resolve(r) for r in op.results if used_outside(r, self.inside, self.block))
        return uses

    def _fuse(self, op: arith.AddF) -> None:
        """Note the addition of a multiplication to a carried zero."""
        if element_type(op.results[0].type) not in (f32, f64):
            return
        for carried, value in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            source = value.defining_op
            if carried in self.leader and _is_zero(self.resolve(carried)) and isinstance(source, arith.MulF):
                self.fused[op] = source.lhs, source.rhs, carried

    def _is_kept_apart(self, op: Operation, at: int, uses: Counter[Value]) -> bool:
        """Whether an addition is contracted with no multiplication that it cannot be contracted with in loops.

        It certainly is with one that has no other use.
        """
        if op in self.repeated or op in self.fused or not (isinstance(op, _ADDITIONS) or op.regions):
            return True
        chains = [chain for chain in map(self._multiplication, op.operands) if chain]
        alone = [chain for chain in chains if isinstance(chain[-1].defining_op, arith.MulF)]
        return (
            len(alone) < 2
            and all(uses[v] == 1 for chain in alone for v in chain)
            and all(v.defining_op not in self._shared for chain in chains for v in chain)
            and all(self._segment_of(chain[-1]) == at for chain in chains)
        )

    def _segment_of(self, value: Value) -> int | None:
        op = value.defining_op
        return None if op is None else self.segment.get(op)

    def _multiplication(self, value: Value) -> list[Value]:
        """The result of the multiplication that `value` is, last, and those between: rearranged, negated, or folded.

        `x + 0` and `max(x, -inf)` may be folded to `x`: operations with a constant are looked through. A division of
        tensors may multiply by a reciprocal.
        """
        chain: list[Value] = []
        while len(chain) < _DEPTH:
            value = self.resolve(value)
            op = value.defining_op
            chain.append(value)
            if op is None or op in self.fused:
                return []
            if isinstance(op, arith.MulF) or (isinstance(op, arith.DivF) and isinstance(value.type, TensorType)):
                return chain
            operands = [v for v in map(self.resolve, op.operands) if constant_of(v) is None]
            if len(operands) != 1 or not (op.traits & (REARRANGES | COMMUTATIVE) or isinstance(op, arith.NegF)):
                return []
            value = operands[0]
        return chain

    # -- the condition ------------------------------------------------------------------------------------------------

    def _is_outside(self, value: Value) -> bool:
        """Whether `value` is defined before the operations."""
        owner, block = value.defining_op, value.block
        if owner is None and block is not None:
            owner = block.parent_op
        return ancestor_in(self.block, owner) not in self.inside

    def _movable(self, pointer: Value, depth: int = 4) -> Value | None:
        """A scalar address that can be computed before the operations; None for others."""
        if isinstance(pointer.type, TensorType):
            return None
        return pointer if self._can_move(self.resolve(pointer), depth) else None

    def _can_move(self, value: Value, depth: int) -> bool:
        if self._is_outside(value):
            return True
        op = value.defining_op
        if op is None or depth == 0 or op.regions or not op.traits & PURE or isinstance(value.type, TensorType):
            return False
        return all(self._can_move(self.resolve(v), depth - 1) for v in op.operands)

    def condition(self, b: Builder) -> Value:
        """Emit the condition: one trip, and no store to what is loaded before and used after it."""
        loop = next(iter(self.loops))
        one = b.add(arith.Constant.of(1, loop.ub.type))
        out = b.add(arith.CmpI(arith.CmpIPredicate.ult, b.add(arith.SubI(loop.ub, one)), loop.step))
        for address, base, length in self.disjoint:
            out = b.add(arith.AndI(out, self._is_apart(b, address, base, length)))
        return out

    def _is_apart(self, b: Builder, address: Value, base: Value, length: int) -> Value:
        """Whether the element at `address`, of s bytes, is not in the n bytes at `base`.

        It is there where -s < address - base < n, that is (address - base) + (s - 1) < n + (s - 1) unsigned.
        """
        size, element = _pointee_bytes(address), _pointee_bytes(base)
        ends = [b.add(tt.PtrToInt(v, result=i64)) for v in (self._moved(b, address), base)]
        distance = b.add(arith.SubI(*ends))
        if size > 1:
            distance = b.add(arith.AddI(distance, b.add(arith.Constant.of(size - 1, i64))))
        limit = b.add(arith.Constant.of(length * element + size - 1, i64))
        apart: Value = b.add(arith.CmpI(arith.CmpIPredicate.uge, distance, limit))
        return apart

    def _moved(self, b: Builder, value: Value) -> Value:
        """`value` computed before the operations."""
        value = self.resolve(value)
        if self._is_outside(value):
            return value
        op = value.defining_op
        assert op is not None
        moved: Value = b.add(op.clone({v: self._moved(b, v) for v in op.operands}))
        return moved

    # -- the copy -----------------------------------------------------------------------------------------------------

    def emit(self, b: Builder) -> Callable[[Value], Value]:
        """Emit the straight-line copy; returns the function from a value to its copy."""
        mapping: dict[Value, Value] = {}

        def copy_of(value: Value) -> Value:
            found = self.resolve(value)
            return mapping.get(found, found)

        def equate(values: Iterable[Value]) -> None:
            mapping.update((v, copy_of(v)) for v in values)

        for op in self._sequence():
            if op in self.repeated:
                continue
            if op in self.fused or op in self.selected:
                operands = [copy_of(v) for v in self.fused.get(op) or self.selected[op]]
                simpler = math.Fma if op in self.fused else arith.Select
                mapping[op.results[0]] = b.add(simpler(*operands, result=op.results[0].type))
                continue
            for inner in op.walk():
                equate(v for v in inner.operands if v in self.leader)
            b.insert(op.clone(mapping))
        return copy_of


def _may_reuse(load: PlainLoad) -> bool:
    """Whether a load may give what another one has loaded: it does not ask for memory itself."""
    policy = load.attributes.get("cachePolicy")
    return not memory_effects(load) & WRITE and (policy is None or policy.cache_modifier is not CacheModifier.cv)


def _pointee_bytes(pointer: Value) -> int:
    """The size in bytes of what a pointer points to."""
    ty = element_type(pointer.type)
    assert isinstance(ty, PointerType)
    return max(8, getattr(ty.pointee, "width", 64)) // 8


def _is_zero(value: Value) -> bool:
    """Whether all elements of a float are the constant zero."""
    op = value.defining_op
    return isinstance(op, arith.Constant) and op.splat_value() == 0


def _integer(value: Value) -> int | None:
    attr = constant_of(value)
    return attr.value if isinstance(attr, IntegerAttr) else None
