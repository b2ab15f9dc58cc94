"""nvgpu-warp-specialization: Split a loop into producer and consumer partitions.

    scf.for … { loads, dots } {tt.warp_specialize}
    =>
    rings of buffers and mbarriers
    %r = ttg.warp_specialize(…)
    default { scf.for … { wait, dots, release }; ttg.warp_yield %r }
    partition0(…) num_warps(1) { scf.for … { wait, copies }; ttg.warp_return }

`tl.range(…, warp_specialize=True)` requests it. The package `warp_specialize` describes the design, one question per
module. Where a loop cannot be specialized, a remark states why, and it is compiled without specialization.

**Registers.** The producer needs few registers, and they are reallocated between warp groups: with eight consumer warps
and a producer warp group (of which one warp is active) each thread starts with 168, too few for a tile of 128 x 256. So
the producer requests 40, which leaves 232 for each consumer thread. CTAs with four consumer warps share an SM where
possible; `warp_specialize.occupancy` computes the registers of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import ttg
from ....dialects.ttg_context import gpu_of, num_ctas, num_warps
from ....dialects.ttg_switches import is_on
from ....hardware.nvidia_features import TMA, WGMMA
from ....ir import (
    CONSTANT,
    Block,
    Builder,
    CountedLoop,
    DenseArrayAttr,
    IntegerAttr,
    Operation,
    Region,
    Value,
    count,
    functions_of,
    i32,
    may_change,
    pass_on,
    remark,
)
from ....support.dataclasses import dataclass
from .circular_buffers import Rings
from .clusters import check_cluster
from .consumer import Consumer, Sites, Stretches
from .occupancy import Occupancy, occupancies
from .partition import Load, Refused, Span, marked_loops, span_of
from .pingpong import overlap_of
from .producer import Producer

__all__ = ["WarpSpecializationOptions", "nvgpu_warp_specialization"]


@dataclass(frozen=True)
class WarpSpecializationOptions:
    """`num_stages`: slots of a ring, unless the loop states it; with fewer than 2 nothing is specialized."""

    num_stages: int = 3


MAX_REGISTERS = "ttg.maxnreg"

_DEFAULT = WarpSpecializationOptions()


@pass_on("module", statistics={"loops specialized": "loops with a producer warp"})
def nvgpu_warp_specialization(module: Operation, options: WarpSpecializationOptions = _DEFAULT) -> bool:
    """Split loops that request it into producer and consumer partitions, in all functions of a module."""
    if not is_on(module, "warp-specialization"):
        return False
    done = 0
    for func in list(functions_of(module)):
        for loops in marked_loops(func).values():
            try:
                done += _specialize(func, loops, options)
            except Refused as refused:
                remark(refused.op, f"the loop is not warp-specialized: {refused}")
    count("loops specialized", done)
    return done > 0


def _specialize(func: Operation, loops: list[Any], options: WarpSpecializationOptions) -> bool:
    """Specialize the span of loops of one block; raises Refused before anything is changed."""
    first = loops[0]
    stages = [loop.attributes.get("tt.num_stages") for loop in loops]
    wanted = max([s.value for s in stages if isinstance(s, IntegerAttr)], default=options.num_stages)
    _check_module(func, first)
    if wanted < 2:
        raise Refused(first, f"warp specialization needs two stages, num_stages is {wanted}")
    span = span_of(loops)
    rings = Rings(span)
    occupancy = rings.choose_depth(wanted, func, span, occupancies(span, num_warps(first) or 4))
    if rings.depth < 1:
        raise Refused(first, "the loads of one iteration do not fit into shared memory with the other allocations")
    if not may_change("specialize", first):
        return False
    _emit(span, rings, occupancy)
    return True


def _check_module(func: Operation, loop: Operation) -> None:
    warps = num_warps(loop) or 4
    gpu = gpu_of(loop)
    if gpu is not None and not gpu.has(TMA):
        raise Refused(loop, "this GPU has no TMA")
    if gpu is not None and not gpu.has(WGMMA):
        major, minor = divmod(gpu.capability, 10)
        raise Refused(loop, f"it needs compute capability 9.x, and this is {major}.{minor}")
    if warps % 4 or warps > 8:
        raise Refused(loop, f"it needs one or two groups of four warps, and num_warps is {warps}")
    if num_ctas(loop) > 1:
        check_cluster(func, loop)


def _emit(span: Span, rings: Rings, occupancy: Occupancy) -> None:
    """Replace the span by both partitions."""
    first = span.ops[0]
    warps, module = num_warps(first) or 4, _module_of(first)
    b = Builder(first.parent, first, first.loc)
    rings.allocate(b, first, warps)
    default, producer = Block(), Block()
    captures = _fill(producer, span, rings)
    sites, stretches = _rewritten(module, span, rings, warps)
    b.at(span.ops[0])
    used = [r for op in span.ops for r in op.results if any(_is_outside(user, span) for user in r.users)]
    mapping: dict[Any, Any] = {}
    inside = Builder(default, None, b.loc)
    consumer = Consumer(rings, sites, stretches, inside, mapping, is_on(module, "wgmma-in-flight"))
    consumer.run(span.ops)
    consumer.b.insert(ttg.WarpYield([mapping.get(r, r) for r in used]))
    holder = Block()
    holder.append(ttg.WarpSpecializePartitions.create(captures, [], {}, [Region(producer)]))
    attributes: dict[str, Any] = {"partitionNumWarps": DenseArrayAttr((1,), i32)} | _registers(module, warps, occupancy)
    op = ttg.WarpSpecialize.create([], [r.type for r in used], attributes, [Region(default), Region(holder)])
    b.insert(op)
    rings.free(b)
    for old, new in zip(used, op.results):
        new.hint = old.hint
        old.replace_uses_where(new, lambda user: _is_outside(user, span))
    for old_op in reversed(span.ops):
        old_op.erase()


def _registers(module: Operation, warps: int, occupancy: Occupancy) -> dict[str, Any]:
    """The register requests of the operation, and those set on the module."""
    each = occupancy.registers
    if (warps == 4 and each is None) or not is_on(module, "register-reallocation"):
        return {}
    if each is not None:
        module.attributes.setdefault(MAX_REGISTERS, IntegerAttr(each, i32))
    return {"requestedRegisters": DenseArrayAttr((occupancy.producer,), i32)}


def _module_of(op: Operation) -> Operation:
    while op.parent_op is not None:
        op = op.parent_op
    return op


def _rewritten(module: Operation, span: Span, rings: Rings, warps: int) -> tuple[Sites, Stretches]:
    """Rewrite the consumer's loops where that pays; returns its visits of rings, and the ping-pong barriers."""
    stretches: Stretches = []
    origins: dict[Operation, list[Operation]] = {load.op: [load.op] for load in span.loads}
    if rings.depth > 1 and is_on(module, "wgmma-in-flight") and is_on(module, "intra-warpgroup-overlap"):
        pingpong = warps == 8 and is_on(module, "ping-pong")
        for loop in [op for outer in span.ops for op in outer.walk() if isinstance(op, CountedLoop)]:
            overlap = overlap_of(loop, set(origins), pingpong)
            if overlap is not None:
                _replace(span, loop, overlap.rewrite)
                stretches += overlap.stretches
                for op in set(overlap.origin.values()):
                    origins[op] = [new for new, old in overlap.origin.items() if old is op]
    sites: Sites = {}
    for ring in rings:
        copies = [ops for loads in ring.sites for ops in zip(*(origins[load.op] for load in loads))]
        sites[ring] = [[Load(op) for op in ops] for ops in copies]
    return sites, stretches


def _replace(span: Span, old: Operation, rewrite: Callable[[], Operation]) -> None:
    """Replace an operation by the loop that `rewrite` builds before it."""
    mark = old.prev
    new = op = rewrite()
    added: list[Operation] = []
    while op is not mark:
        added.insert(0, op)
        assert op.prev is not None or mark is None
        op = op.prev  # type: ignore[assignment]
    for a, b in zip(old.results, new.results):
        b.hint = a.hint
    if old in span.ops:
        at = span.ops.index(old)
        span.ops[at : at + 1] = added
    old.replace_with(list(new.results))


def _fill(block: Block, span: Span, rings: Rings) -> list[Value]:
    """Emit the producer partition; returns the values it captures, in the order of the arguments of `block`."""
    b = Builder(block, None, span.ops[0].loc)
    mapping: dict[Any, Any] = {}
    captures: list[Value] = []
    outside = [*rings.captured(), *span.slice.outside]
    for value in outside:
        op = value.defining_op
        if op is not None and op.traits & CONSTANT:
            b.insert(op.clone(mapping))
            continue
        captures.append(value)
        mapping[value] = block.add_argument(value.type)
        mapping[value].hint = value.hint
    Producer(span, rings, b, mapping).run(span.ops)
    b.insert(ttg.WarpReturn())
    return captures


def _is_outside(op: Any, span: Span) -> bool:
    return not any(root.is_ancestor_of(op) for root in span.ops)
