"""A plugin (TRITIUM_PLUGINS) that plants the mistake of the compiler that the variable MISTAKE names."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from tests.tools.check.wrong_rules import from_zero, reversed_difference, unmasked
from tritium.conversion.ttg_to_llvm.context import LOWERINGS
from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
from tritium.dialects import arith
from tritium.ir import RuleTable

_CANONICALIZE = importlib.import_module("tritium.transforms.canonicalize")


def _add_rule(wrong: Any) -> None:
    table = RuleTable([*_CANONICALIZE.CANONICAL_RULES, wrong])
    _CANONICALIZE._table = lambda: table


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


MISTAKES: dict[str, Callable[[], None]] = {
    "reversed_difference": lambda: _add_rule(reversed_difference()),
    "load_from_zero": lambda: _add_rule(from_zero),
    "lost_mask": lambda: _add_rule(unmasked),
    "difference_as_sum": difference_as_sum,
    "no_barriers": no_barriers,
}

if name := os.environ.get("MISTAKE"):
    MISTAKES[name]()
