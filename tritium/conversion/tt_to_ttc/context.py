"""State shared by the lowerings of one function: the plan, the evaluator, the buffers."""

from __future__ import annotations

from ...analysis.affine import Affinity
from ...dialects import tt
from ...ir import Block
from ..llvm.dot import CPUFeatures
from .evaluate import Evaluator
from .plan import Plan, make_plan
from .writer import Writer

__all__ = ["LoweringContext"]


class LoweringContext:
    """State of the lowering of one function; `entry` is the first block of the result.

    `alloc` writes buffer allocations, which move to the start of `entry` when everything is lowered, `ev` writes all
    other operations, and `blocks` maps the blocks of `func` to those of the result.
    """

    def __init__(self, func: tt.Func, target: CPUFeatures) -> None:
        self.func = func
        self.target = target
        self.entry = Block()
        self.alloc = Writer(Block())
        self.ev = Evaluator(Writer(self.entry), Affinity())
        self.plan: Plan = make_plan(
            func.regions[0].blocks, self.ev.affinity, Affinity(hopeful=True), target.vector_bits
        )
        self.blocks: dict[Block, Block] = {}
