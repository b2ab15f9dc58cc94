"""Which buffers in shared memory a value may stand for.

A buffer is made by `ttg.local_alloc`. Views of it (`ttg.memdesc_index` and the like), selections, results and arguments
of regions and blocks, and the tokens of copies into it stand for it too: whoever holds one may read or write it, or
wait for a copy that still writes. A value may stand for several:

    %r = scf.for … iter_args(%b = %first) -> … {       // %b: the buffers of %first and %next
      scf.yield %next
    }

Where values flow is taken from the operations that have regions or branch; for any other operation, each result of
such a type may be each operand of such a type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..dialects import cf, scf, ttg
from ..dialects.ttg_memory import AsyncTokenType, MemDescType, SharedMemorySpace
from ..ir import Operation, Value

__all__ = ["buffers_of", "is_buffer", "is_shared_alloc", "passed_on"]

_SHARED = SharedMemorySpace()


def is_buffer(value: Value) -> bool:
    """A buffer in shared memory, or a token of a copy."""
    ty = value.type
    return isinstance(ty, AsyncTokenType) or (isinstance(ty, MemDescType) and ty.memorySpace is _SHARED)


def is_shared_alloc(op: Operation) -> bool:
    """Whether `op` makes a buffer in shared memory."""
    return isinstance(op, ttg.LocalAlloc) and is_buffer(op.result)


def buffers_of(func: Operation) -> dict[Value, list[Operation]]:
    """For each value of a function that stands for buffers the operations that allocate them, in program order."""
    flows: dict[Value, list[Value]] = {}
    found: dict[Value, dict[Operation, None]] = {}
    for op in func.walk():
        if is_shared_alloc(op):
            found[op.results[0]] = {op: None}
            continue
        for source, target in _flows(op):
            if is_buffer(source) and is_buffer(target):
                flows.setdefault(source, []).append(target)
    work = list(found)
    while work:
        source = work.pop()
        for target in flows.get(source, ()):
            known = found.setdefault(target, {})
            before = len(known)
            known.update(found[source])
            if len(known) > before:
                work.append(target)
    order = {op: i for i, op in enumerate(func.walk())}
    return {value: sorted(ops, key=order.__getitem__) for value, ops in found.items()}


Pairs = Iterable[tuple[Value, Value]]


def _flows(op: Operation) -> Pairs:
    """The pairs of values of which the second may be the first."""
    special = _FLOWS.get(op.__class__)
    if special is not None:
        return special(op)
    return ((a, r) for r in op.results if is_buffer(r) for a in op.operands)


def passed_on(op: Operation) -> Pairs:
    """The pairs of values, of any type, of which the second may be the first because `op` has regions or branches."""
    special = _FLOWS.get(op.__class__)
    return special(op) if special is not None else ()


def _for(op: Any) -> Iterator[tuple[Value, Value]]:
    carried, args, given = op.operands[3:], op.body.args[1:], op.body.last.operands
    for start, arg, again, result in zip(carried, args, given, op.results, strict=True):
        yield from ((start, arg), (again, arg), (start, result), (again, result))


def _if(op: Any) -> Iterator[tuple[Value, Value]]:
    for region in op.regions:
        for block in region.blocks:
            yield from _last(block, op.results)


def _last(block: Any, targets: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    last = block.last
    if last is not None:
        yield from zip(last.operands, targets)


def _while(op: Any) -> Iterator[tuple[Value, Value]]:
    before, after = (region.blocks[0] for region in op.regions)
    yield from zip(op.operands, before.args, strict=True)
    yield from zip(before.last.operands[1:], after.args, strict=True)
    yield from zip(before.last.operands[1:], op.results, strict=True)
    yield from zip(after.last.operands, before.args, strict=True)


def _branch(op: Any) -> Iterator[tuple[Value, Value]]:
    for operands, block in zip(op.successor_operands(), op.successors, strict=True):
        yield from zip(operands, block.args, strict=True)


def _specialize(op: Any) -> Iterator[tuple[Value, Value]]:
    for block in op.regions[0].blocks:
        yield from _last(block, op.results)


def _partitions(op: Any) -> Iterator[tuple[Value, Value]]:
    for region in op.regions:
        yield from zip(op.operands, region.blocks[0].args)


_FLOWS: dict[type, Callable[[Any], Pairs]] = {
    scf.For: _for,
    scf.If: _if,
    scf.While: _while,
    cf.Br: _branch,
    cf.CondBr: _branch,
    ttg.WarpSpecializePartitions: _partitions,
    ttg.WarpSpecialize: _specialize,
}
