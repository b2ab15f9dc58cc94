"""The fusion plan of a function: which tiles are buffered in scratch memory, and the vectorized axis of a loop nest.

Every tile value is either *inlined* into the loops of its consumers or *buffered*: computed where it is defined and
written to scratch memory. Rules:

- P1  A load is buffered if a consumer is in another block, or if a write is between it and its last consumer: memory
      may have changed by then.
- P2  A load that feeds a store is inlined into the loop of the store only if both addresses are affine (the overlap of
      the two ranges is then checked at run time) and none occurs twice; never into the loop of an atomic.
- P3  A value that is more expensive than a store to and a load from L1 (a math function, a division, a gather) is
      buffered if it would be computed more than once: by several consumers, or repeated by a broadcast.
- P4  The source of a `tt.gather`, or of a reshape that would break vectors, is buffered unless affine.
- P5  A value that `MAX_DEPTH` index-changing operations depend on is buffered unless affine: each is a nested call of
      the evaluator, and the depth of recursion is limited.

Affine integers and pointers cost nothing and are never buffered.
"""

from __future__ import annotations

from typing import Any

from ...analysis.affine import Affinity, Num
from ...dialects import arith, math, tt, ub
from ...ir import (
    CONSTANT,
    ELEMENTWISE,
    PURE,
    REARRANGES,
    WRITE,
    Block,
    Operation,
    TensorType,
    Value,
    element_type,
    is_atomic,
    memory_effects,
)
from ...support.dataclasses import dataclass, field
from .lanes import tile_type
from .space import Space

__all__ = ["Plan", "inlinable", "make_plan"]

_INDEXED = (arith.Constant, ub.Poison, tt.MakeRange, tt.Cat, tt.Gather, arith.Select)
"""Besides ops that rearrange elements, those whose elements are computed from elements at other positions."""
_CHEAP_MATH = (
    math.AbsF,
    math.AbsI,
    math.Sqrt,
    math.Floor,
    math.Ceil,
    math.Trunc,
    math.RoundEven,
    math.Fma,
    math.CopySign,
)
BOUND_SIDES = {
    arith.CmpIPredicate.slt: 1,
    arith.CmpIPredicate.sle: 1,
    arith.CmpIPredicate.sgt: -1,
    arith.CmpIPredicate.sge: -1,
}
"""Comparisons that bound their left side from above (1) or below (-1)."""

LOAD_COST, GATHER_COST, MATH_COST, DIVISION_COST, BUFFER_COST = 2, 24, 16, 8, 12
"""In units of one vector instruction; a value at BUFFER_COST or more is worth a store and a load."""


MAX_DEPTH = 64


_READ_BY_INDEX = (tt.Load, *_INDEXED)


def _is_indexed(op: Operation) -> bool:
    return bool(op.traits & REARRANGES) or isinstance(op, _READ_BY_INDEX)


def inlinable(op: Operation | None) -> bool:
    """True when the op's tile results can be computed lane by lane in a consumer's loop."""
    if op is None:
        return False
    traits, results = op.traits, op.results
    if traits & ELEMENTWISE and traits & PURE:  # most operations
        return len(results) == 1 and isinstance(results[0].type, TensorType)
    if not any(isinstance(r.type, TensorType) for r in results):
        return False
    if _is_indexed(op):
        return True
    return bool(traits & ELEMENTWISE) and len(results) == 1 and memory_effects(op) == 0


@dataclass
class _Use:
    """The uses of a value: consumers with loops of their own, and whether a broadcast repeats it.

    `depth` is the number of index-changing operations in between.
    """

    roots: set[Operation] = field(default_factory=set)
    repeated: bool = False
    depth: int = 0


@dataclass
class Plan:
    """The decisions for one function."""

    affinity: Affinity
    hopeful: Affinity
    vector_bits: int
    buffered: set[Value] = field(default_factory=set)
    uses: dict[Value, _Use] = field(default_factory=dict)
    costs: dict[Value, int] = field(default_factory=dict)
    reached: dict[Any, Any] = field(default_factory=dict)  # results of `accesses`

    # -- vectors ----------------------------------------------------------------------------------------------

    def leaf(self, v: Value, computing: tuple[Value, ...]) -> bool:
        """True when `v` is read from memory in a loop that computes `computing`, rather than computed there."""
        return (v in self.buffered and v not in computing) or not inlinable(v.defining_op)

    def space(
        self,
        shape: tuple[int, ...],
        values: list[Value],
        written: tuple[Value, ...] = (),
        computing: tuple[Value, ...] = (),
    ) -> Space:
        """The iteration space of a loop over tiles `values`, all of `shape`; `written` are addresses stored to."""
        votes = [0] * len(shape)
        widths = [4]
        seen: set[tuple[Value, tuple[int | None, ...]]] = set()
        identity = tuple(range(len(shape)))
        for v in values:
            if self.affinity.of(v) is None:
                widths.append(_bytes(v))
            self._vote(v, identity, votes, widths, seen, computing)
        for p in written:
            self._vote_access(p, identity, votes, 2)
        if not shape or max(shape) == 1:
            return Space(shape, -1, 1)
        axis = max(range(len(shape)), key=lambda d: (votes[d] if shape[d] > 1 else -1, shape[d] > 1, d))
        lanes = max(1, self.vector_bits // (8 * max(widths)))
        while shape[axis] % lanes:
            lanes //= 2
        return Space(shape, axis, lanes)

    def _vote(
        self,
        value: Value,
        dims: tuple[int | None, ...],
        votes: list[int],
        widths: list[int],
        seen: Any,
        computing: tuple[Value, ...],
    ) -> None:
        worklist = [(value, dims)]
        while worklist:
            v, dims = worklist.pop()
            if (v, dims) in seen or not isinstance(v.type, TensorType):
                continue
            seen.add((v, dims))
            op = v.defining_op
            if self.leaf(v, computing):
                last = max((d for d, n in enumerate(v.type.shape) if n > 1), default=None)
                if last is not None and dims[last] is not None:
                    votes[dims[last]] += 1  # type: ignore[index]
                continue
            assert op is not None
            if self.hopeful.of(v) is not None:
                continue
            if isinstance(op, tt.Load):
                widths.append(_bytes(v))
                self._vote_access(op.ptr, dims, votes, 2)
            inner = ((operand, _operand_dims(op, operand, dims)) for operand in op.operands)
            worklist += [(operand, found) for operand, found in inner if found is not None]

    def _vote_access(self, ptr: Value, dims: tuple[int | None, ...], votes: list[int], weight: int) -> None:
        if not isinstance(ptr.type, TensorType):
            return
        for k, d in enumerate(dims):
            if d is not None and ptr.type.shape[k] > 1 and self.affinity.stride_along(ptr, k) == Num(1):
                votes[d] += weight

    def remainders(self, values: list[Value], axis: int, computing: tuple[Value, ...]) -> dict[Operation, bool]:
        """The remainders in loops over `values` that are affine if they do not wrap around.

        True for those along the vector `axis`: only these make a loop faster, but all of them must hold.
        """
        found: dict[Operation, bool] = {}
        for v, dims in self.accesses(values, computing):
            op = v.defining_op
            if isinstance(op, (arith.RemSI, arith.RemUI)) and self.affinity.of(v) is None:
                form = self.hopeful.of(v)
                if form is not None:
                    along = axis in dims and form.strides[dims.index(axis)] != Num(0)
                    found[op] = found.get(op, False) or along
        return found

    def extensions(self, values: list[Value], computing: tuple[Value, ...]) -> list[Operation]:
        """The sign extensions in loops over `values` that are affine if nothing wraps around before them."""
        found: dict[Operation, None] = {}
        for v, _ in self.accesses(values, computing):
            op = v.defining_op
            if isinstance(op, arith.ExtSI) and self.affinity.of(v) is None and self.hopeful.of(v) is not None:
                found[op] = None
        return list(found)

    def bounds(self, values: list[Value], computing: tuple[Value, ...]) -> list[Operation]:
        """Signed comparisons of affine tiles with known strides, as masks are made of, in loops over `values`."""
        found: dict[Operation, None] = {}
        for v, _ in self.accesses(values, computing):
            op = v.defining_op
            if isinstance(op, arith.CmpI) and op.predicate in BOUND_SIDES and isinstance(v.type, TensorType):
                forms = [self.hopeful.of(operand) for operand in op.operands]
                if all(f is not None and all(isinstance(s, Num) for s in f.strides) for f in forms):
                    found[op] = None
        return list(found)

    def peelable(self, values: list[Value], axis: int, computing: tuple[Value, ...]) -> list[Operation]:
        """The bounds in loops over `values`, if all are upper ones that vary along the vector `axis` alone."""
        found: dict[Operation, None] = {}
        for v, dims in self.accesses(values, computing):
            op = v.defining_op
            if not isinstance(op, arith.CmpI) or not isinstance(v.type, TensorType):
                continue
            x, y = (self.affinity.of(operand) for operand in op.operands)
            if x is None or y is None or (x.uniform and y.uniform):
                continue
            alone = all(s == (Num(1) if d == axis else Num(0)) for s, d in zip(x.strides, dims))
            upper = op.predicate in (arith.CmpIPredicate.slt, arith.CmpIPredicate.sle)
            if not (alone and y.uniform and upper and axis in dims):
                return []
            found[op] = None
        return list(found)

    def contiguous(self, ptr: Value) -> bool:
        """True when some dimension of an address tile has stride 1, or the tile is small or uniform."""
        ty = ptr.type
        if not isinstance(ty, TensorType) or ty.numel == 1:
            return True
        return any(n > 1 and self.affinity.stride_along(ptr, d) in (Num(1), Num(0)) for d, n in enumerate(ty.shape))

    def accesses(
        self, values: list[Value], computing: tuple[Value, ...] = ()
    ) -> dict[tuple[Value, tuple[int | None, ...]], None]:
        """Every tile that computing `values` reaches, with the loop dimension that each of its dimensions follows.

        Cached, as each loop is analyzed several times.
        """
        key = (*values, computing)
        if key not in self.reached:
            self.reached[key] = self._reach(values, computing)
        return self.reached[key]  # type: ignore[no-any-return]

    def _reach(
        self, values: list[Value], computing: tuple[Value, ...]
    ) -> dict[tuple[Value, tuple[int | None, ...]], None]:
        reached: dict[tuple[Value, tuple[int | None, ...]], None] = {}

        worklist: list[tuple[Value, tuple[int | None, ...]]] = [
            (v, tuple(range(len(v.type.shape))) if isinstance(v.type, TensorType) else ()) for v in values
        ]
        worklist.reverse()
        while worklist:
            v, dims = worklist.pop()
            if (v, dims) in reached:
                continue
            reached[v, dims] = None
            if not isinstance(v.type, TensorType) or self.leaf(v, computing):
                continue
            assert v.defining_op is not None
            for operand in reversed(v.defining_op.operands):
                inner = _operand_dims(v.defining_op, operand, dims) if isinstance(operand.type, TensorType) else ()
                worklist.append((operand, inner if inner is not None else ()))
        return reached


def _bytes(v: Value) -> int:
    element = element_type(v.type)
    return 0 if isinstance(element, tt.PointerType) else max(1, getattr(element, "width", 8) // 8)


def _operand_dims(op: Operation, operand: Value, dims: tuple[int | None, ...]) -> tuple[int | None, ...] | None:
    """Which dimension of the loop each dimension of an operand follows."""
    ty = operand.type
    if not isinstance(ty, TensorType):
        return None
    if isinstance(op, tt.ExpandDims):
        return dims[: op.axis] + dims[op.axis + 1 :]
    if isinstance(op, tt.Broadcast):
        return tuple(None if n == 1 else d for n, d in zip(ty.shape, dims))
    if isinstance(op, tt.Trans):
        out: list[int | None] = [None] * len(dims)
        for d, k in enumerate(op.order):
            out[k] = dims[d]
        return tuple(out)
    if isinstance(op, tt.Join):
        return dims[:-1]
    if isinstance(op, tt.Split):
        return (*dims, None)
    if isinstance(op, tt.Cat) and operand is op.rhs:
        return (None, *dims[1:])
    if isinstance(op, tt.Gather) and operand is op.src:
        return tuple(None if k == op.axis else d for k, d in enumerate(dims))
    if isinstance(op, tt.Reshape):
        if ty.rank and dims:
            return (*([None] * (ty.rank - 1)), dims[-1])
        return (None,) * ty.rank
    return dims if ty.rank == len(dims) else (None,) * ty.rank


def make_plan(region_blocks: list[Block], affinity: Affinity, hopeful: Affinity, vector_bits: int) -> Plan:
    """Decide for every tile value in the blocks and in what is nested in them."""
    plan = Plan(affinity, hopeful, vector_bits)
    positions: dict[Operation, int] = {}
    for block in region_blocks:
        for op in block:
            for inner in op.walk():
                positions[inner] = len(positions)
    ops = list(positions)
    for op in ops:
        if inlinable(op):
            for r in op.results:
                plan.costs[r] = cost = _cost(plan, op, r)
                if cost > LOAD_COST and any(_breaks_vectors(plan, user, r) for user in r.users):
                    plan.costs[r] = LOAD_COST  # it is buffered (P4)
    for op in reversed(ops):
        if inlinable(op):
            for r in op.results:
                _decide_buffering(plan, op, r)
    return plan


def _cost(plan: Plan, op: Operation, result: Value) -> int:
    if plan.hopeful.of(result) is not None:
        return 0
    if isinstance(op, tt.Load):
        own = LOAD_COST if plan.contiguous(op.ptr) else GATHER_COST
    elif op.traits & CONSTANT or (op.traits & REARRANGES and len(op.operands) == len(op.results) == 1):
        own = 0
    elif isinstance(op, (arith.DivF, arith.RemF, tt.PreciseDivF, tt.ApproxDivF)):
        own = DIVISION_COST
    elif isinstance(op, (arith.DivSI, arith.DivUI, arith.RemSI, arith.RemUI, tt.ExternElementwise)) or (
        op.name.startswith("math.") and not isinstance(op, _CHEAP_MATH)
    ):
        own = MATH_COST
    else:
        own = 1
    return own + sum(plan.costs.get(v, 0) for v in set(op.operands))


def _decide_buffering(plan: Plan, op: Operation, result: Value) -> None:
    use = _Use()
    for user in result.users:
        if not inlinable(user):
            use.roots.add(user)
            continue
        if isinstance(user, tt.Gather) and result is user.src:
            use.repeated = True
        grows = isinstance(user, tt.Broadcast) and tile_type(user.result).numel > tile_type(user.src).numel
        for r in user.results:
            if r in plan.buffered:
                use.roots.add(user)
                use.repeated |= grows
            else:
                inner = plan.uses[r]
                use.roots |= inner.roots
                use.repeated |= inner.repeated or grows
                use.depth = max(use.depth, inner.depth + _is_indexed(user))
    plan.uses[result] = use
    if _needs_buffer(plan, op, result, use):
        plan.buffered.add(result)


def _needs_buffer(plan: Plan, op: Operation, result: Value, use: _Use) -> bool:
    if plan.hopeful.of(result) is not None or not use.roots:
        return False
    if use.depth >= MAX_DEPTH or (isinstance(op, tt.Load) and not _may_load_late(plan, op, use)):
        return True
    if not isinstance(op, tt.Load) and plan.costs[result] == 0:
        return False
    outside = any(_outermost(r, op.parent) is not r for r in use.roots)
    if plan.costs[result] >= BUFFER_COST and (len(use.roots) > 1 or use.repeated or outside):
        return True
    return any(_breaks_vectors(plan, user, result) for user in result.users)


def _breaks_vectors(plan: Plan, user: Operation, value: Value) -> bool:
    """P4"""
    if isinstance(user, tt.Gather) and value is user.src:
        return True
    if not isinstance(user, tt.Reshape) or plan.costs.get(value, 1) == 0:
        return False
    before, after = tile_type(user.src).shape, tile_type(user.result).shape
    return [n for n in before if n > 1] != [n for n in after if n > 1]


def _outermost(op: Operation, block: Block | None) -> Operation | None:
    """The operation of `block` that is or contains `op`."""
    at: Operation | None = op
    while at is not None and at.parent is not block:
        at = at.parent_op
    return at


def _may_load_late(plan: Plan, op: tt.Load, use: _Use) -> bool:
    """P1 and P2: whether this load may be inlined into the loops of its consumers."""
    if op.isVolatile or any(r.parent is not op.parent for r in use.roots):
        return False
    waiting = set(use.roots)
    at = op.next
    while waiting and at is not None:
        waiting.discard(at)
        if memory_effects(at) & WRITE:
            if waiting:
                return False
            if is_atomic(at):
                return not isinstance(op.ptr.type, TensorType)
            return not isinstance(at, tt.Store) or _same_or_affine(plan, op.ptr, at.ptr)
        at = at.next
    return not waiting


def _same_or_affine(plan: Plan, a: Value, b: Value) -> bool:
    ty = a.type
    if not isinstance(ty, TensorType):
        return True
    x, y = (plan.hopeful.of(a),) * 2 if a is b else (plan.affinity.of(v) for v in (a, b))
    if x is None or y is None:
        return False  # the same addresses in another order, or one address several times
    return x != y or not any(n > 1 and stride == Num(0) for n, stride in zip(ty.shape, x.strides))
