"""Which pointers of a function are a scalar base and offsets: those computed from its arguments.

    %p = tt.splat %a; %q = tt.addptr %p, %o            split
    %r = scf.if %c { yield %q } else { yield %s }      split if %q and %s are, with offsets of one width
    %t = arith.select %m, %q, %s   (%m a tensor)       split if they have one base, too
    %u = tt.load …, tt.int_to_ptr …                    not split

A forward analysis along the edges of control flow. A pointer's state says whether it points to an array below 2 GB,
whose offsets have 32 bits and whose base is the argument itself; `root` is that argument, None where several merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....dialects import amdg, arith, tt
from ....dialects.tt_types import PointerType
from ....ir import REARRANGES, Block, Branch, Operation, RegionBranch, TensorType, Value, element_type

__all__ = ["SplitState", "is_pointer", "is_view", "split_pointers"]


def is_view(op: Operation) -> bool:
    """Whether an operation rearranges a tensor of pointers; the same operation rearranges their offsets."""
    if len(op.operands) != 1 or len(op.results) != 1:
        return False
    return bool(op.traits & REARRANGES) or isinstance(op, amdg.ExtractSlice)


class SplitState(NamedTuple):
    """A split pointer; see above."""

    small: bool
    root: Value | None


_State = SplitState | None  # None: not split


def is_pointer(value: Value) -> bool:
    """Whether a value is a pointer or a tensor of pointers."""
    return isinstance(element_type(value.type), PointerType)


def split_pointers(func: Operation, arguments: dict[Value, bool]) -> dict[Value, SplitState]:
    """The pointers to split, given the arguments to split and whether each is small."""
    states: dict[Value, _State] = {v: SplitState(small, v) for v, small in arguments.items()}
    entry = func.regions[0].entry
    for argument in entry.args:
        if is_pointer(argument):
            states.setdefault(argument, None)
    flows = list(_flows(func, entry))
    changed = True
    while changed:
        changed = False
        for target, sources, same_root in flows:
            known = [states[v] for v in sources if v in states] if sources else [None]
            if not known:
                continue
            new = _merged([*known, *([states[target]] if target in states else [])], same_root)
            if target not in states or states[target] != new:
                states[target] = new
                changed = True
    return {v: state for v, state in states.items() if state is not None}


def _merged(known: Sequence[_State], same_root: bool) -> _State:
    first = known[0]
    for other in known[1:]:
        if first is None or other is None or first.small is not other.small:
            return None
        if first.root is not other.root or first.root is None:
            first = SplitState(first.small, None)
    if first is not None and same_root and (first.root is None or not first.small):
        return None
    return first


def _flows(func: Operation, entry: Block) -> Iterator[tuple[Value, list[Value], bool]]:
    """Each pointer but the arguments of the function; what it is computed from, nothing where that is unknown; and
    whether all of these must have one base."""
    edges: dict[Value, list[Value]] = {}
    for op in func.walk():
        if isinstance(op, (RegionBranch, Branch)):
            for source, target in op.forwarded_pairs():
                if is_pointer(target):
                    edges.setdefault(target, []).append(source)
        for result in op.results:
            if not is_pointer(result) or isinstance(op, RegionBranch):
                continue
            if isinstance(op, tt.AddPtr) or is_view(op):
                yield result, [op.operands[0]], False
            elif isinstance(op, arith.Select):
                yield result, [op.true_value, op.false_value], isinstance(op.condition.type, TensorType)
            else:
                yield result, [], False
        for region in op.regions:
            for block in region.blocks:
                if block is not entry and not isinstance(op, RegionBranch) and block is region.blocks[0]:
                    for argument in block.args:
                        if is_pointer(argument):
                            yield argument, [], False
    for target, sources in edges.items():
        yield target, sources, False
