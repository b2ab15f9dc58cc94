"""Version a range of operations on a condition: two copies, of which one is entered.

    %x = f(%a)               %r = scf.if %c -> (T) {
    store %x           =>      …                        a specialized copy, for the caller to emit
    %r = g(%x)                 scf.yield %s : T
    use %r                   } else {
                               %x = f(%a)               the operations as they are
                               store %x
                               %r1 = g(%x)
                               scf.yield %r1 : T
                             }
                             use %r

The condition must be a scalar, so that all threads of a program take the same branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..dialects import scf
from ..ir import Block, Builder, IfLike, Operation, Value
from ..ir.dominance import ancestor_in

__all__ = ["empty_branch", "operations_between", "used_outside", "version"]

Emit = Callable[[Builder], Callable[[Value], Value]]
"""Emits the specialized copy with a builder, and returns the function from an old value to its copy's."""


def operations_between(first: Operation, last: Operation) -> list[Operation]:
    """The operations of a block from `first` to `last`, both included."""
    found = [first]
    while found[-1] is not last:
        following = found[-1].next
        assert following is not None, "`last` is not after `first` in its block"
        found.append(following)
    return found


def empty_branch(b: Builder, condition: Value, results: Sequence[Value]) -> IfLike:
    """An `if` with an empty block for each outcome, whose results have the types of `results`."""
    return b.insert(scf.If.build(condition, [v.type for v in results]))


def version(ops: Sequence[Operation], condition: Value, emit: Emit) -> IfLike:
    """Run what `emit` emits where `condition` holds, and otherwise `ops`, adjacent operations of one block."""
    block = ops[0].parent
    assert block is not None
    inside = set(ops)
    used = [r for op in ops for r in op.results if used_outside(r, inside, block)]
    branch = empty_branch(Builder(block, ops[0], ops[0].loc), condition, used)
    then, otherwise = branch.then_block, branch.else_block
    assert otherwise is not None
    copy_of = emit(Builder(then, loc=branch.loc))
    then.append(branch.make_yield([copy_of(v) for v in used], branch.loc))
    for old, new in zip(used, branch.results, strict=True):
        new.hint = old.hint
        old.replace_uses_where(new, lambda user: ancestor_in(block, user) not in inside)
    for op in ops:
        op.detach()
        otherwise.append(op)
    otherwise.append(branch.make_yield(used, branch.loc))
    return branch


def used_outside(value: Value, inside: set[Operation], block: Block) -> bool:
    """Whether an operation that is not in `inside`, nor nested in one that is, uses `value`."""
    return any(ancestor_in(block, user) not in inside for user in value.users)
