"""A plugin (TRITIUM_PLUGINS) that plants the mistake of the compiler that the variable MISTAKE names."""

from __future__ import annotations

import importlib
import os
from typing import Any

from tritium.conversion.ttg_to_llvm.context import LOWERINGS
from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
from tritium.dialects import arith
from tritium.dialects import tt as tile
from tritium.ir import RuleTable, rule

_CANONICALIZE = importlib.import_module("tritium.transforms.canonicalize")


def _add_rule(wrong: Any) -> None:
    table = RuleTable([*_CANONICALIZE.CANONICAL_RULES, wrong])
    _CANONICALIZE._table = lambda: table


def reversed_difference() -> None:
    made: list[Any] = []

    @rule(arith.SubF)
    def reversed_difference(op: Any) -> Any:
        """x - y = y - x"""
        if any(op is one for one in made):
            return None
        made.append(arith.SubF(op.rhs, op.lhs))
        return made[-1]

    _add_rule(reversed_difference)


def load_from_zero() -> None:
    @rule(tile.Load)
    def from_zero(op: Any) -> Any:
        """load(p, m, -inf) = load(p, m, 0)"""
        other = op.other.defining_op if op.other is not None else None
        if not isinstance(other, arith.Constant) or other.splat_value() != -float("inf"):
            return None
        zero = arith.Constant.of(0.0, op.other.type)
        return tile.Load(op.ptr, op.mask, zero.result)

    _add_rule(from_zero)


def lost_mask() -> None:
    @rule(tile.Load)
    def unmasked(op: Any) -> Any:
        """load(p, m) = load(p)"""
        return None if op.mask is None else tile.Load(op.ptr)

    _add_rule(unmasked)


def difference_as_sum() -> None:
    right = LOWERINGS.find(arith.SubF)

    def wrong(e: Any, op: Any) -> None:
        own = op.__class__
        op.__class__ = arith.AddF
        try:
            LOWERINGS.find(arith.AddF)(e, op)
        finally:
            op.__class__ = own

    assert right is not None
    LOWERINGS[arith.SubF] = wrong


def no_barriers() -> None:
    def silent(self: Any, e: Any, global_memory: bool = False) -> None:
        return None

    NVIDIATarget.barrier = silent


if name := os.environ.get("MISTAKE"):
    {f.__name__: f for f in (reversed_difference, load_from_zero, lost_mask, difference_as_sum, no_barriers)}[name]()
