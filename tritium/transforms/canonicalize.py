"""canonicalize: Apply all rewrite rules to a fixed point, and simplify the control flow graph (see `blocks`).

The canonical form that other passes rely on: constants at the front of the function, each once, and on the right of
commutative operations; no dead pure operations; no branch or loop with a known outcome; loops carry only values that
change and are used. The pass is idempotent.
"""

from __future__ import annotations

import enum
import functools
from contextlib import nullcontext

from ..ir import OPS, Operation, RuleTable, functions_of, pass_on, rewrite_greedily
from ..ir.rewriter import spending_at_most
from ..support import InternalError
from ..support.dataclasses import dataclass
from ..support.lazy import LazyModule
from .blocks import simplify_blocks
from .cse import cse
from .rules import CANONICAL_RULES

__all__ = ["CanonicalizeOptions", "RegionSimplify", "canonicalize"]

_TABLE = RuleTable(CANONICAL_RULES)
_ttg = LazyModule(".rules.ttg", __package__)
_amdg = LazyModule(".rules.amdg", __package__)


@functools.cache
def _table_with_layouts(amd: bool) -> RuleTable:
    return RuleTable([*CANONICAL_RULES, *_ttg.TTG_RULES, *(_amdg.AMDG_RULES if amd else ())])


def _table() -> RuleTable:
    """The rules of the loaded dialects: a process that never loads the ttg dialect does not import its rules."""
    return _table_with_layouts("amdg.concat" in OPS) if "ttg.convert_layout" in OPS else _TABLE


class RegionSimplify(enum.Enum):
    """How to simplify blocks: as in `blocks`, with merging of equal blocks as well, or not at all."""

    NORMAL = "normal"
    AGGRESSIVE = "aggressive"
    DISABLED = "disabled"


@dataclass(frozen=True)
class CanonicalizeOptions:
    """MLIR's options of this pass.

    `max_iterations`: iterations over rules and blocks (-1: until nothing changes, the default here; MLIR's is 10);
    `max_num_rewrites`: rewrites (-1: unlimited); `top_down`: start with the first operation; `region_simplify`: how to
    simplify blocks; `test_convergence`: fail if the iterations do not converge; `cse_between_iterations`: run cse after
    each iteration; `keep_layouts`: no layout is changed and no conversion removed, for programs that state them.
    """

    max_iterations: int = -1
    max_num_rewrites: int = -1
    top_down: bool = True
    region_simplify: RegionSimplify = RegionSimplify.NORMAL
    test_convergence: bool = False
    cse_between_iterations: bool = False
    keep_layouts: bool = False


@pass_on("function")
def canonicalize(op: Operation, options: CanonicalizeOptions = CanonicalizeOptions()) -> bool:
    """Canonicalize a function, or all functions of a module."""
    changed = False
    for func in functions_of(op):
        limited = options.max_num_rewrites >= 0
        with spending_at_most(options.max_num_rewrites) if limited else nullcontext():
            changed |= _canonicalize(func, options)
    return changed


def _canonicalize(func: Operation, options: CanonicalizeOptions) -> bool:
    blocks = options.region_simplify is not RegionSimplify.DISABLED
    changed, rounds, table = False, 0, _TABLE if options.keep_layouts else _table()
    while rounds != options.max_iterations:
        rounds += 1
        again = rewrite_greedily(func, table, top_down=options.top_down)
        several = [r for op in func.walk() for r in op.regions if len(r.blocks) > 1] if blocks else []
        for region in several:
            again |= simplify_blocks(region, merge=options.region_simplify is RegionSimplify.AGGRESSIVE)
        if options.cse_between_iterations:
            again |= cse(func)
        changed |= again
        if not again or not (several or options.cse_between_iterations):
            return changed
    if options.test_convergence and rewrite_greedily(func, table):
        raise InternalError(f"canonicalize: no convergence after {options.max_iterations} iterations")
    return changed
