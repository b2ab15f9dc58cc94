"""alignment-versions: Version accesses by addresses from memory on the alignment that vectors need.

    %stride = tt.load %strides                 %aligned = ((%base | %stride * 2) mod 16 = 0)
    %base = tt.int_to_ptr (tt.load %bases)     if %aligned {
    for … {                               =>     for … { tt.load … }      with %base & -16, %stride & -8
      tt.load (%base + %row * %stride)         } else {
    }                                            for … { tt.load … }      as it is
                                               }

Nothing is known of the divisibility of a pointer or a stride that a kernel loads from memory, so that a row is accessed
an element at a time. The *roots* of an access are the scalars in its address and mask that come from memory, or are
integers made pointers. A root `x` is known to be a multiple of 2^k where it is replaced by `x & -2^k`, which is `x` in
the copy that runs where all roots are: pointers are multiples of 16 bytes there, and integers of as many elements.

1. Axis info is computed as it is, and under the assumption that all roots are aligned. Accesses that become wider then
   are grouped by the innermost block that defines one of their roots.
2. Roots without which the accesses of a group become as wide are dropped: the number of rows, for example.
3. The operations of that block from the first use of a root in an address or mask to the last access are versioned. If
   they are more than `MAX_OPERATIONS`, or accesses do not become wider since an address is computed earlier, they stay.

Only kernels with dots have versions, whose loops gain asynchronous copies; accesses by descriptors are not cloned, and
loops that request fusion or warp specialization get no branches. Both copies compute the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..analysis.axis_facts import AxisInfo
from ..analysis.axis_info import AxisInfoAnalysis
from ..analysis.dataflow import reachable
from ..dialects import arith, tt
from ..dialects.tt_types import PointerType
from ..dialects.ttg_switches import is_on
from ..ir import (
    Block,
    BlockArgument,
    Builder,
    CountedLoop,
    DescriptorAccess,
    IfLike,
    IntegerType,
    MemoryAccess,
    Operation,
    PlainLoad,
    PointerAccess,
    TensorType,
    Type,
    Value,
    count,
    element_type,
    functions_of,
    i64,
    is_atomic,
    may_change,
    pass_on,
    predecessor_operands,
)
from ..ir.dominance import ancestor_in
from .regions import splice
from .versions import operations_between, version

__all__ = ["alignment_versions"]

MAX_OPERATIONS = 400
"""Operations that are cloned at most, nested ones included."""

VECTOR_BYTES = 16
"""The widest access of a thread (PTX ISA 8.7, section 9.7.9.8: .v4.b32; section 9.7.9.25.3: cp.async of 16 bytes)."""


@pass_on("function", statistics={"accesses versioned": "accesses with a copy for aligned addresses"})
def alignment_versions(op: Operation) -> bool:
    """Version accesses by addresses from memory on the alignment that vectors need."""
    versioned = 0
    for func in functions_of(op) if is_on(op, "alignment-versions") else ():
        versioned += _Versions(func).run()
    count("accesses versioned", versioned)
    return versioned > 0


class _Assuming(AxisInfoAnalysis):
    """Axis info where some values are assumed to be multiples of a power of two."""

    def __init__(self, func: Operation, assumed: Mapping[Value, int]) -> None:
        self.assumed = assumed
        super().__init__(func)

    def set_result(self, value: Value, state: AxisInfo | None) -> None:
        """The state of a result, with what is assumed of it."""
        if state is not None and (divisor := self.assumed.get(value)) is not None:
            divisibility = [max(d, divisor) for d in state.divisibility]
            state = state.arranged(state.contiguity, divisibility, state.constancy)
        super().set_result(value, state)


class _Versions:
    """The versions of one function."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.roots: dict[PointerAccess, list[Value]] = {}  # of each access that has some
        self.branches: list[Operation] = []
        for op in func.walk():
            if isinstance(op, PointerAccess) and not is_atomic(op) and isinstance(op.pointer.type, TensorType):
                if roots := [r for r in _roots_of(op) if ancestor_in(r.block, op) is not None]:
                    self.roots[op] = roots

    def run(self) -> int:
        """Version what gains; returns the number of accesses that become wider."""
        if not self.roots:
            return 0
        now = self.widths(self.roots, {})
        best = self.widths(self.roots, self.alignments(self.roots))
        groups: dict[Block, list[Operation]] = {}
        for op, roots in self.roots.items():
            if best[op] > now[op]:
                groups.setdefault(max((_block_of(r) for r in roots), key=_depth), []).append(op)
        done = 0
        for block in sorted(groups, key=_depth):
            ops = groups[block]
            nested = any(branch.is_ancestor_of(op) for branch in self.branches for op in ops)
            if not nested and not _is_restructured(block):
                done += self.version(block, ops, best)
        return done

    def alignments(self, ops: Iterable[Operation]) -> dict[Value, int]:
        """What the roots of accesses have to be multiples of."""
        size = min(_element_bytes(op) for op in ops)
        roots = dict.fromkeys(r for op in ops for r in self.roots[op])
        return {r: VECTOR_BYTES if isinstance(r.type, PointerType) else VECTOR_BYTES // size for r in roots}

    def widths(self, ops: Iterable[Operation], assumed: Mapping[Value, int]) -> dict[Operation, int]:
        """The bytes that a thread accesses at once, under an assumption."""
        facts = _Assuming(self.func, assumed)
        return {op: _width(facts, op) for op in ops}

    def version(self, block: Block, ops: Sequence[Operation], best: Mapping[Operation, int]) -> int:
        """Version the accesses of a group; returns their number."""
        needed = self.needed(ops, best)
        last = _last(block, ops)
        first = _first_use(needed, block, {v for op in ops for v in _slice(op)})
        if first is None:
            return 0
        region = operations_between(first, last)
        nested = [inner for op in region for inner in op.walk()]
        if len(nested) > MAX_OPERATIONS or any(isinstance(op, DescriptorAccess) for op in nested):
            return 0
        if not may_change("alignment-versions", first):
            return 0
        copies: dict[Operation, Operation] = {}
        before = first.prev

        def emit(b: Builder) -> Callable[[Value], Value]:
            mapping = {r: _aligned(b, r, divisor) for r, divisor in needed.items()}
            for op in region:
                copies.update(zip(op.walk(), b.insert(op.clone(mapping)).walk(), strict=True))
            return lambda value: mapping.get(value, value)

        branch = version(region, _condition(Builder(block, first, first.loc), needed), emit)
        found = self.widths([copies[op] for op in ops], {})
        if any(found[copies[op]] < best[op] for op in ops):
            _undo(branch, before)
            return 0
        self.branches.append(branch)
        return len(ops)

    def needed(self, ops: Sequence[Operation], best: Mapping[Operation, int]) -> dict[Value, int]:
        """The roots that must be aligned for accesses to be as wide as they can be."""
        needed = self.alignments(ops)
        for root in list(needed):
            rest = {r: divisor for r, divisor in needed.items() if r is not root}
            found = self.widths(ops, rest)
            if all(found[op] >= best[op] for op in ops):
                needed = rest
        return needed


def _depth(block: Block) -> int:
    """The number of operations around a block."""
    depth, op = 0, block.parent_op
    while op is not None:
        depth, op = depth + 1, op.parent_op
    return depth


def _is_restructured(block: Block) -> bool:
    """Whether a loop around a block requests fusion or warp specialization, which branches would prevent."""
    op = block.parent_op
    while op is not None:
        if "tt.warp_specialize" in op.attributes or "tt.flatten" in op.attributes:
            return True
        op = op.parent_op
    return False


def _block_of(value: Value) -> Block:
    block = value.block
    assert block is not None
    return block


def _last(block: Block, ops: Sequence[Operation]) -> Operation:
    """The last operation of a block that is one of `ops` or contains one."""
    inside = {ancestor_in(block, op) for op in ops}
    return [op for op in block if op in inside][-1]


def _first_use(roots: Iterable[Value], block: Block, addresses: set[Value]) -> Operation | None:
    """The first operation of a block that is, or contains, one that computes one of `addresses` from a root."""
    roots = set(roots)
    for op in block:
        for inner in op.walk():
            if not roots.isdisjoint(inner.operands) and not addresses.isdisjoint(inner.results):
                return op if not any(r.block is block and _defined_after(r, op) for r in roots) else None
    return None


def _defined_after(value: Value, op: Operation) -> bool:
    """Whether `value`, of the block of `op`, is defined by `op` or after it."""
    following: Operation | None = op
    while following is not None and following is not value.defining_op:
        following = following.next
    return following is not None


# -- accesses ---------------------------------------------------------------------------------------------------------


def _slice(access: PointerAccess) -> dict[Value, None]:
    """The values from which the address and the mask of an access are computed; roots are not looked through."""
    return reachable([v for v in (access.pointer, access.access_mask) if v is not None], _operands_of)


def _operands_of(value: Value) -> Sequence[Value]:
    """The values that a value is computed from, also around loops."""
    if _is_root(value):
        return ()
    passed = predecessor_operands(value)
    if passed is not None:
        return [op.operands[i] for op, i in passed]
    if isinstance(value, BlockArgument):
        loop = value.owner.parent_op
        return [loop.lb, loop.step] if isinstance(loop, CountedLoop) else ()
    op = value.defining_op
    return () if op is None or op.regions or isinstance(op, MemoryAccess) else op.operands


def _roots_of(access: Operation) -> list[Value]:
    return [v for v in _slice(access) if _is_root(v)]


def _is_root(value: Value) -> bool:
    """Whether a scalar integer or pointer comes from memory, or is an integer made a pointer."""
    op = value.defining_op
    if isinstance(op, tt.IntToPtr):
        return isinstance(value.type, PointerType)
    if not isinstance(op, PlainLoad):
        return False
    return isinstance(value.type, PointerType) or (isinstance(value.type, IntegerType) and value.type.width >= 8)


def _element_bytes(access: PointerAccess) -> int:
    """The size of an element of an access, at least 1."""
    pointer = element_type(access.pointer.type)
    return max(8, getattr(getattr(pointer, "pointee", None), "width", 64)) // 8


def _width(facts: AxisInfoAnalysis, access: PointerAccess) -> int:
    """The bytes that a thread can access at once: what is contiguous, aligned, and masked alike."""
    pointers, size = facts.of(access.pointer), _element_bytes(access)
    masks = None if access.access_mask is None else facts.of(access.access_mask)
    widest = 1
    for axis in range(pointers.rank):
        elements = min(pointers.contiguity[axis], max(1, pointers.divisibility[axis] // size))
        widest = max(widest, elements if masks is None else min(elements, masks.constancy[axis]))
    return min(VECTOR_BYTES, widest * size)


# -- code -------------------------------------------------------------------------------------------------------------


def _condition(b: Builder, needed: Mapping[Value, int]) -> Value:
    """Emit whether all roots are multiples of what they have to be."""
    joined: dict[tuple[Type, int], Value] = {}
    for root, divisor in needed.items():
        bits = b.add(tt.PtrToInt(root, result=i64)) if isinstance(root.type, PointerType) else root
        key = bits.type, divisor
        joined[key] = b.add(arith.OrI(joined[key], bits)) if key in joined else bits
    out: Value | None = None
    for (ty, divisor), bits in joined.items():
        rest = b.add(arith.AndI(bits, b.add(arith.Constant.of(divisor - 1, ty))))
        zero = b.add(arith.CmpI(arith.CmpIPredicate.eq, rest, b.add(arith.Constant.of(0, ty))))
        out = zero if out is None else b.add(arith.AndI(out, zero))
    assert out is not None
    return out


def _aligned(b: Builder, root: Value, divisor: int) -> Value:
    """Emit `root` as a value that is known to be a multiple of `divisor`."""
    pointer = isinstance(root.type, PointerType)
    bits = b.add(tt.PtrToInt(root, result=i64)) if pointer else root
    bits = b.add(arith.AndI(bits, b.add(arith.Constant.of(-divisor, bits.type))))
    aligned: Value = b.add(tt.IntToPtr(bits, result=root.type)) if pointer else bits
    return aligned


def _undo(branch: IfLike, before: Operation | None) -> None:
    """Replace a version by the operations as they were, and erase its condition, which is emitted after `before`."""
    condition = operations_between(branch.parent.first if before is None else before.next, branch)
    _, results = splice(branch.else_block, branch, [])
    for old, new in zip(list(branch.results), results, strict=True):
        old.replace_all_uses_with(new)
    for op in reversed(condition):
        op.erase()
