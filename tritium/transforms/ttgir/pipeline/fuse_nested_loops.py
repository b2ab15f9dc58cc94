"""fuse-nested-loops: Fuse a loop with the loop nested in it, so that pipelining overlaps all their iterations.

    scf.for %tile = … {                      scf.for … iter_args(%k, %tile, …) {
      …                                        scf.if (first of a tile) { … }
      scf.for %k = … { dot }           =>      dot
      store                                    scf.if (last of a tile) { store }
    } {tt.flatten}                           }

In a persistent kernel, the loads for the first dots of the next tile can then be issued while the last dots of this
tile are computed and its result is stored; the pipeliner sees one loop. `fused_loop.py` defines the new loop.

- A loop with `tt.flatten` and exactly one loop in it (directly, and none in that) is fused if the inner loop is known
  to run, so that its body needs no branch. Where no `llvm.intr.assume` states this, there are two versions: for inner
  loops with zero iterations, the outer loop alone; else the fused one. The inner bounds must then be computable before
  the loop.
- A loop with `ttg.always-fuse` is fused with all loops in it, innermost first, whether they run or not. Their bounds
  may depend on the outer variable, through scalar operations without memory accesses.

Operations that only the end of an outer iteration needs are sunk there. Not fused are loops with unsigned comparison,
and those that Hopper's warp specialization transforms: there, the producer warp prefetches across tiles anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....dialects import arith, scf
from ....dialects.llvm import Assume
from ....dialects.ttg_context import has_feature
from ....dialects.ttg_switches import is_on
from ....hardware.nvidia_features import WGMMA
from ....ir import (
    PURE,
    TRAPS,
    UNIT,
    Builder,
    CountedLoop,
    IntegerAttr,
    Operation,
    TensorType,
    Value,
    count,
    functions_of,
    i32,
    is_register_dot,
    may_change,
    pass_on,
)
from ....ir.dominance import ancestor_in
from ...licm import LicmOptions, hoist_invariants
from ...regions import defined_in
from ...rules.constants import splat_of
from .fused_loop import Inner, fuse, trip_count

__all__ = ["fuse_nested_loops"]

_FLATTEN, _ALWAYS = "tt.flatten", "ttg.always-fuse"
_SPECIALIZE, _ONE_BUFFER, _STAGES = "tt.warp_specialize", "tt.disallow_acc_multi_buffer", "tt.num_stages"


@pass_on("function", statistics={"loops fused": "loops fused with the loop around them"})
def fuse_nested_loops(op: Operation) -> bool:
    """Fuse nested loops that request it, in a function or all functions of a module."""
    fused = 0
    for func in functions_of(op):
        for loop in list(_outermost(func)):
            if not is_on(loop, "flatten") or not may_change("fuse-nested-loops", loop):
                continue
            if _ALWAYS in loop.attributes:
                fused += _flatten(loop)[1]
            elif _FLATTEN in loop.attributes:
                fused += _flatten_one(loop)
    count("loops fused", fused)
    return fused > 0


# -- candidates --------------------------------------------------------------------------------------------------


def _outermost(op: Operation) -> Iterator[Any]:
    """Loops that are not nested directly in another loop."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block:
                if not isinstance(inner, CountedLoop):
                    yield from _outermost(inner)
                    continue
                yield inner
                for loop in _nest(inner):
                    for other in loop.body:
                        if not isinstance(other, CountedLoop):
                            yield from _outermost(other)


def _children(loop: CountedLoop) -> list[Any]:
    return [op for op in loop.body if isinstance(op, CountedLoop)]


def _nest(loop: CountedLoop) -> Iterator[Any]:
    """A loop, those nested in it, and so on."""
    yield loop
    for child in _children(loop):
        yield from _nest(child)


def _flatten(loop: CountedLoop) -> tuple[Any, int]:
    """Fuse all loops of a nest, innermost first, where possible; returns the new loop and the number fused."""
    gone = sum(_flatten(child)[1] for child in _children(loop))
    hoisted: dict[Operation, None] = {}
    inners = []
    for child in _children(loop):
        invariant = _needed(child.bounds, loop, with_variable=False)
        slices = _needed(child.bounds, loop, with_variable=True)
        if child.unsignedCmp or loop.unsignedCmp:
            continue
        if invariant is not None:
            hoisted.update(dict.fromkeys(invariant))
            inners.append(Inner(child))
        elif slices is not None:
            inners.append(Inner(child, slices))
    if not inners:
        return loop, gone
    for op in hoisted:
        op.move_before(loop)
    return _fused(loop, inners), gone + len(inners)


def _flatten_one(loop: CountedLoop) -> int:
    """Fuse a loop with `tt.flatten` and the one in it; returns the number fused."""
    nest = list(_nest(loop))
    if len(nest) != 2 or any(one.unsignedCmp for one in nest) or _specializes(loop):
        return 0
    inner = nest[1]
    hoist_invariants(loop, LicmOptions(guard_loads=False))
    _sink(loop, inner)
    needed = _needed(inner.bounds, loop, with_variable=False)
    if not _is_known_to_run(inner):
        if needed is None:
            return 0
        for op in needed:
            op.move_before(loop)
        _version_empty(loop, inner)
        needed = []
    slices = _needed(inner.bounds, loop, with_variable=True) if needed is None else None
    if needed is None and slices is None:
        return 0
    for op in needed or []:
        op.move_before(loop)
    _fused(loop, [Inner(inner, slices, always_runs=True)])
    return 1


def _specializes(loop: CountedLoop) -> bool:
    """Whether the loop is warp-specialized."""
    if _SPECIALIZE not in loop.attributes or not is_on(loop, "warp-specialization"):
        return False
    return has_feature(loop, WGMMA)


# -- preparation -------------------------------------------------------------------------------------------------


def _needed(values: list[Value], loop: CountedLoop, with_variable: bool) -> list[Operation] | None:
    """The operations of the loop's body that values depend on, in order; None where they may not be moved."""
    found: set[Operation] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if not defined_in(value, loop) or (with_variable and value is loop.induction_variable):
            continue
        op = value.defining_op
        if op is None or op.parent is not loop.body or not _may_move(op):
            return None
        if op not in found:
            found.add(op)
            stack += op.operands
    return [op for op in loop.body if op in found]


def _may_move(op: Operation) -> bool:
    """Whether a scalar operation may run where the loop does not."""
    if not op.traits & PURE or op.regions or any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
        return False
    return not op.traits & TRAPS or op.__class__ is arith.CeilDivSI or bool(splat_of(op.operands[1]))


def _sink(loop: CountedLoop, inner: Any) -> None:
    """Sink operations that only the end of an outer iteration needs below the inner loop."""
    region = loop.regions[0]
    sunk: set[Operation] = set()
    op = inner.next
    while op is not None:
        sunk.add(op)
        op = op.next
    op = inner.prev
    while op is not None:
        before = op.prev
        if op.traits & PURE and not op.regions and not is_register_dot(op):
            if all(ancestor_in(region, user) in sunk for v in op.results for user in v.users):
                op.move_after(inner)
                sunk.add(op)
        op = before


def _is_known_to_run(loop: CountedLoop) -> bool:
    """Whether the lower bound is assumed or known to be less than the upper one."""
    lb, ub = splat_of(loop.lb), splat_of(loop.ub)
    if lb is not None and ub is not None and isinstance(lb, int) and isinstance(ub, int):
        return lb < ub < 1 << 31
    for compare in loop.ub.users:
        if compare.__class__ is arith.CmpI and any(user.__class__ is Assume for user in compare.results[0].users):
            said: Any = compare
            if (said.predicate, said.lhs, said.rhs) in (
                (arith.CmpIPredicate.sgt, loop.ub, loop.lb),
                (arith.CmpIPredicate.slt, loop.lb, loop.ub),
            ):
                return True
    return False


def _version_empty(loop: CountedLoop, inner: Any) -> None:
    """Version the nest: the outer loop alone for zero inner iterations, else the nest."""
    b = Builder(loop.parent, loop, loop.loc)
    length = trip_count(b, inner.lb, inner.ub, inner.step)
    none = b.add(arith.Constant.of(0, length.type))
    condition = b.add(arith.CmpI(arith.CmpIPredicate.sle, length, none))
    branch = b.insert(scf.If.build(condition, [r.type for r in loop.results]))
    for result, old in zip(branch.results, loop.results):
        result.hint = old.hint
        old.replace_all_uses_with(result)
    mapping: dict[Any, Any] = {}
    alone = loop.clone(mapping)
    without = mapping[inner.results[0]].owner if inner.results else _children(alone)[0]
    without.replace_with(list(without.init_args))
    for name in (_FLATTEN, _SPECIALIZE):
        alone.attributes.pop(name, None)
    loop.detach()
    for block, one in ((branch.then_block, alone), (branch.else_block, loop)):
        b.at_end(block)
        b.insert(one)
        b.insert(scf.Yield(list(one.results)))


def _fused(loop: CountedLoop, inners: list[Inner]) -> Any:
    """The fused loop, with the attributes of the old ones."""
    attributes: dict[str, Any] = {}
    loops = [loop, *(inner.loop for inner in inners)]
    for name in (_SPECIALIZE, _ONE_BUFFER):
        if any(name in one.attributes for one in loops):
            attributes[name] = UNIT
    stages = max((one.attributes[_STAGES].value for one in loops if _STAGES in one.attributes), default=1)
    if stages > 1:
        attributes[_STAGES] = IntegerAttr(stages, i32)
    new = fuse(loop, inners)
    new.attributes.update(attributes)
    return new
