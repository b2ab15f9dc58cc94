"""combine-tensor-select-and-if: Replace tensor selects by results of an `scf.if` on the same condition.

    %y = arith.select %p, %a, %b : tensor<…>          %y = scf.if %p -> (tensor<…>) {
    scf.if %p {                                         tt.store …
      tt.store …                               =>       scf.yield %a
    }                                                 } else {
    … %y                                                scf.yield %b
                                                      }

An `arith.select` of tensors keeps both operands live and computes a select for each element. Where an `scf.if` on the
same condition follows in the block, it yields one or the other:

1. rule *inside*: in a branch of the `if`, the value of the select is known: %a in the first, %b in the second.
2. rule *yield*: if all remaining users of the select come after the `if`, its value becomes a result of that.

Scalar selects are kept: they are as cheap as yielding a value.
"""

from __future__ import annotations

from typing import Any

from ....dialects.arith import Select
from ....ir import IfLike, Operation, TensorType, count, functions_of, may_change, pass_on
from ....ir.dominance import ancestor_in
from ...regions import add_result, is_inside

__all__ = ["combine_tensor_select_and_if"]


@pass_on("function", statistics={"selects combined": "selects replaced by results of branches"})
def combine_tensor_select_and_if(op: Operation) -> bool:
    """Replace tensor selects by results of branches on the same condition, in a function or all of a module."""
    changed = combined = 0
    for func in functions_of(op):
        selects = [inner for inner in func.walk() if inner.__class__ is Select]
        for select in selects:
            branches = _branches(select)
            changed += sum(_inside(select, branch) for branch in branches)
            if isinstance(select.results[0].type, TensorType):
                combined += any(_yield_value(select, branch) for branch in branches if branch.parent is select.parent)
    count("selects combined", combined)
    return bool(changed + combined)


def _branches(select: Operation) -> list[Any]:
    """The branches on the condition of a select, in program order where they share its block."""
    found = [user for user in select.operands[0].users if isinstance(user, IfLike)]
    if len(found) > 1 and select.parent is not None:
        place = {op: i for i, op in enumerate(select.parent)}
        found.sort(key=lambda branch: place.get(branch, len(place)))
    return found


def _inside(select: Any, branch: Any) -> bool:
    """Rule *inside*."""
    changed = False
    for region, value in zip(branch.regions, (select.operands[1], select.operands[2])):
        users = [user for user in select.results[0].users if is_inside(user, region)]
        if users and may_change("inside", select):
            select.results[0].replace_uses_where(value, set(users).__contains__)
            changed = True
    return changed


def _yield_value(select: Any, branch: Any) -> bool:
    """Rule *yield*."""
    if not select.is_before(branch) or not all(_is_after(user, branch) for user in select.results[0].users):
        return False
    if not may_change("yield", select):
        return False
    if branch.else_block is None:
        branch.add_else()
    values = select.operands[1:]
    result = add_result(branch, select.results[0].type, [region.blocks[0].last for region in branch.regions], values)
    result.hint = select.results[0].hint
    select.replace_with([result])
    return True


def _is_after(user: Operation, branch: Operation) -> bool:
    """Whether an operation dominated by a select before the branch comes after the branch."""
    assert branch.parent is not None and branch.parent.parent is not None
    around = ancestor_in(branch.parent.parent, user)
    if around is None or around.parent is not branch.parent:
        return around is not None
    return branch.is_before(around)
