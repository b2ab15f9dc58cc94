"""amd-fold-true-cmpi: Replace integer comparisons whose result is known.

    %pid = tt.get_program_id x                                        %t = arith.constant true
    %t = arith.cmpi sge, %pid, %c0                         =>         %m = arith.constant dense<true>
    %m = arith.cmpi slt, (arange 0 64), dense<64>

`analysis.range_analysis` tells which values the operands can have, from ranges, trip counts, and assumptions. Masks
that are always true vanish with that; so do the conditions of assumptions that follow from others.
"""

from __future__ import annotations

from ....analysis.range_analysis import RangeAnalysis
from ....dialects import arith
from ....ir import Builder, Operation, count, functions_of, may_change, pass_on

__all__ = ["amd_fold_true_cmpi"]


@pass_on("module", statistics={"comparisons folded": "comparisons that are a constant now"})
def amd_fold_true_cmpi(module: Operation) -> bool:
    """Fold the comparisons of the functions of a module."""
    folded = 0
    for func in functions_of(module):
        tests = [op for op in func.walk() if isinstance(op, arith.CmpI)]
        ranges = RangeAnalysis(func) if tests else None
        for op in tests:
            known = None if ranges is None else ranges.compare(op)
            if known is None or not may_change("amd-fold-true-cmpi", op):
                continue
            op.replace_with([Builder(op.parent, op, op.loc).add(arith.Constant.of(known, op.result.type))])
            folded += 1
    count("comparisons folded", folded)
    return folded > 0
