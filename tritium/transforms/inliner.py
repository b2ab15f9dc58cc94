"""inliner: Inline function calls.

    %r = tt.call @f(%x)  loc(A)   =>   the operations of @f with %x for its argument, each at
                                       loc(callsite(its location at A)); %r is what @f returns

Calls in a callee are inlined first, so that the copied body is final; its unreachable blocks (after an early return in
Triton's IR) are removed before it is copied. A call is kept if the callee is marked `noinline`, has no body, is
recursive, or has several blocks and is called from a region of one block. Functions without callers are left to
symbol-dce.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..dialects import cf, tt
from ..ir import (
    CONSTANT,
    Block,
    Operation,
    Region,
    Value,
    clone_region_into,
    count,
    functions_of,
    may_change,
    pass_on,
    remark,
)
from ..support import UNKNOWN, CallSiteLoc, Location, NameLoc, TooManyOperations
from ..support.dataclasses import dataclass
from ..support.settings import compilation
from .blocks import simplify_blocks

__all__ = ["InlinerOptions", "inline"]


@dataclass(frozen=True)
class InlinerOptions:
    """MLIR's options, accepted without effect: all calls are inlined, and callees are not optimized first."""

    SAME: ClassVar[dict[str, str]] = {
        "default-pipeline": "later passes optimize callees",
        "op-pipelines": "later passes optimize callees",
        "max-iterations": "calls in callees are inlined first, so that one iteration suffices",
        "inlining-threshold": "tile programs have no call that is better kept",
    }


@pass_on("module", name="inliner")
def inline(module: Operation, options: InlinerOptions = InlinerOptions()) -> bool:
    """Inline all calls of a module where possible."""
    functions = {f.attributes["sym_name"].value: f for f in functions_of(module)}  # type: ignore[attr-defined]
    inliner = _Inliner(functions)
    _check_growth(functions)
    for func in functions.values():
        inliner.finish(func)
    count("calls inlined", inliner.inlined)
    return inliner.inlined > 0


def _check_growth(functions: dict[str, Any]) -> None:
    """Raise TooManyOperations where a function would exceed the limit with all calls inlined, before any is copied.

    Calls that are kept (`noinline`, recursion, several blocks) count as one operation.
    """
    limit = compilation.max_operations
    sizes: dict[str, int] = {}

    def size(name: str, active: tuple[str, ...]) -> int:
        known = sizes.get(name)
        if known is not None:
            return known
        total = 0
        for op in functions[name].walk():
            total += 1
            callee = op.callee if op.__class__ is tt.Call else ""  # type: ignore[attr-defined]
            func = functions.get(callee)
            if func is None or func.noinline or callee in (*active, name) or len(func.regions[0].blocks) != 1:
                continue
            total += size(callee, (*active, name))
            if total > limit:
                raise TooManyOperations(
                    op, f"leads to {total:,} operations or more by inlining @{callee} into @{name}, more than {limit:,}"
                )
        sizes[name] = total
        return total

    if limit:
        for name in functions:
            size(name, ())


class _Inliner:
    def __init__(self, functions: dict[str, Any]) -> None:
        self.functions = functions
        self.done: set[Operation] = set()
        self.active: set[Operation] = set()
        self.recursive: set[Operation] = set()
        self.call_sites: dict[tuple[Location, Location], Location] = {}
        self.inlined = 0

    def finish(self, func: Operation) -> None:
        """Inline the calls in `func`, callees first."""
        if func in self.done or func in self.active:
            return
        self.active.add(func)
        for call in [op for op in func.walk() if op.__class__ is tt.Call]:
            callee = self.functions.get(call.callee)  # type: ignore[attr-defined]
            if callee is None:
                continue
            if callee.noinline:
                remark(call, f"@{call.callee} stays a call: it is marked noinline")
                continue
            self.finish(callee)
            if callee in self.active:
                self.recursive |= self.active
            if callee in self.active or callee in self.recursive:
                remark(call, f"@{call.callee} stays a call: it takes part in a recursion")
            elif not may_change("inline", call):
                continue
            elif self.expand(call, callee):
                self.inlined += 1
            else:
                remark(call, f"@{call.callee} stays a call: it has several blocks, the region around the call has one")
        self.active.discard(func)
        self.done.add(func)

    def expand(self, call: Any, callee: Any) -> bool:
        """Replace one call by a copy of the callee; False when it has to be kept."""
        region = call.parent.parent
        if len(callee.regions[0].blocks) > 1:
            simplify_blocks(callee.regions[0])
        several = len(callee.regions[0].blocks) > 1
        if several and call.parent_op.__class__ is not tt.Func:
            return False
        mapping: dict[Any, Any] = {}
        copy = Region()
        clone_region_into(callee.regions[0], copy, mapping)
        _relocate(copy, call.loc, self.call_sites)
        for arg, value in zip(copy.blocks[0].args, call.args):
            arg.replace_all_uses_with(value)
        if several:
            _join_blocks(call, copy, region)
        else:
            _join_block(call, copy.blocks[0])
        return True


def _relocate(region: Region, caller: Location, call_sites: dict[tuple[Location, Location], Location]) -> None:
    """Give operations and arguments a call site location, and the name of the variable that the call is assigned to.

    `call_sites` has the locations made before, so that equal ones are one object: comparing two takes time that is
    proportional to the depth of the calls.
    """
    made: dict[int, Location] = {}
    name = caller.name if isinstance(caller, NameLoc) else None

    def below(loc: Location) -> Location:
        if loc is UNKNOWN:
            return caller
        here = made.get(id(loc))
        if here is None:
            here = call_sites.get((loc, caller))
            if here is None:
                here = call_sites[loc, caller] = CallSiteLoc(loc, caller)
            made[id(loc)] = here
        return here

    for block in region.blocks:
        for top in block:
            for op in top.walk():
                op.loc = below(op.loc)
                if name is not None and not op.traits & CONSTANT:
                    _name_values(op.results, name)
                for inner in op.regions:
                    for nested in inner.blocks:
                        for arg in nested.args:
                            arg.loc = below(arg.loc)
                        if name is not None:
                            _name_values(nested.args, name)


def _name_values(values: Sequence[Value], name: str) -> None:
    for value in values:
        if value.hint is None:
            value.hint = name


def _join_block(call: Any, block: Block) -> None:
    returned = block.last
    assert returned is not None
    values = list(returned.operands)
    returned.erase()
    parent: Block = call.parent
    for op in list(block):
        op.detach()
        parent.insert_before(op, call)
    _forward_results(call, values)


def _join_blocks(call: Any, copy: Region, region: Region) -> None:
    """Split the caller's block at the call; returns become branches to its second half."""
    head: Block = call.parent
    tail = Block([r.type for r in call.results])
    for op in _after(call):
        op.detach()
        tail.append(op)
    at = region.blocks.index(head) + 1
    blocks, copy.blocks = copy.blocks, []
    for block in blocks:
        block.parent = region
        last = block.last
        if last.__class__ is tt.Return:
            block.append(cf.Br(list(last.operands), tail, loc=last.loc))  # type: ignore[union-attr]
            last.erase()  # type: ignore[union-attr]
    tail.parent = region
    region.blocks[at:at] = [*blocks, tail]
    entry = blocks[0]
    for op in list(entry):
        op.detach()
        head.append(op)
    region.blocks.remove(entry)
    entry.parent = None
    _forward_results(call, list(tail.args))


def _after(op: Operation) -> list[Operation]:
    rest, following = [], op.next
    while following is not None:
        rest.append(following)
        following = following.next
    return rest


def _forward_results(call: Any, values: list[Value]) -> None:
    for r, v in zip(call.results, values):
        if v.hint is None:
            v.hint = r.hint
    call.replace_with(values)
