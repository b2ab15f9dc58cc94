"""Rules of branches between blocks."""

from __future__ import annotations

from typing import Any

from ...dialects.arith import Select
from ...dialects.cf import Br, CondBr
from ...ir import CHANGED, Block, Operation, Rule, Touched, rule
from .constants import constant, splat_of
from .scf import selectable

__all__ = ["CF_RULES"]


@rule(CondBr)
def branch_known(op: Any) -> Any:
    """cond_br true, a, b = br a; cond_br false, a, b = br b; cond_br p, a, a = br a"""
    c = splat_of(op.condition)
    if c is None:
        if op.true_dest is not op.false_dest or list(op.true_operands) != list(op.false_operands):
            return None
        c = 1
    return Br(op.true_operands, op.true_dest) if c else Br(op.false_operands, op.false_dest)


@rule(CondBr)
def branch_to_one_block(op: Any) -> Any:
    """cond_br p, a(x), a(y) = br a(select(p, x, y))"""
    if op.true_dest is not op.false_dest or splat_of(op.condition) is not None:
        return None
    pairs = list(zip(op.true_operands, op.false_operands))
    if not all(selectable(x) for x, _ in pairs):
        return None
    return Br([x if x is y else Select(op.condition, x, y, loc=op.loc).result for x, y in pairs], op.true_dest)


@rule(CondBr)
def branch_truth(op: Any) -> Any:
    """cond_br p, a, b: p is true in a and false in b, if they have no other predecessor"""
    p = op.condition
    if op.true_dest is op.false_dest or splat_of(p) is not None or p.has_one_use:
        return None
    touched: list[Operation] = []
    for block, number in ((op.true_dest, 1), (op.false_dest, 0)):
        inside = [user for user in p.users if _is_inside(user, block)]
        if inside and _arrivals(block) == 1:
            known = constant(number, p.type)
            block.prepend(known.defining_op)
            touched += [known.defining_op, *inside]  # type: ignore[list-item]
            for user in inside:
                user.set_operands([known if v is p else v for v in user.operands])
    return Touched(CHANGED, touched) if touched else None


def _is_inside(op: Operation | None, block: Block) -> bool:
    while op is not None:
        if op.parent is block:
            return True
        op = op.parent_op
    return False


def _arrivals(block: Any) -> int:
    return sum(s is block for b in block.parent.blocks if b.last is not None for s in b.last.successors)


CF_RULES: list[Rule] = [branch_known, branch_to_one_block, branch_truth]
