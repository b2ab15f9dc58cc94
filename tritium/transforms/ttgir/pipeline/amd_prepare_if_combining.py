"""amd-prepare-if-combining: Make branches of one condition adjacent.

    %a = scf.if %c { … }                                    %t = tt.trans %x
    %t = tt.trans %x                                  =>    %a = scf.if %c { … }
    %b = scf.if %c { … %t }                                 %b = scf.if %c { … %t }

`canonicalize` merges adjacent ones, which leaves one branch where there were two. Only operations without effects that
do not need the results of the first branch are moved.
"""

from __future__ import annotations

from itertools import pairwise

from ....ir import IfLike, Operation, count, functions_of, is_pure, may_change, pass_on

__all__ = ["amd_prepare_if_combining"]


@pass_on("function", statistics={"branches made adjacent": "pairs with no operation between them any more"})
def amd_prepare_if_combining(op: Operation) -> bool:
    """Move operations out of the way in a function, or in all functions of a module."""
    changed = 0
    for func in functions_of(op):
        branches: dict[object, list[IfLike]] = {}
        for inner in func.walk():
            if isinstance(inner, IfLike):
                branches.setdefault(inner.parent, []).append(inner)
        for group in branches.values():
            changed += sum(_join(first, second) for first, second in pairwise(group))
    count("branches made adjacent", changed)
    return changed > 0


def _join(first: IfLike, second: IfLike) -> bool:
    """Move the operations between two branches of one condition before the first; returns whether that was done."""
    if first.operands[0] is not second.operands[0]:
        return False
    between: list[Operation] = []
    op = first.next
    while op is not None and op is not second:
        if not is_pure(op) or op.regions or any(v.defining_op is first for v in op.operands):
            return False
        between.append(op)
        op = op.next
    if not between or not may_change("amd-prepare-if-combining", second):
        return False
    for op in between:
        op.move_before(first)
    return True
