"""canonicalize: all rules until none matches, and blocks that branches connect simplified (see `blocks`).

What it leaves is a normal form that other passes count on: constants at the front of the function, each once, and on
the right of commutative operations; no dead pure operations; no branch or loop whose course is known; loops carry
only values that change and are needed. Running it twice changes nothing more.
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


@functools.cache
def _table_with_layouts() -> RuleTable:
    return RuleTable([*CANONICAL_RULES, *_ttg.TTG_RULES])


def _table() -> RuleTable:
    """The rules of the dialects that are there: a process that never met the ttg dialect does not import its rules."""
    return _table_with_layouts() if "ttg.convert_layout" in OPS else _TABLE


class RegionSimplify(enum.Enum):
    """What is done to blocks: as in `blocks`, or with equal blocks merged as well, or nothing."""

    NORMAL = "normal"
    AGGRESSIVE = "aggressive"
    DISABLED = "disabled"


@dataclass(frozen=True)
class CanonicalizeOptions:
    """MLIR's options of this pass.

    `max_iterations`: rounds of rules and blocks (-1: until nothing changes, the default here; MLIR's is 10);
    `max_num_rewrites`: rewrites (-1: any number); `top_down`: begin with the first operation; `region_simplify`: what
    is done to blocks; `test_convergence`: fail when the rounds were not enough; `cse_between_iterations`: run cse after
    each round.
    """

    max_iterations: int = -1
    max_num_rewrites: int = -1
    top_down: bool = True
    region_simplify: RegionSimplify = RegionSimplify.NORMAL
    test_convergence: bool = False
    cse_between_iterations: bool = False


@pass_on("function")
def canonicalize(op: Operation, options: CanonicalizeOptions = CanonicalizeOptions()) -> bool:
    """Bring a function, or all functions of a module, into normal form."""
    changed = False
    for func in functions_of(op):
        limited = options.max_num_rewrites >= 0
        with spending_at_most(options.max_num_rewrites) if limited else nullcontext():
            changed |= _canonicalize(func, options)
    return changed


def _canonicalize(func: Operation, options: CanonicalizeOptions) -> bool:
    blocks = options.region_simplify is not RegionSimplify.DISABLED
    changed, rounds, table = False, 0, _table()
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
        raise InternalError(f"canonicalize: {options.max_iterations} iterations were not enough")
    return changed
