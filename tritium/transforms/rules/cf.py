"""Rules of branches between blocks."""

from __future__ import annotations

from typing import Any

from ...dialects.cf import Br, CondBr
from ...ir import Rule, rule
from .constants import splat_of

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


CF_RULES: list[Rule] = [branch_known]
