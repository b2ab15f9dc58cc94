"""sccp: Sparse conditional constant propagation.

    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) {        %r and %a are 1, which no rule on single
      %b = arith.muli %a, %a                                     =>   operations finds: that %b is 1 follows from
      scf.yield %b                                                    %a being 1, which follows from %b being 1
    }

Known conditions make blocks unreachable; constants propagate into private functions whose calls all pass them and out
of functions that return them (see `constant_flow`). The pass only replaces values, and removes operations that become
dead: branches with a known condition are left to canonicalize.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import (
    CONSTANT,
    Attribute,
    Block,
    ConstantPools,
    Operation,
    Value,
    constant_of,
    count,
    functions_of,
    is_trivially_dead,
    may_change,
    pass_on,
)
from .constant_flow import ConstantFlow

__all__ = ["sccp"]


@pass_on("any", statistics={"values replaced by constants": "results and block arguments"})
def sccp(op: Operation) -> bool:
    """Propagate constants through a module, or through one function with unknown callers."""
    flow = ConstantFlow(op)
    found = []
    for block in flow.reached:
        for value, anchor in _values(block):
            state = flow.states.get(value)
            if value.users and isinstance(state, Attribute) and constant_of(value) is None:
                if may_change("constant", anchor):
                    found.append((value, state, anchor))
    pools = ConstantPools()
    if found:
        _use_existing(op, pools)
    for value, state, anchor in found:
        value.replace_all_uses_with(pools.place(state, value.type, anchor))
    for value, _, anchor in reversed(found):
        if value.defining_op is anchor and is_trivially_dead(anchor):
            anchor.erase()
    count("values replaced by constants", len(found))
    return bool(found)


def _use_existing(root: Operation, pools: ConstantPools) -> None:
    """Reuse the constants at the front of functions as replacements."""
    for func in functions_of(root):
        for inner in func.regions[0].blocks[0]:
            if inner.traits & CONSTANT:
                pools.of(inner).adopt(inner)


def _values(block: Block) -> Iterator[tuple[Value, Operation]]:
    """The arguments and results of a block, each with an operation before which it is not used."""
    first = block.first
    assert first is not None
    for arg in block.args:
        yield arg, first
    for op in block:
        for result in op.results:
            yield result, op
